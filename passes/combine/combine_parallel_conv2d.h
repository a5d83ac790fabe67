// CombineParallelConv2D: joins convolutions of the same data into one with more output channels.
//
// Weights are concatenated along their output axis, and the result is cut into the branches' parts.
// Branches have groups=1, kernels of equal size and equal attributes except for `channels`.
// Requires checked types and leaves them.
#ifndef TENON_PASSES_COMBINE_COMBINE_PARALLEL_CONV2D_H_
#define TENON_PASSES_COMBINE_COMBINE_PARALLEL_CONV2D_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CombineParallelConv2D(const ir::Module& module, int min_num_branches = 3);

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_COMBINE_PARALLEL_CONV2D_H_
