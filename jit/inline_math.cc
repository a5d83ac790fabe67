// exp(x) = 2^n exp(r) with n = round(x / ln 2) and r = x - n ln 2, where ln 2 is taken off in two
// parts (Cody and Waite, "Software Manual for the Elementary Functions", 1980). The polynomial for
// exp(r) on [-ln 2 / 2, ln 2 / 2] is the one of Moshier's Cephes library (expf.c).
#include "tenon/jit/inline_math.h"

#include "llvm/IR/IntrinsicsX86.h"

namespace tenon::jit {
namespace {

using llvm::Value;

// Adding and taking off 1.5 * 2^23 rounds a float to an integer, which then stands in its low bits.
constexpr double kRoundingShift = 12582912.0;
constexpr std::int64_t kRoundingShiftBits = 0x4B400000;
// Beyond these exp is infinite and 0.
constexpr double kHighest = 89;
constexpr double kLowest = -104;

}  // namespace

Value* EmitExp(llvm::IRBuilder<>& builder, Value* x, bool has_avx512) {
  llvm::Type* type = x->getType();
  llvm::Type* integers = type->getWithNewType(builder.getInt32Ty());
  const auto real = [&](double value) { return llvm::ConstantFP::get(type, value); };
  const auto integer = [&](std::int64_t value) {
    return llvm::ConstantInt::getSigned(integers, value);
  };
  const auto fma = [&](Value* a, Value* b, Value* c) {
    return builder.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type}, {a, b, c});
  };
  // A sum around this may be added up in another order, but the steps below may not.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  llvm::FastMathFlags flags = builder.getFastMathFlags();
  flags.setAllowReassoc(false);
  builder.setFastMathFlags(flags);
  // In this form NaN passes, and each is one instruction.
  x = builder.CreateSelect(builder.CreateFCmpOGT(x, real(kHighest)), real(kHighest), x);
  x = builder.CreateSelect(builder.CreateFCmpOLT(x, real(kLowest)), real(kLowest), x);
  Value* shifted = fma(x, real(1.44269504088896341), real(kRoundingShift));
  Value* n = builder.CreateFSub(shifted, real(kRoundingShift));
  Value* r = fma(n, real(-0.693359375), x);
  r = fma(n, real(2.12194440e-4), r);
  Value* p = real(1.9875691500e-4);
  for (const double coefficient :
       {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1})
    p = fma(p, r, real(coefficient));
  p = fma(p, builder.CreateFMul(r, r), r);
  p = builder.CreateFAdd(p, real(1));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (has_avx512 && vector != nullptr && vector->getNumElements() == 16) {
    constexpr int kCurrentRounding = 4;
    return builder.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
        {p, n, p, builder.getInt16(0xFFFF), builder.getInt32(kCurrentRounding)});
  }
  // n may be 128, which no float's exponent holds: half of it each time.
  Value* exponent =
      builder.CreateSub(builder.CreateBitCast(shifted, integers), integer(kRoundingShiftBits));
  Value* half = builder.CreateAShr(exponent, integer(1));
  const auto power = [&](Value* e) {
    return builder.CreateBitCast(builder.CreateShl(builder.CreateAdd(e, integer(127)), integer(23)),
                                 type);
  };
  p = builder.CreateFMul(p, power(half));
  return builder.CreateFMul(p, power(builder.CreateSub(exponent, half)));
}

}  // namespace tenon::jit
