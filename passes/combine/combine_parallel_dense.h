// CombineParallelDense: joins matrix products of the same data (nn.dense).
//
// In batch form, data and weights of equal shape are stacked, multiplied by one nn.batch_matmul and
// split; the data has rank 2. In flat form, weights, which may have different numbers of rows, are
// concatenated, and the last axis of the wide product is cut. Requires checked types and leaves
// them.
#ifndef TENON_PASSES_COMBINE_COMBINE_PARALLEL_DENSE_H_
#define TENON_PASSES_COMBINE_COMBINE_PARALLEL_DENSE_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

enum class DenseForm { kBatch, kFlat };

ir::Module CombineParallelDense(const ir::Module& module, int min_num_branches = 3,
                                DenseForm form = DenseForm::kBatch);

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_COMBINE_PARALLEL_DENSE_H_
