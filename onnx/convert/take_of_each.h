// Elements at places that each sequence or image of a batch has of its own.
#ifndef TENON_ONNX_CONVERT_TAKE_OF_EACH_H_
#define TENON_ONNX_CONVERT_TAKE_OF_EACH_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The elements of `x` along the axis, which is not the batch (axis 0), at `places`, int64 [batch,
// n]; the result has n of them. Typed. Every place must lie in the axis.
Expr TakenOfEach(const Node& node, const Expr& x, const Expr& places, std::int64_t axis);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_TAKE_OF_EACH_H_
