// x = 2^e m with m in [3/4, 3/2), so that e is 0 around 1, where the result is small. The leading
// bits of m choose c, about 1 / m, from a table that one register holds; log x = e ln 2 - log c +
// log(c m), and for c m - 1 the series of the logarithm needs six terms (Tang, "Table-driven
// implementation of the logarithm function in IEEE floating-point arithmetic", 1990). Next to 1 c
// is 1, which keeps small results exact to their last bits.
//
// 0 has the exponent minus infinity, infinity its own, and negative numbers the significand NaN.
#include <cmath>

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/llvm/inline_arithmetic.h"
#include "tenon/jit/llvm/inline_math.h"

namespace tenon::jit {
namespace {

using llvm::Value;

constexpr double kLn2 = 0.69314718055994531;
// What the instruction for significands is told: they are in [3/4, 3/2), and NaN for negative
// numbers.
constexpr int kFromThreeQuarters = 3, kNanIfNegative = 2 << 2;
// Bits of a float's fraction below the four that number the table's entries.
constexpr std::int64_t kBitsBelow = 19;

struct Reciprocals {
  Table reciprocals, logarithms;  // c, and -log c
};

Reciprocals MakeReciprocals() {
  Reciprocals made;
  for (unsigned i = 0; i < kTableSize; ++i) {
    const bool next_to_one = i == 0 || i == kTableSize - 1;
    const double middle = 1 + (i + 0.5) / kTableSize, m = i < kTableSize / 2 ? middle : middle / 2;
    made.reciprocals[i] = next_to_one ? 1.0F : static_cast<float>(1 / m);
    made.logarithms[i] =
        next_to_one ? 0.0F
                    : static_cast<float>(-std::log(static_cast<double>(made.reciprocals[i])));
  }
  return made;
}

Value* Logarithm(llvm::IRBuilder<>& builder, const Reciprocals& tables, Value* x) {
  llvm::Type* type = x->getType();
  const Arithmetic math(builder, type);
  Value* all = builder.getInt16(0xFFFF);
  Value* rounding = builder.getInt32(kCurrentRounding);
  const auto exponent_of = [&](Value* v) {
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, {},
                                   {v, v, all, rounding});
  };
  Value* m = builder.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {},
      {x, builder.getInt32(kFromThreeQuarters | kNanIfNegative), x, all, rounding});
  Value* e = builder.CreateFSub(exponent_of(x), exponent_of(m));
  llvm::Type* integers = type->getWithNewType(builder.getInt32Ty());
  Value* number = builder.CreateLShr(builder.CreateBitCast(m, integers),
                                     llvm::ConstantInt::get(integers, kBitsBelow));
  Value* r = math.Fma(m, math.LookUp(tables.reciprocals, number), math.Real(-1));
  Value* p = math.Real(-1.0 / 6);
  for (const double coefficient : {1.0 / 5, -1.0 / 4, 1.0 / 3, -1.0 / 2})
    p = math.Fma(p, r, math.Real(coefficient));
  p = math.Fma(p, builder.CreateFMul(r, r), r);
  return builder.CreateFAdd(math.Fma(e, kLn2, math.LookUp(tables.logarithms, number)), p);
}

}  // namespace

Value* EmitLog(llvm::IRBuilder<>& builder, Value* x) {
  static const Reciprocals kTables = MakeReciprocals();
  return ByRegisters(builder, x, [&](Value* lanes) { return Logarithm(builder, kTables, lanes); });
}

}  // namespace tenon::jit
