// What stands around attention in the domain com.microsoft (embeddings, rotated positions, weights
// of few bits), and an encoder written with those operators and with the standard's.
#include <cmath>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr char kDomain[] = "com.microsoft";

NDArray Integers(const Shape& shape, const std::vector<std::int32_t>& values) {
  return NDArray::FromVector<std::int32_t>(shape, values);
}

class TransformerTest : public ::testing::Test {
 protected:
  void Declare(const std::string& name, const NDArray& values) {
    model_.Input(name, values.shape(),
                 values.dtype() == Int32 ? TensorProto::INT32 : TensorProto::FLOAT);
    inputs_[name] = values;
  }
  NodeProto& Node(const std::string& type, const Names& inputs, const Names& outputs = {"y"}) {
    for (const std::string& output : outputs) model_.Output(output);
    return model_.Node(type, inputs, outputs, "node", kDomain);
  }
  std::vector<NDArray> Results() { return Computed(model_, inputs_); }
  std::string Refusal(absl::StatusCode code) { return MessageOf(Imported(model_), code); }

  Model model_{17};
  runtime::Inputs inputs_;
};

// --- EmbedLayerNormalization

class EmbeddingTest : public TransformerTest {
 protected:
  static constexpr std::int64_t kBatch = 2, kLength = 5, kSize = 7;

  void SetUp() override {
    Declare("tokens", tokens_);
    Declare("segments", segments_);
    model_.Constant("word", word_).Constant("position", position_).Constant("segment", segment_);
    model_.Constant("gamma", gamma_).Constant("beta", beta_);
  }
  // The sums of the rows, and them normalised.
  std::pair<NDArray, NDArray> Expected(bool has_segments, const std::vector<int>& positions) {
    std::vector<float> sums, normal;
    for (std::int64_t t = 0; t < kBatch * kLength; ++t) {
      const auto row = [&](const NDArray& table, std::int64_t i) {
        return table.data<float>() + i * kSize;
      };
      std::vector<double> x;
      double mean = 0, variance = 0;
      for (std::int64_t i = 0; i < kSize; ++i) {
        x.push_back(row(word_, tokens_.data<std::int32_t>()[t])[i] +
                    row(position_, positions[static_cast<std::size_t>(t)])[i] +
                    (has_segments ? row(segment_, segments_.data<std::int32_t>()[t])[i] : 0));
        mean += x.back() / kSize;
      }
      for (const double v : x) variance += (v - mean) * (v - mean) / kSize;
      for (std::int64_t i = 0; i < kSize; ++i) {
        const double v = x[static_cast<std::size_t>(i)];
        sums.push_back(static_cast<float>(v));
        normal.push_back(
            static_cast<float>((v - mean) / std::sqrt(variance + 1e-3) * gamma_.data<float>()[i] +
                               beta_.data<float>()[i]));
      }
    }
    return {NDArray::FromVector<float>({kBatch, kLength, kSize}, sums),
            NDArray::FromVector<float>({kBatch, kLength, kSize}, normal)};
  }

  const NDArray tokens_ = Integers({2, 5}, {3, 0, 10, 7, 1, 5, 5, 2, 9, 4}),
                segments_ = Integers({2, 5}, {0, 0, 1, 1, 1, 1, 0, 1, 0, 1}),
                word_ = Random({11, kSize}, 1), position_ = Random({9, kSize}, 2),
                segment_ = Random({2, kSize}, 3), gamma_ = Random({kSize}, 4),
                beta_ = Random({kSize}, 5);
};

TEST_F(EmbeddingTest, RowsOfThreeTablesAreSummedUpAndNormalised) {
  Declare("mask", Integers({2, 5}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 0}));
  SetFloat(Node("EmbedLayerNormalization",
                {"tokens", "segments", "word", "position", "segment", "gamma", "beta", "mask"},
                {"y", "counts", "sum"}),
           "epsilon", 1e-3F);
  const std::vector<NDArray> results = Results();
  const auto [sum, normal] = Expected(true, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  ExpectClose(results.at(0), normal);
  EXPECT_THAT(results.at(1).ToVector<std::int32_t>(), ElementsAre(3, 4));
  ExpectClose(results.at(2), sum);
}

TEST_F(EmbeddingTest, PositionsMayBeGivenAndSegmentsAndTheMaskBeAbsent) {
  Declare("places", Integers({2, 5}, {8, 7, 6, 5, 4, 0, 0, 1, 1, 2}));
  SetFloat(
      Node("EmbedLayerNormalization",
           {"tokens", "", "word", "position", "", "gamma", "beta", "", "places"}, {"y", "counts"}),
      "epsilon", 1e-3F);
  const std::vector<NDArray> results = Results();
  ExpectClose(results.at(0), Expected(false, {8, 7, 6, 5, 4, 0, 0, 1, 1, 2}).second);
  EXPECT_THAT(results.at(1).ToVector<std::int32_t>(), ElementsAre(0, 0));
}

TEST_F(EmbeddingTest, SequencesLongerThanThePositionsAreRefused) {
  model_.Constant("few", Random({4, kSize}, 9));
  Node("EmbedLayerNormalization",
       {"tokens", "segments", "word", "few", "segment", "gamma", "beta"});
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("there are 4 positions for sequences of 5 tokens"));
}

// --- RotaryEmbedding

struct RotaryCase {
  const char* name;
  bool interleaved = false, by_heads = false, offset = false;
  std::int64_t turned = 0;  // 0: whole heads
  friend void PrintTo(const RotaryCase& c, std::ostream* out) { *out << c.name; }
};

class RotaryTest : public TransformerTest, public ::testing::WithParamInterface<RotaryCase> {};

// Su et al., "RoFormer", 2021, equation 34.
TEST_P(RotaryTest, PairsAreTurnedByTheAnglesOfTheirPosition) {
  const RotaryCase& c = GetParam();
  const std::int64_t batch = 2, length = 5, heads = 3, size = 6;
  const std::int64_t turned = c.turned > 0 ? c.turned : size, half = turned / 2;
  const NDArray x = c.by_heads ? Random({batch, heads, length, size}, 1)
                               : Random({batch, length, heads * size}, 1);
  const NDArray cosine = Random({9, half}, 2), sine = Random({9, half}, 3);
  const std::vector<std::int64_t> places =
      c.offset ? std::vector<std::int64_t>{3}
               : std::vector<std::int64_t>{0, 1, 2, 3, 4, 8, 7, 6, 5, 4};
  Declare("x", x);
  const NDArray positions =
      NDArray::FromVector<std::int64_t>(c.offset ? Shape{1} : Shape{batch, length}, places);
  model_.Input("positions", positions.shape(), TensorProto::INT64);
  inputs_["positions"] = positions;
  model_.Constant("cosine", cosine).Constant("sine", sine);
  NodeProto& node = Node("RotaryEmbedding", {"x", "positions", "cosine", "sine"});
  SetInt(node, "interleaved", c.interleaved ? 1 : 0);
  if (c.turned > 0) {
    SetInt(node, "rotary_embedding_dim", c.turned);
    SetInt(node, "num_heads", heads);
  }
  NDArray expected = NDArray::FromVector<float>(x.shape(), x.ToVector<float>());
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t s = 0; s < length; ++s) {
      for (std::int64_t n = 0; n < heads; ++n) {
        const std::int64_t start = c.by_heads ? ((b * heads + n) * length + s) * size
                                              : ((b * length + s) * heads + n) * size;
        const std::int64_t place =
            c.offset ? 3 + s : places[static_cast<std::size_t>(b * length + s)];
        for (std::int64_t i = 0; i < half; ++i) {
          const std::int64_t first = start + (c.interleaved ? 2 * i : i);
          const std::int64_t second = c.interleaved ? first + 1 : first + half;
          const float a = x.data<float>()[first], d = x.data<float>()[second];
          const float cos = cosine.data<float>()[place * half + i];
          const float sin = sine.data<float>()[place * half + i];
          expected.data<float>()[first] = a * cos - d * sin;
          expected.data<float>()[second] = a * sin + d * cos;
        }
      }
    }
  }
  ExpectClose(Results().at(0), expected);
}

INSTANTIATE_TEST_SUITE_P(Forms, RotaryTest,
                         ::testing::Values(RotaryCase{"Halves"},
                                           RotaryCase{.name = "Neighbours", .interleaved = true},
                                           RotaryCase{.name = "ByHeads", .by_heads = true},
                                           RotaryCase{.name = "FromAnOffset", .offset = true},
                                           RotaryCase{.name = "PartOfAHead", .turned = 4},
                                           RotaryCase{.name = "PartOfAHeadInNeighbours",
                                                      .interleaved = true,
                                                      .by_heads = true,
                                                      .turned = 2}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(TransformerTest, CachesOfOtherSizesAreRefused) {
  Declare("x", Random({1, 2, 12}, 1));
  model_.Integers("positions", {0}).Constant("cosine", Random({9, 2}, 2));
  model_.Constant("sine", Random({9, 2}, 3));
  NodeProto& node = Node("RotaryEmbedding", {"x", "positions", "cosine", "sine"});
  SetInt(node, "rotary_embedding_dim", 6);
  SetInt(node, "num_heads", 2);
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("heads of 6 elements, of which 6 are turned, do not fit the caches of 2"));
}

// --- SkipSimplifiedLayerNormalization

TEST_F(TransformerTest, ASumIsDividedByItsRootMeanSquare) {
  const NDArray x = Random({2, 3, 5}, 1), z = Random({2, 3, 5}, 2), gamma = Random({5}, 3),
                bias = Random({5}, 4);
  Declare("x", x);
  Declare("z", z);
  model_.Constant("gamma", gamma).Constant("bias", bias);
  model_.Output("y").Output("sum");
  SetFloat(model_.Node("SkipSimplifiedLayerNormalization", {"x", "z", "gamma", "bias"},
                       {"y", "", "", "sum"}, "node", kDomain),
           "epsilon", 1e-3F);
  std::vector<float> sums, expected;
  for (std::int64_t row = 0; row < 6; ++row) {
    double mean = 0;
    for (std::int64_t i = 0; i < 5; ++i) {
      sums.push_back(x.data<float>()[row * 5 + i] + z.data<float>()[row * 5 + i] +
                     bias.data<float>()[i]);
      mean += static_cast<double>(sums.back()) * sums.back() / 5;
    }
    for (std::size_t i = 0; i < 5; ++i)
      expected.push_back(static_cast<float>(sums[static_cast<std::size_t>(row) * 5 + i] /
                                            std::sqrt(mean + 1e-3) * gamma.data<float>()[i]));
  }
  const std::vector<NDArray> results = Results();
  ExpectClose(results.at(0), NDArray::FromVector<float>({2, 3, 5}, expected));
  ExpectClose(results.at(1), NDArray::FromVector<float>({2, 3, 5}, sums));
}

// --- MatMulNBits

struct BlockCase {
  const char* name;
  std::int64_t rows, columns, block, bits = 4;
  bool zero_points = false, float_zero_points = false, bias = false;
  friend void PrintTo(const BlockCase& c, std::ostream* out) { *out << c.name; }
};

class BlockTest : public TransformerTest, public ::testing::WithParamInterface<BlockCase> {};

TEST_P(BlockTest, WeightsAreTheirBitsLessTheZeroPointTimesTheScale) {
  const BlockCase& c = GetParam();
  const std::int64_t count = (c.rows + c.block - 1) / c.block, bytes = c.block * c.bits / 8;
  const std::int64_t line = (count * c.bits + 7) / 8;
  std::vector<std::uint8_t> packed, zeros;
  for (std::int64_t i = 0; i < c.columns * count * bytes; ++i)
    packed.push_back(static_cast<std::uint8_t>(37 * i + 11));
  for (std::int64_t i = 0; i < c.columns * line; ++i)
    zeros.push_back(static_cast<std::uint8_t>(53 * i + 7));
  const NDArray x = Random({2, 3, c.rows}, 1), bias = Random({c.columns}, 4),
                scales = Random({c.columns, count}, Float32, 2, 0.01, 0.1),
                float_zeros = Random({c.columns, count}, Float32, 3, 0, 15);
  Declare("x", x);
  model_.Constant("w", NDArray::FromVector<std::uint8_t>({c.columns, count, bytes}, packed));
  model_.Constant("s", scales).Constant("b", bias).Constant("fz", float_zeros);
  model_.Constant("z", NDArray::FromVector<std::uint8_t>({c.columns * line}, zeros));
  const std::string z = c.zero_points ? "z" : c.float_zero_points ? "fz" : "";
  NodeProto& node = Node("MatMulNBits", {"x", "w", "s", z, "", c.bias ? "b" : ""});
  SetInt(node, "K", c.rows);
  SetInt(node, "N", c.columns);
  SetInt(node, "bits", c.bits);
  SetInt(node, "block_size", c.block);
  SetInt(node, "accuracy_level", 1);
  const auto bits = [&](const std::vector<std::uint8_t>& data, std::int64_t start, std::int64_t i) {
    const std::int64_t in_byte = 8 / c.bits;
    const int byte = data.at(static_cast<std::size_t>(start + i / in_byte));
    return (byte >> (i % in_byte * c.bits)) % (1 << c.bits);
  };
  std::vector<float> expected;
  for (std::int64_t row = 0; row < 6; ++row) {
    for (std::int64_t n = 0; n < c.columns; ++n) {
      double sum = c.bias ? bias.data<float>()[n] : 0;
      for (std::int64_t k = 0; k < c.rows; ++k) {
        const std::int64_t block = n * count + k / c.block;
        const double zero = c.zero_points         ? bits(zeros, n * line, k / c.block)
                            : c.float_zero_points ? float_zeros.data<float>()[block]
                                                  : 1 << (c.bits - 1);
        sum += x.data<float>()[row * c.rows + k] *
               (bits(packed, block * bytes, k % c.block) - zero) * scales.data<float>()[block];
      }
      expected.push_back(static_cast<float>(sum));
    }
  }
  ExpectClose(Results().at(0), NDArray::FromVector<float>({2, 3, c.columns}, expected));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BlockTest,
    ::testing::Values(
        BlockCase{"OneBlock", 16, 1, 16}, BlockCase{"PartOfABlock", 17, 5, 32},
        BlockCase{.name = "ZeroPoints", .rows = 48, .columns = 7, .block = 16, .zero_points = true},
        BlockCase{.name = "FloatZeroPoints",
                  .rows = 65,
                  .columns = 3,
                  .block = 32,
                  .float_zero_points = true,
                  .bias = true},
        BlockCase{.name = "EightBits",
                  .rows = 40,
                  .columns = 4,
                  .block = 16,
                  .bits = 8,
                  .zero_points = true},
        BlockCase{.name = "TwoBits",
                  .rows = 96,
                  .columns = 3,
                  .block = 32,
                  .bits = 2,
                  .zero_points = true}),
    [](const auto& info) { return std::string(info.param.name); });

class BlockRefusalTest : public TransformerTest {
 protected:
  NodeProto& Product(std::int64_t bits, std::int64_t block, bool constant = true) {
    Declare("x", Random({3, 32}, 1));
    const NDArray w = NDArray::Zeros({2, 2, 8}, UInt8);
    if (constant) {
      model_.Constant("w", w);
    } else {
      model_.Input("w", w.shape(), TensorProto::UINT8);
    }
    model_.Constant("s", Random({2, 2}, 2));
    NodeProto& node = Node("MatMulNBits", {"x", "w", "s"});
    SetInt(node, "K", 32);
    SetInt(node, "N", 2);
    SetInt(node, "bits", bits);
    SetInt(node, "block_size", block);
    return node;
  }
};

TEST_F(BlockRefusalTest, OtherNumbersOfBitsAreRefused) {
  Product(3, 16);
  EXPECT_THAT(Refusal(absl::StatusCode::kUnimplemented),
              HasSubstr("bits is 3; 2, 4 and 8 are supported"));
}
TEST_F(BlockRefusalTest, BlocksThatAreNoPowerOfTwoAreRefused) {
  Product(4, 24);
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("block_size is 24; it must be a power of two, 16 at least"));
}
TEST_F(BlockRefusalTest, WeightsOfAnotherSizeAreRefused) {
  Product(4, 32);
  EXPECT_THAT(Refusal(absl::StatusCode::kInvalidArgument),
              HasSubstr("scales must have 2 elements, not 4"));
}
TEST_F(BlockRefusalTest, WeightsMustBeKnown) {
  Product(4, 16, false);
  EXPECT_THAT(Refusal(absl::StatusCode::kUnimplemented), HasSubstr("input 1"));
}

// --- an encoder

// Two layers of BERT (Devlin et al., 2019) with random weights, in both sets of operators.
class Encoder {
 public:
  static constexpr std::int64_t kBatch = 2, kLength = 7, kHidden = 32, kHeads = 2, kInner = 64;

  explicit Encoder(bool fused) : fused_(fused) {
    for (const char* name : {"tokens", "segments", "mask"})
      model_.Input(name, {kBatch, kLength}, TensorProto::INT32);
    std::string x = Embedded();
    for (int layer = 0; layer < 2; ++layer) x = Layer(x);
    model_.Output(x);
  }
  const Model& model() const { return model_; }

 private:
  std::string Weight(const Shape& shape, double reach = 0.2) {
    const std::string name = StrCat("w", ++count_);
    model_.Constant(name, Random(shape, Float32, count_, -reach, reach));
    return name;
  }
  std::string Op(const std::string& type, const Names& inputs, const Ints& axes = {},
                 const char* attribute = "perm") {
    const std::string name = StrCat("t", ++names_);
    NodeProto& node = model_.Node(type, inputs, {name}, name);
    if (!axes.empty()) SetInts(node, attribute, axes);
    return name;
  }
  NodeProto& Fused(const std::string& type, const Names& inputs, std::string* y) {
    *y = StrCat("t", ++names_);
    return model_.Node(type, inputs, {*y}, *y, kDomain);
  }
  std::string Number(float value) {
    const std::string name = StrCat("n", ++names_);
    model_.Constant(name, NDArray::Scalar(value));
    return name;
  }
  std::string ToShape(const std::string& x, const Ints& shape) {
    const std::string name = StrCat("s", ++names_);
    model_.Integers(name, shape);
    return Op("Reshape", {x, name});
  }
  std::string Normalised(const std::string& x, const std::string& gamma, const std::string& beta) {
    const std::string y = Op("LayerNormalization", {x, gamma, beta});
    NodeProto& node = *model_.proto.mutable_graph()->mutable_node()->rbegin();
    SetFloat(node, "epsilon", 1e-12F);
    return y;
  }

  std::string Embedded() {
    const std::string word = Weight({19, kHidden}, 1), position = Weight({11, kHidden}, 1),
                      segment = Weight({2, kHidden}, 1), gamma = Weight({kHidden}, 1),
                      beta = Weight({kHidden}, 1);
    if (fused_) {
      std::string y;
      NodeProto& node = Fused("EmbedLayerNormalization",
                              {"tokens", "segments", word, position, segment, gamma, beta}, &y);
      node.add_output("counts");
      SetFloat(node, "epsilon", 1e-12F);
      return y;
    }
    model_.Integers("places", {0, 1, 2, 3, 4, 5, 6});
    const std::string sum =
        Op("Add", {Op("Gather", {word, "tokens"}), Op("Gather", {position, "places"})});
    return Normalised(Op("Add", {sum, Op("Gather", {segment, "segments"})}), gamma, beta);
  }

  // The parts of the projection as [batch, heads, length, size].
  std::string Attention(const std::string& x) {
    const std::string weights = Weight({kHidden, 3 * kHidden}), bias = Weight({3 * kHidden});
    if (fused_) {
      std::string y;
      SetInt(Fused("Attention", {x, weights, bias, "mask"}, &y), "num_heads", kHeads);
      return y;
    }
    const std::string projected = Op("Add", {Op("MatMul", {x, weights}), bias});
    const Names parts = {projected + "q", projected + "k", projected + "v"};
    SetInt(model_.Node("Split", {projected}, parts, "split" + projected), "axis", 2);
    const auto heads = [&](const std::string& part, const Ints& order) {
      return Op("Transpose", {ToShape(part, {kBatch, kLength, kHeads, kHidden / kHeads})}, order);
    };
    const std::string scores =
        Op("MatMul", {heads(parts[0], {0, 2, 1, 3}), heads(parts[1], {0, 2, 3, 1})});
    const std::string counts = Op("Cast", {"mask"});
    SetInt(*model_.proto.mutable_graph()->mutable_node()->rbegin(), "to", TensorProto::FLOAT);
    const std::string absent = Op(
        "Mul", {Op("Sub", {Number(1), ToShape(counts, {kBatch, 1, 1, kLength})}), Number(-10000)});
    const std::string masked = Op("Add", {Op("Div", {scores, Number(std::sqrt(16.0F))}), absent});
    const std::string mixed =
        Op("MatMul", {Op("Softmax", {masked}), heads(parts[2], {0, 2, 1, 3})});
    return ToShape(Op("Transpose", {mixed}, {0, 2, 1, 3}), {kBatch, kLength, kHidden});
  }

  // The sum of both and a bias, normalised.
  std::string Skip(const std::string& x, const std::string& skip, const std::string& bias) {
    const std::string gamma = Weight({kHidden}, 1), beta = Weight({kHidden}, 1);
    if (fused_) {
      std::string y;
      SetFloat(Fused("SkipLayerNormalization", {x, skip, gamma, beta, bias}, &y), "epsilon",
               1e-12F);
      return y;
    }
    return Normalised(Op("Add", {Op("Add", {x, skip}), bias}), gamma, beta);
  }

  std::string Gelu(const std::string& x, const std::string& bias) {
    if (fused_) {
      std::string y;
      Fused("BiasGelu", {x, bias}, &y);
      return y;
    }
    const std::string sum = Op("Add", {x, bias});
    const std::string erf = Op("Erf", {Op("Div", {sum, Number(std::sqrt(2.0F))})});
    return Op("Mul", {Op("Mul", {sum, Number(0.5F)}), Op("Add", {erf, Number(1)})});
  }

  std::string Layer(const std::string& x) {
    const std::string attended = Op("MatMul", {Attention(x), Weight({kHidden, kHidden})});
    const std::string y = Skip(attended, x, Weight({kHidden}));
    const std::string wide = Op("MatMul", {y, Weight({kHidden, kInner})});
    const std::string inner = Gelu(wide, Weight({kInner}));
    const std::string narrow = Op("MatMul", {inner, Weight({kInner, kHidden})});
    return Skip(narrow, y, Weight({kHidden}));
  }

  const bool fused_;
  Model model_{17};
  int count_ = 0, names_ = 0;
};

TEST(EncoderTest, FusedOperatorsComputeWhatTheStandardsDo) {
  std::vector<std::int32_t> tokens, segments, mask;
  for (int i = 0; i < 14; ++i) {
    tokens.push_back(i * 5 % 19);
    segments.push_back(i % 7 > 3);
    mask.push_back(i < 7 || i % 7 < 5);
  }
  const Shape shape = {Encoder::kBatch, Encoder::kLength};
  const runtime::Inputs inputs = {{"tokens", Integers(shape, tokens)},
                                  {"segments", Integers(shape, segments)},
                                  {"mask", Integers(shape, mask)}};
  const NDArray fused = Computed(Encoder(true).model(), inputs).at(0);
  const NDArray plain = Computed(Encoder(false).model(), inputs).at(0);
  EXPECT_EQ(fused.shape(), (Shape{Encoder::kBatch, Encoder::kLength, Encoder::kHidden}));
  ExpectClose(fused, plain);
}

}  // namespace
}  // namespace tenon::onnx_import
