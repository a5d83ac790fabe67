#include "tenon/te/scalar_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tenon/loop/constants.h"
#include "tenon/support/error.h"

namespace tenon::te {

using loop::BinaryOp;
using loop::Intrinsic;

double RoundTo(DataType t, double v) { return loop::Nearest(t, v); }

double RoundTo(DataType t, std::int64_t v, bool is_unsigned) {
  const bool is_negative = v < 0 && !is_unsigned;
  const auto bits = static_cast<std::uint64_t>(v);
  const std::uint64_t magnitude = is_negative ? -bits : bits;
  // What float64 drops leaves its mark in the last bit for the rounding that follows.
  const int dropped = std::max(static_cast<int>(std::bit_width(magnitude)) - 53, 0);
  std::uint64_t kept = magnitude >> dropped;
  if (kept << dropped != magnitude && t != Float64) kept |= 1;
  const double odd = std::ldexp(static_cast<double>(kept), dropped);
  if (t != Float64) return RoundTo(t, is_negative ? -odd : odd);
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(v);
}

std::int64_t WrapTo(DataType t, std::int64_t v) {
  if (t.is_bool()) return v != 0 ? 1 : 0;
  switch (t.bits()) {
    case 8:
      return t.is_int() ? static_cast<std::int64_t>(static_cast<std::int8_t>(v))
                        : static_cast<std::int64_t>(static_cast<std::uint8_t>(v));
    case 16:
      return t.is_int() ? static_cast<std::int64_t>(static_cast<std::int16_t>(v))
                        : static_cast<std::int64_t>(static_cast<std::uint16_t>(v));
    case 32:
      return t.is_int() ? static_cast<std::int64_t>(static_cast<std::int32_t>(v))
                        : static_cast<std::int64_t>(static_cast<std::uint32_t>(v));
    default:
      return v;
  }
}

std::int64_t SaturateTo(DataType t, double v) {
  if (t.is_bool()) return v != 0 ? 1 : 0;
  if (std::isnan(v)) return 0;
  const int bits = t.bits();
  if (!t.is_int()) {
    if (v <= 0) return 0;
    if (v >= std::ldexp(1.0, bits)) return WrapTo(t, -1);  // all bits are set
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(v));
  }
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min() >> (64 - bits);
  if (v <= static_cast<double>(lowest)) return lowest;
  if (v >= -static_cast<double>(lowest)) return ~lowest;
  return static_cast<std::int64_t>(v);
}

double ApplyUnary(Intrinsic intrinsic, double x) {
  switch (intrinsic) {
    case Intrinsic::kExp:
      return std::exp(x);
    case Intrinsic::kLog:
      return std::log(x);
    case Intrinsic::kLog2:
      return std::log2(x);
    case Intrinsic::kLog10:
      return std::log10(x);
    case Intrinsic::kLog1p:
      return std::log1p(x);
    case Intrinsic::kSqrt:
      return std::sqrt(x);
    case Intrinsic::kRsqrt:
      return 1 / std::sqrt(x);
    case Intrinsic::kSin:
      return std::sin(x);
    case Intrinsic::kCos:
      return std::cos(x);
    case Intrinsic::kTan:
      return std::tan(x);
    case Intrinsic::kAsin:
      return std::asin(x);
    case Intrinsic::kAcos:
      return std::acos(x);
    case Intrinsic::kAtan:
      return std::atan(x);
    case Intrinsic::kSinh:
      return std::sinh(x);
    case Intrinsic::kCosh:
      return std::cosh(x);
    case Intrinsic::kTanh:
      return std::tanh(x);
    case Intrinsic::kAsinh:
      return std::asinh(x);
    case Intrinsic::kAcosh:
      return std::acosh(x);
    case Intrinsic::kAtanh:
      return std::atanh(x);
    case Intrinsic::kErf:
      return std::erf(x);
    case Intrinsic::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Intrinsic::kAbs:
      return std::fabs(x);
    case Intrinsic::kFloor:
      return std::floor(x);
    case Intrinsic::kCeil:
      return std::ceil(x);
    case Intrinsic::kRound:
      return std::round(x);
    case Intrinsic::kNearbyint:
      return std::nearbyint(x);
    case Intrinsic::kTrunc:
      return std::trunc(x);
    case Intrinsic::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    default:
      Unreachable("the intrinsic takes one floating argument");
  }
}

double ApplyFloat(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kMod:
      return std::fmod(a, b);
    case BinaryOp::kFloorDiv:
      return std::floor(a / b);
    case BinaryOp::kFloorMod: {
      // The remainder takes the divisor's sign.
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case BinaryOp::kMin:
      return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN()
                                            : std::min(a, b);
    case BinaryOp::kMax:
      return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN()
                                            : std::max(a, b);
    default:
      Unreachable("the operation takes floating operands");
  }
}

std::int64_t ApplyInt(BinaryOp op, DataType t, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  const bool big = t.is_uint() && t.bits() == 64;
  // Lanes that a guard excludes may divide by zero; their value is never used.
  const bool no_quotient = b == 0 || (!big && b == -1);
  const auto quotient = [&] {
    if (b == 0) return std::int64_t{0};
    if (b == -1 && !big) return static_cast<std::int64_t>(-ua);
    return big ? static_cast<std::int64_t>(ua / ub) : a / b;
  };
  const auto remainder = [&] {
    if (no_quotient) return std::int64_t{0};
    return big ? static_cast<std::int64_t>(ua % ub) : a % b;
  };
  switch (op) {
    case BinaryOp::kAdd:
      return static_cast<std::int64_t>(ua + ub);
    case BinaryOp::kSub:
      return static_cast<std::int64_t>(ua - ub);
    case BinaryOp::kMul:
      return static_cast<std::int64_t>(ua * ub);
    case BinaryOp::kDiv:
      return quotient();
    case BinaryOp::kMod:
      return remainder();
    case BinaryOp::kFloorDiv:
      return quotient() - (remainder() != 0 && ((a < 0) != (b < 0)) && !big ? 1 : 0);
    case BinaryOp::kFloorMod:
      return remainder() + (remainder() != 0 && ((a < 0) != (b < 0)) && !big ? b : 0);
    case BinaryOp::kMin:
      return big ? static_cast<std::int64_t>(std::min(ua, ub)) : std::min(a, b);
    case BinaryOp::kMax:
      return big ? static_cast<std::int64_t>(std::max(ua, ub)) : std::max(a, b);
    case BinaryOp::kAnd:
      return a != 0 && b != 0;
    case BinaryOp::kOr:
      return a != 0 || b != 0;
    case BinaryOp::kBitAnd:
      return a & b;
    case BinaryOp::kBitOr:
      return a | b;
    case BinaryOp::kBitXor:
      return a ^ b;
    case BinaryOp::kShl:
      return static_cast<std::int64_t>(ua << (b & (t.bits() - 1)));
    case BinaryOp::kShr:
      b &= t.bits() - 1;
      return t.is_uint() ? static_cast<std::int64_t>(ua >> b) : a >> b;
    default:
      Unreachable("the operation takes integer operands");
  }
}

}  // namespace tenon::te
