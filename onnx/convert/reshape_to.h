// Reshapes during import to extents that may be expressions of the model's variables.
//
//   ReshapeTo(extents, x, {b, t, 16});    // of an x of the shape (b*t, 16)
#ifndef TENON_ONNX_CONVERT_RESHAPE_TO_H_
#define TENON_ONNX_CONVERT_RESHAPE_TO_H_

#include <vector>

#include "tenon/onnx/convert/known_extents.h"

namespace tenon::onnx_import {

// `x` under another shape. Where the variables decide whether it has as many elements, a run
// refuses the values for which it has not. Throws Unimplemented where that holds for no values, or
// no value is known that has a variable of the shape as an extent.
ir::Expr ReshapeTo(const KnownExtents& extents, const ir::Expr& x, const std::vector<Dim>& target);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RESHAPE_TO_H_
