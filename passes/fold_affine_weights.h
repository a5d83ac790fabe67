// Weights with scales multiplied in, in double precision: the arithmetic of FoldAffine.
#ifndef TENON_PASSES_FOLD_AFFINE_WEIGHTS_H_
#define TENON_PASSES_FOLD_AFFINE_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "tenon/passes/channel_axes.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

// How many channels the data and the result have together in all groups.
struct ChannelCounts {
  std::int64_t inputs = 0, outputs = 0;
};
ChannelCounts CountChannels(const Shape& weight, const ChannelAxes& axes);

struct ScaledWeight {
  NDArray weight;
  std::int64_t flushed = 0;   // elements that were not normal any more and became zero
  bool has_overflow = false;  // an element that was finite is not any more
};
// Each element times the scale of its output and that of its input channel; an empty scale is one.
// Requires float32 or float64.
ScaledWeight ScaleWeight(const NDArray& weight, const ChannelAxes& axes,
                         const std::vector<double>& out_scale, const std::vector<double>& in_scale);
// What data of these values a channel, the same at every place, adds to each output channel.
std::vector<double> ApplyToChannels(const NDArray& weight, const ChannelAxes& axes,
                                    const std::vector<double>& in_values);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FOLD_AFFINE_WEIGHTS_H_
