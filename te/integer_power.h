// Powers of integers, which wrap around as products do.
//
//   te::Expr cube = te::IntegerPower(x, loop::IntImm(Int32, 3));
#ifndef TENON_TE_INTEGER_POWER_H_
#define TENON_TE_INTEGER_POWER_H_

#include "tenon/loop/expr.h"

namespace tenon::te {

// x to the power of y, for integers of one type, modulo the power of two that the type wraps at.
// For y < 0 it is 1 / x ** -y rounded toward zero, where 1 / 0 is 0 as in a division. 0 to the
// power of 0 is 1. Throws InvalidArgument for other types.
loop::Expr IntegerPower(const loop::Expr& x, const loop::Expr& y);

}  // namespace tenon::te

#endif  // TENON_TE_INTEGER_POWER_H_
