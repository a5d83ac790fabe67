// Unrolled schedules make loops of thousands of accesses. Comparing them took LLVM 19 a minute for
// one loop (seed 1790000179 of the fuzzer of clip).
#include "tenon/jit/llvm/long_loops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace tenon::jit {

llvm::PreservedAnalyses LeaveLongLoops::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) const {
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    int accesses = 0;
    for (const llvm::BasicBlock* block : loop->blocks()) {
      for (const llvm::Instruction& instruction : *block)
        accesses += static_cast<int>(instruction.mayReadOrWriteMemory());
    }
    if (accesses > kMaxComparedAccesses)
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace tenon::jit
