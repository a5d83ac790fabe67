// What LLVM is told of a loop: how often to copy it, and whether to compute iterations in vectors.
//
//   TellOf(node, /*instructions=*/14, /*reassociates=*/true, back_edge);
#ifndef TENON_JIT_LLVM_LOOP_HINTS_H_
#define TENON_JIT_LLVM_LOOP_HINTS_H_

#include "llvm/IR/Instructions.h"
#include "tenon/loop/stmt.h"

namespace tenon::jit {

// Gives the branch that ends an iteration the hints for its loop, if there are any. `instructions`
// are those of an iteration as they are emitted, and `reassociates` says whether sums may go in
// another order.
void TellOf(const loop::ForNode& node, unsigned instructions, bool reassociates,
            llvm::BranchInst* back_edge);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_LOOP_HINTS_H_
