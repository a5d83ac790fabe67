// Takes divisions out of the loops that LLVM vectorises. Only files inside jit/ include this
// header.
#ifndef TENON_JIT_LLVM_INVARIANT_DIVISIONS_H_
#define TENON_JIT_LLVM_INVARIANT_DIVISIONS_H_

#include "llvm/IR/PassManager.h"

namespace tenon::jit {

// Divisions and remainders of integers whose operands stay the same in a loop are computed before
// it. A loop that keeps one, because its divisor may be 0 or -1 where it is not reached, is not
// vectorised. Requires loops with preheaders. Runs right before LLVM's loop vectoriser.
struct HoistInvariantDivisions : llvm::PassInfoMixin<HoistInvariantDivisions> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses) const;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_INVARIANT_DIVISIONS_H_
