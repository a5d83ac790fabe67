#include "tenon/onnx/convert/refusals.h"

#include <utility>

#include "tenon/ir/type.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/narrow_type.h"
#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Nobody reads more, and each of thousands of nodes may have the same problem.
constexpr std::size_t kMaxListed = 20;

std::string ListOf(const std::string& of, std::size_t count, const std::vector<Error>& listed) {
  std::string text = StrCat(of, " has ", count, " problems:");
  const auto add = [&](const char* before, const std::string& message) {
    StrAppend(&text, before);
    for (const char c : message) {
      text += c;
      if (c == '\n') text += "    ";
    }
  };
  for (const Error& error : listed) {
    add("\n  ", error.message());
    for (const std::string& note : error.notes()) add("\n    note: ", note);
  }
  if (count > listed.size()) StrAppend(&text, "\n  and ", count - listed.size(), " more");
  return text;
}

}  // namespace

ManyErrors::ManyErrors(const std::string& of, std::size_t count, std::vector<Error> listed)
    : Error(listed.at(0).code(), ListOf(of, count, listed)),
      count_(count),
      listed_(std::move(listed)) {}

void Refusals::Add(const Error& error) {
  const auto* many = dynamic_cast<const ManyErrors*>(&error);
  count_ += many == nullptr ? 1 : many->count();
  const std::vector<Error> each = many == nullptr ? std::vector<Error>{error} : many->listed();
  for (const Error& one : each) {
    if (listed_.size() < kMaxListed) listed_.push_back(one);
  }
  if (many == nullptr) return;
  // What is said of the list is said after its last one.
  for (const std::string& note : error.notes()) listed_.back().AddNote(note);
}

void Refusals::ThrowIfAny(const std::string& of) const {
  if (count_ == 1) throw Error(listed_[0]);
  if (count_ > 1) throw ManyErrors(of, count_, listed_);
  if (is_after_another_) throw AfterRefusal{};
}

void ThrowWithPlace(const Error& error, const std::string& place,
                    const std::vector<std::string>& notes) {
  const auto placed = [&](const Error& one) {
    Error made(one.code(), StrCat(place, ": ", one.message()));
    for (const std::string& note : one.notes()) made.AddNote(note);
    return made;
  };
  const auto* many = dynamic_cast<const ManyErrors*>(&error);
  if (many == nullptr) {
    Error one = placed(error);
    for (const std::string& note : notes) one.AddNote(note);
    throw one;
  }
  std::vector<Error> listed;
  for (const Error& one : many->listed()) listed.push_back(placed(one));
  for (const auto* said : {&error.notes(), &notes})
    for (const std::string& note : *said) listed.back().AddNote(note);
  throw ManyErrors(place, many->count(), std::move(listed));
}

StandIns::StandIns(const onnx::GraphProto& graph,
                   const std::unordered_map<std::string, ir::Expr>& values) {
  for (const onnx::ValueInfoProto& value : graph.value_info()) declared_[value.name()] = &value;
  for (const onnx::ValueInfoProto& value : graph.output()) declared_[value.name()] = &value;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const auto found = values.find(input.name());
    if (found == values.end() || !found->second) continue;
    // Inner graphs may read sequences, which have no shape.
    const auto* tensor = found->second.checked_type().As<ir::TensorTypeNode>();
    if (tensor == nullptr) continue;
    const std::vector<Dim>& extents = tensor->shape;
    const auto& shape = input.type().tensor_type().shape();
    for (int i = 0; i < shape.dim_size() && static_cast<std::size_t>(i) < extents.size(); ++i) {
      if (const std::string& name = shape.dim(i).dim_param(); !name.empty())
        extents_.emplace(name, extents[static_cast<std::size_t>(i)]);
    }
  }
}

ir::Expr StandIns::Of(const std::string& name) const {
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

}  // namespace tenon::onnx_import
