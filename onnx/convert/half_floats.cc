#include "tenon/onnx/convert/half_floats.h"

#include <utility>

#include "tenon/ops/builders.h"

namespace tenon::onnx_import {
namespace {

bool HasType(const Expr& e, DataType type) {
  return e && e.checked_type().As<ir::TensorTypeNode>() != nullptr && DataTypeOf(e) == type;
}

}  // namespace

Converter InFloat32(Converter convert) {
  return [convert = std::move(convert)](Node& node) {
    const DataType type = DataTypeOf(node.input(0));
    if (!type.is_half()) return convert(node);
    std::vector<Expr> inputs = node.inputs();
    for (Expr& input : inputs) {
      if (HasType(input, type)) input = node.Typed(ops::Cast(input, Float32));
    }
    Node wide = node.Over(std::move(inputs));
    std::vector<Expr> results = convert(wide);
    node.AddHandled(wide);
    for (Expr& result : results) {
      if (HasType(result, Float32)) result = node.Typed(ops::Cast(result, type));
    }
    return results;
  };
}

}  // namespace tenon::onnx_import
