// Vectors with an element for each index of an axis. Only passes include this header.
#ifndef TENON_PASSES_SIMPLIFY_CHANNEL_VECTOR_H_
#define TENON_PASSES_SIMPLIFY_CHANNEL_VECTOR_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

// The vector with the extent that `axis` of `data` has. The operators that SimplifyInference,
// CanonicalizeOps and CanonicalizeQnn replace need equal extents, and arithmetic would broadcast
// one of 1. Where one is "n" and the other 8, the result is a reshape, which needs 8 = n.
// `typed_vector` and `typed_data` are these values with checked types of tensors.
//
//   bias = ChannelVector(call.args[1], typed.args[1], call.args[0], typed.args[0], 1);
ir::Expr ChannelVector(const ir::Expr& vector, const ir::Expr& typed_vector, const ir::Expr& data,
                       const ir::Expr& typed_data, int axis);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_CHANNEL_VECTOR_H_
