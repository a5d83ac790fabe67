// ForwardFoldScaleAxis: moves per-channel scales that precede a convolution or matrix product into
// its weight.
//
// conv(multiply(x, s), w) becomes conv(x, w * s), where the weight is multiplied along its input
// axis (its output axis when the convolution is depthwise). The scale goes on through relu and
// leaky_relu (when it is a constant above zero), through add and subtract with values per channel
// (which are divided by it: a constant without zeros), and through further scales. Every reader of
// a value that loses its scale must take it. Only float element types, groups of 1 and depthwise
// convolutions. Requires checked types and leaves them.
#ifndef TENON_PASSES_AFFINE_FORWARD_FOLD_SCALE_AXIS_H_
#define TENON_PASSES_AFFINE_FORWARD_FOLD_SCALE_AXIS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module ForwardFoldScaleAxis(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_FORWARD_FOLD_SCALE_AXIS_H_
