// Vectors of indices, one lane at a time.
#ifndef TENON_LOOP_SIMPLIFY_LANES_H_
#define TENON_LOOP_SIMPLIFY_LANES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// The scalar that `vector` has in lane number `lane`; undefined when it holds more than ramps,
// copies of scalars and arithmetic on them.
Expr AtLane(const Expr& vector, const Var& lane);

// Lane i is base + offsets[i].
struct LaneOffsets {
  Expr base;
  std::vector<std::int64_t> offsets;
};

// The base and offsets of a vector of integers. Nothing if its lanes are not one number plus
// constants.
std::optional<LaneOffsets> OffsetsOf(const Expr& vector);

// Lane i is base + offsets[i] + step * steps[i]: rows put into each other, which are `step` apart.
struct SteppedOffsets {
  LaneOffsets near;
  Expr step;  // undefined: no lane has one
  std::vector<std::int64_t> steps;
};

// The same for lanes that are one number plus constants and constant multiples of another number.
std::optional<SteppedOffsets> SteppedOffsetsOf(const Expr& vector);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_LANES_H_
