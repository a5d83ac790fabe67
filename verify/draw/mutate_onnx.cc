#include "tenon/verify/draw/mutate_onnx.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tenon/onnx/import.h"

namespace tenon::verify {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt64 = std::numeric_limits<std::int64_t>::min();

std::int64_t OddInt(Random& random) {
  static const auto& values = *new std::vector<std::int64_t>{0,         0,
                                                             1,         1,
                                                             -1,        -1,
                                                             2,         3,
                                                             -2,        4,
                                                             5,         7,
                                                             16,        255,
                                                             256,       65537,
                                                             1 << 20,   -65537,
                                                             kMaxInt64, kMinInt64,
                                                             1000,      -(1000),
                                                             1LL << 31, 1LL << 32,
                                                             1LL << 40, -(1LL << 40),
                                                             1LL << 62, kMinInt64 + 1};
  return random.Of(values);
}
float OddFloat(Random& random) {
  static const auto& values = *new std::vector<float>{0,
                                                      -0.0F,
                                                      1,
                                                      -1,
                                                      0.5F,
                                                      1e-30F,
                                                      1e30F,
                                                      -1e30F,
                                                      std::numeric_limits<float>::quiet_NaN(),
                                                      std::numeric_limits<float>::infinity(),
                                                      -std::numeric_limits<float>::infinity(),
                                                      255,
                                                      3};
  return random.Of(values);
}
std::string OddString(Random& random) {
  static const auto& values = *new std::vector<std::string>{
      "",           "nearest", "linear",  "constant", "edge",          "SAME_UPPER",
      "SAME_LOWER", "VALID",   "forward", "reverse",  "bidirectional", "none",
      "sum",        "mean",    "add",     "mul",      "tanh",          "ij,jk",
      "...->...",   "ii",      "\xff",    "LEFT",     "cubic",         "CRD"};
  return random.Of(values);
}

template <typename Field>
auto* AnyOf(Field* field, Random& random) {
  return field->empty() ? nullptr : field->Mutable(static_cast<int>(random.Below(field->size())));
}

// Collects the nodes of the graph and of the graphs inside them.
void Collect(GraphProto* graph, std::vector<NodeProto*>* nodes) {
  for (NodeProto& node : *graph->mutable_node()) {
    nodes->push_back(&node);
    for (AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) Collect(attribute.mutable_g(), nodes);
  }
}
NodeProto* AnyNode(ModelProto* model, Random& random) {
  std::vector<NodeProto*> nodes;
  Collect(model->mutable_graph(), &nodes);
  return nodes.empty() ? nullptr : random.Of(nodes);
}

std::string AnyName(const ModelProto& model, Random& random) {
  std::vector<std::string> names = {"", "nowhere"};
  for (const auto& input : model.graph().input()) names.push_back(input.name());
  for (const auto& tensor : model.graph().initializer()) names.push_back(tensor.name());
  for (const NodeProto& node : model.graph().node())
    for (const std::string& output : node.output()) names.push_back(output);
  return random.Of(names);
}

void ChangeType(ModelProto* model, Random& random) {
  static const auto& supported = *new std::vector<std::string>(onnx_import::SupportedOnnxOps());
  NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return;
  const std::string& name = random.Of(supported);
  const std::size_t dot = name.rfind('.');
  node->set_domain(dot == std::string::npos ? "" : name.substr(0, dot));
  node->set_op_type(dot == std::string::npos ? name : name.substr(dot + 1));
}

void ChangeInputs(ModelProto* model, Random& random) {
  NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return;
  auto* inputs = node->mutable_input();
  switch (random.Below(5)) {
    case 0:
      node->add_input(AnyName(*model, random));
      break;
    case 1:
      if (!inputs->empty()) inputs->RemoveLast();
      break;
    case 2:
      if (!inputs->empty()) inputs->SwapElements(0, inputs->size() - 1);
      break;
    case 3:
      if (std::string* input = AnyOf(inputs, random)) input->clear();
      break;
    default:
      if (std::string* input = AnyOf(inputs, random)) *input = AnyName(*model, random);
  }
}

void ChangeOutputs(ModelProto* model, Random& random) {
  NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return;
  switch (random.Below(4)) {
    case 0:
      node->add_output("more" + std::to_string(random.Below(3)));
      break;
    case 1:
      if (!node->output().empty()) node->mutable_output()->RemoveLast();
      break;
    case 2:
      if (std::string* output = AnyOf(node->mutable_output(), random)) output->clear();
      break;
    default:
      if (std::string* output = AnyOf(node->mutable_output(), random))
        *output = AnyName(*model, random);
  }
}

void ChangeDims(TensorProto* tensor, Random& random) {
  switch (random.Below(3)) {
    case 0:
      tensor->add_dims(OddInt(random));
      break;
    case 1:
      if (!tensor->dims().empty()) tensor->mutable_dims()->RemoveLast();
      break;
    default:
      if (!tensor->dims().empty())
        tensor->set_dims(static_cast<int>(random.Below(tensor->dims_size())), OddInt(random));
  }
}

void ChangeTensor(TensorProto* tensor, Random& random) {
  switch (random.Below(5)) {
    case 0:
      ChangeDims(tensor, random);
      break;
    case 1:
      tensor->set_data_type(static_cast<int>(random.Below(24)));
      break;
    case 2:
      if (tensor->has_raw_data() && !tensor->raw_data().empty())
        (*tensor->mutable_raw_data())[static_cast<std::size_t>(
            random.Below(static_cast<std::int64_t>(tensor->raw_data().size())))] =
            static_cast<char>(random.Next());
      break;
    case 3:
      if (tensor->has_raw_data()) tensor->mutable_raw_data()->resize(tensor->raw_data().size() / 2);
      break;
    default:
      tensor->add_int64_data(OddInt(random));
  }
}

void ChangeValue(AttributeProto* attribute, Random& random) {
  switch (attribute->type()) {
    case AttributeProto::INT:
      attribute->set_i(OddInt(random));
      break;
    case AttributeProto::FLOAT:
      attribute->set_f(OddFloat(random));
      break;
    case AttributeProto::STRING:
      attribute->set_s(OddString(random));
      break;
    case AttributeProto::INTS:
      if (attribute->ints().empty() || random.Chance(25)) {
        attribute->add_ints(OddInt(random));
      } else if (random.Chance(20)) {
        attribute->mutable_ints()->RemoveLast();
      } else {
        attribute->set_ints(static_cast<int>(random.Below(attribute->ints_size())), OddInt(random));
      }
      break;
    case AttributeProto::FLOATS:
      attribute->add_floats(OddFloat(random));
      break;
    case AttributeProto::STRINGS:
      attribute->add_strings(OddString(random));
      break;
    case AttributeProto::TENSOR:
      ChangeTensor(attribute->mutable_t(), random);
      break;
    default:
      attribute->set_type(static_cast<AttributeProto::AttributeType>(random.Below(12)));
  }
}

void ChangeAttribute(ModelProto* model, Random& random) {
  NodeProto* node = AnyNode(model, random);
  if (node == nullptr) return;
  AttributeProto* attribute = AnyOf(node->mutable_attribute(), random);
  if (attribute == nullptr || random.Chance(10)) {
    static const auto& names = *new std::vector<std::string>{
        "axis",         "axes",     "keepdims",  "pads",      "strides",   "dilations",
        "group",        "perm",     "to",        "k",         "alpha",     "mode",
        "kernel_shape", "auto_pad", "ceil_mode", "num_heads", "blocksize", "what"};
    attribute = node->add_attribute();
    attribute->set_name(random.Of(names));
    attribute->set_type(random.Of(std::vector<AttributeProto::AttributeType>{
        AttributeProto::INT, AttributeProto::INTS, AttributeProto::STRING, AttributeProto::FLOAT}));
    return ChangeValue(attribute, random);
  }
  switch (random.Below(8)) {
    case 0:
      node->mutable_attribute()->RemoveLast();
      break;
    case 1:
      attribute->set_type(static_cast<AttributeProto::AttributeType>(random.Below(12)));
      break;
    case 2:
      *node->add_attribute() = AttributeProto(*attribute);
      break;
    default:
      ChangeValue(attribute, random);
  }
}

void ChangeInitializer(ModelProto* model, Random& random) {
  TensorProto* tensor = AnyOf(model->mutable_graph()->mutable_initializer(), random);
  if (tensor == nullptr) return;
  if (random.Chance(15)) {
    tensor->set_name(AnyName(*model, random));
  } else {
    ChangeTensor(tensor, random);
  }
}

void ChangeInfo(onnx::ValueInfoProto* info, Random& random) {
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  switch (random.Below(6)) {
    case 0:
      tensor->set_elem_type(static_cast<int>(random.Below(24)));
      break;
    case 1:
      tensor->mutable_shape()->add_dim()->set_dim_value(1 + random.Below(4));
      break;
    case 2:
      if (!tensor->shape().dim().empty()) tensor->mutable_shape()->mutable_dim()->RemoveLast();
      break;
    case 3:
      tensor->clear_shape();
      break;
    default:
      if (auto* dim = AnyOf(tensor->mutable_shape()->mutable_dim(), random)) {
        if (random.Chance(30)) {
          dim->set_dim_param("n");
        } else {
          dim->set_dim_value(random.Chance(60) ? random.Below(9) : OddInt(random));
        }
      }
  }
}

void ChangeInput(ModelProto* model, Random& random) {
  auto* info = AnyOf(model->mutable_graph()->mutable_input(), random);
  if (info == nullptr) return;
  if (random.Chance(10)) {
    info->set_name(AnyName(*model, random));
  } else {
    ChangeInfo(info, random);
  }
}

void ChangeResults(ModelProto* model, Random& random) {
  auto* outputs = model->mutable_graph()->mutable_output();
  switch (random.Below(3)) {
    case 0:
      outputs->Add()->set_name(AnyName(*model, random));
      break;
    case 1:
      if (outputs->size() > 1) outputs->RemoveLast();
      break;
    default:
      if (auto* info = AnyOf(outputs, random)) ChangeInfo(info, random);
  }
}

void ChangeOrder(ModelProto* model, Random& random) {
  auto* nodes = model->mutable_graph()->mutable_node();
  if (nodes->empty()) return;
  const int i = static_cast<int>(random.Below(nodes->size()));
  switch (random.Below(4)) {
    case 0:
      *model->mutable_graph()->add_node() = NodeProto(nodes->Get(i));
      break;
    case 1:
      nodes->SwapElements(i, nodes->size() - 1);
      nodes->RemoveLast();
      break;
    default:
      nodes->SwapElements(i, static_cast<int>(random.Below(nodes->size())));
  }
}

void ChangeOpset(ModelProto* model, Random& random) {
  if (model->opset_import().empty()) return;
  model->mutable_opset_import(0)->set_version(random.Chance(90) ? 7 + random.Below(15)
                                                                : OddInt(random));
}

// Declared types and shapes of intermediate values must not matter.
void AddDeclaration(ModelProto* model, Random& random) {
  auto* info = model->mutable_graph()->add_value_info();
  info->set_name(AnyName(*model, random));
  ChangeInfo(info, random);
}

using Change = void (*)(ModelProto*, Random&);
constexpr Change kChanges[] = {
    ChangeType,        ChangeInputs,      ChangeInputs,    ChangeOutputs,
    ChangeAttribute,   ChangeAttribute,   ChangeAttribute, ChangeAttribute,
    ChangeInitializer, ChangeInitializer, ChangeInput,     ChangeInput,
    ChangeResults,     ChangeOrder,       ChangeOpset,     AddDeclaration};

// Moves the elements of raw data, widened, into a typed field.
template <typename T, typename Field>
void Widen(const std::string& raw, Field* field) {
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof value);
    field->Add(static_cast<typename Field::value_type>(value));
  }
}

}  // namespace

void MutateOnnx(ModelProto* model, Random& random) {
  kChanges[random.Below(std::size(kChanges))](model, random);
}

void UseTypedFields(TensorProto* tensor) {
  const std::string raw = tensor->raw_data();
  if (raw.empty()) return;
  switch (tensor->data_type()) {
    case TensorProto::FLOAT:
      Widen<float>(raw, tensor->mutable_float_data());
      break;
    case TensorProto::DOUBLE:
      Widen<double>(raw, tensor->mutable_double_data());
      break;
    case TensorProto::INT64:
      Widen<std::int64_t>(raw, tensor->mutable_int64_data());
      break;
    case TensorProto::UINT64:
      Widen<std::uint64_t>(raw, tensor->mutable_uint64_data());
      break;
    case TensorProto::UINT32:
      Widen<std::uint32_t>(raw, tensor->mutable_uint64_data());
      break;
    case TensorProto::INT32:
      Widen<std::int32_t>(raw, tensor->mutable_int32_data());
      break;
    case TensorProto::INT16:
      Widen<std::int16_t>(raw, tensor->mutable_int32_data());
      break;
    case TensorProto::INT8:
      Widen<std::int8_t>(raw, tensor->mutable_int32_data());
      break;
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      Widen<std::uint8_t>(raw, tensor->mutable_int32_data());
      break;
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      Widen<std::uint16_t>(raw, tensor->mutable_int32_data());
      break;
    default:
      return;
  }
  tensor->clear_raw_data();
}

}  // namespace tenon::verify
