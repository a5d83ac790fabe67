#include "tenon/onnx/convert/refusals.h"

#include "tenon/ir/type.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/narrow_type.h"
#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Nobody reads more, and each of thousands of nodes may have the same problem.
constexpr std::size_t kMaxListed = 20;

}  // namespace

Refusals::Refusals(const onnx::GraphProto& graph,
                   const std::unordered_map<std::string, ir::Expr>& values) {
  for (const onnx::ValueInfoProto& value : graph.value_info()) declared_[value.name()] = &value;
  for (const onnx::ValueInfoProto& value : graph.output()) declared_[value.name()] = &value;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const auto found = values.find(input.name());
    if (found == values.end() || !found->second) continue;
    const std::vector<Dim> extents = DimsOf(found->second);
    const auto& shape = input.type().tensor_type().shape();
    for (int i = 0; i < shape.dim_size() && static_cast<std::size_t>(i) < extents.size(); ++i) {
      if (const std::string& name = shape.dim(i).dim_param(); !name.empty())
        extents_.emplace(name, extents[static_cast<std::size_t>(i)]);
    }
  }
}

void Refusals::Add(Error error) {
  if (++count_ <= kMaxListed) listed_.push_back(std::move(error));
}

ir::Expr Refusals::StandIn(const std::string& name) const {
  const auto found = declared_.find(name);
  if (found == declared_.end() || !found->second->type().has_tensor_type()) return {};
  const auto& tensor = found->second->type().tensor_type();
  if (!tensor.has_shape() || tensor.shape().dim_size() < 2) return {};
  if (FindNarrowType(tensor.elem_type()) != nullptr) return {};
  switch (tensor.elem_type()) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
      break;
    default:
      return {};
  }
  std::vector<Dim> extents;
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.dim_value() > 0) {
      extents.emplace_back(dim.dim_value());
      continue;
    }
    const auto extent = extents_.find(dim.dim_param());
    if (extent == extents_.end()) return {};
    extents.push_back(extent->second);
  }
  return ir::Var::MakeChecked(name, ir::TensorType(extents, ToDataType(tensor.elem_type(), name)),
                              Span{name});
}

void Refusals::Throw() const {
  CheckInvariant(count_ > 0, "a node was refused");
  if (count_ == 1) throw Error(listed_[0]);
  std::string text = StrCat("the model has ", count_, " problems:");
  for (const Error& error : listed_) {
    StrAppend(&text, "\n  ", error.message());
    for (const std::string& note : error.notes()) StrAppend(&text, "\n    note: ", note);
  }
  if (count_ > listed_.size()) StrAppend(&text, "\n  and ", count_ - listed_.size(), " more");
  throw Error(listed_[0].code(), text);
}

}  // namespace tenon::onnx_import
