// Powers by squaring (Knuth, TAOCP 4.6.3, algorithm A), with all steps written out, so that they
// run in vectors. There are a product and a square for each bit of the exponent, and fewer for a
// constant one.
#include "tenon/te/integer_power.h"

#include <cstdint>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {

using loop::Expr;

Expr IntegerPower(const Expr& x, const Expr& y) {
  const DataType type = x.dtype();
  if (!type.is_integral() || y.dtype() != type)
    throw InvalidArgument(StrCat("integer power: the operands are ", type.ToString(), " and ",
                                 y.dtype().ToString(), "; they must be integers of one type"));
  const auto number = [&](std::int64_t value) { return loop::IntImm(type, value); };
  // Without the sign: powers of 1 and -1 depend on the lowest bit alone, also where y < 0.
  const int bits = type.is_uint() ? type.bits() : type.bits() - 1;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  const auto* constant = y.As<loop::IntImmNode>();
  const std::uint64_t known =
      constant == nullptr ? mask : static_cast<std::uint64_t>(constant->value) & mask;
  Expr power = number(1), square = x;
  for (int i = 0; i < bits && known >> i != 0; ++i) {
    if (i > 0) square = square * square;
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((known & bit) == 0) continue;
    Expr factor = square;
    if (constant == nullptr) {
      const Expr is_set = loop::Binary(loop::BinaryOp::kBitAnd, y,
                                       number(static_cast<std::int64_t>(bit))) != number(0);
      factor = loop::Select(is_set, square, number(1));
    }
    power = power * factor;
  }
  if (type.is_uint()) return power;
  return loop::Select(y >= number(0) || x == number(1) || x == number(-1), power, number(0));
}

}  // namespace tenon::te
