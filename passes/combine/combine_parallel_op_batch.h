// CombineParallelOpBatch: joins calls of a binary operator on the same data into one call of an
// operator that does the same for each element of a new first axis.
//
// `batch_op` over stacked arguments must give the stacked results. The caller must know that; the
// pass checks only the types. Its attributes are the branches' if both have one schema, and else
// its defaults, except that nn.batch_matmul for nn.dense has transpose_b. Calls whose arguments
// differ in rank stay. Throws NotFound for an operator that does not exist, and InvalidArgument for
// one that does not take two tensors. Requires checked types and leaves them.
//
//   Module joined = CombineParallelOpBatch(module, "add", "add");
#ifndef TENON_PASSES_COMBINE_COMBINE_PARALLEL_OP_BATCH_H_
#define TENON_PASSES_COMBINE_COMBINE_PARALLEL_OP_BATCH_H_

#include <string>

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CombineParallelOpBatch(const ir::Module& module, const std::string& op,
                                  const std::string& batch_op, int min_num_branches = 3);

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_COMBINE_PARALLEL_OP_BATCH_H_
