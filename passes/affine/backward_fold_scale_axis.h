// BackwardFoldScaleAxis: moves per-channel scales that follow a convolution or matrix product into
// its weight.
//
// multiply(conv(x, w), s) becomes conv(x, w * s), where the weight is multiplied along its output
// axis. The scale goes back through relu and leaky_relu (when it is a constant above zero), through
// add, subtract and bias_add with values per channel (which are multiplied, too), through sums of
// two such values, and through further scales. Every value on the way must have one use. Only float
// element types. Requires checked types and leaves them.
#ifndef TENON_PASSES_AFFINE_BACKWARD_FOLD_SCALE_AXIS_H_
#define TENON_PASSES_AFFINE_BACKWARD_FOLD_SCALE_AXIS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module BackwardFoldScaleAxis(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_BACKWARD_FOLD_SCALE_AXIS_H_
