// Elementwise mathematics on expressions. All functions take floating types unless their comments
// say something else.
#ifndef TENON_TE_MATH_H_
#define TENON_TE_MATH_H_

#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::te {

using loop::Cast;
using loop::FloorDiv;
using loop::FloorMod;
using loop::IfThenElse;
using loop::Max;
using loop::Min;
using loop::Reinterpret;
using loop::Select;

// A C++ number as a constant of `type`.
inline loop::Expr Cast(DataType type, double value) { return loop::Constant(type, value); }

inline loop::Expr Exp(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kExp, {x}); }
inline loop::Expr Log(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kLog, {x}); }
inline loop::Expr Sqrt(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kSqrt, {x}); }
inline loop::Expr Rsqrt(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kRsqrt, {x}); }
inline loop::Expr Tanh(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kTanh, {x}); }
inline loop::Expr Erf(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kErf, {x}); }
inline loop::Expr Sigmoid(const loop::Expr& x) {
  return loop::Call(loop::Intrinsic::kSigmoid, {x});
}
inline loop::Expr Abs(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAbs, {x}); }
inline loop::Expr Floor(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kFloor, {x}); }
inline loop::Expr Ceil(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kCeil, {x}); }
inline loop::Expr Round(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kRound, {x}); }

inline loop::Expr Sin(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kSin, {x}); }
inline loop::Expr Cos(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kCos, {x}); }
inline loop::Expr Tan(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kTan, {x}); }
inline loop::Expr Asin(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAsin, {x}); }
inline loop::Expr Acos(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAcos, {x}); }
inline loop::Expr Atan(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAtan, {x}); }
inline loop::Expr Sinh(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kSinh, {x}); }
inline loop::Expr Cosh(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kCosh, {x}); }
inline loop::Expr Asinh(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAsinh, {x}); }
inline loop::Expr Acosh(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAcosh, {x}); }
inline loop::Expr Atanh(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kAtanh, {x}); }
inline loop::Expr Log2(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kLog2, {x}); }
inline loop::Expr Log10(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kLog10, {x}); }
inline loop::Expr Log1p(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kLog1p, {x}); }
inline loop::Expr Trunc(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kTrunc, {x}); }
// Rounds to the nearest integer, and to the even one of two. Round goes away from zero then.
inline loop::Expr RoundToEven(const loop::Expr& x) {
  return loop::Call(loop::Intrinsic::kNearbyint, {x});
}
inline loop::Expr Pow(const loop::Expr& x, const loop::Expr& y) {
  return loop::Call(loop::Intrinsic::kPow, {x, y});
}
inline loop::Expr Fmod(const loop::Expr& x, const loop::Expr& y) {
  return loop::Call(loop::Intrinsic::kFmod, {x, y});
}
inline loop::Expr Atan2(const loop::Expr& y, const loop::Expr& x) {
  return loop::Call(loop::Intrinsic::kAtan2, {y, x});
}
// x * y + z with one rounding.
inline loop::Expr Fma(const loop::Expr& x, const loop::Expr& y, const loop::Expr& z) {
  return loop::Call(loop::Intrinsic::kFma, {x, y, z});
}
inline loop::Expr IsNan(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kIsNan, {x}); }
inline loop::Expr IsInf(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kIsInf, {x}); }
inline loop::Expr IsFinite(const loop::Expr& x) {
  return loop::Call(loop::Intrinsic::kIsFinite, {x});
}

// Takes all number types, as do Abs, Min and Max.
inline loop::Expr Sign(const loop::Expr& x) { return loop::Call(loop::Intrinsic::kSign, {x}); }
inline loop::Expr Clamp(const loop::Expr& x, const loop::Expr& low, const loop::Expr& high) {
  return Min(Max(x, low), high);
}

// These take integers. A shift takes as many low bits of the distance as the width allows.
inline loop::Expr BitAnd(const loop::Expr& x, const loop::Expr& y) {
  return loop::Binary(loop::BinaryOp::kBitAnd, x, y);
}
inline loop::Expr BitOr(const loop::Expr& x, const loop::Expr& y) {
  return loop::Binary(loop::BinaryOp::kBitOr, x, y);
}
inline loop::Expr BitXor(const loop::Expr& x, const loop::Expr& y) {
  return loop::Binary(loop::BinaryOp::kBitXor, x, y);
}
inline loop::Expr ShiftLeft(const loop::Expr& x, const loop::Expr& distance) {
  return loop::Binary(loop::BinaryOp::kShl, x, distance);
}
inline loop::Expr ShiftRight(const loop::Expr& x, const loop::Expr& distance) {
  return loop::Binary(loop::BinaryOp::kShr, x, distance);
}
inline loop::Expr Popcount(const loop::Expr& x) {
  return loop::Call(loop::Intrinsic::kPopcount, {x});
}
// The sum and the difference of integers of one type, or the nearest number that the type holds. On
// x86 this is one instruction for 8 and 16 bits. They throw InvalidArgument for other types.
loop::Expr SaturatingAdd(const loop::Expr& x, const loop::Expr& y);
loop::Expr SaturatingSub(const loop::Expr& x, const loop::Expr& y);

// Byte `i` of a word of int32, the lowest first, as int32.
inline loop::Expr ByteOfWord(const loop::Expr& word, const loop::Expr& i) {
  const loop::Expr distance = loop::Cast(Int32, i * 8);
  return loop::Cast(Int32, loop::Cast(UInt8, loop::Binary(loop::BinaryOp::kShr, word, distance)));
}
// Number `i` of the two elements of bfloat16 in a word of int32.
inline loop::Expr BFloatOfWord(const loop::Expr& word, const loop::Expr& i) {
  const loop::Expr distance = loop::Cast(Int32, i * 16);
  return Reinterpret(BFloat16,
                     loop::Cast(UInt16, loop::Binary(loop::BinaryOp::kShr, word, distance)));
}
// The word that four bytes or two elements of bfloat16 fill, the first one lowest.
inline loop::Expr WordOf(const std::vector<loop::Expr>& elements) {
  const int bits = elements[0].dtype().bits();
  loop::Expr word;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const DataType unsigned_type = bits == 8 ? UInt8 : UInt16;
    const loop::Expr element = loop::Cast(Int32, Reinterpret(unsigned_type, elements[i]));
    if (i == 0) {
      word = element;
      continue;
    }
    const loop::Expr moved = loop::Binary(loop::BinaryOp::kShl, element,
                                          loop::IntImm(Int32, bits * static_cast<int>(i)));
    word = loop::Binary(loop::BinaryOp::kBitOr, word, moved);
  }
  return word;
}

}  // namespace tenon::te

#endif  // TENON_TE_MATH_H_
