#include "tenon/verify/draw/onnx_draft.h"

#include <algorithm>
#include <cstring>

#include "tenon/onnx/tensor.h"

namespace tenon::verify {
namespace {

using onnx::AttributeProto;

constexpr std::int64_t kMaxElements = 2048;

bool Contains(const Types& types, DataType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

void SetInt(const NDArray& array, std::int64_t i, std::int64_t value) {
  const std::size_t bytes = array.dtype().bytes();
  std::memcpy(static_cast<char*>(array.raw()) + static_cast<std::size_t>(i) * bytes, &value, bytes);
}

}  // namespace

NodeDraft::NodeDraft(const Names& inputs, int outputs) : outputs(outputs) {
  for (const std::string& input : inputs) proto.add_input(input);
}
AttributeProto* NodeDraft::Add(const std::string& name, AttributeProto::AttributeType type) {
  AttributeProto* attribute = proto.add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}
NodeDraft& NodeDraft::Int(const std::string& name, std::int64_t value) {
  Add(name, AttributeProto::INT)->set_i(value);
  return *this;
}
NodeDraft& NodeDraft::Float(const std::string& name, double value) {
  Add(name, AttributeProto::FLOAT)->set_f(static_cast<float>(value));
  return *this;
}
NodeDraft& NodeDraft::String(const std::string& name, const std::string& value) {
  Add(name, AttributeProto::STRING)->set_s(value);
  return *this;
}
NodeDraft& NodeDraft::IntList(const std::string& name, const Ints& values) {
  AttributeProto* attribute = Add(name, AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
  return *this;
}
NodeDraft& NodeDraft::FloatList(const std::string& name, const std::vector<double>& values) {
  AttributeProto* attribute = Add(name, AttributeProto::FLOATS);
  for (const double value : values) attribute->add_floats(static_cast<float>(value));
  return *this;
}
NodeDraft& NodeDraft::StringList(const std::string& name, const Names& values) {
  AttributeProto* attribute = Add(name, AttributeProto::STRINGS);
  for (const std::string& value : values) attribute->add_strings(value);
  return *this;
}
NodeDraft& NodeDraft::Tensor(const std::string& name, const NDArray& value) {
  onnx_import::ToTensorProto(value, "value", Add(name, AttributeProto::TENSOR)->mutable_t());
  return *this;
}
NodeDraft& NodeDraft::Graph(const std::string& name, onnx::GraphProto graph) {
  Add(name, AttributeProto::GRAPH)->mutable_g()->Swap(&graph);
  return *this;
}

Draft::Draft(Random& random, int opset, bool computes_shapes)
    : random_(random), opset_(opset), computes_shapes_(computes_shapes) {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("fuzz");
}

std::int64_t Draft::Extent() {
  static const Ints& extents =
      *new Ints{1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 7, 8, 13, 16, 17, 31, 33, 64, 65};
  return Chance(2) ? 0 : Of(extents);
}

Shape Draft::AnyShape(std::int64_t min_rank, std::int64_t max_rank) {
  Shape shape;
  std::int64_t elements = 1;
  for (std::int64_t d = min_rank + random_.Below(max_rank - min_rank + 1); d > 0; --d) {
    std::int64_t extent = Extent();
    if (elements * extent > kMaxElements) extent = 1 + random_.Below(2);
    elements *= std::max<std::int64_t>(extent, 1);
    shape.push_back(extent);
  }
  return shape;
}

Shape Draft::Broadcasting(const Shape& shape) {
  Shape other = shape;
  if (Chance(40)) return other;
  for (std::int64_t& extent : other) {
    if (Chance(30)) extent = 1;
  }
  const std::int64_t left_out =
      Chance(50) ? random_.Below(static_cast<std::int64_t>(shape.size()) + 1) : 0;
  other.erase(other.begin(), other.begin() + left_out);
  return other;
}

std::int64_t Draft::Axis(const Value& value) {
  if (value.shape.empty()) return 0;
  const std::int64_t axis = random_.Below(value.rank());
  return Chance(50) ? axis - value.rank() : axis;
}

Ints Draft::Axes(const Value& value) {
  Ints axes;
  for (std::int64_t d = 0; d < value.rank(); ++d) {
    if (Chance(40)) axes.push_back(Chance(30) ? d - value.rank() : d);
  }
  return axes;
}

Value Draft::Any(const Types& types, std::int64_t min_rank, std::int64_t max_rank) {
  const auto fits = [&](const Value& value) {
    return Contains(types, value.type) && value.rank() >= min_rank && value.rank() <= max_rank;
  };
  if (preferred_ && fits(*preferred_) && Chance(70)) return *preferred_;
  if (Chance(70)) {
    std::vector<Value> fitting;
    for (const Value& value : values_) {
      if (fits(value)) fitting.push_back(value);
    }
    if (!fitting.empty()) return Of(fitting);
  }
  const DataType type = Of(types);
  const Shape shape = AnyShape(min_rank, max_rank);
  return IsInput(85) ? Input(type, shape) : Weights(type, shape);
}

Value Draft::Tensor(DataType type, const Shape& shape) {
  if (Chance(40)) {
    std::vector<Value> fitting;
    for (const Value& value : values_) {
      if (value.type == type && value.shape == shape) fitting.push_back(value);
    }
    if (!fitting.empty()) return Of(fitting);
  }
  return IsInput(60) ? Input(type, shape) : Weights(type, shape);
}

bool Draft::IsInput(int percent) { return Chance(percent) || (computes_shapes_ && Chance(70)); }

Value Draft::Input(DataType type, const Shape& shape) {
  const Value value{NewName("x"), type, shape};
  auto* info = model_.mutable_graph()->add_input();
  info->set_name(value.name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx_import::ToOnnxType(type));
  tensor->mutable_shape();
  for (const std::int64_t extent : shape) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  Add(value);
  return value;
}

Value Draft::Weights(DataType type, const Shape& shape) {
  NDArray array =
      Chance(70) ? RandomArray(shape, type, random_) : TypicalArray(shape, type, random_);
  if (Chance(4)) array = WithTinyValues(array, random_);
  if (type.is_float() && Chance(2)) array = WithSpecialValues(array, random_);
  return Constant(array);
}

Value Draft::Constant(const NDArray& array) {
  const Value value{NewName("w"), array.dtype(), array.shape()};
  onnx_import::ToTensorProto(array, value.name, model_.mutable_graph()->add_initializer());
  Add(value);
  return value;
}

std::string Draft::Known(const NDArray& array) {
  if (computes_shapes_ && array.dtype() == Int64 && array.shape().size() <= 1 && Chance(60)) {
    const auto* elements = static_cast<const std::int64_t*>(array.raw());
    if (array.shape().empty()) return ComputedInt(*elements, /*is_scalar=*/true);
    if (array.size() > 0) return ComputedInts(Ints(elements, elements + array.size()));
  }
  if (Chance(3)) return Input(array.dtype(), array.shape()).name;
  if (Chance(90)) return Hidden(array);
  const onnx::NodeProto* made = Append("", "Constant", NodeDraft({}).Tensor("value", array));
  return made->output(0);
}
std::string Draft::Hidden(const NDArray& array) {
  const std::string name = Constant(array).name;
  values_.pop_back();
  return name;
}
std::string Draft::KnownInts(const Ints& values) {
  return Known(NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values));
}
std::string Draft::KnownInt(std::int64_t value) {
  return Known(Chance(50) ? NDArray::Scalar<std::int64_t>(value)
                          : NDArray::FromVector<std::int64_t>({1}, {value}));
}

std::string Draft::Extent(const Value& of, std::int64_t axis, bool is_scalar) {
  if (opset_ >= 15 && !is_scalar && Chance(30))
    return Append("", "Shape", NodeDraft({of.name}).Int("start", axis).Int("end", axis + 1))
        ->output(0);
  const std::string shape = Append("", "Shape", NodeDraft({of.name}))->output(0);
  const NDArray place = is_scalar ? NDArray::Scalar<std::int64_t>(axis)
                                  : NDArray::FromVector<std::int64_t>({1}, {axis});
  return Append("", "Gather", NodeDraft({shape, Hidden(place)}))->output(0);
}

std::string Draft::ComputedInt(std::int64_t value, bool is_scalar) {
  const auto number = [&](std::int64_t n) {
    return Hidden(is_scalar ? NDArray::Scalar<std::int64_t>(n)
                            : NDArray::FromVector<std::int64_t>({1}, {n}));
  };
  // An extent that the number is, or is near to or a multiple or a part of.
  struct Source {
    const Value* value;
    std::int64_t axis, extent;
  };
  std::vector<Source> equal, others;
  for (const Value& of : values_) {
    for (std::int64_t axis = 0; axis < of.rank(); ++axis) {
      const std::int64_t extent = of.shape[static_cast<std::size_t>(axis)];
      if (extent > 1) (extent == value ? equal : others).push_back({&of, axis, extent});
    }
  }
  if (!equal.empty() && Chance(80)) {
    const Source source = Of(equal);
    return Extent(*source.value, source.axis, is_scalar);
  }
  if (others.empty() || !Chance(25)) return number(value);
  const Source source = Of(others);
  const std::string extent = Extent(*source.value, source.axis, is_scalar);
  const auto with = [&](const char* type, std::int64_t operand) {
    return Append("", type, NodeDraft({extent, number(operand)}))->output(0);
  };
  if (value != 0 && value % source.extent == 0) return with("Mul", value / source.extent);
  if (value > 0 && value < source.extent && source.extent / (source.extent / value) == value)
    return with("Div", source.extent / value);
  return with("Add", value - source.extent);
}

std::string Draft::ComputedInts(const Ints& values) {
  Names parts;
  for (const std::int64_t value : values) parts.push_back(ComputedInt(value, /*is_scalar=*/false));
  if (parts.size() == 1) return parts[0];
  return Append("", "Concat", NodeDraft(parts).Int("axis", 0))->output(0);
}

Value Draft::Indices(const Shape& shape, std::int64_t extent) {
  const DataType type = Of(kIndices);
  if (Chance(25)) return Input(type, shape);
  const NDArray array = NDArray::Zeros(shape, type);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    std::int64_t index = extent > 0 ? random_.Below(extent) : 0;
    if (Chance(20)) index -= extent;
    if (Chance(1)) index += extent;
    SetInt(array, i, index);
  }
  return Constant(array);
}

Value Draft::Places(const Shape& shape, std::int64_t extent, DataType type) {
  const NDArray array = NDArray::Zeros(shape, type);
  for (std::int64_t i = 0; extent > 0 && i < array.size(); ++i)
    SetInt(array, i, random_.Below(extent));
  return Constant(array);
}

onnx::NodeProto* Draft::Append(const std::string& domain, const std::string& type, NodeDraft node) {
  onnx::NodeProto* made = model_.mutable_graph()->add_node();
  made->Swap(&node.proto);
  made->set_domain(domain);
  made->set_op_type(type);
  made->set_name(NewName("n"));
  for (int i = 0; i < node.outputs; ++i) made->add_output(NewName("y"));
  return made;
}

}  // namespace tenon::verify
