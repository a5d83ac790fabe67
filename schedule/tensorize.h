// Whether the inner loops of a stage compute what an intrinsic does, and on which tiles. Only files
// inside schedule/ include this header.
#ifndef TENON_SCHEDULE_TENSORIZE_H_
#define TENON_SCHEDULE_TENSORIZE_H_

#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon::schedule {

// What is known of a stage's nest when the intrinsic takes the place of loops [position, end).
struct TensorizeSite {
  const Stage& stage;
  std::size_t position;
  const std::vector<loop::Expr>& body;  // in the operation's axes
  const ByVar& roots;                   // values of the operation's axes in terms of the loops
  const ByVar& extents;                 // of all axes
  const loop::Expr& guard;              // of the whole body
};

struct TensorizeMatch {
  std::vector<te::Tile> inputs, outputs;  // placed by the loops outside
};

// Throws InvalidArgument, naming stage, axis and intrinsic, when they do not match: an extent, a
// guard that depends on the loops inside, an element type, the expression.
TensorizeMatch MatchTensorize(const TensorizeSite& site);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_TENSORIZE_H_
