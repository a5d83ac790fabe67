// FoldScaleAxis: moves per-channel scales that follow a convolution into its weight.
//
// multiply(conv2d(x, w), s) becomes conv2d(x, w * s), and multiply(add(conv2d(x, w), b), s) becomes
// add(conv2d(x, w * s), b * s), when s is a constant along the channel axis (or of one element), w
// and b are constants and each value has this one use. Run FoldConstant after it. Requires checked
// types. Scales before the convolution, through activations and of other operators stay.
#ifndef TENON_PASSES_FOLD_SCALE_AXIS_H_
#define TENON_PASSES_FOLD_SCALE_AXIS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module FoldScaleAxis(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FOLD_SCALE_AXIS_H_
