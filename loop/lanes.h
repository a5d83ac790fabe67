// Vectors of indices, one lane at a time.
#ifndef TENON_LOOP_LANES_H_
#define TENON_LOOP_LANES_H_

#include "tenon/loop/expr.h"

namespace tenon::loop {

// The scalar that `vector` has in lane number `lane`; undefined when it holds more than ramps,
// copies of scalars and arithmetic on them.
Expr AtLane(const Expr& vector, const Var& lane);

}  // namespace tenon::loop

#endif  // TENON_LOOP_LANES_H_
