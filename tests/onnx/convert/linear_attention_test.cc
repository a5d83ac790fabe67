// Layers with a state of one size against the standard's definition, step by step.
#include <cmath>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr std::int64_t kBatch = 2, kSteps = 5, kHeads = 4, kGroups = 2, kKey = 3, kValue = 5;

struct Case {
  const char* rule;
  bool decays, corrects, has_past;
  std::int64_t decay_size = 1, beta_heads = kGroups;
};

TEST(LinearAttentionTest, TheStateDecaysIsCorrectedAndRead) {
  for (const Case& c :
       {Case{"linear", false, false, false}, Case{"gated", true, false, true},
        Case{"gated", true, false, false, kKey}, Case{"delta", false, true, true},
        Case{"gated_delta", true, true, true, kKey, 1}, Case{"gated_delta", true, true, false}}) {
    SCOPED_TRACE(c.rule);
    const NDArray q = Random({kBatch, kSteps, kHeads * kKey}, 1),
                  k = Random({kBatch, kSteps, kGroups * kKey}, 2),
                  v = Random({kBatch, kSteps, kGroups * kValue}, 3),
                  past = Random({kBatch, kGroups, kKey, kValue}, 4),
                  decay = Random({kBatch, kSteps, kGroups * c.decay_size}, 5),
                  beta = Random({kBatch, kSteps, c.beta_heads}, 6);
    Model model(27);
    runtime::Inputs inputs;
    Names names;
    const auto give = [&](const char* name, const NDArray& values, bool is_given) {
      names.push_back(is_given ? name : "");
      if (!is_given) return;
      model.InputLike(name, values);
      inputs[name] = values;
    };
    give("q", q, true);
    give("k", k, true);
    give("v", v, true);
    give("past", past, c.has_past);
    give("decay", decay, c.decays);
    give("beta", beta, c.corrects);
    NodeProto& node = model.Node("LinearAttention", names, {"y", "present"});
    model.Output("y").Output("present");
    SetInt(node, "q_num_heads", kHeads);
    SetInt(node, "kv_num_heads", kGroups);
    SetString(node, "update_rule", c.rule);
    std::vector<float> y(static_cast<std::size_t>(kBatch * kSteps * kHeads * kValue)), present;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (std::int64_t g = 0; g < kGroups; ++g) {
        double state[kKey][kValue];
        for (std::int64_t i = 0; i < kKey; ++i)
          for (std::int64_t j = 0; j < kValue; ++j)
            state[i][j] =
                c.has_past ? past.data<float>()[((b * kGroups + g) * kKey + i) * kValue + j] : 0;
        for (std::int64_t t = 0; t < kSteps; ++t) {
          const std::int64_t row = b * kSteps + t;
          const float* key = k.data<float>() + (row * kGroups + g) * kKey;
          double value[kValue];
          for (std::int64_t j = 0; j < kValue; ++j)
            value[j] = v.data<float>()[(row * kGroups + g) * kValue + j];
          for (std::int64_t i = 0; c.decays && i < kKey; ++i)
            for (std::int64_t j = 0; j < kValue; ++j)
              state[i][j] *= std::exp(
                  decay.data<float>()[(row * kGroups + g) * c.decay_size + i % c.decay_size]);
          for (std::int64_t j = 0; c.corrects && j < kValue; ++j) {
            double retrieved = 0;
            for (std::int64_t i = 0; i < kKey; ++i) retrieved += state[i][j] * key[i];
            value[j] =
                beta.data<float>()[row * c.beta_heads + g % c.beta_heads] * (value[j] - retrieved);
          }
          for (std::int64_t i = 0; i < kKey; ++i)
            for (std::int64_t j = 0; j < kValue; ++j) state[i][j] += key[i] * value[j];
          for (std::int64_t h = g * kHeads / kGroups; h < (g + 1) * kHeads / kGroups; ++h)
            for (std::int64_t j = 0; j < kValue; ++j) {
              double sum = 0;
              for (std::int64_t i = 0; i < kKey; ++i)
                sum += q.data<float>()[(row * kHeads + h) * kKey + i] * state[i][j];
              y[static_cast<std::size_t>((row * kHeads + h) * kValue + j)] =
                  static_cast<float>(sum / std::sqrt(static_cast<double>(kKey)));
            }
        }
        for (const auto& state_row : state)
          for (const double element : state_row) present.push_back(static_cast<float>(element));
      }
    }
    const std::vector<NDArray> results = Computed(model, inputs);
    ExpectClose(results.at(0), NDArray::FromVector<float>({kBatch, kSteps, kHeads * kValue}, y));
    ExpectClose(results.at(1),
                NDArray::FromVector<float>({kBatch, kGroups, kKey, kValue}, present));
  }
}

TEST(LinearAttentionTest, SequencesMayBeOfAnyNumberAndLength) {
  Model model(27);
  NamedInput(model, "q", {"b", "t", "12"});
  NamedInput(model, "k", {"b", "t", "6"});
  NamedInput(model, "v", {"b", "t", "10"});
  NamedInput(model, "past", {"b", "2", "3", "5"});
  NamedInput(model, "decay", {"b", "t", "6"});
  NamedInput(model, "beta", {"b", "t", "1"});
  NamedInput(model, "weight", {"6", "1", "4"});
  for (const char* output : {"y", "present", "z", "last", "c", "state"}) model.Output(output);
  NodeProto& gated =
      model.Node("LinearAttention", {"q", "k", "v", "past", "decay", "beta"}, {"y", "present"});
  NodeProto& plain = model.Node("LinearAttention", {"q", "k", "v"}, {"z", "last"});
  SetString(plain, "update_rule", "linear");
  for (NodeProto* node : {&gated, &plain}) {
    SetInt(*node, "q_num_heads", 4);
    SetInt(*node, "kv_num_heads", 2);
  }
  SetInts(model.Node("Transpose", {"k"}, {"channels"}), "perm", {0, 2, 1});
  model.Node("CausalConvWithState", {"channels", "weight"}, {"c", "state"});
  std::vector<runtime::Inputs> runs;
  for (const Shape& size : std::vector<Shape>{{2, 5}, {1, 1}, {3, 17}, {1, 64}}) {
    const std::int64_t b = size[0], t = size[1];
    runs.push_back({{"q", Random({b, t, 12}, 1)},
                    {"k", Random({b, t, 6}, 2)},
                    {"v", Random({b, t, 10}, 3)},
                    {"past", Random({b, 2, 3, 5}, 4)},
                    {"decay", Random({b, t, 6}, 5)},
                    {"beta", Random({b, t, 1}, 6)},
                    {"weight", Random({6, 1, 4}, 7)}});
    // Steps that grow the state without end would leave only rounding to compare.
    NDArray& decay = runs.back().at("decay");
    for (std::int64_t i = 0; i < decay.size(); ++i)
      decay.data<float>()[i] = -std::abs(decay.data<float>()[i]) - 1;
  }
  ExpectRightForAll(model, runs);
}

TEST(LinearAttentionTest, OneNameForTheSequencesOfAllInputs) {
  Model model(27);
  NamedInput(model, "q", {"b", "t", "4"});
  NamedInput(model, "k", {"b", "s", "4"});
  model.Output("y");
  NodeProto& node = model.Node("LinearAttention", {"q", "k", "k"}, {"y"}, "layer");
  SetInt(node, "q_num_heads", 2);
  SetInt(node, "kv_num_heads", 2);
  SetString(node, "update_rule", "linear");
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("layer (LinearAttention)"),
                    HasSubstr("the shapes (b, t, 4), (b, s, 4) and (b, s, 4)"),
                    HasSubstr("one batch, one length")));
}

TEST(LinearAttentionTest, AGateThatTheRuleDoesNotHaveIsNamed) {
  Model model(27);
  model.Input("q", {1, 2, 4}).Input("g", {1, 2, 2}).Output("y");
  NodeProto& node = model.Node("LinearAttention", {"q", "q", "q", "", "g"}, {"y"}, "layer");
  SetInt(node, "q_num_heads", 2);
  SetInt(node, "kv_num_heads", 2);
  SetString(node, "update_rule", "delta");
  EXPECT_THAT(MessageOf(Imported(model), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("layer (LinearAttention)"),
                    HasSubstr("input 4, decay, must not be given for the update_rule delta")));
}

TEST(CausalConvTest, EachChannelSeesWhatCameBefore) {
  for (const std::int64_t size : {1, 2, 4}) {
    for (const bool has_past : {false, true}) {
      SCOPED_TRACE(size);
      const NDArray x = Random({2, 3, 5}, 1), w = Random({3, 1, size}, 2), bias = Random({3}, 3);
      const NDArray past =
          size > 1 ? Random({2, 3, size - 1}, 4) : NDArray::Zeros({2, 3, 0}, Float32);
      Model model(27);
      model.InputLike("x", x).InputLike("w", w).InputLike("b", bias).Output("y").Output("p");
      runtime::Inputs inputs = {{"x", x}, {"w", w}, {"b", bias}};
      Names names = {"x", "w", "b"};
      if (has_past && size > 1) {
        model.InputLike("past", past);
        inputs["past"] = past;
        names.push_back("past");
      }
      SetString(model.Node("CausalConvWithState", names, {"y", "p"}), "activation", "silu");
      std::vector<float> y, present;
      for (std::int64_t plane = 0; plane < 6; ++plane) {
        const auto at = [&](std::int64_t t) -> double {
          if (t >= 0) return x.data<float>()[plane * 5 + t];
          return has_past ? past.data<float>()[plane * (size - 1) + t + size - 1] : 0;
        };
        for (std::int64_t t = 0; t < 5; ++t) {
          double sum = bias.data<float>()[plane % 3];
          for (std::int64_t k = 0; k < size; ++k)
            sum += w.data<float>()[plane % 3 * size + k] * at(t - size + 1 + k);
          y.push_back(static_cast<float>(sum / (1 + std::exp(-sum))));
        }
        for (std::int64_t t = 6 - size; t < 5; ++t) present.push_back(static_cast<float>(at(t)));
      }
      const std::vector<NDArray> results = Computed(model, inputs);
      ExpectClose(results.at(0), NDArray::FromVector<float>({2, 3, 5}, y));
      ExpectClose(results.at(1), NDArray::FromVector<float>({2, 3, size - 1}, present));
    }
  }
}

TEST(CausalConvTest, ASequenceMayHaveNoElements) {
  const NDArray past = Random({2, 3, 2}, 1);
  Model model(27);
  NamedInput(model, "x", {"b", "3", "#n"});
  NamedInput(model, "past", {"b", "3", "2"});
  model.Constant("w", Random({3, 1, 3}, 2)).Output("y").Output("p");
  model.Node("CausalConvWithState", {"x", "w", "", "past"}, {"y", "p"});
  const auto results =
      ExpectRightForAll(model, {{{"x", NDArray::Zeros({2, 3, 0}, Float32)}, {"past", past}},
                                {{"x", Random({2, 3, 5}, 3)}, {"past", past}}});
  EXPECT_EQ(results.at(0).at(0).shape(), Shape({2, 3, 0}));
  ExpectClose(results.at(0).at(1), past);
}

}  // namespace
}  // namespace tenon::onnx_import
