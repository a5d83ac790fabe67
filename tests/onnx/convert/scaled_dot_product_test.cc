// Attention, RotaryEmbedding and TensorScatter of the standard and GroupQueryAttention of ONNX
// Runtime, against their definitions in double precision.
#include <cmath>
#include <limits>
#include <tuple>

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A tensor [batch, heads, length, size] of doubles.
struct Four {
  std::int64_t batch, heads, length, size;
  std::vector<double> values;
  Four(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t s)
      : batch(b), heads(h), length(n), size(s), values(static_cast<std::size_t>(b * h * n * s)) {}
  double& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) {
    return values[static_cast<std::size_t>(((b * heads + h) * length + i) * size + d)];
  }
  double at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) const {
    return values[static_cast<std::size_t>(((b * heads + h) * length + i) * size + d)];
  }
  NDArray ToArray(const Shape& shape) const {
    return NDArray::FromVector<float>(shape, std::vector<float>(values.begin(), values.end()));
  }
  NDArray ToArray() const { return ToArray({batch, heads, length, size}); }
  // [batch, length, heads * size]
  NDArray ByLength() const {
    std::vector<float> moved;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t d = 0; d < size; ++d)
            moved.push_back(static_cast<float>(at(b, h, i, d)));
    return NDArray::FromVector<float>({batch, length, heads * size}, moved);
  }
};

Four Made(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t s, int seed) {
  Four four(b, h, n, s);
  if (four.values.empty()) return four;
  const std::vector<float> values = Random({b, h, n, s}, seed).ToVector<float>();
  four.values.assign(values.begin(), values.end());
  return four;
}

Four Joined(const Four& first, const Four& second) {
  Four all(first.batch, first.heads, first.length + second.length, first.size);
  for (std::int64_t b = 0; b < all.batch; ++b)
    for (std::int64_t h = 0; h < all.heads; ++h)
      for (std::int64_t i = 0; i < all.length; ++i)
        for (std::int64_t d = 0; d < all.size; ++d)
          all.at(b, h, i, d) =
              i < first.length ? first.at(b, h, i, d) : second.at(b, h, i - first.length, d);
  return all;
}

struct Definition {
  double scale = 0, softcap = 0;
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> bias;
  std::function<bool(std::int64_t b, std::int64_t i, std::int64_t j)> sees;
  std::vector<double> sinks;
};

struct Naive {
  Four y, scores, capped, masked, weights;
};

Naive Attended(const Four& q, const Four& k, const Four& v, const Definition& of) {
  const std::int64_t each = q.heads / k.heads;
  const Four none(q.batch, q.heads, q.length, k.length);
  Naive naive{Four(q.batch, q.heads, q.length, v.size), none, none, none, none};
  const double scale = of.scale != 0 ? of.scale : 1 / std::sqrt(static_cast<double>(q.size));
  for (std::int64_t b = 0; b < q.batch; ++b) {
    for (std::int64_t h = 0; h < q.heads; ++h) {
      for (std::int64_t i = 0; i < q.length; ++i) {
        double most = of.sinks.empty() ? -kInfinity : of.sinks[static_cast<std::size_t>(h)];
        for (std::int64_t j = 0; j < k.length; ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < q.size; ++d)
            score += q.at(b, h, i, d) * k.at(b, h / each, j, d);
          naive.scores.at(b, h, i, j) = score *= scale;
          if (of.softcap != 0) score = of.softcap * std::tanh(score / of.softcap);
          naive.capped.at(b, h, i, j) = score;
          if (of.bias) score += of.bias(b, h, i, j);
          if (of.sees && !of.sees(b, i, j)) score = -kInfinity;
          naive.masked.at(b, h, i, j) = score;
          most = std::max(most, score);
        }
        double sum = of.sinks.empty() ? 0 : std::exp(of.sinks[static_cast<std::size_t>(h)] - most);
        for (std::int64_t j = 0; j < k.length; ++j)
          sum += std::exp(naive.masked.at(b, h, i, j) - most);
        for (std::int64_t j = 0; j < k.length; ++j) {
          const double weight = std::exp(naive.masked.at(b, h, i, j) - most) / sum;
          naive.weights.at(b, h, i, j) = weight;
          // Without a key to see, the result is 0.
          if (most == -kInfinity) continue;
          for (std::int64_t d = 0; d < v.size; ++d)
            naive.y.at(b, h, i, d) += weight * v.at(b, h / each, j, d);
        }
      }
    }
  }
  return naive;
}

// A node of the standard with its inputs.
class AttentionOpTest : public ::testing::Test {
 protected:
  void Give(const std::string& name, const NDArray& values) {
    model_.InputLike(name, values);
    inputs_[name] = values;
  }
  NodeProto& Node(const Names& inputs, const Names& outputs) {
    for (const std::string& output : outputs) model_.Output(output);
    return model_.Node("Attention", inputs, outputs, "attention");
  }
  std::vector<NDArray> Results() { return Computed(model_, inputs_); }

  Model model_{24};
  runtime::Inputs inputs_;
};

TEST_F(AttentionOpTest, HeadsOfAGroupShareTheirKeys) {
  for (const std::int64_t groups : {1, 2, 6}) {
    SCOPED_TRACE(groups);
    model_ = Model(23);
    const Four q = Made(2, 6, 5, 7, 1), k = Made(2, groups, 9, 7, 2), v = Made(2, groups, 9, 3, 3);
    Give("q", q.ToArray());
    Give("k", k.ToArray());
    Give("v", v.ToArray());
    Node({"q", "k", "v"}, {"y"});
    ExpectClose(Results().at(0), Attended(q, k, v, {}).y.ToArray());
  }
}

TEST_F(AttentionOpTest, InputsOfRankThreeAreCutIntoHeads) {
  const Four q = Made(1, 4, 3, 8, 1), k = Made(1, 2, 5, 8, 2), v = Made(1, 2, 5, 6, 3);
  Give("q", q.ByLength());
  Give("k", k.ByLength());
  Give("v", v.ByLength());
  NodeProto& node = Node({"q", "k", "v"}, {"y", "", "", "qk"});
  SetInt(node, "q_num_heads", 4);
  SetInt(node, "kv_num_heads", 2);
  SetFloat(node, "scale", 0.3F);
  model_.proto.mutable_graph()->mutable_output()->DeleteSubrange(1, 2);  // those without a name
  const std::vector<NDArray> results = Results();
  const Naive naive = Attended(q, k, v, {.scale = 0.3});
  ExpectClose(results.at(0), naive.y.ByLength());
  ExpectClose(results.at(1), naive.scores.ToArray());
}

TEST_F(AttentionOpTest, ThePastComesBeforeAndIsReturnedWithThePresent) {
  const Four q = Made(2, 2, 3, 5, 1), k = Made(2, 2, 3, 5, 2), v = Made(2, 2, 3, 5, 3);
  const Four past_k = Made(2, 2, 4, 5, 4), past_v = Made(2, 2, 4, 5, 5);
  Give("q", q.ToArray());
  Give("k", k.ToArray());
  Give("v", v.ToArray());
  Give("pk", past_k.ToArray());
  Give("pv", past_v.ToArray());
  NodeProto& node = Node({"q", "k", "v", "", "pk", "pv"}, {"y", "present_k", "present_v"});
  SetInt(node, "is_causal", 1);
  const std::vector<NDArray> results = Results();
  const Four all_k = Joined(past_k, k), all_v = Joined(past_v, v);
  const Definition causal{
      .sees = [](std::int64_t, std::int64_t i, std::int64_t j) { return j <= i + 4; }};
  ExpectClose(results.at(0), Attended(q, all_k, all_v, causal).y.ToArray());
  ExpectClose(results.at(1), all_k.ToArray());
  ExpectClose(results.at(2), all_v.ToArray());
}

TEST_F(AttentionOpTest, SoftcapComesBeforeTheMaskAndEachStageMayBeReturned) {
  const Four q = Made(1, 2, 4, 3, 1), k = Made(1, 2, 6, 3, 2), v = Made(1, 2, 6, 3, 3);
  NDArray mask = Random({4, 6}, 9);
  mask.data<float>()[3] = -std::numeric_limits<float>::infinity();
  const Definition of{
      .softcap = 0.2,
      .bias = [&](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) -> double {
        return mask.data<float>()[i * 6 + j];
      }};
  const Naive naive = Attended(q, k, v, of);
  const Four* stages[] = {&naive.scores, &naive.capped, &naive.masked, &naive.weights};
  for (int mode = 0; mode < 4; ++mode) {
    SCOPED_TRACE(mode);
    model_ = Model(24);
    Give("q", q.ToArray());
    Give("k", k.ToArray());
    Give("v", v.ToArray());
    Give("mask", mask);
    Give("unused", mask);
    NodeProto& node = model_.Node("Attention", {"q", "k", "v", "mask"}, {"y", "", "", "qk"});
    model_.Output("y").Output("qk");
    SetFloat(node, "softcap", 0.2F);
    SetInt(node, "qk_matmul_output_mode", mode);
    const std::vector<NDArray> results = Results();
    ExpectClose(results.at(0), naive.y.ToArray());
    ExpectClose(results.at(1), stages[mode]->ToArray());
  }
}

TEST_F(AttentionOpTest, MasksOfBoolHideKeysAndMayBeShort) {
  const Four q = Made(2, 2, 3, 4, 1), k = Made(2, 2, 5, 4, 2), v = Made(2, 2, 5, 4, 3);
  // [batch, 1, queries, 4]: the fifth key is hidden from all.
  const NDArray mask = NDArray::FromVector<bool>(
      {2, 1, 3, 4}, {true, false, true, true, true,  true, true, true, true, false, false, false,
                     true, true,  true, true, false, true, true, true, true, true,  false, true});
  Give("q", q.ToArray());
  Give("k", k.ToArray());
  Give("v", v.ToArray());
  Give("mask", mask);
  Node({"q", "k", "v", "mask"}, {"y"});
  const auto sees = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
    return j < 4 && mask.data<bool>()[(b * 3 + i) * 4 + j];
  };
  ExpectClose(Results().at(0), Attended(q, k, v, {.sees = sees}).y.ToArray());
}

TEST_F(AttentionOpTest, LengthsOfACacheHideItsEndAndMoveTheCausalMask) {
  const Four q = Made(2, 2, 2, 4, 1), k = Made(2, 1, 7, 4, 2), v = Made(2, 1, 7, 4, 3);
  const std::int64_t lengths[] = {7, 3};
  for (const bool is_causal : {false, true}) {
    SCOPED_TRACE(is_causal);
    model_ = Model(24);
    Give("q", q.ToArray());
    Give("k", k.ToArray());
    Give("v", v.ToArray());
    Give("lengths", NDArray::FromVector<std::int64_t>({2}, {7, 3}));
    SetInt(Node({"q", "k", "v", "", "", "", "lengths"}, {"y"}), "is_causal", is_causal ? 1 : 0);
    const auto sees = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
      return j < lengths[b] && (!is_causal || j <= i + lengths[b] - 2);
    };
    ExpectClose(Results().at(0), Attended(q, k, v, {.sees = sees}).y.ToArray());
  }
}

// Of four queries the second sees no key: by a mask of bool, by a bias of -inf, as the mask leaves
// it later keys alone, or as a cache has fewer keys than there are queries.
TEST_F(AttentionOpTest, AQueryThatSeesNoKeyHasZeros) {
  const Four q = Made(1, 2, 4, 3, 1), k = Made(1, 2, 4, 3, 2), v = Made(1, 2, 4, 3, 3);
  std::vector<bool> shown(16, true), later(16, true);
  std::vector<float> bias(16, 0.5F);
  for (std::size_t j = 4; j < 8; ++j) {
    shown[j] = false;
    bias[j] = -std::numeric_limits<float>::infinity();
    later[j] = j >= 6;
  }
  const auto run = [&](const std::string& input, const NDArray& values, bool is_causal,
                       const Definition& of) {
    SCOPED_TRACE(input);
    inputs_.clear();
    model_ = Model(24);
    Give("q", q.ToArray());
    Give("k", k.ToArray());
    Give("v", v.ToArray());
    Give(input, values);
    const Names mask = input == "lengths" ? Names{"", "", "", input} : Names{input};
    Names names = {"q", "k", "v"};
    names.insert(names.end(), mask.begin(), mask.end());
    NodeProto& node = model_.Node("Attention", names, {"y", "", "", "qk"}, "attention");
    model_.Output("y").Output("qk");
    SetInt(node, "is_causal", is_causal ? 1 : 0);
    SetInt(node, "qk_matmul_output_mode", 3);
    const Naive naive = Attended(q, k, v, of);
    const std::vector<NDArray> results = Results();
    EXPECT_EQ(naive.y.at(0, 0, 1, 0) == 0, input != "lengths");
    EXPECT_TRUE(std::isfinite(naive.y.at(0, 1, 3, 2)));
    ExpectClose(results.at(0), naive.y.ToArray());
    ExpectClose(results.at(1), naive.weights.ToArray());
  };
  const auto by = [](const auto& values) {
    return [&values](std::int64_t, std::int64_t i, std::int64_t j) -> bool {
      return values[static_cast<std::size_t>(i * 4 + j)];
    };
  };
  run("shown", NDArray::FromVector<bool>({4, 4}, shown), false, {.sees = by(shown)});
  run("bias", NDArray::FromVector<float>({1, 4, 4}, bias), false,
      {.bias = [&](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) -> double {
        return bias[static_cast<std::size_t>(i * 4 + j)];
      }});
  run("later", NDArray::FromVector<bool>({4, 4}, later), true,
      {.sees = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
        return by(later)(b, i, j) && j <= i;
      }});
  run("lengths", NDArray::FromVector<std::int64_t>({1}, {3}), true,
      {.sees = [](std::int64_t, std::int64_t i, std::int64_t j) { return j <= i - 1; }});
}

// Queries, keys and the past have extents that only a run knows.
TEST_F(AttentionOpTest, OneCompileServesEveryLength) {
  model_.Input("q", {-1, -1, 24}).Input("k", {-1, -1, 12}).Input("pk", {-1, 2, -1, 6});
  model_.Input("pv", {-1, 2, -1, 6});
  NodeProto& node = Node({"q", "k", "k", "", "pk", "pv"}, {"y", "present_k", "present_v"});
  SetInt(node, "is_causal", 1);
  SetInt(node, "q_num_heads", 4);
  SetInt(node, "kv_num_heads", 2);
  const auto set_extents = [&](int input, const Names& names) {
    auto* shape = model_.proto.mutable_graph()
                      ->mutable_input(input)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    for (int i = 0; i < shape->dim_size(); ++i)
      if (!names[static_cast<std::size_t>(i)].empty())
        shape->mutable_dim(i)->set_dim_param(names[static_cast<std::size_t>(i)]);
  };
  set_extents(0, {"n", "s", ""});
  set_extents(1, {"n", "s", ""});
  set_extents(2, {"n", "", "p", ""});
  set_extents(3, {"n", "", "p", ""});
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const absl::StatusOr<ir::Module> module =
      ImportOnnx(model_.Bytes(), {.symbolic = true, .evaluate = strategies::EvaluateCall});
  ASSERT_TRUE(module.ok()) << module.status();
  const Executable exe = ValueOrThrow(Compile(*module));
  ASSERT_TRUE(exe.is_symbolic());
  for (const auto& [batch, length, before] :
       {std::tuple<int, int, int>{1, 1, 7}, {2, 5, 3}, {3, 17, 16}}) {
    const Four q = Made(batch, 4, length, 6, 1), k = Made(batch, 2, length, 6, 2);
    const Four past_k = Made(batch, 2, before, 6, 4), past_v = Made(batch, 2, before, 6, 5);
    const std::vector<NDArray> results = ValueOrThrow(exe.Run({{"q", q.ByLength()},
                                                               {"k", k.ByLength()},
                                                               {"pk", past_k.ToArray()},
                                                               {"pv", past_v.ToArray()}}));
    const Definition causal{.sees = [before = before](std::int64_t, std::int64_t i,
                                                      std::int64_t j) { return j <= i + before; }};
    const Four all_k = Joined(past_k, k), all_v = Joined(past_v, k);
    ExpectClose(results.at(0), Attended(q, all_k, all_v, causal).y.ByLength());
    ExpectClose(results.at(1), all_k.ToArray());
  }
}

TEST_F(AttentionOpTest, WhatDoesNotFitIsNamed) {
  Give("q", Made(1, 3, 2, 4, 1).ToArray());
  Give("k", Made(1, 2, 2, 4, 1).ToArray());
  Node({"q", "k", "k"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(model_), kInvalid),
              AllOf(HasSubstr("attention (Attention)"), HasSubstr("(1, 3, 2, 4), (1, 2, 2, 4)")));
  model_ = Model(24);
  Give("q", Made(1, 2, 2, 4, 1).ToArray());
  Give("mask", NDArray::Zeros({2, 9}, Float32));
  Node({"q", "q", "q", "mask"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(model_), kInvalid),
              HasSubstr("input 3, the mask, has 9 keys; there are 2"));
}

// Su et al., "RoFormer", 2021, equation 34, on the halves of a head or on neighbours.
TEST(RotaryEmbeddingOpTest, PairsAreTurnedByTheAnglesOfTheirPlace) {
  for (const bool interleaved : {false, true}) {
    for (const bool by_position : {false, true}) {
      SCOPED_TRACE(interleaved);
      const std::int64_t turned = 4, half = 2;
      const Four x = Made(2, 3, 5, 6, 1);
      const NDArray cosine = by_position ? Random({9, half}, 2) : Random({2, 5, half}, 2);
      const NDArray sine = by_position ? Random({9, half}, 3) : Random({2, 5, half}, 3);
      const std::vector<std::int64_t> places = {0, 1, 2, 3, 4, 8, 7, 6, 5, 4};
      Model model(23);
      model.InputLike("x", x.ByLength()).InputLike("c", cosine).InputLike("s", sine).Output("y");
      runtime::Inputs inputs = {{"x", x.ByLength()}, {"c", cosine}, {"s", sine}};
      Names names = {"x", "c", "s"};
      if (by_position) {
        inputs["p"] = NDArray::FromVector<std::int64_t>({2, 5}, places);
        model.InputLike("p", inputs["p"]);
        names.push_back("p");
      }
      NodeProto& node = model.Node("RotaryEmbedding", names, {"y"});
      SetInt(node, "num_heads", 3);
      SetInt(node, "rotary_embedding_dim", turned);
      SetInt(node, "interleaved", interleaved ? 1 : 0);
      Four y = x;
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t h = 0; h < 3; ++h)
          for (std::int64_t i = 0; i < 5; ++i)
            for (std::int64_t d = 0; d < half; ++d) {
              const std::int64_t row =
                  by_position ? places[static_cast<std::size_t>(b * 5 + i)] : b * 5 + i;
              const double c = cosine.data<float>()[row * half + d];
              const double s = sine.data<float>()[row * half + d];
              const std::int64_t first = interleaved ? 2 * d : d;
              const std::int64_t second = interleaved ? 2 * d + 1 : d + half;
              y.at(b, h, i, first) = c * x.at(b, h, i, first) - s * x.at(b, h, i, second);
              y.at(b, h, i, second) = s * x.at(b, h, i, first) + c * x.at(b, h, i, second);
            }
      ExpectClose(Computed(model, inputs).at(0), y.ByLength());
    }
  }
}

TEST(TensorScatterOpTest, UpdatesAreWrittenWhereEachSequenceSays) {
  for (const std::int64_t batch : {1, 3}) {
    for (const bool circular : {false, true}) {
      SCOPED_TRACE(circular);
      Four cache = Made(batch, 2, 7, 3, 1);
      const Four update = Made(batch, 2, 4, 3, 2);
      const std::vector<std::int64_t> all =
          circular ? std::vector<std::int64_t>{5, 0, 3} : std::vector<std::int64_t>{3, 0, 1};
      const std::vector<std::int64_t> begins(all.begin(), all.begin() + batch);
      Model model(24);
      const NDArray where = NDArray::FromVector<std::int64_t>({batch}, begins);
      model.InputLike("cache", cache.ToArray()).InputLike("update", update.ToArray());
      model.InputLike("where", where).Output("y");
      SetString(model.Node("TensorScatter", {"cache", "update", "where"}, {"y"}), "mode",
                circular ? "circular" : "linear");
      const std::vector<NDArray> results = Computed(
          model, {{"cache", cache.ToArray()}, {"update", update.ToArray()}, {"where", where}});
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t h = 0; h < 2; ++h)
          for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t d = 0; d < 3; ++d)
              cache.at(b, h, (begins[static_cast<std::size_t>(b)] + i) % 7, d) =
                  update.at(b, h, i, d);
      ExpectClose(results.at(0), cache.ToArray());
    }
  }
}

TEST(TensorScatterOpTest, AnUpdateThatIsLongerThanTheCacheIsRefused) {
  Model model(24);
  model.Input("cache", {1, 2, 3, 4}).Input("update", {1, 2, 5, 4}).Output("y");
  model.Node("TensorScatter", {"cache", "update"}, {"y"}, "written");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("written (TensorScatter)"), HasSubstr("(1, 2, 5, 4)")));
}

// --- GroupQueryAttention

struct Decoding {
  const char* name;
  std::int64_t batch, past, length, total;
  std::vector<std::int32_t> last;  // of each sequence: its number of keys, less one
  std::int64_t window = -1;
  bool rotates = false, is_packed = false, has_sinks = false;
  double softcap = 0;
};

TEST(GroupQueryTest, NewKeysAreWrittenIntoTheCacheAndSeenUpToEachQuery) {
  constexpr std::int64_t kHeads = 4, kGroups = 2, kSize = 6;
  const std::vector<Decoding> cases = {
      {.name = "prompt", .batch = 1, .past = 0, .length = 5, .total = 5, .last = {4}},
      {.name = "prompts of two lengths",
       .batch = 2,
       .past = 0,
       .length = 5,
       .total = 5,
       .last = {4, 2}},
      {.name = "one token", .batch = 1, .past = 6, .length = 1, .total = 7, .last = {6}},
      {.name = "cache of fixed length",
       .batch = 1,
       .past = 9,
       .length = 1,
       .total = 5,
       .last = {4}},
      {.name = "two sequences", .batch = 2, .past = 9, .length = 2, .total = 7, .last = {6, 3}},
      {.name = "window", .batch = 1, .past = 8, .length = 1, .total = 9, .last = {8}, .window = 3},
      {.name = "rotated",
       .batch = 1,
       .past = 4,
       .length = 3,
       .total = 7,
       .last = {6},
       .rotates = true},
      {.name = "packed",
       .batch = 2,
       .past = 3,
       .length = 1,
       .total = 4,
       .last = {3, 3},
       .is_packed = true},
      {.name = "sinks and softcap",
       .batch = 1,
       .past = 4,
       .length = 1,
       .total = 5,
       .last = {4},
       .has_sinks = true,
       .softcap = 0.7},
  };
  for (const Decoding& c : cases) {
    SCOPED_TRACE(c.name);
    Four q = Made(c.batch, kHeads, c.length, kSize, 1),
         k = Made(c.batch, kGroups, c.length, kSize, 2);
    const Four v = Made(c.batch, kGroups, c.length, kSize, 3);
    const Four past_k = Made(c.batch, kGroups, c.past, kSize, 4),
               past_v = Made(c.batch, kGroups, c.past, kSize, 5);
    const NDArray cosine = Random({16, kSize / 2}, 6), sine = Random({16, kSize / 2}, 7);
    const NDArray sinks = Random({kHeads}, 8);
    Model model(17);
    runtime::Inputs inputs;
    const auto give = [&](const std::string& name, const NDArray& values) {
      model.InputLike(name, values);
      inputs[name] = values;
    };
    Names names = {"q", "k", "v", "pk", "pv", "last", "total", "", "", "", "", ""};
    if (c.is_packed) {
      std::vector<float> all;
      const NDArray parts[] = {q.ByLength(), k.ByLength(), v.ByLength()};
      for (std::int64_t row = 0; row < c.batch * c.length; ++row)
        for (const NDArray& part : parts) {
          const std::int64_t width = part.shape()[2];
          all.insert(all.end(), part.data<float>() + row * width,
                     part.data<float>() + (row + 1) * width);
        }
      give("q",
           NDArray::FromVector<float>({c.batch, c.length, (kHeads + 2 * kGroups) * kSize}, all));
      names[1] = names[2] = "";
    } else {
      give("q", q.ByLength());
      give("k", k.ByLength());
      give("v", v.ByLength());
    }
    if (c.past > 0) {
      give("pk", past_k.ToArray());
      give("pv", past_v.ToArray());
    } else {
      names[3] = names[4] = "";
    }
    give("last", NDArray::FromVector<std::int32_t>({c.batch}, c.last));
    model.Initializer("total", NDArray::Scalar<std::int32_t>(static_cast<std::int32_t>(c.total)));
    if (c.rotates) {
      give("cosine", cosine);
      give("sine", sine);
      names[7] = "cosine";
      names[8] = "sine";
    }
    if (c.has_sinks) {
      give("sinks", sinks);
      names[11] = "sinks";
    }
    NodeProto& node = model.Node("GroupQueryAttention", names, {"y", "present_k", "present_v"},
                                 "decoder", "com.microsoft");
    model.Output("y").Output("present_k").Output("present_v");
    SetInt(node, "num_heads", kHeads);
    SetInt(node, "kv_num_heads", kGroups);
    SetInt(node, "local_window_size", c.window);
    SetInt(node, "do_rotary", c.rotates ? 1 : 0);
    SetFloat(node, "softcap", static_cast<float>(c.softcap));
    const std::vector<NDArray> results = Computed(model, inputs);

    const auto begin = [&](std::int64_t b) {
      return c.total == c.length ? 0 : c.last[static_cast<std::size_t>(b)] + 1 - c.length;
    };
    if (c.rotates) {
      for (Four* x : {&q, &k}) {
        const Four before = *x;
        for (std::int64_t b = 0; b < c.batch; ++b)
          for (std::int64_t h = 0; h < x->heads; ++h)
            for (std::int64_t i = 0; i < c.length; ++i)
              for (std::int64_t d = 0; d < kSize / 2; ++d) {
                const double cos = cosine.data<float>()[(begin(b) + i) * (kSize / 2) + d];
                const double sin = sine.data<float>()[(begin(b) + i) * (kSize / 2) + d];
                const double first = before.at(b, h, i, d);
                const double second = before.at(b, h, i, d + kSize / 2);
                x->at(b, h, i, d) = cos * first - sin * second;
                x->at(b, h, i, d + kSize / 2) = sin * first + cos * second;
              }
      }
    }
    const std::int64_t longest = std::max(c.past, c.total);
    const auto written = [&](const Four& past, const Four& made) {
      Four cache(c.batch, kGroups, longest, kSize);
      for (std::int64_t b = 0; b < c.batch; ++b)
        for (std::int64_t h = 0; h < kGroups; ++h)
          for (std::int64_t i = 0; i < longest; ++i)
            for (std::int64_t d = 0; d < kSize; ++d) {
              const std::int64_t fresh = i - begin(b);
              if (fresh >= 0 && fresh < c.length) {
                cache.at(b, h, i, d) = made.at(b, h, fresh, d);
              } else if (i < c.past) {
                cache.at(b, h, i, d) = past.at(b, h, i, d);
              }
            }
      return cache;
    };
    const Four all_k = written(past_k, k), all_v = written(past_v, v);
    Definition of{.softcap = c.softcap,
                  .sees = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
                    const std::int64_t self = begin(b) + i;
                    return j <= self && (c.window < 0 || j > self - c.window);
                  }};
    if (c.has_sinks) of.sinks.assign(sinks.data<float>(), sinks.data<float>() + kHeads);
    ExpectClose(results.at(0), Attended(q, all_k, all_v, of).y.ByLength());
    ExpectClose(results.at(1), all_k.ToArray());
    ExpectClose(results.at(2), all_v.ToArray());
  }
}

TEST(GroupQueryTest, AMissingPastIsNamed) {
  Model model(17);
  model.Input("q", {1, 1, 8}).Input("last", {1}, TensorProto::INT32).Output("y");
  model.Initializer("total", NDArray::Scalar<std::int32_t>(5));
  NodeProto& node = model.Node("GroupQueryAttention", {"q", "q", "q", "", "", "last", "total"},
                               {"y", "a", "b"}, "decoder", "com.microsoft");
  SetInt(node, "num_heads", 2);
  SetInt(node, "kv_num_heads", 2);
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("decoder (GroupQueryAttention)"),
                    HasSubstr("input 3, the past, is missing"), HasSubstr("4 keys")));
}

}  // namespace
}  // namespace tenon::onnx_import
