// CombineParallelBatchMatmul: joins batched matrix products of the same left operand.
//
// Right operands (batch, columns, depth) of equal batch and depth are concatenated along their
// columns, and the last axis of the single product is cut. Only products with transpose_a=False and
// transpose_b=True. Requires checked types and leaves them.
#ifndef TENON_PASSES_COMBINE_COMBINE_PARALLEL_BATCH_MATMUL_H_
#define TENON_PASSES_COMBINE_COMBINE_PARALLEL_BATCH_MATMUL_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CombineParallelBatchMatmul(const ir::Module& module, int min_num_branches = 3);

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_COMBINE_PARALLEL_BATCH_MATMUL_H_
