// Recurrent layers. ONNX's layers multiply their inputs by a weight; here that product is a value
// of its own, so that it becomes the input and the weight is the identity.
#include <optional>

#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/recurrent/recurrent_attrs.h"
#include "tenon/ops/registry.h"

namespace tenon::onnx_export {
namespace {

NDArray Identity(std::int64_t extent, DataType type) {
  NDArray matrix = NDArray::Zeros({1, extent, extent}, type);
  for (std::int64_t i = 0; i < extent; ++i) {
    if (type == Float64) {
      matrix.data<double>()[i * (extent + 1)] = 1;
    } else {
      matrix.data<float>()[i * (extent + 1)] = 1;
    }
  }
  return matrix;
}

// A function as ONNX spells it.
std::string Spelled(std::string name) {
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

// `reset_after`: of a GRU.
Names Layer(CallToWrite& call, const char* type, const std::vector<std::string>& activations,
            bool reverse, std::optional<bool> reset_after = std::nullopt) {
  const auto with_direction = [&](const std::string& value) {
    return call.graph.AddNode("Unsqueeze", {value, call.graph.AddInts({0})});
  };
  const auto without_direction = [&](const std::string& value, std::int64_t axis) {
    return call.graph.AddNode("Squeeze", {value, call.graph.AddInts({axis})});
  };
  const std::int64_t columns = call.shape(1)[0], hidden = call.shape(1)[1];
  const DataType dtype = call.dtype(0);
  const std::string no_bias = call.graph.AddConstant(NDArray::Zeros({columns}, dtype));
  Names inputs = {call.input(0), call.graph.AddConstant(Identity(columns, dtype)),
                  with_direction(call.input(1)),
                  with_direction(call.graph.AddNode("Concat", {no_bias, call.input(2)},
                                                    {{"axis", std::int64_t{0}}})),
                  call.graph.AddNode("Cast", {call.input(3)},
                                     {{"to", std::int64_t{onnx::TensorProto::INT32}}})};
  for (std::size_t i = 4; i < call.num_args(); ++i) inputs.push_back(with_direction(call.input(i)));
  std::vector<std::string> spelled;
  for (const std::string& name : activations) spelled.push_back(Spelled(name));
  const NodeAttribute size = {"hidden_size", hidden}, functions = {"activations", spelled},
                      direction = {"direction", std::string(reverse ? "reverse" : "forward")};
  const NodeAttributes attributes =
      reset_after ? NodeAttributes{size,
                                   functions,
                                   direction,
                                   {"linear_before_reset", std::int64_t{*reset_after}}}
                  : NodeAttributes{size, functions, direction};
  const Names results = call.graph.AddNode(type, call.num_args() - 3, inputs, attributes);
  Names values = {without_direction(results[0], 1)};
  for (std::size_t i = 1; i < results.size(); ++i)
    values.push_back(without_direction(results[i], 0));
  return values;
}

Names Rnn(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::RnnAttrs>();
  return Layer(call, "RNN", {attrs.activation}, attrs.reverse);
}

Names Gru(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::GruAttrs>();
  return Layer(call, "GRU", {attrs.gate_activation, attrs.activation}, attrs.reverse,
               attrs.reset_after);
}

Names Lstm(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::LstmAttrs>();
  return Layer(call, "LSTM", {attrs.gate_activation, attrs.activation, attrs.output_activation},
               attrs.reverse);
}

}  // namespace

void AddRecurrentExporters(ExporterTable* table) {
  const auto& registry = ops::OpRegistry::Global();
  (*table)[registry.Get("nn.rnn")] = Rnn;
  (*table)[registry.Get("nn.gru")] = Gru;
  (*table)[registry.Get("nn.lstm")] = Lstm;
}

}  // namespace tenon::onnx_export
