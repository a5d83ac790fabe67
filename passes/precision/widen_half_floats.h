// WidenHalfFloats: runs sums and products of float16 and bfloat16 in float32.
//
// No kernel calculates in 16-bit floating types: values are only stored in them. An operator that
// sums many values (convolutions, matrix products, means, average pools, softmax, normalisations)
// or multiplies them (`prod`) gets float32 operands, and its result is rounded once instead of
// after every step. Matrix products and two-dimensional convolutions of bfloat16 keep their
// operands, for which CPUs have an instruction, and sum in float32. Requires and keeps checked
// types. Results differ by the roundings that are left out.
#ifndef TENON_PASSES_PRECISION_WIDEN_HALF_FLOATS_H_
#define TENON_PASSES_PRECISION_WIDEN_HALF_FLOATS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module WidenHalfFloats(const ir::Module& module);
// The same for one typed call: its operands are cast, and its result is cast back. The call itself
// where nothing is widened.
ir::Expr WidenedCall(const ir::Expr& call);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PRECISION_WIDEN_HALF_FLOATS_H_
