// Elements of images and volumes between their grid points, at positions that are computed.
#ifndef TENON_ONNX_CONVERT_SAMPLE_H_
#define TENON_ONNX_CONVERT_SAMPLE_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The last place along an axis, as a number of the type. Typed.
Expr LastPlace(const Node& node, const Expr& x, std::size_t axis, DataType type);

// The type of positions in data: wide enough for any place, and for what they are computed of.
DataType PositionType(DataType data, DataType positions);

enum class Between { kLinear, kNearest };

// `x` is [batch, channels, spatial axes]; `positions` are floats [batch, n], one for each spatial
// axis, in elements of the data. Elements outside the data are 0. Typed, [batch, channels, n]: of
// the type of the positions where neighbours are weighed, else of that of the data.
Expr Sampled(const Node& node, const Expr& x, const std::vector<Expr>& positions, Between how);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_SAMPLE_H_
