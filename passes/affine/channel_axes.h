// The axes of channels in the operators that multiply by a weight: the table that folding of scales
// reads. An operator takes part through one row in channel_axes.cc.
//
//   const auto axes = ChannelAxesOf(call);   // nn.conv2d over NHWC: axes->data == {3}
#ifndef TENON_PASSES_AFFINE_CHANNEL_AXES_H_
#define TENON_PASSES_AFFINE_CHANNEL_AXES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// Axes of channels: one, or two (count of blocks, then block) when the layout cuts them into
// blocks.
struct ChannelAxes {
  std::vector<std::size_t> data, result;     // of args[0] and of the result
  std::vector<std::size_t> inputs, outputs;  // of args[1], the weight
  std::int64_t groups = 1;
  // If true, the weight's input axis runs over all input channels and its output axis over those of
  // one group. If false, the other way round.
  bool is_transposed = false;
  // Zeros may be read around the data, and nothing is added to those.
  bool is_padded = false;
};

// Nothing for any other operator, and for layouts whose blocks come before their axis.
std::optional<ChannelAxes> ChannelAxesOf(const ir::CallNode& call);

// Whether a call, of one tensor, gives s * f(x) for s * x with every s > 0, element by element:
// relu, leaky_relu, and users' operators that say so (ops/pass_rules.h).
bool KeepsPositiveScale(const ir::CallNode& call);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_CHANNEL_AXES_H_
