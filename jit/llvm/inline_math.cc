// exp(x) = 2^n exp(r), where n ln 2 is taken off x in two parts (Cody and Waite, "Software Manual
// for the Elementary Functions", 1980).
//
// With n whole, |r| is at most ln 2 / 2, and the polynomial is the one of Moshier's Cephes library
// (expf.c). With n in sixteenths it is at most ln 2 / 32, where degree 3 does, and the power of the
// sixteenth comes from a table (Tang, "Table-driven implementation of the exponential function in
// IEEE floating-point arithmetic", 1989) that one register holds.
#include "tenon/jit/llvm/inline_math.h"

#include <cmath>
#include <cstdint>

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/llvm/inline_arithmetic.h"

namespace tenon::jit {
namespace {

using llvm::Value;

constexpr double kLog2E = 1.44269504088896341;
constexpr std::int64_t kRoundingShiftBits = 0x4B400000;
// Beyond these exp is infinite and 0.
constexpr double kHighest = 89;
constexpr double kLowest = -104;

Table PowersOfTwo() {
  Table powers;
  for (unsigned i = 0; i < kTableSize; ++i)
    powers[i] = static_cast<float>(std::exp2(static_cast<double>(i) / kTableSize));
  return powers;
}

Value* ExpByTable(llvm::IRBuilder<>& builder, Value* x) {
  const Arithmetic math(builder, x->getType());
  const auto intrinsic = [&](llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> args) {
    return builder.CreateIntrinsic(id, {}, args);
  };
  Value* all = builder.getInt16(0xFFFF);
  Value* rounding = builder.getInt32(kCurrentRounding);
  constexpr double kShift = kRoundingShift / kTableSize;
  Value* shifted = math.Fma(x, kLog2E, math.Real(kShift));
  Value* n = builder.CreateFSub(shifted, math.Real(kShift));
  Value* r = math.Fma(n, -0.693147182464599609375, x);
  r = math.Fma(n, 1.904654299957768e-9, r);
  // r may be infinity less infinity, or what numbers beyond all powers leave. Any small number will
  // do for it, since the scaling by n gives infinity or 0. If x is NaN, so is n.
  constexpr int kLesserMagnitude = 2;
  r = intrinsic(llvm::Intrinsic::x86_avx512_mask_range_ps_512,
                {r, math.Real(0.03125), builder.getInt32(kLesserMagnitude), r, all, rounding});
  // The lowest bits say which sixteenth.
  Value* power = math.LookUp(PowersOfTwo(), shifted);
  // exp(r) - 1; the quadratic coefficient makes up for the quartic one.
  Value* p = math.Fma(r, 1.0 / 6, math.Real(0.5000162));
  p = math.Fma(p, builder.CreateFMul(r, r), r);
  p = math.Fma(power, p, power);
  return intrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {p, n, p, all, rounding});
}

// exp(x) = (1 + rest) * 2^n.
struct Reduced {
  Value* rest;
  Value* n;  // as an integer, 0x4B400000 above it
};

// The coefficients' sums in pairs (Estrin, "Organization of computer systems", 1960) are ready in
// half of the time of one after the other, and other vectors wait for that: few of them fit beside
// each other into the window of instructions that the CPU reorders.
Reduced ReduceAndSum(llvm::IRBuilder<>& builder, Value* x, double lowest) {
  const Arithmetic math(builder, x->getType());
  x = math.AtLeast(math.AtMost(x, kHighest), lowest);
  Value* shifted = math.Fma(x, kLog2E, math.Real(kRoundingShift));
  Value* n = builder.CreateFSub(shifted, math.Real(kRoundingShift));
  Value* r = math.Fma(n, -0.693359375, x);
  r = math.Fma(n, 2.12194440e-4, r);
  Value* square = builder.CreateFMul(r, r);
  const auto pair = [&](double high, double low) { return math.Fma(r, high, math.Real(low)); };
  Value* p = math.Fma(pair(1.9875691500e-4, 1.3981999507e-3), square,
                      pair(8.3334519073e-3, 4.1665795894e-2));
  p = math.Fma(p, square, pair(1.6666665459e-1, 5.0000001201e-1));
  llvm::Type* integers = x->getType()->getWithNewType(builder.getInt32Ty());
  return {math.Fma(p, square, r), builder.CreateBitCast(shifted, integers)};
}

// 2^e for e from -127, which gives 0, to 128, which gives infinity. Bits of `e` above the lowest
// nine do not matter.
Value* PowerOfTwo(llvm::IRBuilder<>& builder, Value* e) {
  const auto integer = [&](std::int64_t value) {
    return llvm::ConstantInt::getSigned(e->getType(), value);
  };
  Value* bits = builder.CreateShl(builder.CreateAdd(e, integer(127)), integer(23));
  return builder.CreateBitCast(bits, e->getType()->getWithNewType(builder.getFloatTy()));
}

Value* ExpByPolynomial(llvm::IRBuilder<>& builder, Value* x) {
  const auto [rest, shifted] = ReduceAndSum(builder, x, kLowest);
  const Arithmetic math(builder, x->getType());
  // n may be 128, which no float's exponent holds: half of it each time.
  const auto integer = [&](std::int64_t value) {
    return llvm::ConstantInt::getSigned(shifted->getType(), value);
  };
  Value* n = builder.CreateSub(shifted, integer(kRoundingShiftBits));
  Value* half = builder.CreateAShr(n, integer(1));
  Value* power = PowerOfTwo(builder, half);
  return builder.CreateFMul(math.Fma(rest, power, power),
                            PowerOfTwo(builder, builder.CreateSub(n, half)));
}

// exp where it is added to 1: powers need not be exact below 2^-126 and above 2^127.
Value* ExpBesideOne(llvm::IRBuilder<>& builder, Value* x) {
  constexpr double kNoSummand = -87;
  const auto [rest, n] = ReduceAndSum(builder, x, kNoSummand);
  const Arithmetic math(builder, x->getType());
  return builder.CreateFMul(builder.CreateFAdd(rest, math.Real(1)), PowerOfTwo(builder, n));
}

}  // namespace

Value* EmitExp(llvm::IRBuilder<>& builder, Value* x, bool by_table) {
  if (!by_table) return ExpByPolynomial(builder, x);
  return ByRegisters(builder, x, [&](Value* lanes) { return ExpByTable(builder, lanes); });
}

Value* EmitSigmoid(llvm::IRBuilder<>& builder, Value* x, bool by_table) {
  const Arithmetic math(builder, x->getType());
  Value* negative = builder.CreateFNeg(x);
  Value* decay = by_table ? EmitExp(builder, negative, by_table) : ExpBesideOne(builder, negative);
  return builder.CreateFDiv(math.Real(1), builder.CreateFAdd(math.Real(1), decay));
}

}  // namespace tenon::jit
