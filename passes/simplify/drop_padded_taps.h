// DropPaddedTaps: cuts taps that only ever meet padding off a convolution's weight.
//
//   conv2d(x: (1, 960, 12, 12), w: (256, 960, 3, 3), dilation=36, padding=36)
//     ->  conv2d(x, w[:, :, 1:2, 1:2])
//
// Applies to nn.conv1d, nn.conv2d and nn.conv3d with a constant weight of finite values (zero times
// infinity would be NaN) over known spatial extents. The shape of the result stays. Exact. Requires
// checked types and leaves them.
#ifndef TENON_PASSES_SIMPLIFY_DROP_PADDED_TAPS_H_
#define TENON_PASSES_SIMPLIFY_DROP_PADDED_TAPS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module DropPaddedTaps(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_DROP_PADDED_TAPS_H_
