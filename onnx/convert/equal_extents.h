// Extents that must be equal, where only a run knows them.
//
//   x = WithExtentOf(node, x, 1, like, 0);   // refused in runs where the two axes differ
#ifndef TENON_ONNX_CONVERT_EQUAL_EXTENTS_H_
#define TENON_ONNX_CONVERT_EQUAL_EXTENTS_H_

#include <cstddef>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// `x` with the extent of an axis of another value in place of its own. Typed.
Expr WithExtentOf(const Node& node, const Expr& x, std::size_t axis, const Expr& like,
                  std::size_t like_axis);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_EQUAL_EXTENTS_H_
