// Keeps LLVM's loop vectoriser from loops of very many loads and stores. Only files inside jit/
// include this header.
#ifndef TENON_JIT_LLVM_LONG_LOOPS_H_
#define TENON_JIT_LLVM_LONG_LOOPS_H_

#include "llvm/IR/PassManager.h"

namespace tenon::jit {

// A loop that holds more than this many loads and stores is not vectorised: LLVM compares each of
// them with each other.
inline constexpr int kMaxComparedAccesses = 1000;
struct LeaveLongLoops : llvm::PassInfoMixin<LeaveLongLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses) const;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_LONG_LOOPS_H_
