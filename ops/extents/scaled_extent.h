// Extents of a resampled axis.
//
//   ScaledExtent(call, 5, 2.6F);               // 13: the product is rounded to float32
//   ScaledExtent(call, Dim::Symbol("n"), 1.5)  // floordiv(3*n, 2)
#ifndef TENON_OPS_EXTENTS_SCALED_EXTENT_H_
#define TENON_OPS_EXTENTS_SCALED_EXTENT_H_

#include "tenon/ops/type_relation.h"

namespace tenon::ops {

// extent * scale, rounded down. The product of a scale that is a float32 and no whole number is
// rounded to float32 before, as in ONNX; all others are exact. An expression gives an expression
// with the same values. The call takes only values of which that is right, and refuses a scale for
// which there is none.
ir::Dim ScaledExtent(TypeCall& call, const ir::Dim& extent, double scale);

}  // namespace tenon::ops

#endif  // TENON_OPS_EXTENTS_SCALED_EXTENT_H_
