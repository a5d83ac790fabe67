// Recurrent layers against their definition, computed step by step in double precision.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;

struct LayerCase {
  const char* op;  // "nn.lstm"
  std::string attributes;
  std::int64_t gates;
  bool reverse;
};

double Apply(const std::string& function, double x) {
  return function == "relu"   ? std::fmax(x, 0)
         : function == "tanh" ? std::tanh(x)
                              : 1 / (1 + std::exp(-x));
}

// The value of a string attribute, or what it is by default.
std::string Choice(const LayerCase& layer, const std::string& name, const std::string& otherwise) {
  const std::size_t at = layer.attributes.find(StrCat(", ", name, "=\""));
  if (at == std::string::npos) return otherwise;
  const std::size_t begin = at + name.size() + 4;
  return layer.attributes.substr(begin, layer.attributes.find('"', begin) - begin);
}

// One sequence, n steps of it.
class Sequence {
 public:
  Sequence(const LayerCase& layer, const runtime::Inputs& inputs, std::int64_t b)
      : layer_(layer), inputs_(inputs), b_(b), hidden_(inputs.at("r").shape()[1]) {
    for (std::int64_t j = 0; j < hidden_; ++j) {
      h.push_back(testing_graphs::ValueAt(inputs.at("h"), b * hidden_ + j));
      if (inputs.contains("c"))
        c.push_back(testing_graphs::ValueAt(inputs.at("c"), b * hidden_ + j));
    }
  }

  void Step(std::int64_t time) {
    const std::string gate = Choice(layer_, "gate_activation", "sigmoid");
    const std::string new_value = Choice(layer_, "activation", "tanh");
    std::vector<double> next = h;
    for (std::int64_t j = 0; j < hidden_; ++j) {
      if (layer_.gates == 1) {
        next[j] = Apply(new_value, Input(time, 0, j) + Recurred(h, 0, j));
      } else if (layer_.gates == 3) {
        next[j] = GruState(time, j, gate, new_value);
      }
    }
    if (layer_.gates == 4) {
      const std::string output = Choice(layer_, "output_activation", "tanh");
      for (std::int64_t j = 0; j < hidden_; ++j) {
        const auto value = [&](std::int64_t g) { return Input(time, g, j) + Recurred(h, g, j); };
        c[j] = Apply(gate, value(2)) * c[j] + Apply(gate, value(0)) * Apply(new_value, value(3));
        next[j] = Apply(gate, value(1)) * Apply(output, c[j]);
      }
    }
    h = next;
  }

  std::vector<double> h, c;

 private:
  double Input(std::int64_t time, std::int64_t g, std::int64_t j) const {
    const NDArray& x = inputs_.at("g");
    return testing_graphs::ValueAt(x, (time * x.shape()[1] + b_) * x.shape()[2] + g * hidden_ + j);
  }
  double Recurred(const std::vector<double>& state, std::int64_t g, std::int64_t j) const {
    double sum = testing_graphs::ValueAt(inputs_.at("b"), g * hidden_ + j);
    for (std::int64_t k = 0; k < hidden_; ++k)
      sum += state[k] * testing_graphs::ValueAt(inputs_.at("r"), (g * hidden_ + j) * hidden_ + k);
    return sum;
  }
  double GruState(std::int64_t time, std::int64_t j, const std::string& gate,
                  const std::string& new_value) const {
    const auto reset = [&](std::int64_t k) {
      return Apply(gate, Input(time, 1, k) + Recurred(h, 1, k));
    };
    double recurred = 0;
    if (layer_.attributes.find("reset_after") != std::string::npos) {
      recurred = reset(j) * Recurred(h, 2, j);
    } else {
      std::vector<double> kept(h);
      for (std::int64_t k = 0; k < hidden_; ++k) kept[k] *= reset(k);
      recurred = Recurred(kept, 2, j);
    }
    const double update = Apply(gate, Input(time, 0, j) + Recurred(h, 0, j));
    return (1 - update) * Apply(new_value, Input(time, 2, j) + recurred) + update * h[j];
  }

  const LayerCase& layer_;
  const runtime::Inputs& inputs_;
  std::int64_t b_, hidden_;
};

std::vector<NDArray> Defined(const LayerCase& layer, const runtime::Inputs& inputs) {
  const Shape x = inputs.at("g").shape();
  const std::int64_t steps = x[0], batch = x[1], hidden = inputs.at("r").shape()[1];
  std::vector<float> all(static_cast<std::size_t>(steps * batch * hidden), 0), last_h, last_c;
  for (std::int64_t b = 0; b < batch; ++b) {
    Sequence sequence(layer, inputs, b);
    const std::int64_t length =
        std::clamp<std::int64_t>(inputs.at("l").data<std::int64_t>()[b], 0, steps);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t time = layer.reverse ? length - 1 - i : i;
      sequence.Step(time);
      for (std::int64_t j = 0; j < hidden; ++j)
        all[static_cast<std::size_t>((time * batch + b) * hidden + j)] =
            static_cast<float>(sequence.h[static_cast<std::size_t>(j)]);
    }
    last_h.insert(last_h.end(), sequence.h.begin(), sequence.h.end());
    last_c.insert(last_c.end(), sequence.c.begin(), sequence.c.end());
  }
  std::vector<NDArray> results = {NDArray::FromVector<float>({steps, batch, hidden}, all),
                                  NDArray::FromVector<float>({batch, hidden}, last_h)};
  if (layer.gates == 4) results.push_back(NDArray::FromVector<float>({batch, hidden}, last_c));
  return results;
}

// `steps`, `batch` and `hidden` are extents as text, numbers or variables.
ir::Module ModuleOf(const LayerCase& layer, const std::string& steps, const std::string& batch,
                    std::int64_t hidden) {
  const std::string columns = StrCat(layer.gates * hidden);
  const std::string state = StrCat("Tensor[(", batch, ", ", hidden, "), float32]");
  return Parsed(StrCat(
      "def @main(%g: Tensor[(", steps, ", ", batch, ", ", columns, "), float32], %r: Tensor[(",
      columns, ", ", hidden, "), float32], %b: Tensor[(", columns, "), float32], %l: Tensor[(",
      batch, "), int64], %h: ", state, layer.gates == 4 ? StrCat(", %c: ", state) : "", ") { ",
      layer.op, "(%g, %r, %b, %l, %h", layer.gates == 4 ? ", %c" : "", layer.attributes, ") }\n"));
}

runtime::Inputs InputsOf(const LayerCase& layer, std::int64_t steps, std::int64_t batch,
                         std::int64_t hidden) {
  const std::int64_t columns = layer.gates * hidden;
  // States neither grow nor vanish.
  const double scale = 1 / std::sqrt(static_cast<double>(hidden));
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < batch; ++b)
    lengths.push_back(b % 3 == 0 ? steps : b % 3 == 1 ? steps / 2 : (b % 2 == 0 ? -2 : steps + 9));
  runtime::Inputs inputs = {{"g", Random({steps, batch, columns}, 1)},
                            {"r", Random({columns, hidden}, Float32, 2, -scale, scale)},
                            {"b", Random({columns}, 3)},
                            {"l", NDArray::FromVector<std::int64_t>({batch}, lengths)},
                            {"h", Random({batch, hidden}, 4)}};
  if (layer.gates == 4) inputs["c"] = Random({batch, hidden}, 5);
  return inputs;
}

const LayerCase kLayers[] = {
    {"nn.rnn", "", 1, false},
    {"nn.rnn", ", activation=\"relu\", reverse=True", 1, true},
    {"nn.gru", "", 3, false},
    {"nn.gru", ", reset_after=True, reverse=True", 3, true},
    {"nn.gru", ", gate_activation=\"tanh\", activation=\"sigmoid\", reset_after=True", 3, false},
    {"nn.lstm", "", 4, false},
    {"nn.lstm", ", reverse=True", 4, true},
    {"nn.lstm", ", gate_activation=\"relu\", activation=\"sigmoid\", output_activation=\"relu\"", 4,
     false}};

TEST(RecurrentLayerTest, IsItsDefinitionStepByStep) {
  struct Extents {
    std::int64_t steps, batch, hidden;
  };
  for (const LayerCase& layer : kLayers) {
    for (const Extents& e : {Extents{1, 1, 1}, Extents{5, 1, 16}, Extents{7, 2, 3},
                             Extents{3, 5, 17}, Extents{4, 9, 33}, Extents{2, 3, 64}}) {
      SCOPED_TRACE(StrCat(layer.op, layer.attributes, " of ", e.steps, " steps, batch ", e.batch,
                          ", hidden ", e.hidden));
      const ir::Module module = ModuleOf(layer, StrCat(e.steps), StrCat(e.batch), e.hidden);
      const runtime::Inputs inputs = InputsOf(layer, e.steps, e.batch, e.hidden);
      ExpectClose(Outcome(module, inputs), Defined(layer, inputs));
    }
  }
}

TEST(RecurrentLayerTest, PoorerMachinesTakeNarrowerBlocks) {
  for (const char* lacking : {"-avx512f", "-avx2", "-avx"}) {
    for (const LayerCase& layer : {kLayers[3], kLayers[5]}) {
      SCOPED_TRACE(StrCat(layer.op, " ", lacking));
      const runtime::Inputs inputs = InputsOf(layer, 4, 5, 37);
      ExpectClose(Outcome(ModuleOf(layer, "4", "5", 37), inputs, {.target = Target::Host(lacking)}),
                  Defined(layer, inputs));
    }
  }
}

TEST(RecurrentLayerTest, NoStepsLeaveTheInitialState) {
  for (const LayerCase& layer : kLayers) {
    const runtime::Inputs inputs = InputsOf(layer, 0, 3, 5);
    ExpectClose(Outcome(ModuleOf(layer, "0", "3", 5), inputs), Defined(layer, inputs));
  }
}

TEST(RecurrentLayerTest, NoSequencesAndNoStatesGiveNoElements) {
  for (const LayerCase& layer : kLayers) {
    for (const auto& [batch, hidden] : {std::pair(0, 5), std::pair(3, 0)}) {
      const runtime::Inputs inputs = InputsOf(layer, 4, batch, hidden);
      const std::vector<NDArray> made =
          Outcome(ModuleOf(layer, "4", StrCat(batch), hidden), inputs);
      ASSERT_EQ(made.size(), layer.gates == 4 ? 3 : 2);
      EXPECT_EQ(made[0].shape(), (Shape{4, batch, hidden}));
      EXPECT_EQ(made.back().shape(), (Shape{batch, hidden}));
    }
  }
}

TEST(RecurrentLayerTest, AStepOfMuchWorkRunsOnThreads) {
  const LayerCase& layer = kLayers[5];
  const ir::Module module = ModuleOf(layer, "2", "1", 260);
  EXPECT_THAT(testing_graphs::LoopsOf(module), HasSubstr("parallel"));
  const runtime::Inputs inputs = InputsOf(layer, 2, 1, 260);
  ExpectClose(Outcome(module, inputs), Defined(layer, inputs));
}

TEST(RecurrentLayerTest, OneCompileTakesAllNumbersOfStepsAndSequences) {
  for (const LayerCase& layer : {kLayers[0], kLayers[3], kLayers[5]}) {
    const Executable exe =
        ValueOrThrow(Compile(ModuleOf(layer, "t", "n", 19), {.library = LibraryChoice::kTe}));
    for (const auto& [steps, batch] : {std::pair(1, 1), std::pair(6, 4), std::pair(31, 2)}) {
      const runtime::Inputs inputs = InputsOf(layer, steps, batch, 19);
      ExpectClose(ValueOrThrow(exe.Run(inputs)), Defined(layer, inputs));
    }
  }
}

TEST(RecurrentLayerTest, WrongOperandsAreNamed) {
  const auto refusal = [](const std::string& text) {
    const auto module = CatchErrors([&] { return passes::InferType(Parsed(text)); });
    return std::string(module.status().message());
  };
  const auto lstm = [&](const std::string& gates, const std::string& r, const std::string& l) {
    return refusal(StrCat("def @main(%g: Tensor[", gates, "], %r: Tensor[", r,
                          "], %b: Tensor[(12), float32], %l: Tensor[", l,
                          "], %h: Tensor[(2, 3), float32], %c: Tensor[(2, 3), float32]) {\n"
                          "  nn.lstm(%g, %r, %b, %l, %h, %c)\n}\n"));
  };
  EXPECT_THAT(lstm("(5, 2, 12), float32", "(12, 3), float32", "(2), int64"), "");
  EXPECT_THAT(lstm("(5, 2, 11), float32", "(12, 3), float32", "(2), int64"),
              HasSubstr("the last axis of the inputs of the gates must be 12: 4 gates of 3"));
  EXPECT_THAT(lstm("(5, 12), float32", "(12, 3), float32", "(2), int64"),
              HasSubstr("must have the shape (steps, batch, gates * hidden)"));
  EXPECT_THAT(lstm("(5, 2, 12), float16", "(12, 3), float16", "(2), int64"),
              HasSubstr("must be float32 or float64"));
  EXPECT_THAT(lstm("(5, 2, 12), float32", "(12, 4), float32", "(2), int64"),
              HasSubstr("the last axis of the inputs of the gates must be 16"));
  EXPECT_THAT(lstm("(5, 2, 12), float32", "(12, 3), float64", "(2), int64"),
              HasSubstr("the recurrence must be float32"));
  EXPECT_THAT(lstm("(5, 2, 12), float32", "(12, 3), float32", "(3), int64"),
              HasSubstr("the lengths must have the shape (2)"));
  EXPECT_THAT(lstm("(5, 2, 12), float32", "(12, 3), float32", "(2), int32"),
              HasSubstr("the lengths must be int64"));
}

}  // namespace
}  // namespace tenon::strategies
