#include "tenon/onnx/convert/stash_type.h"

#include "onnx/onnx_pb.h"
#include "tenon/ops/builders.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

StashType StashTypeOf(Node& node, DataType data) {
  StashType stash;
  switch (const std::int64_t type = node.Int("stash_type", onnx::TensorProto::FLOAT)) {
    case onnx::TensorProto::FLOAT:
      break;
    case onnx::TensorProto::FLOAT16:
      stash.given = Float16;
      break;
    case onnx::TensorProto::BFLOAT16:
      stash.given = BFloat16;
      break;
    case onnx::TensorProto::DOUBLE:
      stash.given = Float64;
      break;
    default:
      throw InvalidArgument(StrCat("stash_type is ", type,
                                   "; it may be 1 (float32), 10 (float16), 11 (float64) or 16 "
                                   "(bfloat16)"));
  }
  if (stash.given == Float64 || data == Float64) stash.computed = Float64;
  return stash;
}

Expr InType(const Node& node, const Expr& x, DataType type) {
  return DataTypeOf(x) == type ? x : node.Typed(ops::Cast(x, type));
}

}  // namespace tenon::onnx_import
