// LLVM's own type is not used: back ends without instructions for it call functions that not every
// C library has, even to take a vector apart. bfloat16 is the upper half of float32. Adding half of
// the last kept place, less one bit if that place is even, rounds to nearest with ties to even.
// float64 goes through float32 rounded to odd, which loses no information that the second rounding
// needs (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd", 2008).
#include "tenon/jit/llvm/bfloat16.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/llvm/vector_pieces.h"
#include "tenon/support/arithmetic.h"

namespace tenon::jit {
namespace {

using llvm::Value;

llvm::Type* LikeLanesOf(Value* value, llvm::Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? element
                           : llvm::FixedVectorType::get(element, vector->getNumElements());
}

Value* RoundToOddFloat32(llvm::IRBuilder<>& builder, Value* value) {
  llvm::Type* words = LikeLanesOf(value, builder.getInt32Ty());
  Value* near = builder.CreateFPTrunc(value, LikeLanesOf(value, builder.getFloatTy()));
  Value* back = builder.CreateFPExt(near, value->getType());
  Value* bits = builder.CreateBitCast(near, words);
  Value* is_even = builder.CreateICmpEQ(builder.CreateAnd(bits, llvm::ConstantInt::get(words, 1)),
                                        llvm::ConstantInt::get(words, 0));
  Value* too_large =
      builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                            builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  Value* step = builder.CreateSelect(too_large, llvm::ConstantInt::getSigned(words, -1),
                                     llvm::ConstantInt::get(words, 1));
  Value* adjust = builder.CreateAnd(is_even, builder.CreateFCmpONE(back, value));
  return builder.CreateBitCast(builder.CreateSelect(adjust, builder.CreateAdd(bits, step), bits),
                               near->getType());
}

// The instruction itself, on whole registers: LLVM 19 folds the truncation of a constant lane to a
// bfloat that it cannot select where it takes the vector apart.
Value* ByInstruction(llvm::IRBuilder<>& builder, Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  constexpr unsigned kMin = 8;
  if (vector == nullptr) {
    auto* zeros =
        llvm::Constant::getNullValue(llvm::FixedVectorType::get(builder.getFloatTy(), kMin));
    Value* one = builder.CreateInsertElement(zeros, value, std::uint64_t{0});
    return Piece(builder, ByInstruction(builder, one), 0, 1);
  }
  const unsigned lanes = vector->getNumElements();
  const unsigned chunk = lanes <= kMin ? kMin : 16;
  const unsigned padded = RoundUp(lanes, chunk);
  const auto instruction = chunk == kMin ? llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_256
                                         : llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512;
  auto* bits_type = llvm::FixedVectorType::get(builder.getInt16Ty(), chunk);
  Value* floats = Resized(builder, value, padded);
  Value* bits = ByPieces(builder, padded, chunk, [&](unsigned first) {
    Value* halves =
        builder.CreateIntrinsic(instruction, {}, {Piece(builder, floats, first, chunk)});
    return builder.CreateBitCast(halves, bits_type);
  });
  return Resized(builder, bits, lanes);
}

}  // namespace

Value* ToBfloat16(llvm::IRBuilder<>& builder, Value* value, bool native) {
  if (value->getType()->getScalarType()->isDoubleTy()) value = RoundToOddFloat32(builder, value);
  if (native) return ByInstruction(builder, value);
  llvm::Type* halves = LikeLanesOf(value, builder.getInt16Ty());
  llvm::Type* words = LikeLanesOf(value, builder.getInt32Ty());
  const auto word = [&](std::uint64_t bits) { return llvm::ConstantInt::get(words, bits); };
  Value* bits = builder.CreateBitCast(value, words);
  Value* last = builder.CreateAnd(builder.CreateLShr(bits, word(16)), word(1));
  Value* rounded = builder.CreateAdd(bits, builder.CreateAdd(last, word(0x7fff)));
  Value* quiet_nan = builder.CreateOr(bits, word(0x400000));
  Value* kept = builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet_nan, rounded);
  return builder.CreateTrunc(builder.CreateLShr(kept, word(16)), halves);
}

Value* FromBfloat16(llvm::IRBuilder<>& builder, Value* bits) {
  llvm::Type* words = LikeLanesOf(bits, builder.getInt32Ty());
  Value* upper =
      builder.CreateShl(builder.CreateZExt(bits, words), llvm::ConstantInt::get(words, 16));
  return builder.CreateBitCast(upper, LikeLanesOf(bits, builder.getFloatTy()));
}

}  // namespace tenon::jit
