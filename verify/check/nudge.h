// Changes of intermediate values that passes and kernels are free to make (docs/numerics.md). Where
// they change a result, the difference of two ways to compute it explains nothing.
//
//   Nudge nudge(1e-6, random);
//   Interpret(module, inputs, [&](const NDArray& array, const ir::Expr& of) {
//     return nudge(array, of);
//   });
#ifndef TENON_VERIFY_CHECK_NUDGE_H_
#define TENON_VERIFY_CHECK_NUDGE_H_

#include "tenon/ir/expr.h"
#include "tenon/support/ndarray.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

class Nudge {
 public:
  // `random` must outlive this. `keeps_large`: arrays of which all elements are at least 2^22 stay.
  // A graph that adds such a number and takes it off again rounds, and no pass may leave that out.
  Nudge(double relative, Random& random, bool keeps_large = false)
      : relative_(relative), random_(random), keeps_large_(keeps_large) {}

  // Floats change by up to `relative` of their magnitude.
  NDArray operator()(const NDArray& array) const;
  // So do results of operators, and sums of halves by a unit of their last place. Zeros that a sum
  // or a maximum gives may also change their sign, and numbers that are barely normal become zero.
  NDArray operator()(const NDArray& array, const ir::Expr& of) const;

 private:
  const double relative_;
  Random& random_;
  const bool keeps_large_;
};

// Whether the sign of a zero that the expression gives is open: not where values are moved,
// multiplied or divided.
bool HasOpenSigns(const ir::Expr& e);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_NUDGE_H_
