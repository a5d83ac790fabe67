// Resize and Upsample by scales, or sizes that keep the aspect ratio, which only a run knows. With
// antialias, those of extents that only a run knows.
#ifndef TENON_ONNX_CONVERT_RESIZE_BY_VALUES_H_
#define TENON_ONNX_CONVERT_RESIZE_BY_VALUES_H_

#include <string>
#include <vector>

#include "tenon/onnx/convert/node.h"
#include "tenon/ops/image/image_attrs.h"

namespace tenon::onnx_import {

struct ResizeByValues {
  ops::Resize3DAttrs attrs;
  bool antialias = false;         // of linear and cubic
  bool excludes_outside = false;  // with antialias
  bool takes_next = false;        // of nearest, along axes that shrink
};

// `x` resized along `axes` by the float scales of an input, one for each. Of three axes and more,
// scales of the first two that are no constants must be 1: a run with others is refused. So is one
// with a scale that is not above 0. Throws Unimplemented for coordinates of tf_crop_and_resize and
// for integers between whose elements there are none.
Expr ResizedByScaleValues(const Node& node, const Expr& x, const Ints& axes, const Expr& scales,
                          const ResizeByValues& how);

// The same by one scale for all axes, the least or the greatest of the quotients of the sizes and
// the extents ("not_larger", "not_smaller").
Expr ResizedInProportion(const Node& node, const Expr& x, const Ints& axes, const Expr& sizes,
                         const std::string& policy, const ResizeByValues& how);

// The same to sizes, with antialias.
Expr AntialiasedToSizes(const Node& node, const Expr& x, const Ints& axes,
                        const std::vector<Dim>& sizes, const ResizeByValues& how);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RESIZE_BY_VALUES_H_
