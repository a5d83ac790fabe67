// Elementwise mathematics on expressions. All take floating types unless said otherwise.
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

// Byte `i` of a word of int32, the lowest first, as int32.
inline loop::Expr ByteOfWord(const loop::Expr& word, const loop::Expr& i) {
  const loop::Expr distance = loop::Cast(Int32, i * 8);
  return loop::Cast(Int32, loop::Cast(UInt8, loop::Binary(loop::BinaryOp::kShr, word, distance)));
}
// Number `i` of the two of bfloat16 in a word of int32.
inline loop::Expr BFloatOfWord(const loop::Expr& word, const loop::Expr& i) {
  const loop::Expr distance = loop::Cast(Int32, i * 16);
  return Reinterpret(BFloat16,
                     loop::Cast(UInt16, loop::Binary(loop::BinaryOp::kShr, word, distance)));
}
// The word of elements that fill it: four bytes or two of bfloat16, the first one lowest.
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
