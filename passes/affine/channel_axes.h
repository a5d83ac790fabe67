// The axes of channels in the operators that multiply by a weight: the table that folding of scales
// reads. An operator takes part through one row in channel_axes.cc, or a column (ops::ChannelRule).
//
//   const auto axes = ChannelAxesOf(call);   // nn.conv2d over NHWC: axes->data == {3}
#ifndef TENON_PASSES_AFFINE_CHANNEL_AXES_H_
#define TENON_PASSES_AFFINE_CHANNEL_AXES_H_

#include <optional>

#include "tenon/ir/expr.h"
#include "tenon/ops/pass_rules.h"

namespace tenon::passes {

using ChannelAxes = ops::ChannelAxes;

// Nothing for any other operator, and for layouts whose blocks come before their axis. Throws
// InvalidArgument for a user's rule that names axes which do not exist.
std::optional<ChannelAxes> ChannelAxesOf(const ir::CallNode& call);

// Whether a call, of one tensor, gives s * f(x) for s * x with every s > 0, element by element:
// relu, leaky_relu, and users' operators that say so (ops/pass_rules.h).
bool KeepsPositiveScale(const ir::CallNode& call);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_CHANNEL_AXES_H_
