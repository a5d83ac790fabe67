// Multiplies weights by scales in double precision: the arithmetic of FoldAffine.
#ifndef TENON_PASSES_AFFINE_FOLD_AFFINE_WEIGHTS_H_
#define TENON_PASSES_AFFINE_FOLD_AFFINE_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "tenon/passes/affine/channel_axes.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

// How many channels the data and the result have in all groups together.
struct ChannelCounts {
  std::int64_t inputs = 0, outputs = 0;
};
ChannelCounts CountChannels(const Shape& weight, const ChannelAxes& axes);

struct ScaledWeight {
  NDArray weight;
  std::int64_t flushed = 0;   // elements too small to stay normal, now zero
  bool has_overflow = false;  // an element that was finite became infinite
};
// Multiplies each element by the scale of its output channel and that of its input channel. An
// empty scale is one. Requires float32 or float64.
ScaledWeight ScaleWeight(const NDArray& weight, const ChannelAxes& axes,
                         const std::vector<double>& out_scale, const std::vector<double>& in_scale);
// What data with these values per channel, the same at every position, adds to each output channel.
std::vector<double> ApplyToChannels(const NDArray& weight, const ChannelAxes& axes,
                                    const std::vector<double>& in_values);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_FOLD_AFFINE_WEIGHTS_H_
