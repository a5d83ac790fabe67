// exp(x) = 2^n exp(r), where n ln 2 is taken off x in two parts (Cody and Waite, "Software Manual
// for the Elementary Functions", 1980).
//
// With n whole, |r| is at most ln 2 / 2, and the polynomial is the one of Moshier's Cephes library
// (expf.c). With n in sixteenths it is at most ln 2 / 32, where degree 3 does, and the power of the
// sixteenth comes from a table (Tang, "Table-driven implementation of the exponential function in
// IEEE floating-point arithmetic", 1989) that one register holds.
#include "tenon/jit/inline_math.h"

#include <array>
#include <cmath>

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/vector_pieces.h"

namespace tenon::jit {
namespace {

using llvm::Value;

constexpr double kLog2E = 1.44269504088896341;
// Adding and taking off 1.5 * 2^23 rounds a float to an integer, which then stands in its low bits.
constexpr double kRoundingShift = 12582912.0;
constexpr std::int64_t kRoundingShiftBits = 0x4B400000;
// Beyond these exp is infinite and 0.
constexpr double kHighest = 89;
constexpr double kLowest = -104;
// Entries of the table: floats of a register of AVX-512.
constexpr unsigned kPowers = 16;
// The unit of AVX-512 keeps the rounding mode that it is in.
constexpr int kCurrentRounding = 4;

// Arithmetic on values of one type, as it is written: sums are not added up in another order.
class Arithmetic {
 public:
  Arithmetic(llvm::IRBuilder<>& builder, llvm::Type* type)
      : builder_(builder), type_(type), guard_(builder) {
    llvm::FastMathFlags flags = builder.getFastMathFlags();
    flags.setAllowReassoc(false);
    builder.setFastMathFlags(flags);
  }

  Value* Real(double value) const { return llvm::ConstantFP::get(type_, value); }
  Value* Fma(Value* a, Value* b, Value* c) const {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {a, b, c});
  }
  Value* Fma(Value* a, double b, Value* c) const { return Fma(a, Real(b), c); }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
};

llvm::Constant* PowersOfTwo(llvm::LLVMContext& context) {
  std::array<float, kPowers> powers;
  for (unsigned i = 0; i < kPowers; ++i)
    powers[i] = static_cast<float>(std::exp2(static_cast<double>(i) / kPowers));
  return llvm::ConstantDataVector::get(context, powers);
}

Value* ExpByTable(llvm::IRBuilder<>& builder, Value* x) {
  const Arithmetic math(builder, x->getType());
  const auto intrinsic = [&](llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> args) {
    return builder.CreateIntrinsic(id, {}, args);
  };
  Value* all = builder.getInt16(0xFFFF);
  Value* rounding = builder.getInt32(kCurrentRounding);
  constexpr double kShift = kRoundingShift / kPowers;
  Value* shifted = math.Fma(x, kLog2E, math.Real(kShift));
  Value* n = builder.CreateFSub(shifted, math.Real(kShift));
  Value* r = math.Fma(n, -0.693147182464599609375, x);
  r = math.Fma(n, 1.904654299957768e-9, r);
  // Infinity less infinity and what numbers beyond all powers leave: any small number will do, as
  // the scaling by n gives infinity or 0. Where x is NaN so is n.
  constexpr int kLesserMagnitude = 2;
  r = intrinsic(llvm::Intrinsic::x86_avx512_mask_range_ps_512,
                {r, math.Real(0.03125), builder.getInt32(kLesserMagnitude), r, all, rounding});
  // The lowest bits say which sixteenth.
  Value* index =
      builder.CreateBitCast(shifted, llvm::FixedVectorType::get(builder.getInt32Ty(), kPowers));
  Value* power = intrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512,
                           {PowersOfTwo(builder.getContext()), index});
  // exp(r) - 1; the quadratic coefficient makes up for the quartic one.
  Value* p = math.Fma(r, 1.0 / 6, math.Real(0.5000162));
  p = math.Fma(p, builder.CreateFMul(r, r), r);
  p = math.Fma(power, p, power);
  return intrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {p, n, p, all, rounding});
}

Value* ExpByPolynomial(llvm::IRBuilder<>& builder, Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* integers = type->getWithNewType(builder.getInt32Ty());
  const Arithmetic math(builder, type);
  const auto integer = [&](std::int64_t value) {
    return llvm::ConstantInt::getSigned(integers, value);
  };
  // In this form NaN passes, and each is one instruction.
  x = builder.CreateSelect(builder.CreateFCmpOGT(x, math.Real(kHighest)), math.Real(kHighest), x);
  x = builder.CreateSelect(builder.CreateFCmpOLT(x, math.Real(kLowest)), math.Real(kLowest), x);
  Value* shifted = math.Fma(x, kLog2E, math.Real(kRoundingShift));
  Value* n = builder.CreateFSub(shifted, math.Real(kRoundingShift));
  Value* r = math.Fma(n, -0.693359375, x);
  r = math.Fma(n, 2.12194440e-4, r);
  Value* p = math.Real(1.9875691500e-4);
  for (const double coefficient :
       {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1})
    p = math.Fma(p, r, math.Real(coefficient));
  p = math.Fma(p, builder.CreateFMul(r, r), r);
  p = builder.CreateFAdd(p, math.Real(1));
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

}  // namespace

Value* EmitExp(llvm::IRBuilder<>& builder, Value* x, bool by_table) {
  if (!by_table) return ExpByPolynomial(builder, x);
  // Fewer than a register's floats are some of its lanes, so that all counts give the same bits.
  if (!x->getType()->isVectorTy()) {
    auto* lanes = llvm::FixedVectorType::get(x->getType(), kPowers);
    x = builder.CreateInsertElement(llvm::PoisonValue::get(lanes), x, std::uint64_t{0});
    return builder.CreateExtractElement(ExpByTable(builder, x), std::uint64_t{0});
  }
  const unsigned lanes = LanesOf(x);
  const unsigned whole = (lanes + kPowers - 1) / kPowers * kPowers;
  x = Resized(builder, x, whole);
  Value* result = ByPieces(builder, whole, kPowers, [&](unsigned first) {
    return ExpByTable(builder, Piece(builder, x, first, kPowers));
  });
  return Resized(builder, result, lanes);
}

}  // namespace tenon::jit
