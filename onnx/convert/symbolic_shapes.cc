#include "tenon/onnx/convert/symbolic_shapes.h"

#include <algorithm>

#include "tenon/onnx/convert/part_of_value.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {

using ir::Expr;
using Dims = std::vector<Dim>;

Dims DimsOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr)
    throw InvalidArgument("an input is a sequence or has no element; it must be a tensor");
  return tensor->shape;
}

bool IsStatic(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_static(); });
}

std::vector<std::int64_t> NumbersOf(const Dims& dims) {
  std::vector<std::int64_t> numbers;
  for (const Dim& dim : dims) numbers.push_back(dim.value());
  return numbers;
}

bool HasKnownExtents(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  return tensor != nullptr && std::none_of(tensor->shape.begin(), tensor->shape.end(),
                                           [](const Dim& dim) { return dim.is_any(); });
}

std::optional<Dims> DimsOfValue(const Expr& e) {
  std::optional<Dims> value = PartOfValue(e);
  const bool is_known =
      value && std::none_of(value->begin(), value->end(), [](const Dim& d) { return d.is_any(); });
  return is_known ? std::move(value) : std::nullopt;
}

Expr ExtentValue(const Expr& x, std::size_t axis) {
  if (const Dim extent = DimsOf(x)[axis]; extent.is_static())
    return ops::Scalar(static_cast<double>(extent.value()), Int64);
  const Expr shape =
      ir::Call::Make(ops::Known().shape_of, {x}, attrs::Attrs::Make(ops::ShapeOfAttrs{Int64}));
  return ops::Take(shape, ops::Scalar(static_cast<double>(axis), Int64), {.axis = 0});
}

}  // namespace tenon::onnx_import
