// Writes operators whose results have as many elements as values say (argwhere,
// sparse_fill_empty_rows) as operators over all elements, of which take_first takes the first ones.
//
//   argwhere(%x)    // Tensor[(?, 2), int32]
//   take_first(%coordinates_of_all, %count)
#ifndef TENON_PASSES_EXPAND_RUN_TIME_OPS_H_
#define TENON_PASSES_EXPAND_RUN_TIME_OPS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

// A module without such calls comes back as it is. For others types are inferred, which throws what
// InferType throws; rewritten functions have none.
ir::Module ExpandRunTimeOps(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_EXPAND_RUN_TIME_OPS_H_
