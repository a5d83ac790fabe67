// A float32 rounds to fewer bits of fraction on its own bits: half of what is dropped is added,
// less one unless the last bit that stays is odd, and the rest is cleared. Carries run into the
// exponent, as they must. Below the least normal number of the narrow type the values have one
// distance, so that a multiple of it is the nearest.
#include "tenon/onnx/convert/narrow_cast.h"

#include <cmath>
#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, std::vector<Expr> args) { return ir::Call::Make(op, std::move(args)); }
Expr Number(double value) { return ops::Scalar(value); }
Expr Bits(std::int64_t value) { return ops::Scalar(static_cast<double>(value), Int32); }

Expr Reinterpreted(const Expr& x, DataType type) {
  return ops::CallOp("reinterpret", {x}, attrs::Attrs::Make(ops::CastAttrs{.dtype = type}));
}

// A float64 as a float32 that rounds to any narrower type as it does itself. What float32 does not
// hold becomes the neighbour with an odd last bit, which lies on the same side of every tie.
Expr OddFloat32(const Node& node, const Expr& x) {
  const auto& known = ops::Known();
  const Expr nearest = node.Typed(ops::Cast(x, Float32));
  const Expr back = node.Typed(ops::Cast(nearest, Float64));
  const Expr bits = node.Typed(Reinterpreted(nearest, Int32));
  const Expr is_beyond = node.Typed(Call(known.greater, {ops::Abs(back), ops::Abs(x)}));
  const Expr toward_zero = node.Typed(ops::Subtract(bits, ops::Cast(is_beyond, Int32)));
  const Expr odd = Reinterpreted(Call(known.bitwise_or, {toward_zero, Bits(1)}), Float32);
  const Expr is_rounded =
      node.Typed(Call(known.logical_and, {Call(known.not_equal, {back, x}),
                                          Call(known.logical_not, {Call(known.isnan, {x})})}));
  return node.Typed(ops::Where(is_rounded, odd, nearest));
}

Expr FloatRoundedTo(const Node& node, const Expr& given, const NarrowType& type,
                    Overflow overflow) {
  const auto& known = ops::Known();
  const DataType from = DataTypeOf(given);
  const Expr x = from == Float32   ? given
                 : from == Float64 ? OddFloat32(node, given)
                                   : node.Typed(ops::Cast(given, Float32));
  const std::int64_t dropped = 23 - type.mantissa, half = std::int64_t{1} << (dropped - 1);
  const Expr bits = Reinterpreted(x, Int32);
  const Expr is_odd =
      Call(known.bitwise_and, {Call(known.right_shift, {bits, Bits(dropped)}), Bits(1)});
  const Expr rounded =
      Call(known.bitwise_and, {ops::Add(ops::Add(bits, Bits(half - 1)), is_odd), Bits(-2 * half)});
  const double normal = std::ldexp(1, 1 - type.bias), quantum = std::ldexp(normal, -type.mantissa);
  const Expr multiple =
      ops::Multiply(Call(known.nearbyint, {ops::Divide(x, Number(quantum))}), Number(quantum));
  const Expr is_small = Call(known.less, {ops::Abs(x), Number(normal)});
  Expr y = node.Typed(ops::Where(is_small, multiple, Reinterpreted(rounded, Float32)));
  const double most = type.highest();
  if (overflow == Overflow::kSaturates || type.none == NoNumbers::kNone) {
    y = ops::Clip(y, -most, most);
  } else {
    const bool has_infinity = type.none == NoNumbers::kIeee;
    const Expr beyond = has_infinity
                            ? ops::Multiply(y, Number(std::numeric_limits<double>::infinity()))
                            : Number(std::numeric_limits<double>::quiet_NaN());
    y = ops::Where(Call(known.greater, {ops::Abs(y), Number(most)}), beyond, y);
  }
  // There is no negative zero.
  if (type.none == NoNumbers::kNegativeZero)
    y = ops::Where(Call(known.equal, {y, Number(0)}), Number(0), y);
  if (type.none == NoNumbers::kNone) return node.Typed(y);
  return node.Typed(ops::Where(Call(known.isnan, {x}), x, y));
}

}  // namespace

Expr RoundedTo(const Node& node, const Expr& x, const NarrowType& type, Overflow overflow) {
  if (type.none == NoNumbers::kExponentsOnly)
    throw Unimplemented(StrCat("rounding to ", type.name, " is not supported; reading it is"));
  if (type.is_float()) return FloatRoundedTo(node, x, type, overflow);
  const auto& known = ops::Known();
  // Floats beyond the type become its ends, as in ONNX's data; the standard leaves them open.
  const bool is_float = DataTypeOf(x).is_float();
  const Expr bounded = is_float ? node.Typed(ops::Clip(x, type.lowest(), type.highest())) : x;
  const Expr whole = node.Typed(ops::Cast(bounded, Int32));
  if (is_float) return node.Typed(ops::Cast(whole, type.carrier));
  const Expr unused = Bits(32 - type.bits);
  const Expr kept =
      type.carrier == UInt8
          ? Call(known.bitwise_and, {whole, Bits((1 << type.bits) - 1)})
          : Call(known.right_shift, {Call(known.left_shift, {whole, unused}), unused});
  return node.Typed(ops::Cast(kept, type.carrier));
}

}  // namespace tenon::onnx_import
