// Recurrent layers over sequences of different lengths, with other activations, a limit of their
// arguments and coupled gates, against the equations of the standard's operators, step by step.
#include <cmath>
#include <functional>

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr std::int64_t kBatch = 3, kInputs = 2, kHidden = 4;

using Function = std::function<double(double)>;
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Tanh(double x) { return std::tanh(x); }

struct Layer {
  std::string type;
  std::int64_t gates;
  bool is_bidirectional = false;
  std::vector<std::int32_t> lengths;  // empty: all
  std::vector<Function> functions;    // of one direction
  bool coupled = false;
  std::int64_t steps = 5;
};

struct Weights {
  NDArray x, w, r, b;
};

// y is (steps, directions, batch, hidden), h and c (directions, batch, hidden).
struct States {
  std::vector<float> y, h, c;
};

States Run(const Layer& layer, const Weights& in) {
  const std::int64_t directions = layer.is_bidirectional ? 2 : 1, rows = layer.gates * kHidden;
  const auto size = [&](std::int64_t n) {
    return static_cast<std::size_t>(n * directions * kBatch * kHidden);
  };
  States made{std::vector<float>(size(layer.steps)), std::vector<float>(size(1)),
              std::vector<float>(size(1))};
  for (std::int64_t d = 0; d < directions; ++d) {
    for (std::int64_t n = 0; n < kBatch; ++n) {
      const std::int64_t length =
          layer.lengths.empty() ? layer.steps : layer.lengths[static_cast<std::size_t>(n)];
      std::vector<double> h(kHidden, 0), c(kHidden, 0);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t t = d == 0 ? i : length - 1 - i;
        // Gate g of unit u: the parts of the input and of the state.
        const auto part = [&](std::int64_t g, std::int64_t u, const std::vector<double>& state,
                              bool of_input) {
          const std::int64_t row = g * kHidden + u;
          double sum = in.b.data<float>()[d * 2 * rows + (of_input ? 0 : rows) + row];
          if (of_input) {
            for (std::int64_t k = 0; k < kInputs; ++k)
              sum += in.w.data<float>()[(d * rows + row) * kInputs + k] *
                     in.x.data<float>()[(t * kBatch + n) * kInputs + k];
          } else {
            for (std::int64_t k = 0; k < kHidden; ++k)
              sum += in.r.data<float>()[(d * rows + row) * kHidden + k] *
                     state[static_cast<std::size_t>(k)];
          }
          return sum;
        };
        const auto both = [&](std::int64_t g, std::int64_t u) {
          return part(g, u, h, true) + part(g, u, h, false);
        };
        std::vector<double> next(kHidden), reset(kHidden);
        for (std::int64_t u = 0; layer.type == "GRU" && u < kHidden; ++u)
          reset[static_cast<std::size_t>(u)] =
              layer.functions[0](both(1, u)) * h[static_cast<std::size_t>(u)];
        for (std::int64_t u = 0; u < kHidden; ++u) {
          const auto at = static_cast<std::size_t>(u);
          if (layer.type == "RNN") {
            next[at] = layer.functions[0](both(0, u));
          } else if (layer.type == "GRU") {
            const double z = layer.functions[0](both(0, u));
            const double fresh = layer.functions[1](part(2, u, h, true) + part(2, u, reset, false));
            next[at] = (1 - z) * fresh + z * h[at];
          } else {
            const double gate_in = layer.functions[0](both(0, u));
            const double forget = layer.coupled ? 1 - gate_in : layer.functions[0](both(2, u));
            c[at] = forget * c[at] + gate_in * layer.functions[1](both(3, u));
            next[at] = layer.functions[0](both(1, u)) * layer.functions[2](c[at]);
          }
        }
        h = next;
        for (std::int64_t u = 0; u < kHidden; ++u)
          made.y[static_cast<std::size_t>(((t * directions + d) * kBatch + n) * kHidden + u)] =
              static_cast<float>(h[static_cast<std::size_t>(u)]);
      }
      for (std::int64_t u = 0; u < kHidden; ++u) {
        const auto at = static_cast<std::size_t>((d * kBatch + n) * kHidden + u);
        made.h[at] = static_cast<float>(h[static_cast<std::size_t>(u)]);
        made.c[at] = static_cast<float>(c[static_cast<std::size_t>(u)]);
      }
    }
  }
  return made;
}

Weights RandomWeights(const Layer& layer) {
  const std::int64_t directions = layer.is_bidirectional ? 2 : 1, rows = layer.gates * kHidden;
  return {Random({layer.steps, kBatch, kInputs}, 1), Random({directions, rows, kInputs}, 2),
          Random({directions, rows, kHidden}, 3), Random({directions, 2 * rows}, 4)};
}

void ExpectAgrees(const Layer& layer, const std::function<void(NodeProto&)>& set) {
  const Weights in = RandomWeights(layer);
  const States expected = Run(layer, in);
  const std::int64_t directions = layer.is_bidirectional ? 2 : 1;
  Model model(22);
  runtime::Inputs inputs = {{"x", in.x}};
  model.InputLike("x", in.x).Initializer("w", in.w).Initializer("r", in.r).Initializer("b", in.b);
  Names names = {"x", "w", "r", "b"};
  if (!layer.lengths.empty()) {
    inputs["lengths"] = NDArray::FromVector<std::int32_t>({kBatch}, layer.lengths);
    model.InputLike("lengths", inputs["lengths"]);
    names.push_back("lengths");
  }
  Names outputs = {"y", "h"};
  if (layer.type == "LSTM") outputs.push_back("c");
  for (const std::string& output : outputs) model.Output(output);
  NodeProto& node = model.Node(layer.type, names, outputs, "layer");
  SetInt(node, "hidden_size", kHidden);
  if (layer.is_bidirectional) SetString(node, "direction", "bidirectional");
  set(node);
  const std::vector<NDArray> results = Computed(model, inputs);
  ExpectClose(results.at(0),
              NDArray::FromVector<float>({layer.steps, directions, kBatch, kHidden}, expected.y));
  ExpectClose(results.at(1), NDArray::FromVector<float>({directions, kBatch, kHidden}, expected.h));
  if (layer.type == "LSTM")
    ExpectClose(results.at(2),
                NDArray::FromVector<float>({directions, kBatch, kHidden}, expected.c));
}

TEST(RecurrentOpTest, EachSequenceOfABatchEndsWhereItsLengthSays) {
  const std::vector<std::int32_t> lengths = {3, 5, 0};
  for (const bool both : {false, true}) {
    SCOPED_TRACE(both);
    const auto nothing = [](NodeProto&) {};
    ExpectAgrees({"RNN", 1, both, lengths, {Tanh}}, nothing);
    ExpectAgrees({"GRU", 3, both, lengths, {Sigmoid, Tanh}}, nothing);
    ExpectAgrees({"LSTM", 4, both, lengths, {Sigmoid, Tanh, Tanh}}, nothing);
  }
}

void SetActivations(NodeProto& node, const Names& names) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name("activations");
  attribute->set_type(AttributeProto::STRINGS);
  for (const std::string& name : names) attribute->add_strings(name);
}

TEST(RecurrentOpTest, ActivationsTakeTheirParametersInOrder) {
  const Function affine = [](double x) { return 0.3 * x + 0.1; };
  const Function leaky = [](double x) { return x > 0 ? x : 0.2 * x; };
  const Function hard = [](double x) { return std::min(1.0, std::max(0.0, 0.25 * x + 0.4)); };
  ExpectAgrees({"LSTM", 4, false, {}, {hard, affine, leaky}}, [](NodeProto& node) {
    SetActivations(node, {"HardSigmoid", "Affine", "LeakyRelu"});
    SetFloats(node, "activation_alpha", {0.25F, 0.3F, 0.2F});
    SetFloats(node, "activation_beta", {0.4F, 0.1F});
  });
  const std::vector<std::pair<const char*, Function>> defaults = {
      {"Elu", [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
      {"ScaledTanh", [](double x) { return std::tanh(x); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
      {"Relu", [](double x) { return std::max(x, 0.0); }}};
  for (const auto& [name, function] : defaults) {
    SCOPED_TRACE(name);
    ExpectAgrees({"RNN", 1, false, {}, {function}},
                 [name = name](NodeProto& node) { SetActivations(node, {name}); });
  }
}

TEST(RecurrentOpTest, NamesOfActivationsMayBeOfAnyCase) {
  for (const char* name : {"Relu", "relu", "RELU"}) {
    ExpectAgrees({"RNN", 1, false, {}, {[](double x) { return std::max(x, 0.0); }}},
                 [name](NodeProto& node) { SetActivations(node, {name}); });
  }
}

TEST(RecurrentOpTest, ArgumentsOfActivationsAreClipped) {
  const auto clipped = [](double (*f)(double)) {
    return [f](double x) { return f(std::min(0.4, std::max(-0.4, x))); };
  };
  ExpectAgrees({"GRU", 3, false, {}, {clipped(Sigmoid), clipped(Tanh)}},
               [](NodeProto& node) { SetFloat(node, "clip", 0.4F); });
  // As ONNX Runtime and OpenVINO do it, not what the cell goes through.
  ExpectAgrees({"LSTM", 4, true, {}, {clipped(Sigmoid), clipped(Tanh), Tanh}},
               [](NodeProto& node) { SetFloat(node, "clip", 0.4F); });
}

TEST(RecurrentOpTest, TheInputGateMayDecideForBoth) {
  ExpectAgrees({"LSTM", 4, true, {2, 5, 1}, {Sigmoid, Tanh, Tanh}, true},
               [](NodeProto& node) { SetInt(node, "input_forget", 1); });
}

// Above 16 steps.
TEST(RecurrentOpTest, LongSequencesAreOneLoop) {
  const auto clipped = [](double (*f)(double)) {
    return [f](double x) { return f(std::min(0.4, std::max(-0.4, x))); };
  };
  for (const std::int64_t steps : {16, 17, 41}) {
    SCOPED_TRACE(steps);
    ExpectAgrees({.type = "GRU",
                  .gates = 3,
                  .is_bidirectional = true,
                  .functions = {clipped(Sigmoid), clipped(Tanh)},
                  .steps = steps},
                 [](NodeProto& node) { SetFloat(node, "clip", 0.4F); });
    ExpectAgrees({.type = "LSTM",
                  .gates = 4,
                  .is_bidirectional = true,
                  .lengths = {0, 15, static_cast<std::int32_t>(steps)},
                  .functions = {Sigmoid, Tanh, Tanh},
                  .coupled = true,
                  .steps = steps},
                 [](NodeProto& node) { SetInt(node, "input_forget", 1); });
  }
}

TEST(RecurrentOpTest, WhatIsNotSupportedIsNamed) {
  Model model(22);
  model.Input("x", {3, 2, 1}).Input("w", {1, 4, 1}).Input("r", {1, 4, 1}).Output("y");
  model.Initializer("lengths", NDArray::FromVector<std::int32_t>({2}, {3, 4}));
  NodeProto& node = model.Node("LSTM", {"x", "w", "r", "", "lengths"}, {"y"}, "layer");
  EXPECT_THAT(MessageOf(Imported(model), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("layer (LSTM)"), HasSubstr("sequence_lens, has 4 for 3 steps")));
  node.mutable_input()->RemoveLast();
  SetActivations(node, {"Sigmoid", "Wobble", "Tanh"});
  EXPECT_THAT(MessageOf(Imported(model), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("the activation Wobble"), HasSubstr("Softsign, Tanh")));
}

}  // namespace
}  // namespace tenon::onnx_import
