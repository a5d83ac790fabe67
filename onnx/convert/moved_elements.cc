#include "tenon/onnx/convert/moved_elements.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/opset.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using Places = std::vector<std::size_t>;

// Which inputs the elements of an operator's results come from; an empty list stands for all.
// Those that it adds itself are zeros. What else it gives, as places or counts, has another type.
const std::map<std::string_view, Places>& Sources() {
  static const std::map<std::string_view, Places> sources = {
      {"CenterCropPad", {0}},
      {"Clip", {0, 1, 2}},
      {"Compress", {0}},
      {"Concat", {}},
      {"ConcatFromSequence", {0}},
      {"DepthToSpace", {0}},
      {"Dropout", {0}},
      {"Expand", {0}},
      {"Flatten", {0}},
      {"Gather", {0}},
      {"GatherElements", {0}},
      {"GatherND", {0}},
      {"Max", {}},
      {"MaxUnpool", {0}},
      {"Min", {}},
      {"OneHot", {2}},
      {"Pad", {0, 2}},
      {"Reshape", {0}},
      {"ReverseSequence", {0}},
      {"Scatter", {0, 2}},
      {"ScatterElements", {0, 2}},
      {"ScatterND", {0, 2}},
      {"Slice", {0}},
      {"SpaceToDepth", {0}},
      {"Split", {0}},
      {"SplitToSequence", {0}},
      {"Squeeze", {0}},
      {"TensorScatter", {0, 1}},
      {"Tile", {0}},
      {"TopK", {0}},
      {"Transpose", {0}},
      {"Trilu", {0}},
      {"Unique", {0}},
      {"Unsqueeze", {0}},
      {"Where", {1, 2}},
  };
  return sources;
}

// Sums and products are no elements.
bool Computes(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
    return attribute.name() == "reduction" && (attribute.s() == "add" || attribute.s() == "mul");
  });
}

// A tensor, or those that a sequence holds.
void AddTensors(const Expr& value, std::vector<Expr>* tensors) {
  if (!value) return;
  const auto* sequence = value.As<ir::TupleNode>();
  if (sequence == nullptr) {
    tensors->push_back(value);
    return;
  }
  for (const Expr& element : sequence->fields) AddTensors(element, tensors);
}
std::vector<Expr> TensorsOf(const std::vector<Expr>& values) {
  std::vector<Expr> tensors;
  for (const Expr& value : values) AddTensors(value, &tensors);
  return tensors;
}

std::string NameOfType(const Expr& tensor, const NarrowType* narrow) {
  return narrow != nullptr ? narrow->name : DataTypeOf(tensor).ToString();
}

}  // namespace

Expr MadeOf(const Node& node, const Expr& value, const std::vector<Expr>& parts) {
  const std::vector<Expr> from = TensorsOf(parts);
  if (from.empty()) return value;
  const NarrowType* narrow = node.NarrowTypeOf(from[0]);
  for (const Expr& part : from) {
    if (const NarrowType* other = node.NarrowTypeOf(part); other != narrow)
      throw InvalidArgument(StrCat("values of the types ", NameOfType(from[0], narrow), " and ",
                                   NameOfType(part, other),
                                   " meet in one result; they must have one type"));
  }
  if (narrow == nullptr) return value;
  for (const Expr& made : TensorsOf({value})) {
    if (DataTypeOf(made) == narrow->carrier) node.OfNarrowType(made, *narrow);
  }
  return value;
}

void KeepNarrowTypes(const Node& node, const std::vector<Expr>& outputs) {
  if (!IsDefaultDomain(node.proto().domain()) || Computes(node.proto())) return;
  const auto source = Sources().find(node.proto().op_type());
  if (source == Sources().end()) return;
  std::vector<Expr> parts;
  for (const std::size_t i : source->second) parts.push_back(node.optional_input(i));
  if (source->second.empty()) parts = node.inputs();
  for (const Expr& output : outputs) MadeOf(node, output, parts);
}

}  // namespace tenon::onnx_import
