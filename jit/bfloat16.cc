// LLVM's own type is not used: back ends without instructions for it call functions that not every
// C library has, even to take a vector apart. bfloat16 is the upper half of float32: adding half of
// the last kept place, less one bit where that place is even, rounds to nearest with ties to even.
// float64 goes through float32 rounded to odd, which loses no information that the second rounding
// needs (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd", 2008).
#include "tenon/jit/bfloat16.h"

#include "llvm/IR/Intrinsics.h"

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

}  // namespace

Value* ToBfloat16(llvm::IRBuilder<>& builder, Value* value, bool native) {
  if (value->getType()->getScalarType()->isDoubleTy()) value = RoundToOddFloat32(builder, value);
  llvm::Type* halves = LikeLanesOf(value, builder.getInt16Ty());
  if (native) {
    llvm::Type* target = LikeLanesOf(value, builder.getBFloatTy());
    return builder.CreateBitCast(builder.CreateFPTrunc(value, target), halves);
  }
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
