// Saturation without a wider type, in the forms that LLVM knows (InstCombine: uadd.sat, usub.sat,
// sadd.sat, ssub.sat).
#include "tenon/te/math.h"

#include <cstdint>
#include <limits>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {
namespace {

using loop::Expr;

void RequireIntegers(std::string_view name, const Expr& x, const Expr& y) {
  const DataType type = x.dtype();
  if ((type.is_int() || type.is_uint()) && y.dtype() == type) return;
  throw InvalidArgument(StrCat(name, ": the operands are ", type.ToString(), " and ",
                               y.dtype().ToString(), "; they must be integers of one type"));
}

Expr Highest(DataType type) {
  return loop::IntImm(type, std::numeric_limits<std::int64_t>::max() >> (64 - type.bits()));
}
Expr Lowest(DataType type) {
  return loop::IntImm(type, std::numeric_limits<std::int64_t>::min() >> (64 - type.bits()));
}

// Saturates signed integers of fewer than 64 bits, given a result of twice as many.
Expr Narrowed(DataType type, const Expr& wide) {
  const DataType to = wide.dtype();
  return loop::Cast(type, Clamp(wide, loop::Cast(to, Lowest(type)), loop::Cast(to, Highest(type))));
}
DataType Wide(DataType type) {
  return type.bits() == 8 ? Int16 : type.bits() == 16 ? Int32 : Int64;
}

// `result` of two int64 operands unless the sign says that it has gone past an end.
Expr Bounded(const Expr& x, const Expr& result, const Expr& past_end) {
  const Expr zero = loop::IntImm(Int64, 0);
  return loop::Select(past_end < zero, loop::Select(x < zero, Lowest(Int64), Highest(Int64)),
                      result);
}

}  // namespace

Expr SaturatingAdd(const Expr& x, const Expr& y) {
  RequireIntegers("saturating add", x, y);
  const DataType type = x.dtype();
  if (type.is_uint()) return loop::Min(x, BitXor(y, loop::IntImm(type, -1))) + y;
  if (type.bits() < 64)
    return Narrowed(type, loop::Cast(Wide(type), x) + loop::Cast(Wide(type), y));
  const Expr sum = x + y;
  return Bounded(x, sum, BitAnd(BitXor(x, sum), BitXor(y, sum)));
}

Expr SaturatingSub(const Expr& x, const Expr& y) {
  RequireIntegers("saturating sub", x, y);
  const DataType type = x.dtype();
  if (type.is_uint()) return loop::Max(x, y) - y;
  if (type.bits() < 64)
    return Narrowed(type, loop::Cast(Wide(type), x) - loop::Cast(Wide(type), y));
  const Expr difference = x - y;
  return Bounded(x, difference, BitAnd(BitXor(x, y), BitXor(x, difference)));
}

}  // namespace tenon::te
