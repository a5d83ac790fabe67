// Errors grow as the functions' derivatives say: a function with the Lipschitz constant L turns an
// error e into L * e, and rounds once more (by a few units in the last place for vector
// mathematics).
#include "tenon/verify/draw/random_expr.h"

#include <algorithm>
#include <cmath>

#include "tenon/te/math.h"

namespace tenon::verify {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::Intrinsic;

constexpr double kMaxMagnitude = 64;  // magnitudes of floating values stay below
constexpr double kUnitsOfMath = 16;   // roundings by which vector mathematics may be off

double Highest(DataType type) {
  if (type.is_bool()) return 1;
  return std::ldexp(1, type.is_uint() ? type.bits() : type.bits() - 1);
}

Expr Number(DataType type, double value) { return te::Cast(type, value); }

struct SmoothFunction {
  Intrinsic intrinsic;
  double limit;      // of the argument's magnitude
  double lipschitz;  // within it
  double bound;      // of the result
  double offset;     // if positive, the argument is |x| + offset
};

const std::vector<SmoothFunction>& SmoothFunctions() {
  static const std::vector<SmoothFunction>& functions = *new std::vector<SmoothFunction>{
      {Intrinsic::kExp, 3, 21, 21, 0},       {Intrinsic::kLog, 64, 1, 4.2, 1},
      {Intrinsic::kLog2, 64, 1.5, 6.1, 1},   {Intrinsic::kLog10, 64, 0.5, 1.9, 1},
      {Intrinsic::kLog1p, 64, 1, 4.2, 0.25}, {Intrinsic::kSqrt, 64, 0.5, 8.1, 1},
      {Intrinsic::kRsqrt, 64, 0.5, 1, 1},    {Intrinsic::kSin, 64, 1, 1, 0},
      {Intrinsic::kCos, 64, 1, 1, 0},        {Intrinsic::kTan, 1, 3.5, 1.6, 0},
      {Intrinsic::kAsin, 0.5, 1.2, 0.6, 0},  {Intrinsic::kAcos, 0.5, 1.2, 2.2, 0},
      {Intrinsic::kAtan, 64, 1, 1.6, 0},     {Intrinsic::kSinh, 2, 3.8, 3.7, 0},
      {Intrinsic::kCosh, 2, 3.8, 3.8, 0},    {Intrinsic::kTanh, 64, 1, 1, 0},
      {Intrinsic::kAsinh, 64, 1, 4.9, 0},    {Intrinsic::kAcosh, 64, 0.6, 4.9, 2},
      {Intrinsic::kAtanh, 0.5, 1.4, 0.6, 0}, {Intrinsic::kErf, 64, 1.2, 1, 0},
      {Intrinsic::kSigmoid, 64, 0.25, 1, 0},
  };
  return functions;
}

double Rounding(const Term& t) { return RoundingError(t.value.dtype()); }

Term Smooth(const Term& a, Random& random) {
  const SmoothFunction& f = random.Of(SmoothFunctions());
  const DataType type = a.value.dtype();
  Term x = Within(a, f.limit);
  if (f.offset > 0) {
    x = Settled({te::Abs(x.value) + Number(type, f.offset), x.bound + f.offset, 0,
                 x.error + Rounding(x) * (x.bound + f.offset)});
  }
  return Settled({loop::Call(f.intrinsic, {x.value}), f.bound, 0,
                  f.lipschitz * x.error + kUnitsOfMath * Rounding(x) * f.bound});
}

const std::vector<Intrinsic>& Jumps() {
  static const std::vector<Intrinsic>& functions =
      *new std::vector<Intrinsic>{Intrinsic::kFloor,     Intrinsic::kCeil,  Intrinsic::kRound,
                                  Intrinsic::kNearbyint, Intrinsic::kTrunc, Intrinsic::kSign};
  return functions;
}

// -x, by its sign bit.
Expr NegatedByBits(const Expr& x) {
  const int width = x.dtype().bits();
  const DataType bits = width == 16 ? UInt16 : width == 32 ? UInt32 : UInt64;
  const Expr sign = loop::IntImm(bits, static_cast<std::int64_t>(1ULL << (width - 1)));
  return te::Reinterpret(x.dtype(),
                         loop::Binary(BinaryOp::kBitXor, te::Reinterpret(bits, x), sign));
}

Term FloatUnary(const Term& a, Random& random) {
  const DataType type = a.value.dtype();
  const std::int64_t choice = random.Below(10);
  if (choice == 0)
    return {random.Chance(50) ? NegatedByBits(a.value) : -a.value, a.bound, a.grain, a.error};
  if (choice == 1) return {te::Abs(a.value), a.bound, a.grain, a.error};
  if (choice <= 3 && a.grain > 0)
    return Settled(
        {loop::Call(random.Of(Jumps()), {a.value}), std::ceil(a.bound), std::max(a.grain, 1.0), 0});
  if (choice == 4) {
    const Term x = Within(a, 4);
    return Settled({loop::Call(Intrinsic::kPow, {te::Abs(x.value) + Number(type, 0.5),
                                                 Number(type, random.Chance(50) ? 2 : 0.5)}),
                    21, 0, 9 * x.error + kUnitsOfMath * Rounding(x) * 21 * 4});
  }
  if (choice == 5 && a.grain > 0)
    return Settled({loop::Call(Intrinsic::kFmod, {a.value, Number(type, 3)}),
                    std::min(a.bound, 3.0), std::min(a.grain, 1.0), 0});
  return Smooth(a, random);
}

Term IntUnary(const Term& a, Random& random) {
  const DataType type = a.value.dtype();
  const double highest = Highest(type);
  switch (random.Below(6)) {
    case 0:
      return Settled({-a.value, type.is_uint() ? highest : a.bound, 1, 0});
    case 1:
      return Settled({te::Abs(a.value), a.bound, 1, 0});
    case 2:
      return {loop::Call(Intrinsic::kSign, {a.value}), 1, 1, 0};
    case 3:
      return {loop::Call(Intrinsic::kPopcount, {a.value}), 64, 1, 0};
    case 4:
      return Settled({loop::Binary(random.Chance(50) ? BinaryOp::kShl : BinaryOp::kShr, a.value,
                                   Number(type, static_cast<double>(random.Below(type.bits())))),
                      highest, 1, 0});
    default: {
      static const std::vector<BinaryOp>& ops = *new std::vector<BinaryOp>{
          BinaryOp::kDiv, BinaryOp::kMod, BinaryOp::kFloorDiv, BinaryOp::kFloorMod};
      const double divisor = static_cast<double>(random.Below(7) + 1);
      const bool negative = !type.is_uint() && random.Chance(30);
      return Settled(
          {loop::Binary(random.Of(ops), a.value, Number(type, negative ? -divisor : divisor)),
           a.bound, 1, 0});
    }
  }
}

Term FloatBinary(const Term& a, const Term& b, Random& random) {
  const DataType type = a.value.dtype();
  const double grain = std::min(a.grain, b.grain), sum = a.bound + b.bound,
               product = a.bound * b.bound,
               product_error = a.error * b.bound + b.error * a.bound + a.error * b.error;
  switch (random.Below(9)) {
    case 0:
    case 1:
      return Settled({a.value + b.value, sum, grain, a.error + b.error});
    case 2:
      return Settled({a.value - b.value, sum, grain, a.error + b.error});
    case 3:
    case 4:
      return Settled({a.value * b.value, product, a.grain * b.grain, product_error});
    case 5:
      return {random.Chance(50) ? loop::Min(a.value, b.value) : loop::Max(a.value, b.value),
              std::max(a.bound, b.bound), grain, std::max(a.error, b.error)};
    case 6: {
      const Expr divisor = te::Abs(b.value) + Number(type, 1);
      return Settled(
          {a.value / divisor, a.bound, 0,
           a.error + a.bound * (b.error + Rounding(a) * (b.bound + 1)) + Rounding(a) * a.bound});
    }
    case 7:
      return Settled({loop::Call(Intrinsic::kAtan2, {a.value, te::Abs(b.value) + Number(type, 1)}),
                      1.6, 0, a.error + b.error + kUnitsOfMath * Rounding(a) * (2 + b.bound)});
    default:
      return Settled({loop::Call(Intrinsic::kFma, {a.value, b.value, a.value}), product + a.bound,
                      std::min(a.grain * b.grain, a.grain), product_error + a.error});
  }
}

Term IntBinary(const Term& a, const Term& b, Random& random) {
  const double highest = Highest(a.value.dtype());
  static const std::vector<BinaryOp>& bitwise =
      *new std::vector<BinaryOp>{BinaryOp::kBitAnd, BinaryOp::kBitOr, BinaryOp::kBitXor};
  switch (random.Below(6)) {
    case 0:
      return Settled({a.value + b.value, a.bound + b.bound, 1, 0});
    case 1:
      return Settled(
          {a.value - b.value, a.value.dtype().is_uint() ? highest : a.bound + b.bound, 1, 0});
    case 2:
      return Settled({a.value * b.value, a.bound * b.bound, 1, 0});
    case 3:
      return {loop::Min(a.value, b.value), std::max(a.bound, b.bound), 1, 0};
    case 4:
      return {loop::Max(a.value, b.value), std::max(a.bound, b.bound), 1, 0};
    default:
      return {loop::Binary(random.Of(bitwise), a.value, b.value), highest, 1, 0};
  }
}

Term Converted(DataType type, const Term& t) {
  const DataType from = t.value.dtype();
  if (from == type) return t;
  if (type.is_bool()) {
    if (from.is_float() && t.grain == 0) return {loop::True(), 1, 1, 0};
    return {t.value != Number(from, 0), 1, 1, 0};
  }
  if (from.is_float() && !type.is_float()) {
    // Only an exact value that fits has one integer value.
    const bool fits = t.grain > 0 && t.bound < Highest(type);
    if (!fits) return {Number(type, 3), 3, 1, 0};
    const Expr value = type.is_uint() ? te::Abs(t.value) : t.value;
    return Settled({loop::Cast(type, value), t.bound, 1, 0});
  }
  if (!from.is_float() && type.is_float()) {
    const bool is_half = type.bits() == 16;
    if (is_half && t.bound > 1024) return Converted(type, Converted(Float32, t));
    return Settled({loop::Cast(type, t.value), t.bound, 1, 0});
  }
  if (!type.is_float()) {  // a negative number wraps around to a large one
    const bool wraps = type.is_uint() && from.is_int();
    return Settled({loop::Cast(type, t.value), wraps ? Highest(type) : t.bound, 1, 0});
  }
  return Settled({loop::Cast(type, t.value), t.bound, t.grain, t.error});
}

}  // namespace

Term Rounded(Term t) {
  const DataType type = t.value.dtype();
  if (!type.is_float()) {
    t.bound = std::min(t.bound, Highest(type));
    t.grain = 1;
    t.error = 0;
    return t;
  }
  const double rounding = RoundingError(type);
  if (t.grain > 0 && t.bound / t.grain * rounding > 0.5) t.grain = 0;
  if (t.grain == 0) {
    // Results below the normal range may be flushed to zero.
    t.error += rounding * t.bound + (type == Float16 ? 1e-4 : 1e-30);
  }
  return t;
}

Term Settled(Term t) {
  t = Rounded(std::move(t));
  return t.value.dtype().is_float() ? Within(t, kMaxMagnitude) : t;
}

Term Within(const Term& t, double limit) {
  if (t.bound <= limit) return t;
  const double scale = std::exp2(-std::ceil(std::log2(t.bound / limit)));
  Term scaled{t.value * Number(t.value.dtype(), scale), t.bound * scale, t.grain * scale,
              t.error * scale, t.may_be_special};
  if (t.value.dtype() == Float16) {
    scaled.error += 1e-4;
    scaled.grain = 0;
  }
  return scaled;
}

Term Finite(const Term& t) {
  if (!t.may_be_special) return t;
  Term finite = t;
  finite.value = loop::Select(loop::Call(Intrinsic::kIsFinite, {t.value}), t.value,
                              Number(t.value.dtype(), 0));
  finite.may_be_special = false;
  return finite;
}

Term ProductOf(const Term& a, const Term& b) {
  return Rounded({a.value * b.value, a.bound * b.bound, a.grain * b.grain,
                  a.error * b.bound + b.error * a.bound + a.error * b.error,
                  a.may_be_special || b.may_be_special});
}

Term BeforeSum(const Term& term, std::int64_t count) {
  if (!term.value.dtype().is_float()) return term;
  const double limit = 64.0 / std::max<double>(1, static_cast<double>(count));
  return term.bound <= limit * 16 ? term : Within(term, std::max(limit, 1.0 / 64));
}

Term SumOf(const Term& term, std::int64_t count) {
  const DataType type = term.value.dtype();
  const double n = std::max<double>(1, static_cast<double>(count));
  Term sum{term.value, term.bound * n, term.grain,
           n * term.error + n * RoundingError(type) * term.bound * n, term.may_be_special};
  if (!type.is_float()) return Rounded(sum);
  if (term.grain > 0 && sum.bound / sum.grain * RoundingError(type) <= 0.5)
    sum.error = 0;
  else
    sum.grain = 0;
  return sum;
}

Term ConvertTo(DataType type, const Term& t) {
  if (type.is_float() && t.value.dtype().is_float()) {
    Term converted = Converted(type, t);
    converted.may_be_special = t.may_be_special;
    return converted;
  }
  return Converted(type, Finite(t));
}

Term RandomConstant(DataType type, Random& random) {
  if (type.is_bool()) return {random.Chance(50) ? loop::True() : loop::False(), 1, 1, 0};
  const std::int64_t draw = random.Below(9);
  if (!type.is_float()) return {Number(type, static_cast<double>(draw)), 8, 1, 0};
  return {Number(type, static_cast<double>(draw - 4) / 2), 2, 0.5, 0};
}

Term RandomUnary(const Term& a, Random& random) {
  const DataType type = a.value.dtype();
  if (type.is_bool()) return {!a.value, 1, 1, 0};
  if (!type.is_float()) return IntUnary(a, random);
  Term result = FloatUnary(a, random);
  result.may_be_special = a.may_be_special;
  return result;
}

Term RandomBinary(const Term& a, const Term& b, Random& random) {
  const DataType type = a.value.dtype();
  if (type.is_bool()) return {random.Chance(50) ? a.value && b.value : a.value || b.value, 1, 1, 0};
  if (!type.is_float()) return IntBinary(a, b, random);
  // Combined with a value that may be zero or nearly zero, an infinity makes NaN or an infinity.
  const bool is_special = a.may_be_special || b.may_be_special;
  if (is_special && (a.grain == 0 || b.grain == 0))
    return FloatBinary(Finite(a), Finite(b), random);
  Term result = FloatBinary(a, b, random);
  result.may_be_special = is_special;
  return result;
}

Term RandomCondition(const Term& a, const Term& b, Random& random) {
  const DataType type = a.value.dtype();
  if (type.is_bool()) return a;
  if (a.grain == 0 || b.grain == 0) {
    static const std::vector<Intrinsic>& tests =
        *new std::vector<Intrinsic>{Intrinsic::kIsNan, Intrinsic::kIsInf, Intrinsic::kIsFinite};
    return {loop::Call(random.Of(tests), {a.value}), 1, 1, 0};
  }
  static const std::vector<BinaryOp>& ops = *new std::vector<BinaryOp>{
      BinaryOp::kEQ, BinaryOp::kNE, BinaryOp::kLT, BinaryOp::kLE, BinaryOp::kGT, BinaryOp::kGE};
  return {loop::Binary(random.Of(ops), a.value, b.value), 1, 1, 0};
}

Term Chosen(const Term& condition, const Term& a, const Term& b, bool lazy) {
  return {lazy ? loop::IfThenElse(condition.value, a.value, b.value)
               : loop::Select(condition.value, a.value, b.value),
          std::max(a.bound, b.bound), std::min(a.grain, b.grain), std::max(a.error, b.error),
          a.may_be_special || b.may_be_special};
}

}  // namespace tenon::verify
