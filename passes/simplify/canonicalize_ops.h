// CanonicalizeOps: writes nn.bias_add as an addition.
//
// bias_add(x, b, axis) becomes add(x, expand_dims(b, ...)), with axes of extent 1 after the bias,
// or add(x, b) along the last axis. Passes that know additions then see all biases. A bias whose
// extent has another name than that of the axis is reshaped first, which keeps that both must be
// equal. Requires checked types; run InferType after it.
#ifndef TENON_PASSES_SIMPLIFY_CANONICALIZE_OPS_H_
#define TENON_PASSES_SIMPLIFY_CANONICALIZE_OPS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CanonicalizeOps(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_CANONICALIZE_OPS_H_
