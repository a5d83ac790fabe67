// Loads and stores of the lanes that a constant mask leaves, without the mask. Only files inside
// jit/ include this header.
#ifndef TENON_JIT_LLVM_CONSTANT_MASKS_H_
#define TENON_JIT_LLVM_CONSTANT_MASKS_H_

#include "llvm/IR/PassManager.h"

namespace tenon::jit {

// A masked load or store becomes a plain one of fewer lanes where its lanes are known to be one
// run, maybe under one condition for all of them: the edge of a padded row, or the last vector of
// one. This is done only where the CPU has a slow instruction for it, or none, so that LLVM would
// write a branch for each lane. It runs last, when loops are unrolled and masks are constants.
struct DropConstantMasks : llvm::PassInfoMixin<DropConstantMasks> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses) const;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_CONSTANT_MASKS_H_
