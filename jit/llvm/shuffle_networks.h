// Networks of shuffles in pieces that instruction selection takes quickly. Only files inside jit/
// include this header.
#ifndef TENON_JIT_LLVM_SHUFFLE_NETWORKS_H_
#define TENON_JIT_LLVM_SHUFFLE_NETWORKS_H_

#include "llvm/IR/PassManager.h"

namespace tenon::jit {

// Makes the results of every second layer of shuffles opaque (opaque_value.h) in blocks that have
// many, for instance where a tile is transposed in registers. The instructions stay the same. It
// runs last, after the passes that join shuffles.
struct CutShuffleNetworks : llvm::PassInfoMixin<CutShuffleNetworks> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses) const;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_SHUFFLE_NETWORKS_H_
