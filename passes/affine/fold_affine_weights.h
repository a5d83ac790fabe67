// Multiplies weights by scales in double precision: the arithmetic of FoldAffine.
#ifndef TENON_PASSES_AFFINE_FOLD_AFFINE_WEIGHTS_H_
#define TENON_PASSES_AFFINE_FOLD_AFFINE_WEIGHTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tenon/passes/affine/channel_axes.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

// How many channels the data and the result have in all groups together.
struct ChannelCounts {
  std::int64_t inputs = 0, outputs = 0;
};
ChannelCounts CountChannels(const Shape& weight, const ChannelAxes& axes);

// A float32 or float64 weight, each of whose elements is to be multiplied by the scale of its
// output channel and that of its input channel. An empty scale is one.
struct WeightScale {
  NDArray weight;
  ChannelAxes axes;
  std::vector<double> out, in;
};
struct ScaleLosses {
  std::int64_t flushed = 0;   // elements too small to stay normal, which become zero
  bool has_overflow = false;  // an element that is finite becomes infinite
};
// What the multiplication loses. It is computed, and its results are dropped.
ScaleLosses LossesOf(const WeightScale& scale);

// Weights that are computed later than room is made for them. If nothing else holds the weights
// they come from by then, these are freed one by one, and the old and the new ones never take
// memory at once.
//
//   ScaledWeights later;
//   Expr weight = Constant::Make(later.Add(scale));
//   module = {};      // the last reader of the old weights
//   later.Compute();  // now `weight` has its elements
class ScaledWeights {
 public:
  NDArray Add(WeightScale scale);
  void Compute();

 private:
  std::vector<std::pair<WeightScale, NDArray>> scales_;
};

// What data with these values per channel, the same at every position, adds to each output channel.
std::vector<double> ApplyToChannels(const NDArray& weight, const ChannelAxes& axes,
                                    const std::vector<double>& in_values);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_FOLD_AFFINE_WEIGHTS_H_
