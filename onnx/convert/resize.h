// What Resize and Upsample share, and their forms over extents that are variables.
#ifndef TENON_ONNX_CONVERT_RESIZE_H_
#define TENON_ONNX_CONVERT_RESIZE_H_

#include <cstddef>
#include <vector>

#include "tenon/onnx/convert/node.h"
#include "tenon/onnx/convert/resize_by_values.h"
#include "tenon/ops/image/image_attrs.h"

namespace tenon::onnx_import {

// Throws InvalidArgument unless there are as many values as axes.
void RequireCount(const char* what, std::size_t have, std::size_t want);

// `image.resize<k>d` of the last k axes with the attributes of `how`.
Expr ResizedOver(std::size_t k, const Expr& x, const ops::Resize3DAttrs& how);

// By a scale for each axis; that of an axis that stays is 1. Throws Unimplemented for axes that
// cannot be resized.
Expr ResizedByScales(const Node& node, const Expr& x, const std::vector<double>& scales,
                     const ops::Resize3DAttrs& how);

// Input 0 of a Resize along `axes`, by the node's scales or sizes, which may be computed from
// extents.
Expr ResizedOverVariables(Node& node, const Ints& axes, const ops::Resize3DAttrs& how);

// The same by the region of tf_crop_and_resize, which is known at import. Throws Unimplemented for
// scales that are no whole numbers, or parts by powers of two, of the region.
Expr CroppedOverVariables(const Node& node, const Ints& axes, ops::Resize3DAttrs how);

// The same with antialias.
Expr AntialiasedOverVariables(Node& node, const Ints& axes, const ResizeByValues& how);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RESIZE_H_
