// Each helper is a text in which $N is its name, $T the C type of its values, $U the unsigned type
// of the same width or of 32 bits where that is wider (C computes narrow integers in int), $R the
// other type, and $F the ending of <math.h>'s functions. The conversions of 16-bit floats work on
// bits; source of the half ones: F. Giesen, "Half to float done quickly", 2012 (public domain).
#include "tenon/jit/c/c_helpers.h"

#include <cmath>
#include <utility>

#include "tenon/jit/c/c_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

std::string Replaced(std::string text, const std::string& key, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += value.size())
    text.replace(at, key.size(), value);
  return text;
}

constexpr const char* kSignedDiv = R"(static inline $T $N($T a, $T b) {
  if (b == 0) return 0;
  if (b == -1) return ($T)(($U)0 - ($U)a);
  return ($T)(a / b);
}
)";
constexpr const char* kUnsignedDiv = R"(static inline $T $N($T a, $T b) {
  return b == 0 ? ($T)0 : ($T)(a / b);
}
)";
constexpr const char* kSignedMod = R"(static inline $T $N($T a, $T b) {
  return b == 0 || b == -1 ? ($T)0 : ($T)(a % b);
}
)";
constexpr const char* kUnsignedMod = R"(static inline $T $N($T a, $T b) {
  return b == 0 ? ($T)0 : ($T)(a % b);
}
)";
constexpr const char* kSignedFloorDiv = R"(static inline $T $N($T a, $T b) {
  if (b == 0) return 0;
  if (b == -1) return ($T)(($U)0 - ($U)a);
  return ($T)(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));
}
)";
constexpr const char* kSignedFloorMod = R"(static inline $T $N($T a, $T b) {
  $T rest;
  if (b == 0 || b == -1) return 0;
  rest = ($T)(a % b);
  return ($T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
)";
// The remainder takes the divisor's sign.
constexpr const char* kFloatFloorMod = R"(static inline $T $N($T a, $T b) {
  const $T rest = fmod$F(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)";
constexpr const char* kIntMin = R"(static inline $T $N($T a, $T b) {
  return a < b ? a : b;
}
)";
constexpr const char* kIntMax = R"(static inline $T $N($T a, $T b) {
  return a > b ? a : b;
}
)";
constexpr const char* kFloatMin = R"(/* NaN wins. */
static inline $T $N($T a, $T b) {
  return a < b || a != a ? a : b;
}
)";
constexpr const char* kFloatMax = R"(/* NaN wins. */
static inline $T $N($T a, $T b) {
  return a > b || a != a ? a : b;
}
)";
constexpr const char* kIntAbs = R"(static inline $T $N($T x) {
  return x < 0 ? ($T)(($U)0 - ($U)x) : x;
}
)";
constexpr const char* kSignedSign = R"(static inline $T $N($T x) {
  return ($T)((x > 0) - (x < 0));
}
)";
constexpr const char* kFloatSign = R"(static inline $T $N($T x) {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}
)";
constexpr const char* kCountBits = R"(static inline $T $N($T x) {
  uint64_t bits = ($U)x$M;
  bits -= (bits >> 1) & UINT64_C(0x5555555555555555);
  bits = (bits & UINT64_C(0x3333333333333333)) + ((bits >> 2) & UINT64_C(0x3333333333333333));
  bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return ($T)((bits * UINT64_C(0x0101010101010101)) >> 56);
}
)";
constexpr const char* kSaturate = R"(/* Saturates; NaN becomes 0. */
static inline $R $N($T x) {
  if (x != x) return 0;
  if (x <= $LOW) return $MIN;
  if (x >= $HIGH) return $MAX;
  return ($R)x;
}
)";

constexpr const char* kBitsOf = R"(static inline $U $N($T value) {
  union {
    $T value;
    $U bits;
  } same;
  same.value = value;
  return same.bits;
}
)";
constexpr const char* kOfBits = R"(static inline $T $N($U bits) {
  union {
    $U bits;
    $T value;
  } same;
  same.bits = bits;
  return same.value;
}
)";
constexpr const char* kF16FromBits = R"(static inline float $N(uint16_t half) {
  const uint32_t bits = ((uint32_t)(half & 0x7fffu) << 13) + 0x38000000u;
  const uint32_t exponent = half & 0x7c00u;
  const float value =
      exponent == 0x7c00u ? tenon_f32_of_bits(bits + 0x38000000u) /* infinity or NaN */
      : exponent == 0     ? tenon_f32_of_bits(bits + 0x00800000u) - 6.103515625e-05f
                          : tenon_f32_of_bits(bits);
  return (half & 0x8000u) != 0 ? -value : value;
}
)";
constexpr const char* kF16ToBits = R"(static inline uint16_t $N(float value) {
  const uint32_t sign = tenon_bits_of_f32(value) & 0x80000000u;
  uint32_t bits = tenon_bits_of_f32(value) ^ sign;
  if (bits >= 0x47800000u) { /* infinity, NaN or too large */
    const uint32_t carried = (bits >> 13) & 0x3ffu; /* by NaN, which stays one */
    bits = bits <= 0x7f800000u ? 0x7c00u : 0x7c00u | (carried != 0u ? carried : 0x200u);
  } else if (bits < 0x38800000u) { /* zero or denormal: the addition rounds */
    bits = tenon_bits_of_f32(tenon_f32_of_bits(bits) + 0.5f) - 0x3f000000u;
  } else {
    bits = (bits + 0xc8000fffu + ((bits >> 13) & 1u)) >> 13;
  }
  return (uint16_t)(bits | sign >> 16);
}
)";
constexpr const char* kBf16FromBits = R"(static inline float $N(uint16_t half) {
  return tenon_f32_of_bits((uint32_t)half << 16);
}
)";
constexpr const char* kBf16ToBits = R"(static inline uint16_t $N(float value) {
  const uint32_t bits = tenon_bits_of_f32(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return (uint16_t)(bits >> 16 | ((bits & 0x7f0000u) != 0u ? 0u : 0x40u));
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
)";
constexpr const char* kOdd = R"(/* Toward zero, and the last bit is set when that was not exact. */
static inline float $N(double value) {
  const float rounded = (float)value;
  uint32_t bits = tenon_bits_of_f32(rounded);
  if ((double)rounded == value || value != value) return rounded;
  if (fabs((double)rounded) > fabs(value)) bits -= 1u;
  return tenon_f32_of_bits(bits | 1u);
}
)";
// float64 holds what is left, of which the last bit tells whether any bit was dropped.
constexpr const char* kOddOfInt = R"(static inline float $N($T value) {
  const bool is_negative = $S;
  uint64_t size = is_negative ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
  if ((size >> 53) != 0u && (size & 2047u) != 0u) size = (size | 4095u) - 2047u;
  return tenon_f32_odd(is_negative ? -(double)size : (double)size);
}
)";
constexpr const char* kFlush = R"(/* Denormals count as zero while a kernel runs. */
static inline unsigned $N(void) {
#if defined(__SSE2__)
  const unsigned state = _mm_getcsr();
  _mm_setcsr(state | 0x8040u);
  return state;
#else
  return 0;
#endif
}
)";
constexpr const char* kRestore = R"(static inline void $N(unsigned state) {
#if defined(__SSE2__)
  _mm_setcsr(state);
#else
  (void)state;
#endif
}
)";

std::string UnsignedType(DataType type) { return type.bits() == 64 ? "uint64_t" : "uint32_t"; }

// A conversion with the bounds between which C converts `from` to `to`. Both are powers of two, or
// 0, which every floating type holds.
std::string SaturateText(DataType from, DataType to) {
  const std::string upper = StrCat(to.is_int() ? "INT" : "UINT", to.bits());
  const double high = std::ldexp(1.0, to.is_int() ? to.bits() - 1 : to.bits());
  std::string text = Replaced(kSaturate, "$LOW", CFloatLiteral(from, to.is_int() ? -high : 0));
  text = Replaced(std::move(text), "$MIN", to.is_int() ? StrCat(upper, "_MIN") : "0");
  text = Replaced(std::move(text), "$HIGH", CFloatLiteral(from, high));
  return Replaced(std::move(text), "$MAX", StrCat(upper, "_MAX"));
}

}  // namespace

std::string CHelpers::Define(const std::string& name, std::string text, DataType type,
                             DataType other) {
  if (!defined_.insert(name).second) return name;
  text = Replaced(std::move(text), "$N", name);
  text = Replaced(std::move(text), "$T", CRegisterType(type));
  text = Replaced(std::move(text), "$U", UnsignedType(type));
  text = Replaced(std::move(text), "$R", CRegisterType(other));
  text = Replaced(std::move(text), "$F", type.bits() < 64 ? "f" : "");
  // A narrow negative number has copies of its sign above its own bits.
  const bool mask = type.is_integral() && type.bits() < 32;
  text = Replaced(std::move(text), "$M", mask ? StrCat(" & ", (1 << type.bits()) - 1, "u") : "");
  StrAppend(&text_, text, "\n");
  return name;
}

std::string CHelpers::Use(CHelper helper, DataType type, DataType other) {
  type = type.element();
  const std::string suffix = CSuffix(type);
  const bool is_signed = type.is_int(), is_float = type.is_float();
  const bool is_bfloat = type.code() == TypeCode::kBFloat;
  const auto use_bits = [&] {
    Use(CHelper::kToBits, Float32);
    Use(CHelper::kFromBits, Float32);
  };
  switch (helper) {
    case CHelper::kDiv:
      return Define(StrCat("tenon_div_", suffix), is_signed ? kSignedDiv : kUnsignedDiv, type);
    case CHelper::kMod:
      return Define(StrCat("tenon_mod_", suffix), is_signed ? kSignedMod : kUnsignedMod, type);
    case CHelper::kFloorDiv:
      return Define(StrCat("tenon_floordiv_", suffix), is_signed ? kSignedFloorDiv : kUnsignedDiv,
                    type);
    case CHelper::kFloorMod:
      return Define(StrCat("tenon_floormod_", suffix),
                    is_float    ? kFloatFloorMod
                    : is_signed ? kSignedFloorMod
                                : kUnsignedMod,
                    type);
    case CHelper::kMin:
      return Define(StrCat("tenon_min_", suffix), is_float ? kFloatMin : kIntMin, type);
    case CHelper::kMax:
      return Define(StrCat("tenon_max_", suffix), is_float ? kFloatMax : kIntMax, type);
    case CHelper::kAbs:
      return Define(StrCat("tenon_abs_", suffix), kIntAbs, type);
    case CHelper::kSign:
      return Define(StrCat("tenon_sign_", suffix), is_float ? kFloatSign : kSignedSign, type);
    case CHelper::kPopcount:
      return Define(StrCat("tenon_popcount_", suffix), kCountBits, type);
    case CHelper::kToInt: {
      // 16-bit floats are float by now.
      const DataType from = type.bits() == 64 ? Float64 : Float32;
      return Define(StrCat("tenon_", CSuffix(other), "_from_", CSuffix(from)),
                    SaturateText(from, other), from, other);
    }
    case CHelper::kToBits:
      return Define(StrCat("tenon_bits_of_", suffix), kBitsOf, type);
    case CHelper::kFromBits:
      return Define(StrCat("tenon_", suffix, "_of_bits"), kOfBits, type);
    case CHelper::kFromMemory:
      use_bits();
      return Define(StrCat("tenon_", suffix, "_from_bits"),
                    is_bfloat ? kBf16FromBits : kF16FromBits, type);
    case CHelper::kToMemory:
      use_bits();
      return Define(StrCat("tenon_", suffix, "_bits"), is_bfloat ? kBf16ToBits : kF16ToBits, type);
    case CHelper::kRoundTo: {
      const std::string to = Use(CHelper::kToMemory, type), from = Use(CHelper::kFromMemory, type);
      return Define(
          StrCat("tenon_round_", suffix),
          StrCat("static inline float $N(float x) {\n  return ", from, "(", to, "(x));\n}\n"),
          type);
    }
    case CHelper::kRoundToOdd:
      use_bits();
      Define("tenon_f32_odd", kOdd, Float64);
      if (type == Float64) return "tenon_f32_odd";
      return Define(StrCat("tenon_f32_odd_of_", suffix),
                    Replaced(kOddOfInt, "$S", is_signed ? "value < 0" : "false"), type);
    case CHelper::kFlushDenormals:
      return Define("tenon_flush_denormals", kFlush, Int64);
    case CHelper::kRestoreDenormals:
      return Define("tenon_restore_denormals", kRestore, Int64);
  }
  Unreachable("the switch over helpers is exhaustive");
}

}  // namespace tenon::jit
