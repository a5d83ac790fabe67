// Gaussian error linear units (Hendrycks and Gimpel, 2016), as the standard and ONNX Runtime define
// them.
#ifndef TENON_ONNX_CONVERT_GELU_H_
#define TENON_ONNX_CONVERT_GELU_H_

#include "tenon/ir/expr.h"

namespace tenon::onnx_import {

// x / 2 * (1 + erf(x / sqrt(2))), and its approximation by tanh. `x` must be typed; the result is
// not.
ir::Expr GeluByErf(const ir::Expr& x);
ir::Expr GeluByTanh(const ir::Expr& x);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_GELU_H_
