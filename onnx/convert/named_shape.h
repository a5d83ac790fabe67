// Shapes over variables, as operators take them: as text over the extents of other tensors.
#ifndef TENON_ONNX_CONVERT_NAMED_SHAPE_H_
#define TENON_ONNX_CONVERT_NAMED_SHAPE_H_

#include <string>
#include <vector>

#include "tenon/onnx/convert/known_extents.h"

namespace tenon::onnx_import {

struct NamedShape {
  std::vector<ir::Expr> others;  // tensors that have the variables as extents
  std::string text;              // in their names (ops/extent_attrs.h)
};
// Throws Unimplemented where no value is known that has a variable of the shape as an extent.
NamedShape NamesIn(const KnownExtents& extents, const std::vector<Dim>& shape);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_NAMED_SHAPE_H_
