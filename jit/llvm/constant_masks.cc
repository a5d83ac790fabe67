// AVX2 has no masked moves of bytes and 16-bit elements, and its masked stores of wider ones take
// some forty operations on AMD's CPUs before Zen 4 (Fog, "Instruction tables", VMASKMOVPS).
//
// Even under a condition there is no branch. If it is false, a load reads zeros, and a store writes
// to memory that nobody reads.
#include "tenon/jit/llvm/constant_masks.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "tenon/jit/llvm/llvm_versions.h"

namespace tenon::jit {
namespace {

using llvm::Value;

// These lanes, all of them if `condition` is true, or null.
struct KnownLanes {
  Value* condition = nullptr;
  std::vector<bool> lanes;
};

// Where the lanes begin and how many there are, if they are one run.
std::optional<std::pair<unsigned, unsigned>> RunOf(const std::vector<bool>& lanes) {
  const auto first = std::ranges::find(lanes, true);
  const auto end = std::find(first, lanes.end(), false);
  if (first == end || std::find(end, lanes.end(), true) != lanes.end()) return std::nullopt;
  return std::pair(static_cast<unsigned>(first - lanes.begin()),
                   static_cast<unsigned>(end - first));
}

// Whether all lanes are zero, or undefined.
bool IsZero(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return false;
  const unsigned count = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  for (unsigned lane = 0; lane < count; ++lane) {
    const llvm::Constant* element = constant->getAggregateElement(lane);
    const bool is_zero =
        element != nullptr && (element->isNullValue() || llvm::isa<llvm::UndefValue>(element));
    if (!is_zero) return false;
  }
  return true;
}

// The lanes that both have, if both are known.
std::optional<KnownLanes> Both(llvm::IRBuilder<>& builder, const std::optional<KnownLanes>& a,
                               const std::optional<KnownLanes>& b) {
  if (!a || !b) return std::nullopt;
  KnownLanes both = *a;
  for (std::size_t lane = 0; lane < both.lanes.size(); ++lane)
    both.lanes[lane] = both.lanes[lane] && b->lanes[lane];
  if (a->condition == nullptr) {
    both.condition = b->condition;
  } else if (b->condition != nullptr) {
    both.condition = builder.CreateLogicalAnd(a->condition, b->condition);
  }
  return both;
}

// The lanes and the condition whose conjunction `mask` is.
std::optional<KnownLanes> KnownLanesOf(llvm::IRBuilder<>& builder, Value* mask) {
  namespace match = llvm::PatternMatch;
  const unsigned count = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(mask)) {
    KnownLanes known{nullptr, std::vector<bool>(count, false)};
    for (unsigned lane = 0; lane < count; ++lane) {
      const llvm::Constant* bit = constant->getAggregateElement(lane);
      if (bit == nullptr) return std::nullopt;
      known.lanes[lane] = bit->isOneValue();
    }
    return known;
  }
  if (Value* splat = llvm::getSplatValue(mask))
    return KnownLanes{splat, std::vector<bool>(count, true)};
  if (const auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(mask)) {
    // A splat that a shuffle is still to spread.
    const auto* lane = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (lane == nullptr || lane->getZExtValue() >= count ||
        !llvm::isa<llvm::UndefValue>(insert->getOperand(0)))
      return std::nullopt;
    KnownLanes known{insert->getOperand(1), std::vector<bool>(count, false)};
    known.lanes[lane->getZExtValue()] = true;
    return known;
  }
  if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(mask)) {
    // A piece of a mask; what it is filled up with is false.
    const std::optional<KnownLanes> known = KnownLanesOf(builder, shuffle->getOperand(0));
    if (!known || !IsZero(shuffle->getOperand(1))) return std::nullopt;
    KnownLanes picked{known->condition, std::vector<bool>(count, false)};
    for (unsigned lane = 0; lane < count; ++lane) {
      const int from = shuffle->getMaskValue(lane);
      const bool is_filled = from < 0 || static_cast<std::size_t>(from) >= known->lanes.size();
      picked.lanes[lane] = !is_filled && known->lanes[static_cast<std::size_t>(from)];
    }
    return picked;
  }
  Value *a = nullptr, *b = nullptr;
  if (match::match(mask, match::m_Select(match::m_Value(a), match::m_Value(b), match::m_Zero())) &&
      a->getType()->isIntegerTy(1))
    return Both(builder, KnownLanes{a, std::vector<bool>(count, true)}, KnownLanesOf(builder, b));
  if (match::match(mask, match::m_LogicalAnd(match::m_Value(a), match::m_Value(b))))
    return Both(builder, KnownLanesOf(builder, a), KnownLanesOf(builder, b));
  return std::nullopt;
}

Value* MaskOf(const llvm::IntrinsicInst& move) {
  for (const llvm::Use& argument : move.args()) {
    if (argument->getType()->isVectorTy() && argument->getType()->isIntOrIntVectorTy(1))
      return argument;
  }
  return nullptr;
}

class MaskedMove {
 public:
  explicit MaskedMove(llvm::IntrinsicInst* move)
      : move_(move),
        is_load_(move->getIntrinsicID() == llvm::Intrinsic::masked_load),
        builder_(move),
        pointer_(move->getArgOperand(is_load_ ? 0 : 1)),
        mask_(MaskOf(*move)),
        align_(AlignmentOf(*move, is_load_ ? 0 : 1)),
        type_(llvm::cast<llvm::FixedVectorType>(is_load_ ? move->getType()
                                                         : move->getArgOperand(0)->getType())) {}

  bool IsSlow(const llvm::TargetTransformInfo& target) const {
    if (is_load_) return !HasMaskedLoad(target, type_, align_);
    return !target.isLegalMaskedCompressStore(type_, align_);  // AVX-512 has both
  }

  // Whether the move was replaced.
  bool Replace() {
    if (is_load_ && !IsZero(move_->getArgOperand(move_->arg_size() - 1))) return false;
    const std::optional<KnownLanes> known = KnownLanesOf(builder_, mask_);
    const auto run = known ? RunOf(known->lanes) : std::nullopt;
    if (!run) return false;
    const auto [first, count] = *run;
    llvm::Type* element = type_->getElementType();
    part_ = llvm::FixedVectorType::get(element, count);
    const llvm::DataLayout& layout = move_->getModule()->getDataLayout();
    align_ = llvm::commonAlignment(align_, first * layout.getTypeStoreSize(element));
    pointer_ = builder_.CreateConstInBoundsGEP1_64(element, pointer_, first);
    if (known->condition != nullptr)
      pointer_ = builder_.CreateSelect(known->condition, pointer_, is_load_ ? Zeros() : Scratch());
    llvm::Instruction* plain = is_load_ ? Load(first) : Store(first);
    plain->copyMetadata(*move_);
    move_->eraseFromParent();
    return true;
  }

 private:
  llvm::Instruction* Load(unsigned first) {
    llvm::LoadInst* load = builder_.CreateAlignedLoad(part_, pointer_, align_);
    const unsigned count = part_->getNumElements();
    llvm::SmallVector<int> lanes(type_->getNumElements(), static_cast<int>(count));  // zeros
    std::iota(lanes.begin() + first, lanes.begin() + first + count, 0);
    move_->replaceAllUsesWith(
        builder_.CreateShuffleVector(load, llvm::Constant::getNullValue(part_), lanes));
    return load;
  }
  llvm::Instruction* Store(unsigned first) {
    llvm::SmallVector<int> lanes(part_->getNumElements());
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    return builder_.CreateAlignedStore(builder_.CreateShuffleVector(move_->getArgOperand(0), lanes),
                                       pointer_, align_);
  }
  Value* Zeros() {
    return new llvm::GlobalVariable(*move_->getModule(), part_, /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage,
                                    llvm::Constant::getNullValue(part_), "zeros");
  }
  Value* Scratch() {
    llvm::BasicBlock& entry = move_->getFunction()->getEntryBlock();
    return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(part_, nullptr, "unread");
  }

  llvm::IntrinsicInst* const move_;
  const bool is_load_;
  llvm::IRBuilder<> builder_;
  Value* pointer_;
  Value* const mask_;
  llvm::Align align_;
  llvm::FixedVectorType* const type_;
  llvm::FixedVectorType* part_ = nullptr;
};

}  // namespace

llvm::PreservedAnalyses DropConstantMasks::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager& analyses) const {
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  std::vector<llvm::IntrinsicInst*> moves;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call != nullptr && (call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
                            call->getIntrinsicID() == llvm::Intrinsic::masked_store))
      moves.push_back(call);
  }
  bool changed = false;
  for (llvm::IntrinsicInst* call : moves) {
    MaskedMove move(call);
    if (move.IsSlow(target) && move.Replace()) changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace tenon::jit
