// Numbers of elements that a run checks against an extent of its own.
#ifndef TENON_ONNX_CONVERT_COUNT_WITHIN_H_
#define TENON_ONNX_CONVERT_COUNT_WITHIN_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// `count` as an int64 scalar. Of extents for which it is more than `limit`, a run is refused. At
// least one of them must be an expression of variables.
Expr CountWithin(const Node& node, const Dim& count, const Dim& limit);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_COUNT_WITHIN_H_
