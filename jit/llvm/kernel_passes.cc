// LLVM's O3 pipeline (PassBuilder::buildPerModuleDefaultPipeline), in its order, without the passes
// that find nothing to do in kernels. A kernel's module has no function to inline, no global
// variable, no exception, no coroutine, no switch and no recursion. Passes over functions are left
// out if every object file of the text-angle classifier was the same without them. So are
// repetitions of InstCombine and SimplifyCFG that did not change a file either. The vectoriser of
// straight-line code (SLP) is not run since it is wrong: docs/bugs-found.md. The second EarlyCSE
// runs after Reassociate and without MemorySSA, whose walks over the accesses of register tiles
// took a third of all passes' time; GVN finds the loads that it would have. IndVarSimplify took a
// tenth of it and made no kernel faster: its loops count in 64 bits from 0 already.
#include "tenon/jit/llvm/kernel_passes.h"

#include <utility>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/MemCpyOptimizer.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"
#include "tenon/jit/llvm/constant_masks.h"
#include "tenon/jit/llvm/invariant_divisions.h"
#include "tenon/jit/llvm/long_loops.h"
#include "tenon/jit/llvm/shuffle_networks.h"

namespace tenon::jit {
namespace {

using llvm::FunctionPassManager;
using llvm::LoopPassManager;
using llvm::SimplifyCFGOptions;

constexpr int kLevel = 3;

llvm::FunctionToLoopPassAdaptor WithMemorySsa(LoopPassManager passes) {
  return llvm::createFunctionToLoopPassAdaptor(std::move(passes), /*UseMemorySSA=*/true);
}

// Loop-invariant code motion, as far as PassBuilder lets it go.
llvm::LICMPass Licm() { return llvm::LICMPass(llvm::LICMOptions()); }
llvm::FunctionToLoopPassAdaptor Hoist() {
  LoopPassManager loops;
  loops.addPass(Licm());
  return WithMemorySsa(std::move(loops));
}

SimplifyCFGOptions Plain() { return SimplifyCFGOptions().convertSwitchRangeToICmp(true); }

// Sums whose terms may be joined in any order carry `reassoc` alone. With `nsz`, which the passes
// that reorder them ask for, InstCombine would take out common factors as well: 0 * inf + 1 * inf,
// which is NaN, would become (0 + 1) * inf. So `nsz` is set only while such a pass runs.
template <typename Pass>
struct OnFreeSums : llvm::PassInfoMixin<OnFreeSums<Pass>> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses) const {
    const auto set = [&](bool value) {
      for (llvm::Instruction& instruction : llvm::instructions(function)) {
        if (llvm::isa<llvm::FPMathOperator>(instruction) && instruction.hasAllowReassoc())
          instruction.setHasNoSignedZeros(value);
      }
    };
    set(true);
    llvm::PreservedAnalyses preserved = Pass().run(function, analyses);
    set(false);
    return preserved;
  }
};

// Instruction selection takes out common factors of what carries `reassoc` alone, too; it needs it
// for reductions of a vector's lanes only, which are calls.
struct KeepOrder : llvm::PassInfoMixin<KeepOrder> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) const {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::FPMathOperator>(instruction) && !llvm::isa<llvm::CallBase>(instruction))
        instruction.setHasAllowReassoc(false);
    }
    return llvm::PreservedAnalyses::all();
  }
};

// GVNPass is made for each function: compilers warn of a move of it, when its tables are not yet
// set.
struct NumberValues : llvm::PassInfoMixin<NumberValues> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses) const {
    return llvm::GVNPass().run(function, analyses);
  }
};

// Runs a pass, and the passes that clean up after it over functions that it changed only.
template <typename First>
struct WithCleaning : llvm::PassInfoMixin<WithCleaning<First>> {
  WithCleaning(First pass, FunctionPassManager cleaning)
      : first(std::move(pass)), clean(std::move(cleaning)) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    llvm::PreservedAnalyses preserved = first.run(function, analyses);
    if (preserved.areAllPreserved()) return preserved;
    analyses.invalidate(function, preserved);
    preserved.intersect(clean.run(function, analyses));
    return preserved;
  }
  First first;
  FunctionPassManager clean;
};

// Drops the 0 that is added to the first term of unrolled loops.
using DropFirstZeros = OnFreeSums<llvm::InstSimplifyPass>;

void AddSimplification(FunctionPassManager& passes) {
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(Plain()));
  passes.addPass(OnFreeSums<llvm::ReassociatePass>());
  passes.addPass(llvm::EarlyCSEPass());
  {
    LoopPassManager loops;
    loops.addPass(llvm::LoopRotatePass(true, false));
    loops.addPass(Licm());
    passes.addPass(WithMemorySsa(std::move(loops)));
  }
  {
    LoopPassManager loops;
    loops.addPass(llvm::LoopIdiomRecognizePass());
    loops.addPass(llvm::LoopDeletionPass());
    loops.addPass(llvm::LoopFullUnrollPass(kLevel));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  }
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(NumberValues());
  passes.addPass(DropFirstZeros());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::MemCpyOptPass());
  passes.addPass(llvm::DSEPass());
  passes.addPass(Hoist());
  passes.addPass(llvm::SimplifyCFGPass(Plain().hoistCommonInsts(true).sinkCommonInsts(true)));
}

void AddVectorization(FunctionPassManager& passes) {
  passes.addPass(HoistInvariantDivisions());
  passes.addPass(LeaveLongLoops());
  FunctionPassManager clean_combined, clean_unrolled;
  passes.addPass(OnFreeSums<llvm::LoopVectorizePass>());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(Plain()
                                           .forwardSwitchCondToPhi(true)
                                           .convertSwitchToLookupTable(true)
                                           .needCanonicalLoops(false)
                                           .hoistCommonInsts(true)
                                           .sinkCommonInsts(true)));
  clean_combined.addPass(llvm::InstCombinePass());
  passes.addPass(WithCleaning(llvm::VectorCombinePass(), std::move(clean_combined)));
  clean_unrolled.addPass(DropFirstZeros());
  clean_unrolled.addPass(llvm::InstCombinePass());
  clean_unrolled.addPass(Hoist());
  passes.addPass(WithCleaning(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(kLevel)),
                              std::move(clean_unrolled)));
  passes.addPass(llvm::DivRemPairsPass());
  passes.addPass(llvm::SimplifyCFGPass(Plain().speculateUnpredictables(true)));
  passes.addPass(DropConstantMasks());
  passes.addPass(KeepOrder());
  passes.addPass(CutShuffleNetworks());
}

}  // namespace

FunctionPassManager KernelPasses() {
  FunctionPassManager passes;
  AddSimplification(passes);
  AddVectorization(passes);
  return passes;
}

FunctionPassManager QuickPasses() {
  FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(Plain()));
  passes.addPass(Hoist());
  passes.addPass(KeepOrder());
  passes.addPass(CutShuffleNetworks());
  return passes;
}

}  // namespace tenon::jit
