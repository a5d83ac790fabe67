// Attention of the domain com.microsoft against its definition in plain loops.
#include <cmath>
#include <functional>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr char kDomain[] = "com.microsoft";

// A tensor of floats, indexed by coordinates.
double At(const NDArray& x, const std::vector<std::int64_t>& at) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) offset = offset * x.shape()[d] + at[d];
  return x.data<float>()[offset];
}

struct Sizes {
  std::int64_t batch = 2, heads = 3, queries = 5, keys = 5, past = 0, head = 4, value = 4;
  std::int64_t total() const { return past + keys; }
};

using Lookup =
    std::function<double(std::int64_t b, std::int64_t head, std::int64_t place, std::int64_t i)>;

// Softmax(scale * query * key^T + added) * value, as [batch, queries, heads * value].
NDArray Attended(const Sizes& s, const Lookup& query, const Lookup& key, const Lookup& value,
                 double scale, const Lookup& added) {
  std::vector<float> y;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t q = 0; q < s.queries; ++q) {
      for (std::int64_t n = 0; n < s.heads; ++n) {
        std::vector<double> scores;
        double best = -HUGE_VAL, sum = 0;
        for (std::int64_t k = 0; k < s.total(); ++k) {
          double score = 0;
          for (std::int64_t i = 0; i < s.head; ++i) score += query(b, n, q, i) * key(b, n, k, i);
          scores.push_back(score * scale + added(b, n, q, k));
          best = std::max(best, scores.back());
        }
        for (double& score : scores) sum += score = std::exp(score - best);
        for (std::int64_t i = 0; i < s.value; ++i) {
          double mean = 0;
          for (std::int64_t k = 0; k < s.total(); ++k)
            mean += scores[static_cast<std::size_t>(k)] / sum * value(b, n, k, i);
          y.push_back(static_cast<float>(mean));
        }
      }
    }
  }
  return NDArray::FromVector<float>({s.batch, s.queries, s.heads * s.value}, y);
}

NDArray Integers(const Shape& shape, const std::vector<std::int32_t>& values) {
  return NDArray::FromVector<std::int32_t>(shape, values);
}

enum class MaskKind { kNone, kLengths, kEndsAndBegins, kKeys, kQueriesAndKeys, kPlaceholder };

// Some keys of every sequence are masked, others of each query.
NDArray MaskOf(MaskKind kind, const Sizes& s) {
  const auto total = static_cast<std::int32_t>(s.total());
  std::vector<std::int32_t> values;
  switch (kind) {
    case MaskKind::kNone:
      return NDArray();
    case MaskKind::kLengths:
      for (std::int64_t b = 0; b < s.batch; ++b)
        values.push_back(total - static_cast<std::int32_t>(b));
      return Integers({s.batch}, values);
    case MaskKind::kEndsAndBegins:
      for (std::int64_t b = 0; b < s.batch; ++b) values.push_back(total - 1);
      for (std::int64_t b = 0; b < s.batch; ++b) values.push_back(static_cast<std::int32_t>(b));
      return Integers({2 * s.batch}, values);
    case MaskKind::kKeys:
      for (std::int64_t i = 0; i < s.batch * total; ++i)
        values.push_back(i % 7 == 2 || i % 5 == 3 ? 0 : 1);
      return Integers({s.batch, total}, values);
    case MaskKind::kQueriesAndKeys:
      for (std::int64_t i = 0; i < s.batch * s.queries * total; ++i)
        values.push_back(i % 11 == 2 || i % 3 == 1 ? 0 : 1);
      return Integers({s.batch, s.queries, total}, values);
    case MaskKind::kPlaceholder:
      return Integers({s.batch, 1}, std::vector<std::int32_t>(s.batch, 0));
  }
  return NDArray();
}

bool IsMasked(MaskKind kind, const Sizes& s, const NDArray& mask, std::int64_t b, std::int64_t q,
              std::int64_t k) {
  const auto* data = kind == MaskKind::kNone ? nullptr : mask.data<std::int32_t>();
  switch (kind) {
    case MaskKind::kNone:
    case MaskKind::kPlaceholder:
      return false;
    case MaskKind::kLengths:
      return k >= data[b];
    case MaskKind::kEndsAndBegins:
      return k >= data[b] || k < data[b + s.batch];
    case MaskKind::kKeys:
      return data[b * s.total() + k] == 0;
    case MaskKind::kQueriesAndKeys:
      return data[(b * s.queries + q) * s.total() + k] == 0;
  }
  return false;
}

struct AttentionCase {
  const char* name;
  Sizes sizes;
  MaskKind mask = MaskKind::kNone;
  bool unidirectional = false, bias = true, attention_bias = false;
  double scale = 0, filter = -10000;
  friend void PrintTo(const AttentionCase& c, std::ostream* out) { *out << c.name; }
};

// What the options of a case add to the score of a key.
Lookup Added(const AttentionCase& c, const NDArray& mask, const NDArray& attention_bias) {
  return [=](std::int64_t b, std::int64_t n, std::int64_t q, std::int64_t k) {
    const Sizes& s = c.sizes;
    // The last query sees every key, however many there are.
    if (c.unidirectional && q + 1 < s.queries && k > s.past + q) return -HUGE_VAL;
    double sum = IsMasked(c.mask, s, mask, b, q, k) ? c.filter : 0.0;
    if (c.attention_bias) sum += At(attention_bias, {0, n, q, k});
    return sum;
  };
}

class AttentionTest : public ::testing::TestWithParam<AttentionCase> {
 protected:
  void Declare(const std::string& name, const NDArray& values) {
    model_.Input(name, values.shape(),
                 values.dtype() == Int32 ? TensorProto::INT32 : TensorProto::FLOAT);
    inputs_[name] = values;
  }
  std::vector<NDArray> Results() { return Computed(model_, inputs_); }

  Model model_{17};
  runtime::Inputs inputs_;
};

TEST_P(AttentionTest, EqualsItsDefinition) {
  const AttentionCase& c = GetParam();
  const Sizes& s = c.sizes;
  const std::int64_t width = 7, qk = s.heads * s.head, columns = 2 * qk + s.heads * s.value;
  const NDArray x = Random({s.batch, s.queries, width}, 1), w = Random({width, columns}, 2),
                b = Random({columns}, 3), mask = MaskOf(c.mask, s),
                past = Random({2, s.batch, s.heads, s.past, s.head}, 4),
                attention_bias = Random({1, s.heads, s.queries, s.total()}, 5);
  Declare("x", x);
  model_.Constant("w", w).Constant("b", b);
  Names inputs = {"x", "w", c.bias ? "b" : "", "", "", ""};
  if (c.mask != MaskKind::kNone) Declare(inputs[3] = "mask", mask);
  if (s.past > 0) Declare(inputs[4] = "past", past);
  if (c.attention_bias) Declare(inputs[5] = "bias", attention_bias);
  NodeProto& node =
      model_.Node("Attention", inputs, s.value == s.head ? Names{"y", "present"} : Names{"y"},
                  "attention", kDomain);
  SetInt(node, "num_heads", s.heads);
  if (c.unidirectional) SetInt(node, "unidirectional", 1);
  if (s.value != s.head) SetInts(node, "qkv_hidden_sizes", {qk, qk, s.heads * s.value});
  if (c.scale != 0) SetFloat(node, "scale", static_cast<float>(c.scale));
  if (c.filter != -10000) SetFloat(node, "mask_filter_value", static_cast<float>(c.filter));
  model_.Output("y");
  if (s.value == s.head) model_.Output("present");
  const std::vector<NDArray> results = Results();

  const auto projected = [&](std::int64_t batch, std::int64_t place, std::int64_t column) {
    double sum = c.bias ? At(b, {column}) : 0;
    for (std::int64_t i = 0; i < width; ++i) sum += At(x, {batch, place, i}) * At(w, {i, column});
    return sum;
  };
  // Part 1 holds keys, part 2 values, of the past first.
  const auto state = [&](std::int64_t part) {
    const std::int64_t size = part == 2 ? s.value : s.head;
    return [&, part, size](std::int64_t batch, std::int64_t n, std::int64_t k, std::int64_t i) {
      return k < s.past ? At(past, {part - 1, batch, n, k, i})
                        : projected(batch, k - s.past, part * qk + n * size + i);
    };
  };
  const auto query = [&](std::int64_t batch, std::int64_t n, std::int64_t q, std::int64_t i) {
    return projected(batch, q, n * s.head + i);
  };
  const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(s.head));
  ExpectClose(results.at(0),
              Attended(s, query, state(1), state(2), scale, Added(c, mask, attention_bias)));
  if (s.value != s.head) return;
  std::vector<float> present;
  for (const std::int64_t part : {1, 2})
    for (std::int64_t batch = 0; batch < s.batch; ++batch)
      for (std::int64_t n = 0; n < s.heads; ++n)
        for (std::int64_t k = 0; k < s.total(); ++k)
          for (std::int64_t i = 0; i < s.head; ++i)
            present.push_back(static_cast<float>(state(part)(batch, n, k, i)));
  ExpectClose(results.at(1),
              NDArray::FromVector<float>({2, s.batch, s.heads, s.total(), s.head}, present));
}

INSTANTIATE_TEST_SUITE_P(
    Options, AttentionTest,
    ::testing::Values(
        AttentionCase{"Plain", {}}, AttentionCase{.name = "WithoutBias", .bias = false},
        AttentionCase{.name = "Lengths", .mask = MaskKind::kLengths},
        AttentionCase{.name = "EndsAndBegins", .mask = MaskKind::kEndsAndBegins},
        AttentionCase{.name = "Keys", .mask = MaskKind::kKeys},
        AttentionCase{.name = "QueriesAndKeys", .mask = MaskKind::kQueriesAndKeys},
        AttentionCase{.name = "Placeholder", .mask = MaskKind::kPlaceholder},
        AttentionCase{.name = "Unidirectional", .unidirectional = true},
        AttentionCase{
            .name = "UnidirectionalLengths", .mask = MaskKind::kLengths, .unidirectional = true},
        AttentionCase{
            .name = "UnidirectionalKeys", .mask = MaskKind::kKeys, .unidirectional = true},
        AttentionCase{.name = "UnidirectionalQueriesAndKeys",
                      .mask = MaskKind::kQueriesAndKeys,
                      .unidirectional = true},
        AttentionCase{.name = "Past", .sizes = {.past = 3}},
        AttentionCase{.name = "PastKeys", .sizes = {.past = 3}, .mask = MaskKind::kKeys},
        AttentionCase{.name = "PastUnidirectional", .sizes = {.past = 2}, .unidirectional = true},
        AttentionCase{.name = "OneToken",
                      .sizes = {.queries = 1, .keys = 1, .past = 6},
                      .unidirectional = true},
        AttentionCase{
            .name = "OtherValues", .sizes = {.head = 3, .value = 5}, .mask = MaskKind::kKeys},
        AttentionCase{.name = "AttentionBias", .mask = MaskKind::kKeys, .attention_bias = true},
        AttentionCase{
            .name = "UnidirectionalAttentionBias", .unidirectional = true, .attention_bias = true},
        AttentionCase{
            .name = "ScaleAndFilter", .mask = MaskKind::kKeys, .scale = 0.75, .filter = -2},
        AttentionCase{
            .name = "OneOfEverything",
            .sizes = {.batch = 1, .heads = 1, .queries = 1, .keys = 1, .head = 1, .value = 1}},
        AttentionCase{
            .name = "WideAsVectors",
            .sizes = {.batch = 1, .heads = 2, .queries = 17, .keys = 17, .head = 16, .value = 16},
            .mask = MaskKind::kLengths}),
    [](const auto& info) { return std::string(info.param.name); });

// --- MultiHeadAttention

class MultiHeadTest : public AttentionTest {};

// Queries, keys and values of any lengths, by heads or side by side.
TEST_P(MultiHeadTest, EqualsItsDefinition) {
  const AttentionCase& c = GetParam();
  const Sizes& s = c.sizes;
  const std::int64_t qk = s.heads * s.head, wide = s.heads * s.value;
  const NDArray q = Random({s.batch, s.queries, qk}, 1), k = Random({s.batch, s.keys, qk}, 2),
                v = Random({s.batch, s.keys, wide}, 3), b = Random({2 * qk + wide}, 4),
                mask = MaskOf(c.mask, s),
                attention_bias = Random({1, s.heads, s.queries, s.total()}, 5),
                past_key = Random({s.batch, s.heads, s.past, s.head}, 6),
                past_value = Random({s.batch, s.heads, s.past, s.value}, 7);
  Declare("q", q);
  Declare("k", k);
  Declare("v", v);
  model_.Constant("b", b);
  Names inputs = {"q", "k", "v", c.bias ? "b" : "", "", "", "", ""};
  if (c.mask != MaskKind::kNone) Declare(inputs[4] = "mask", mask);
  if (c.attention_bias) Declare(inputs[5] = "bias", attention_bias);
  if (s.past > 0) Declare(inputs[6] = "past_key", past_key);
  if (s.past > 0) Declare(inputs[7] = "past_value", past_value);
  NodeProto& node = model_.Node("MultiHeadAttention", inputs, {"y", "present_key", "present_value"},
                                "attention", kDomain);
  SetInt(node, "num_heads", s.heads);
  if (c.unidirectional) SetInt(node, "unidirectional", 1);
  if (c.scale != 0) SetFloat(node, "scale", static_cast<float>(c.scale));
  model_.Output("y").Output("present_key").Output("present_value");
  const std::vector<NDArray> results = Results();

  const auto part = [&](const NDArray& x, std::int64_t offset, std::int64_t size,
                        const NDArray& past) -> Lookup {
    return [&, offset, size](std::int64_t batch, std::int64_t n, std::int64_t at, std::int64_t i) {
      const std::int64_t before = &past == &b ? 0 : s.past;
      if (at < before) return At(past, {batch, n, at, i});
      return At(x, {batch, at - before, n * size + i}) +
             (c.bias ? At(b, {offset + n * size + i}) : 0);
    };
  };
  const Lookup key = part(k, qk, s.head, past_key), value = part(v, 2 * qk, s.value, past_value);
  const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(s.head));
  ExpectClose(results.at(0), Attended(s, part(q, 0, s.head, b), key, value, scale,
                                      Added(c, mask, attention_bias)));
  const auto present = [&](const Lookup& of, std::int64_t size) {
    std::vector<float> values;
    for (std::int64_t batch = 0; batch < s.batch; ++batch)
      for (std::int64_t n = 0; n < s.heads; ++n)
        for (std::int64_t at = 0; at < s.total(); ++at)
          for (std::int64_t i = 0; i < size; ++i)
            values.push_back(static_cast<float>(of(batch, n, at, i)));
    return NDArray::FromVector<float>({s.batch, s.heads, s.total(), size}, values);
  };
  ExpectClose(results.at(1), present(key, s.head));
  ExpectClose(results.at(2), present(value, s.value));
}

INSTANTIATE_TEST_SUITE_P(
    Options, MultiHeadTest,
    ::testing::Values(
        AttentionCase{.name = "Plain", .bias = false}, AttentionCase{.name = "Bias"},
        AttentionCase{.name = "Cross", .sizes = {.keys = 7, .value = 5}},
        AttentionCase{.name = "CrossKeys", .sizes = {.keys = 7}, .mask = MaskKind::kKeys},
        AttentionCase{.name = "CrossUnidirectional", .sizes = {.keys = 9}, .unidirectional = true},
        AttentionCase{.name = "Lengths", .mask = MaskKind::kLengths},
        AttentionCase{.name = "QueriesAndKeys", .mask = MaskKind::kQueriesAndKeys},
        AttentionCase{.name = "PastUnidirectional", .sizes = {.past = 3}, .unidirectional = true},
        AttentionCase{.name = "PastKeysAttentionBias",
                      .sizes = {.queries = 1, .keys = 1, .past = 4},
                      .mask = MaskKind::kKeys,
                      .attention_bias = true,
                      .scale = 0.3}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(AttentionTest, KeysAndValuesMayComeByHeads) {
  const Sizes s{.keys = 7};
  const NDArray q = Random({s.batch, s.queries, s.heads * s.head}, 1),
                k = Random({s.batch, s.heads, s.keys, s.head}, 2),
                v = Random({s.batch, s.heads, s.keys, s.value}, 3);
  Declare("q", q);
  Declare("k", k);
  Declare("v", v);
  SetInt(model_.Node("MultiHeadAttention", {"q", "k", "v"}, {"y"}, "attention", kDomain),
         "num_heads", s.heads);
  model_.Output("y");
  const auto of = [](const NDArray& x) -> Lookup {
    return [&](std::int64_t b, std::int64_t n, std::int64_t at, std::int64_t i) {
      return At(x, {b, n, at, i});
    };
  };
  const Lookup query = [&](std::int64_t b, std::int64_t n, std::int64_t at, std::int64_t i) {
    return At(q, {b, at, n * s.head + i});
  };
  ExpectClose(Results().at(0), Attended(s, query, of(k), of(v), 0.5, Added({}, {}, {})));
}

// A product of 64 elements of 60 by 60 is beyond float16, and an eighth of it is not.
TEST_F(AttentionTest, ScoresOfHalvesAreScaledBeforeTheyOverflow) {
  std::vector<float> keys(128, 60), values(128, 1);
  std::fill(keys.begin() + 64, keys.end(), -60.0F);
  std::fill(values.begin() + 64, values.end(), 2.0F);
  Declare("q", NDArray::FromVector<float>({1, 1, 64}, std::vector<float>(64, 60)));
  Declare("k", NDArray::FromVector<float>({1, 2, 64}, keys));
  Declare("v", NDArray::FromVector<float>({1, 2, 64}, values));
  for (const char* name : {"q", "k", "v"})
    SetInt(model_.Node("Cast", {name}, {StrCat(name, "16")}), "to", TensorProto::FLOAT16);
  SetInt(model_.Node("MultiHeadAttention", {"q16", "k16", "v16"}, {"y16"}, "attention", kDomain),
         "num_heads", 1);
  SetInt(model_.Node("Cast", {"y16"}, {"y"}), "to", TensorProto::FLOAT);
  model_.Output("y");
  ExpectClose(Results().at(0), NDArray::FromVector<float>({1, 1, 64}, std::vector<float>(64, 1)));
}

// --- QAttention

TEST_F(AttentionTest, QuantizedProjectionsAreThoseOfTheNumbersThatTheyStandFor) {
  const Sizes s;
  const std::int64_t width = 6, columns = 3 * s.heads * s.head;
  std::vector<std::uint8_t> x, w;
  for (std::int64_t i = 0; i < s.batch * s.queries * width; ++i)
    x.push_back(static_cast<std::uint8_t>(37 * i + 5));
  for (std::int64_t i = 0; i < width * columns; ++i)
    w.push_back(static_cast<std::uint8_t>(91 * i + 3));
  const NDArray b = Random({columns}, 3), scales = Random({columns}, Float32, 4, 0.001, 0.01);
  model_.Input("x", {s.batch, s.queries, width}, TensorProto::UINT8);
  inputs_["x"] = NDArray::FromVector<std::uint8_t>({s.batch, s.queries, width}, x);
  model_.Constant("w", NDArray::FromVector<std::uint8_t>({width, columns}, w));
  model_.Constant("b", b).Constant("xs", NDArray::Scalar(0.02F)).Constant("ws", scales);
  model_.Constant("xz", NDArray::Scalar(std::uint8_t{120}));
  model_.Constant("wz", NDArray::Scalar(std::uint8_t{131}));
  const NDArray mask = MaskOf(MaskKind::kKeys, s);
  Declare("mask", mask);
  SetInt(model_.Node("QAttention", {"x", "w", "b", "xs", "ws", "mask", "xz", "wz"}, {"y"},
                     "attention", kDomain),
         "num_heads", s.heads);
  model_.Output("y");
  const auto part = [&](std::int64_t offset) -> Lookup {
    return [&, offset](std::int64_t batch, std::int64_t n, std::int64_t at, std::int64_t i) {
      const std::int64_t column = offset * s.heads * s.head + n * s.head + i;
      double sum = 0;
      for (std::int64_t d = 0; d < width; ++d)
        sum += (x[static_cast<std::size_t>((batch * s.queries + at) * width + d)] - 120.0) *
               (w[static_cast<std::size_t>(d * columns + column)] - 131.0);
      return sum * At(scales, {column}) * 0.02F + At(b, {column});
    };
  };
  const AttentionCase c{.name = "", .mask = MaskKind::kKeys};
  ExpectClose(Results().at(0), Attended(s, part(0), part(1), part(2), 0.5, Added(c, mask, {})));
}

// --- refusals

class AttentionRefusalTest : public AttentionTest {
 protected:
  NodeProto& Attention(const Names& inputs = {"x", "w"}) {
    Declare("x", Random({2, 5, 7}, 1));
    model_.Constant("w", Random({7, 36}, 2));
    model_.Output("y");
    return model_.Node("Attention", inputs, {"y"}, "attention", kDomain);
  }
  std::string Refusal(absl::StatusCode code) { return MessageOf(Imported(model_), code); }
};

TEST_F(AttentionRefusalTest, HeadsMustBeGiven) {
  Attention();
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("the attribute num_heads must be given, and positive"));
}
TEST_F(AttentionRefusalTest, HeadsMustDivideTheProjections) {
  SetInt(Attention(), "num_heads", 5);
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("12 elements are not divided by 5 heads"));
}
TEST_F(AttentionRefusalTest, SizesMustSumUpToTheWeights) {
  NodeProto& node = Attention();
  SetInt(node, "num_heads", 3);
  SetInts(node, "qkv_hidden_sizes", {12, 12, 9});
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("qkv_hidden_sizes is [12, 12, 9]; it must be three values"));
}
TEST_F(AttentionRefusalTest, RotationInsideOfAttentionIsRefused) {
  NodeProto& node = Attention();
  SetInt(node, "num_heads", 3);
  SetInt(node, "do_rotary", 1);
  EXPECT_THAT(Refusal(absl::StatusCode::kUnimplemented),
              HasSubstr("the attribute do_rotary is not supported"));
}
TEST_F(AttentionRefusalTest, AMaskOfRankFourIsRefused) {
  SetInt(Attention({"x", "w", "", "mask"}), "num_heads", 3);
  Declare("mask", Integers({2, 1, 5, 5}, std::vector<std::int32_t>(50, 1)));
  EXPECT_THAT(Refusal(absl::StatusCode::kUnimplemented),
              HasSubstr("a mask of the shape (2, 1, 5, 5) is not supported"));
}
TEST_F(AttentionRefusalTest, APastOfOtherHeadsIsRefused) {
  SetInt(Attention({"x", "w", "", "", "past"}), "num_heads", 3);
  Declare("past", Random({2, 2, 4, 3, 4}, 3));
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("the past of the shape (2, 4, 3, 4) does not fit"));
}
TEST_F(AttentionRefusalTest, KeysAndValuesOfDifferentSizesHaveNoPresent) {
  Declare("x", Random({2, 5, 7}, 1));
  model_.Constant("w", Random({7, 11}, 2)).Output("y").Output("present");
  NodeProto& node = model_.Node("Attention", {"x", "w"}, {"y", "present"}, "attention", kDomain);
  SetInt(node, "num_heads", 1);
  SetInts(node, "qkv_hidden_sizes", {3, 3, 5});
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("keys and values of different sizes have no present in one tensor"));
}
TEST_F(AttentionRefusalTest, ScoresBeyondAllMemoryAreRefused) {
  Declare("x", Random({1, 32768, 7}, 1));
  model_.Constant("w", Random({7, 36}, 2)).Output("y");
  NodeProto& node = model_.Node("Attention", {"x", "w"}, {"y"}, "attention", kDomain);
  SetInt(node, "num_heads", 3);
  SetInt(node, "unidirectional", 1);
  EXPECT_THAT(
      Refusal(absl::StatusCode::kInvalidArgument),
      HasSubstr("attention of 32768 queries to 32768 keys is asked for; at most 268435456"));
}
TEST_F(AttentionRefusalTest, PackedOperandsAreRefused) {
  Declare("q", Random({2, 5, 3, 3, 4}, 1));
  model_.Output("y");
  SetInt(model_.Node("MultiHeadAttention", {"q"}, {"y"}, "attention", kDomain), "num_heads", 3);
  EXPECT_THAT(Refusal(absl::StatusCode::kUnimplemented),
              HasSubstr("query, key and value packed into one tensor are not supported"));
}

}  // namespace
}  // namespace tenon::onnx_import
