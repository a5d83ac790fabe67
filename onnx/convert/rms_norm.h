// Normalisation by the root of the mean square (Zhang and Sennrich, NeurIPS 2019).
#ifndef TENON_ONNX_CONVERT_RMS_NORM_H_
#define TENON_ONNX_CONVERT_RMS_NORM_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// x / sqrt(mean(x * x over the axes) + epsilon) * scale, typed. What is narrower than `middle` is
// squared and summed up in that type, and rounded before it is scaled. The result has the type of
// the scale.
Expr ScaledByRms(const Node& node, const Expr& x, const Expr& scale, const Ints& axes,
                 double epsilon, DataType middle = Float32);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RMS_NORM_H_
