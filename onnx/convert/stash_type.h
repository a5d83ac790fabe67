// The attribute stash_type of normalisations: the type of the middle, in which mean and variance
// are computed.
#ifndef TENON_ONNX_CONVERT_STASH_TYPE_H_
#define TENON_ONNX_CONVERT_STASH_TYPE_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct StashType {
  DataType given = Float32;     // of what is returned of the middle
  DataType computed = Float32;  // at least float32, and as wide as the data
};

// Throws InvalidArgument for a type that is no float.
StashType StashTypeOf(Node& node, DataType data);
// The value in another type, typed.
Expr InType(const Node& node, const Expr& x, DataType type);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_STASH_TYPE_H_
