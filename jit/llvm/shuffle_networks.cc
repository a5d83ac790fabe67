// For each shuffle, LLVM's selection of instructions for x86 tries to join it with those before it,
// through all of their operands (combineX86ShufflesRecursively). A transposition of 16 x 16 numbers
// has four layers of 16 shuffles. Its selection takes 7.4 ms, and 1.8 ms when no shuffle has more
// than one layer before it.
#include "tenon/jit/llvm/shuffle_networks.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "tenon/jit/llvm/opaque_value.h"

namespace tenon::jit {
namespace {

// A few shuffles are selected quickly, and may be joined for good.
constexpr std::size_t kMinShuffles = 16;
constexpr int kLayers = 2;  // that are selected together

using llvm::ShuffleVectorInst;

// Whether it takes lanes of two registers, each of which inline assembly can name.
bool IsOfRegisters(const ShuffleVectorInst& shuffle, std::uint64_t register_bits) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(shuffle.getType());
  if (type == nullptr || type != shuffle.getOperand(0)->getType()) return false;
  const llvm::Type* element = type->getElementType();
  const bool is_number = element->isFloatTy() || element->isDoubleTy() || element->isIntegerTy(8) ||
                         element->isIntegerTy(16) || element->isIntegerTy(32) ||
                         element->isIntegerTy(64);
  const std::uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  const bool is_register = bits == 128 || bits == 256 || bits == 512;
  return is_number && is_register && bits <= register_bits &&
         !llvm::isa<llvm::Constant>(shuffle.getOperand(1));
}

bool IsShuffledAgain(const ShuffleVectorInst& shuffle) {
  return std::ranges::any_of(
      shuffle.users(), [](const llvm::User* user) { return llvm::isa<ShuffleVectorInst>(user); });
}

void Cut(const std::vector<ShuffleVectorInst*>& shuffles) {
  llvm::DenseMap<const llvm::Value*, int> layers;
  for (ShuffleVectorInst* shuffle : shuffles) {
    const int layer =
        1 + std::max(layers.lookup(shuffle->getOperand(0)), layers.lookup(shuffle->getOperand(1)));
    layers[shuffle] = layer;
    if (layer < kLayers || !IsShuffledAgain(*shuffle)) continue;
    llvm::IRBuilder<> builder(shuffle->getNextNode());
    llvm::Value* opaque = EmitOpaque(builder, shuffle, 'v');
    shuffle->replaceUsesWithIf(opaque,
                               [&](const llvm::Use& use) { return use.getUser() != opaque; });
  }
}

}  // namespace

llvm::PreservedAnalyses CutShuffleNetworks::run(llvm::Function& function,
                                                llvm::FunctionAnalysisManager& analyses) const {
  if (!llvm::Triple(function.getParent()->getTargetTriple()).isX86())
    return llvm::PreservedAnalyses::all();
  const std::uint64_t register_bits =
      analyses.getResult<llvm::TargetIRAnalysis>(function)
          .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
          .getFixedValue();
  for (llvm::BasicBlock& block : function) {
    std::vector<ShuffleVectorInst*> shuffles;
    for (llvm::Instruction& instruction : block) {
      auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction);
      if (shuffle != nullptr && IsOfRegisters(*shuffle, register_bits)) shuffles.push_back(shuffle);
    }
    if (shuffles.size() >= kMinShuffles) Cut(shuffles);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace tenon::jit
