// Rules of casts and clips. All are exact.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/simplify_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

DataType TypeOf(const Expr& e) { return e.checked_type().As<ir::TensorTypeNode>()->dtype; }

// Bits of the integers that a float type holds exactly.
int MantissaBits(DataType t) {
  if (t == BFloat16) return 8;
  return t == Float16 ? 11 : t == Float32 ? 24 : 53;
}

// Whether `to` holds every value of `from`.
bool Holds(DataType to, DataType from) {
  if (from.is_bool()) return to.is_integral() || to.is_float() || to.is_bool();
  if (from.is_float())
    return to.is_float() && (to == from || (to.bits() > from.bits() && to.bits() > 16));
  if (!from.is_integral()) return false;
  const int bits = from.is_int() ? from.bits() - 1 : from.bits();
  if (to.is_float()) return bits <= MantissaBits(to);
  if (to.is_uint()) return from.is_uint() && to.bits() >= bits;
  return to.is_int() && to.bits() - 1 >= bits;
}

bool IsSameClass(DataType a, DataType b) {
  return (a.is_float() && b.is_float()) || (a.is_integral() && b.is_integral());
}

struct Range {
  double low, high;
};
Range RangeOf(DataType t) {
  const int bits = t.bits() - (t.is_int() ? 1 : 0);
  return {t.is_int() ? -std::ldexp(1.0, bits) : 0, std::ldexp(1.0, bits) - 1};
}

// Rewrites a cast to its operand when the type stays the same, and cast(cast(x, wide), t) to
// cast(x, t) when `wide` holds every value of x. Between integers and floats, it does so only where
// the last cast is also defined for each value of x.
Expr JoinCasts(const CallNode& call) {
  const auto& known = ops::Known();
  if (!(call.callee == known.cast)) return Expr();
  const DataType to = call.attrs.As<ops::CastAttrs>().dtype;
  const Expr& x = call.args[0];
  if (TypeOf(x) == to) return x;
  const auto* inner = x.As<CallNode>();
  if (inner == nullptr || !(inner->callee == known.cast)) return Expr();
  const DataType wide = TypeOf(x);
  const Expr& source = inner->args[0];
  const DataType from = TypeOf(source);
  // A float of an integer has no meaning outside the range when cast to an integer; a boolean does.
  const bool keeps_meaning =
      from.is_bool() || to.is_float() || IsSameClass(from, wide) || Holds(to, from);
  if (Holds(wide, from) && keeps_meaning && !to.is_bool())
    return to == from ? source : InferCall(ops::Cast(source, to));
  // The value is clipped to what the type in between holds.
  const auto* clip = source.As<CallNode>();
  if (clip == nullptr || !(clip->callee == known.clip) || !from.is_integral() ||
      !wide.is_integral() || to.is_bool())
    return Expr();
  const auto& bounds = clip->attrs.As<ops::ClipAttrs>();
  const Range range = RangeOf(wide);
  // With 64 bits, the highest number is rounded up to one that the type does not hold.
  const bool is_within = wide.bits() < 64 ? bounds.a_max <= range.high : bounds.a_max < range.high;
  if (!(bounds.a_min >= range.low && is_within && bounds.a_min <= bounds.a_max)) return Expr();
  return to == from ? source : InferCall(ops::Cast(source, to));
}

// Drops a clip to the range of an integer type or beyond, and joins two clips whose intervals
// overlap.
Expr JoinClips(const CallNode& call) {
  const auto& known = ops::Known();
  if (!(call.callee == known.clip)) return Expr();
  const auto& bounds = call.attrs.As<ops::ClipAttrs>();
  const Expr& x = call.args[0];
  const DataType type = TypeOf(x);
  // With 64 bits, the bounds are not exact, since they are doubles.
  if (type.is_integral() && type.bits() <= 32 && bounds.a_min <= RangeOf(type).low &&
      bounds.a_max >= RangeOf(type).high)
    return x;
  const auto* inner = x.As<CallNode>();
  if (inner == nullptr || !(inner->callee == known.clip)) return Expr();
  const auto& first = inner->attrs.As<ops::ClipAttrs>();
  const double low = std::max(first.a_min, bounds.a_min);
  const double high = std::min(first.a_max, bounds.a_max);
  if (!(low <= high)) return Expr();
  return InferCall(ops::Clip(inner->args[0], low, high));
}

}  // namespace

Expr SimplifyCasts(const CallNode& call, const SimplifyContext&) {
  if (Expr e = JoinCasts(call)) return e;
  return JoinClips(call);
}

}  // namespace tenon::passes
