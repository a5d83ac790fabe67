// Recurrent layers and signals.
#include "tenon/onnx/tensor.h"
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

// A recurrent layer with this many gates; LSTM has one more state and peepholes.
Drawer Recurrent(std::int64_t gates, int functions, bool has_cell) {
  return [=](Draft& d) {
    const std::int64_t length = d.Of(Ints{1, 2, 3, 5}), batch = d.Of(Ints{1, 2, 3});
    const std::int64_t size = d.Of(Ints{1, 3, 8}), hidden = d.Of(Ints{1, 2, 4, 5});
    const std::string direction = d.Of(Names{"forward", "forward", "reverse", "bidirectional"});
    const std::int64_t ways = direction == "bidirectional" ? 2 : 1;
    const bool batch_first = d.opset() >= 14 && d.Chance(25);
    const DataType type = d.Of(Types{Float32, Float32, Float32, Float64, Float16});
    const Shape state = batch_first ? Shape{batch, ways, hidden} : Shape{ways, batch, hidden};
    const auto maybe = [&](int percent, const Shape& shape) {
      return d.Chance(percent) ? d.Tensor(type, shape).name : std::string();
    };
    Names inputs = {
        d.Tensor(type, batch_first ? Shape{batch, length, size} : Shape{length, batch, size}).name,
        d.Tensor(type, {ways, gates * hidden, size}).name,
        d.Tensor(type, {ways, gates * hidden, hidden}).name, maybe(60, {ways, 2 * gates * hidden})};
    const NDArray lengths = NDArray::Zeros({batch}, Int32);
    for (std::int64_t i = 0; i < batch; ++i)
      lengths.data<std::int32_t>()[i] = static_cast<std::int32_t>(length);
    inputs.push_back(d.Chance(15)   ? d.Known(lengths)
                     : d.Chance(25) ? d.Places({batch}, length + 1, Int32).name
                                    : "");
    inputs.push_back(maybe(40, state));
    if (has_cell) {
      inputs.push_back(maybe(40, state));
      inputs.push_back(maybe(30, {ways, 3 * hidden}));
    }
    while (inputs.back().empty()) inputs.pop_back();
    NodeDraft node(inputs, static_cast<int>(1 + d.random().Below(has_cell ? 3 : 2)));
    node.Int("hidden_size", hidden);
    if (ways == 2 || d.Chance(60)) node.String("direction", direction);
    if (batch_first) node.Int("layout", 1);
    if (d.Chance(30)) {
      Names names;
      for (std::int64_t i = 0; i < ways * functions; ++i)
        names.push_back(d.Of(Names{"Sigmoid", "Tanh", "Relu", "Affine", "Elu", "HardSigmoid",
                                   "LeakyRelu", "ScaledTanh", "Softplus", "Softsign"}));
      node.StringList("activations", names);
    }
    if (d.Chance(10)) node.Float("clip", 0.5);
    if (has_cell && d.Chance(10)) node.Int("input_forget", 1);
    if (gates == 3 && d.Chance(50)) node.Int("linear_before_reset", d.random().Below(2));
    return node;
  };
}

NodeDraft Window(Draft& d) {
  NodeDraft node({d.KnownInt(1 + d.random().Below(20))});
  if (d.Chance(50)) node.Int("periodic", d.random().Below(2));
  if (d.Chance(40))
    node.Int("output_datatype", onnx_import::ToOnnxType(d.Of(Types{Float32, Float64, Int32})));
  return node;
}

NodeDraft Dft(Draft& d) {
  Shape shape = d.AnyShape(2, 3);
  shape.push_back(d.Of(Ints{1, 2}));
  const Value x = d.Tensor(d.Of(Types{Float32, Float64}), shape);
  const std::int64_t axis = d.random().Below(x.rank() - 1);
  NodeDraft node({x.name});
  const bool has_length = d.Chance(40);
  if (has_length) node.proto.add_input(d.KnownInt(1 + d.random().Below(20)));
  if (d.opset() >= 20) {
    if (!has_length) node.proto.add_input("");
    node.proto.add_input(d.Known(NDArray::Scalar<std::int64_t>(axis)));
  } else {
    node.Int("axis", axis);
  }
  if (d.Chance(40)) node.Int("inverse", d.random().Below(2));
  if (d.Chance(40)) node.Int("onesided", d.random().Below(2));
  return node;
}

NodeDraft Stft(Draft& d) {
  const DataType type = d.Of(Types{Float32, Float64});
  const std::int64_t length = d.Of(Ints{8, 16, 33}), frame = d.Of(Ints{1, 4, 8});
  NodeDraft node({d.Tensor(type, {d.Of(Ints{1, 2}), length, d.Of(Ints{1, 1, 2})}).name,
                  d.KnownInt(1 + d.random().Below(5))});
  const bool has_window = d.Chance(60);
  node.proto.add_input(has_window ? d.Tensor(type, {frame}).name : "");
  if (!has_window || d.Chance(40)) node.proto.add_input(d.KnownInt(frame));
  if (d.Chance(50)) node.Int("onesided", d.random().Below(2));
  return node;
}

NodeDraft MelWeightMatrix(Draft& d) {
  const auto number = [&](std::int64_t value) {
    return d.Known(NDArray::Scalar<std::int64_t>(value));
  };
  const auto edge = [&](float value) { return d.Known(NDArray::Scalar<float>(value)); };
  NodeDraft node({number(1 + d.random().Below(8)), number(d.Of(Ints{8, 16, 17})), number(8000),
                  edge(d.Of(std::vector<float>{0, 100})),
                  edge(d.Of(std::vector<float>{4000, 2000}))});
  if (d.Chance(30)) node.Int("output_datatype", onnx_import::ToOnnxType(Float64));
  return node;
}

}  // namespace

void AddSequenceDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["BlackmanWindow"] = t["HammingWindow"] = t["HannWindow"] = Window;
  t["DFT"] = Dft;
  t["GRU"] = Recurrent(3, 2, false);
  t["LSTM"] = Recurrent(4, 3, true);
  t["MelWeightMatrix"] = MelWeightMatrix;
  t["RNN"] = Recurrent(1, 1, false);
  t["STFT"] = Stft;
}

}  // namespace tenon::verify
