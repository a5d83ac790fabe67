#include "tenon/jit/llvm/vector_pieces.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "llvm/ADT/SmallVector.h"

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

Value* PickBits(llvm::IRBuilder<>& builder, Value* mask, llvm::ArrayRef<int> places) {
  const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(mask);
  if (both != nullptr && both->getOpcode() == llvm::Instruction::And) {
    return builder.CreateAnd(PickBits(builder, both->getOperand(0), places),
                             PickBits(builder, both->getOperand(1), places));
  }
  return builder.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), places);
}

}  // namespace tenon::jit
