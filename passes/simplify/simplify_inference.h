// SimplifyInference: replaces operators that only training needs.
//
// Field 0 of nn.batch_norm becomes a multiplication and an addition of per-channel vectors; field 0
// of nn.dropout becomes its input. Other fields stay. Requires checked types; run InferType after
// it.
#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_INFERENCE_H_
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_INFERENCE_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module SimplifyInference(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_SIMPLIFY_INFERENCE_H_
