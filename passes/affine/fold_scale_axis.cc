#include "tenon/passes/affine/fold_scale_axis.h"

#include "tenon/passes/affine/backward_fold_scale_axis.h"
#include "tenon/passes/affine/forward_fold_scale_axis.h"

namespace tenon::passes {

ir::Module FoldScaleAxis(const ir::Module& module, const ConstantEvaluator& evaluate) {
  return FoldConstant(ForwardFoldScaleAxis(BackwardFoldScaleAxis(module)), evaluate);
}

}  // namespace tenon::passes
