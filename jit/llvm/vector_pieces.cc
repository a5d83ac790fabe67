#include "tenon/jit/llvm/vector_pieces.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ranges>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

namespace tenon::jit {

using llvm::FixedVectorType;
using llvm::Value;

unsigned LanesOf(const Value* vector) {
  return llvm::cast<FixedVectorType>(vector->getType())->getNumElements();
}

Value* Piece(llvm::IRBuilder<>& builder, Value* vector, unsigned first, unsigned lanes) {
  if (LanesOf(vector) == lanes) return vector;
  if (lanes == 1) return builder.CreateExtractElement(vector, std::uint64_t{first});
  auto* type = FixedVectorType::get(vector->getType()->getScalarType(), lanes);
  return builder.CreateExtractVector(type, vector, builder.getInt64(first));
}

Value* Resized(llvm::IRBuilder<>& builder, Value* vector, unsigned lanes) {
  const unsigned had = LanesOf(vector);
  if (had == lanes) return vector;
  llvm::SmallVector<int> picks(lanes, -1);
  std::iota(picks.begin(), picks.begin() + std::min(had, lanes), 0);
  return builder.CreateShuffleVector(vector, picks);
}

Value* ByPieces(llvm::IRBuilder<>& builder, unsigned lanes, unsigned chunk,
                const std::function<Value*(unsigned first)>& make) {
  if (lanes == chunk) return make(0);
  Value* joined = nullptr;
  for (unsigned first = 0; first < lanes; first += chunk) {
    Value* piece = make(first);
    if (joined == nullptr)
      joined =
          llvm::PoisonValue::get(FixedVectorType::get(piece->getType()->getScalarType(), lanes));
    joined = chunk == 1 ? builder.CreateInsertElement(joined, piece, std::uint64_t{first})
                        : builder.CreateInsertVector(joined->getType(), joined, piece,
                                                     builder.getInt64(first));
  }
  return joined;
}

namespace {

// The lanes of a side of a comparison, or nothing where it is neither one value nor a constant.
Value* PickSide(llvm::IRBuilder<>& builder, Value* side, llvm::ArrayRef<int> places) {
  if (Value* same = llvm::getSplatValue(side); same != nullptr)
    return builder.CreateVectorSplat(static_cast<unsigned>(places.size()), same);
  return llvm::isa<llvm::Constant>(side) ? builder.CreateShuffleVector(side, places) : nullptr;
}

// The results of a comparison at these places, false beyond its end; or nothing where its sides do
// not say them.
Value* PickCompared(llvm::IRBuilder<>& builder, const llvm::ICmpInst& compared,
                    llvm::ArrayRef<int> places) {
  const auto lanes = static_cast<int>(LanesOf(&compared));
  llvm::SmallVector<int> inside;
  llvm::SmallVector<llvm::Constant*> exists;
  for (const int place : places) {
    inside.push_back(place < lanes ? place : 0);
    exists.push_back(builder.getInt1(place < lanes));
  }
  Value* left = PickSide(builder, compared.getOperand(0), inside);
  Value* right = PickSide(builder, compared.getOperand(1), inside);
  if (left == nullptr || right == nullptr) return nullptr;
  Value* picked = builder.CreateICmp(compared.getPredicate(), left, right);
  llvm::Constant* all = llvm::ConstantVector::get(exists);
  return all->isAllOnesValue() ? picked : builder.CreateAnd(picked, all);
}

}  // namespace

// LLVM 19 moves the bits of a mask one by one. So if the mask is a comparison, such as that of the
// first n lanes, the lanes of its sides are picked and compared again.
Value* PickBits(llvm::IRBuilder<>& builder, Value* mask, llvm::ArrayRef<int> places) {
  if (std::ranges::equal(places, std::views::iota(0, static_cast<int>(LanesOf(mask))))) return mask;
  const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(mask);
  if (both != nullptr && both->getOpcode() == llvm::Instruction::And) {
    return builder.CreateAnd(PickBits(builder, both->getOperand(0), places),
                             PickBits(builder, both->getOperand(1), places));
  }
  if (const auto* compared = llvm::dyn_cast<llvm::ICmpInst>(mask); compared != nullptr) {
    if (Value* picked = PickCompared(builder, *compared, places)) return picked;
  }
  return builder.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), places);
}

}  // namespace tenon::jit
