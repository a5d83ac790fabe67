// FoldScaleAxis: moves per-channel scales into weights. It runs BackwardFoldScaleAxis, then
// ForwardFoldScaleAxis, then FoldConstant, so that constant weights are constants again.
//
// Requires checked types and leaves them. FoldAffine does more where everything is constant.
#ifndef TENON_PASSES_AFFINE_FOLD_SCALE_AXIS_H_
#define TENON_PASSES_AFFINE_FOLD_SCALE_AXIS_H_

#include "tenon/passes/simplify/fold_constant.h"

namespace tenon::passes {

ir::Module FoldScaleAxis(const ir::Module& module, const ConstantEvaluator& evaluate);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_FOLD_SCALE_AXIS_H_
