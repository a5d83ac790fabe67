// LLVM 19's loop vectoriser computes what is the same for all lanes once. If a division is under a
// condition, it takes the condition of the first lane, too. If that lane does not reach the
// division and another lane does, the other reads a value that nobody computed (seed 500024617 of
// the schedule fuzzer).
#include "tenon/jit/llvm/invariant_divisions.h"

#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace tenon::jit {
namespace {

// Whether the division may run before the loop although the loop may never reach it.
bool NeverTraps(const llvm::Instruction& division, const llvm::Instruction* before) {
  const llvm::Value* divisor = division.getOperand(1);
  const llvm::SimplifyQuery query(division.getModule()->getDataLayout(), before);
  const bool is_signed = division.getOpcode() == llvm::Instruction::SDiv ||
                         division.getOpcode() == llvm::Instruction::SRem;
  return is_signed ? llvm::isKnownPositive(divisor, query) : llvm::isKnownNonZero(divisor, query);
}

}  // namespace

llvm::PreservedAnalyses HoistInvariantDivisions::run(
    llvm::Function& function, llvm::FunctionAnalysisManager& analyses) const {
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  std::vector<llvm::Instruction*> divisions;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (instruction.isIntDivRem()) divisions.push_back(&instruction);
  }
  if (divisions.empty()) return llvm::PreservedAnalyses::all();
  for (llvm::Instruction* division : divisions) {
    for (llvm::Loop* loop = loops.getLoopFor(division->getParent()); loop != nullptr;
         loop = loop->getParentLoop()) {
      if (!loop->hasLoopInvariantOperands(division)) break;
      llvm::BasicBlock* preheader = loop->getLoopPreheader();
      if (preheader == nullptr || !NeverTraps(*division, preheader->getTerminator())) {
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
        break;
      }
      division->moveBefore(*preheader, preheader->getTerminator()->getIterator());
    }
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace tenon::jit
