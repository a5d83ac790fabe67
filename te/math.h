// Elementwise mathematics on expressions. All take floating types unless said otherwise.
#ifndef TENON_TE_MATH_H_
#define TENON_TE_MATH_H_

#include <array>

#include "tenon/loop/expr.h"

namespace tenon::te {

using loop::Cast;
using loop::FloorDiv;
using loop::FloorMod;
using loop::IfThenElse;
using loop::Max;
using loop::Min;
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

// Byte `i` of a word of int32, the lowest first, as int32; and the word of four bytes given so.
inline loop::Expr ByteOfWord(const loop::Expr& word, const loop::Expr& i) {
  const loop::Expr distance = loop::Cast(Int32, i * 8);
  return loop::Cast(Int32, loop::Cast(UInt8, loop::Binary(loop::BinaryOp::kShr, word, distance)));
}
inline loop::Expr WordOfBytes(const std::array<loop::Expr, 4>& bytes) {
  loop::Expr word = bytes[0];
  for (int i = 1; i < 4; ++i) {
    const loop::Expr moved = loop::Binary(loop::BinaryOp::kShl, bytes[static_cast<std::size_t>(i)],
                                          loop::Constant(Int32, 8 * i));
    word = loop::Binary(loop::BinaryOp::kBitOr, word, moved);
  }
  return word;
}

}  // namespace tenon::te

#endif  // TENON_TE_MATH_H_
