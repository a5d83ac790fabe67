// Values of 2, 4 and 8 bits: how they are stored, rounded to, and used as weights. Patterns of
// floats are decoded here by their own definition.
#include "tenon/onnx/narrow_type.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Float8 {
  const char* name;
  int onnx, bits, exponent_bits, mantissa_bits, bias;
  // Patterns, without their sign, from which on there are no numbers.
  int first_no_number;
  bool has_infinity, has_negative_zero;
};
// onnx/docs/docsgen/source/technical/float8.md and float4.md
const Float8 kFloats[] = {{"e4m3fn", 17, 8, 4, 3, 7, 0x7f, false, true},
                          {"e4m3fnuz", 18, 8, 4, 3, 8, 0x80, false, false},
                          {"e5m2", 19, 8, 5, 2, 15, 0x7c, true, true},
                          {"e5m2fnuz", 20, 8, 5, 2, 16, 0x80, false, false},
                          {"e2m1", 23, 4, 2, 1, 1, 0x8, false, true}};

float Decoded(const Float8& type, int pattern) {
  const int sign = 1 << (type.bits - 1), magnitude = pattern & (sign - 1);
  if (!type.has_negative_zero && pattern == sign) return kNan;
  if (magnitude >= type.first_no_number)
    return type.has_infinity && magnitude == type.first_no_number
               ? (pattern & sign ? -kInfinity : kInfinity)
               : kNan;
  const int exponent = magnitude >> type.mantissa_bits;
  double fraction = magnitude % (1 << type.mantissa_bits) / std::pow(2.0, type.mantissa_bits);
  if (exponent != 0) fraction += 1;
  const double value = fraction * std::pow(2.0, std::max(exponent, 1) - type.bias);
  return static_cast<float>(pattern & sign ? -value : value);
}

TensorProto Stored(int type, const Shape& shape, const std::string& bytes) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(type);
  for (const std::int64_t extent : shape) tensor.add_dims(extent);
  tensor.set_raw_data(bytes);
  return tensor;
}

TEST(NarrowTypeTest, EachPatternOfAFloatHasItsValue) {
  for (const Float8& type : kFloats) {
    SCOPED_TRACE(type.name);
    for (int pattern = 0; pattern < 1 << type.bits; ++pattern) {
      const double got = FindNarrowType(type.onnx)->Value(static_cast<unsigned>(pattern));
      const float expected = Decoded(type, pattern);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << pattern;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(got)),
                  std::bit_cast<std::uint32_t>(expected))
            << pattern;
      }
    }
  }
}

TEST(NarrowTypeTest, ElementsArePackedFromTheLowestBits) {
  const NDArray four = ToNDArray(Stored(22, {3}, "\x78\x0f"), "w");
  EXPECT_THAT(four.ToVector<std::int8_t>(), ElementsAre(-8, 7, -1));
  const NDArray unsigned_four = ToNDArray(Stored(21, {3}, "\x78\x0f"), "w");
  EXPECT_THAT(unsigned_four.ToVector<std::uint8_t>(), ElementsAre(8, 7, 15));
  const NDArray two = ToNDArray(Stored(26, {5}, "\xe4\x02"), "w");
  EXPECT_THAT(two.ToVector<std::int8_t>(), ElementsAre(0, 1, -2, -1, -2));
  const NDArray scale = ToNDArray(Stored(24, {3}, "\x7f\x80\x7e"), "w");
  EXPECT_THAT(scale.ToVector<float>(), ElementsAre(1, 2, 0.5));
  TensorProto typed;
  typed.set_data_type(22);
  typed.add_dims(3);
  typed.add_int32_data(0x78);
  typed.add_int32_data(0x0f);
  EXPECT_THAT(ToNDArray(typed, "w").ToVector<std::int8_t>(), ElementsAre(-8, 7, -1));
}

TEST(NarrowTypeTest, DataOfAnotherLengthIsRefused) {
  for (const char* bytes : {"", "\x11\x11\x11"}) {
    try {
      ToNDArray(Stored(22, {3}, bytes), "the initializer w");
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(std::string(error.message()),
                  AllOf(HasSubstr("the initializer w"), HasSubstr("int4"), HasSubstr("needs 2")));
    }
  }
}

// The nearest value; of two at one distance, that of the even pattern.
float Nearest(const Float8& type, float x, bool saturates) {
  if (std::isnan(x)) return x;
  const int sign = 1 << (type.bits - 1), last = type.first_no_number - 1;
  const float most = Decoded(type, last);
  const double magnitude = std::min(std::fabs(x), most);
  double best = std::numeric_limits<double>::infinity();
  float value = 0;
  for (int pattern = 0; pattern < sign && pattern <= last; ++pattern) {
    const float candidate = Decoded(type, pattern);
    const double distance = std::fabs(magnitude - candidate);
    if (distance < best || (distance == best && pattern % 2 == 0)) {
      best = distance;
      value = candidate;
    }
  }
  // Half a step beyond the greatest value lies what would round up to the next power.
  const double step = static_cast<double>(most) - Decoded(type, last - 1);
  const bool is_even = last % 2 == 0;
  const double limit = most + step / 2;
  const bool overflows = is_even ? std::fabs(x) > limit : std::fabs(x) >= limit;
  if (overflows && !saturates && type.bits == 8) value = type.has_infinity ? kInfinity : kNan;
  if (value == 0 && !type.has_negative_zero) return 0;
  return std::signbit(x) ? -value : value;
}

TEST(NarrowTypeTest, CastsRoundToTheNearestValueAndTiesToEven) {
  std::vector<float> samples = {0.0F,  -0.0F, 1e-9F,     240,        248,   449,   463,
                                464,   465,   480,       57344,      61439, 61440, 61441,
                                65536, 3e38F, kInfinity, -kInfinity, kNan};
  for (const Float8& type : kFloats) {
    for (int pattern = 0; pattern + 1 < 1 << (type.bits - 1); ++pattern) {
      const float a = Decoded(type, pattern), b = Decoded(type, pattern + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      for (const float x : {a, (a + b) / 2, std::nextafter((a + b) / 2, 0.0F),
                            std::nextafter((a + b) / 2, kInfinity)}) {
        samples.push_back(x);
        samples.push_back(-x);
      }
    }
  }
  const NDArray x =
      NDArray::FromVector<float>({static_cast<std::int64_t>(samples.size())}, samples);
  for (const Float8& type : kFloats) {
    for (const bool saturates : {true, false}) {
      SCOPED_TRACE(std::string(type.name) + (saturates ? " saturates" : ""));
      Model model(23);
      model.InputLike("x", x).Output("y");
      NodeProto& node = model.Node("Cast", {"x"}, {"y"});
      SetInt(node, "to", type.onnx);
      SetInt(node, "saturate", saturates ? 1 : 0);
      const std::vector<float> y = Computed(model, {{"x", x}})[0].ToVector<float>();
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const float expected = Nearest(type, samples[i], saturates);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(y[i])) << samples[i] << " became " << y[i];
        } else {
          EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(expected))
              << samples[i] << " became " << y[i] << ", not " << expected;
        }
      }
    }
  }
}

// Beside a tie, so near that float32 is on it.
TEST(NarrowTypeTest, DoublesAreRoundedOnce) {
  const double tiny = std::ldexp(1, -40);
  const NDArray x =
      NDArray::FromVector<double>({8}, {1.0625 + tiny, 1.0625, 1.0625 - tiny, -1.0625 - tiny,
                                        1.1875 - tiny, 1e300, 1e-300, -kInfinity});
  Model model(23);
  model.InputLike("x", x).Output("y");
  SetInt(model.Node("Cast", {"x"}, {"y"}), "to", 17);  // float8e4m3fn
  EXPECT_EQ(Computed(model, {{"x", x}})[0].ToVector<float>(),
            (std::vector<float>{1.125F, 1, 1, -1.125F, 1.125F, 448, 0, -448}));
}

TEST(NarrowTypeTest, CastsOfIntegersKeepTheirLowBits) {
  const NDArray x = NDArray::FromVector<std::int32_t>({6}, {7, 8, 15, 16, -9, -1});
  const auto as = [&](int type) {
    Model model(21);
    model.InputLike("x", x).Output("y");
    SetInt(model.Node("Cast", {"x"}, {"y"}), "to", type);
    return Computed(model, {{"x", x}})[0];
  };
  EXPECT_THAT(as(22).ToVector<std::int8_t>(), ElementsAre(7, -8, -1, 0, 7, -1));
  EXPECT_THAT(as(21).ToVector<std::uint8_t>(), ElementsAre(7, 8, 15, 0, 7, 15));
}

TEST(NarrowTypeTest, CastsOfFloatsToIntegersSaturate) {
  for (const DataType type : {Float32, Float64, Float16}) {
    Model model(21);
    model.Input("x", {7}).Output("y").Output("z");
    const NDArray x = NDArray::FromVector<float>({7}, {-kInfinity, -9, -8.5, -0.9F, 7.9F, 8, 1e6F});
    SetInt(model.Node("Cast", {"x"}, {"t"}), "to",
           type == Float32   ? TensorProto::FLOAT
           : type == Float64 ? TensorProto::DOUBLE
                             : TensorProto::FLOAT16);
    SetInt(model.Node("Cast", {"t"}, {"y"}), "to", 22);
    SetInt(model.Node("Cast", {"t"}, {"z"}), "to", 21);
    const std::vector<NDArray> results = Computed(model, {{"x", x}});
    EXPECT_THAT(results[0].ToVector<std::int8_t>(), ElementsAre(-8, -8, -8, 0, 7, 7, 7));
    EXPECT_THAT(results[1].ToVector<std::uint8_t>(), ElementsAre(0, 0, 0, 0, 7, 8, 15));
  }
}

TEST(NarrowTypeTest, CastLikeKnowsTheTypeOfAConstantThatWasMoved) {
  Model model(21);
  *model.proto.mutable_graph()->add_initializer() = Stored(22, {1, 2}, "\x21");
  const NDArray x = NDArray::FromVector<std::int32_t>({3}, {8, 17, -1});
  model.InputLike("x", x).Output("y");
  model.Node("Transpose", {"w"}, {"moved"});
  model.Node("CastLike", {"x", "moved"}, {"y"});
  EXPECT_THAT(Computed(model, {{"x", x}})[0].ToVector<std::int8_t>(), ElementsAre(-8, 1, -1));
}

TEST(NarrowTypeTest, ATypeGoesThroughWhatOnlyMovesElements) {
  constexpr int kInt4 = 22;
  const auto like = [&](const std::string& type, const Names& more,
                        const std::function<void(NodeProto&)>& set) {
    Model model(21);
    model.Input("x", {2}).Output("y");
    *model.proto.mutable_graph()->add_initializer() = Stored(kInt4, {2}, std::string(1, '\0'));
    model.Integers("zero", {0}).Integers("one", {1}).Integers("two", {2});
    Names inputs = {type == "ConstantOfShape" ? "two" : "w"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    set(model.Node(type, inputs, {"moved"}));
    model.Node("CastLike", {"x", "moved"}, {"y"});
    return Computed(model, {{"x", NDArray::FromVector<float>({2}, {100, -3})}})[0];
  };
  const auto nothing = [](NodeProto&) {};
  const auto value = [](NodeProto& node) {
    AttributeProto* attribute = node.add_attribute();
    attribute->set_name("value");
    attribute->set_type(AttributeProto::TENSOR);
    *attribute->mutable_t() = Stored(kInt4, {1}, std::string(1, '\0'));
  };
  const std::vector<std::int8_t> saturated = {7, -3};
  EXPECT_EQ(like("Slice", {"zero", "one"}, nothing).ToVector<std::int8_t>(), saturated);
  EXPECT_EQ(like("Gather", {"zero"}, nothing).ToVector<std::int8_t>(), saturated);
  EXPECT_EQ(like("Tile", {"two"}, nothing).ToVector<std::int8_t>(), saturated);
  EXPECT_EQ(like("ConstantOfShape", {}, value).ToVector<std::int8_t>(), saturated);
}

TEST(NarrowTypeTest, RoundingToPowersOfTwoIsRefused) {
  Model model(24);
  model.Input("x", {3}).Output("y");
  SetInt(model.Node("Cast", {"x"}, {"y"}, "cast"), "to", 24);
  EXPECT_THAT(MessageOf(Imported(model), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("cast (Cast)"), HasSubstr("float8e8m0")));
}

// --- QuantizeLinear and DequantizeLinear

TEST(BlockedQuantizationTest, EachBlockOfAnAxisHasItsScaleAndZeroPoint) {
  for (const std::int64_t axis : {0, 1}) {
    for (const std::int64_t block : {1, 2, 3, 7}) {
      SCOPED_TRACE(block);
      const Shape shape = {5, 7};
      Shape blocks = shape;
      blocks[static_cast<std::size_t>(axis)] =
          (blocks[static_cast<std::size_t>(axis)] + block - 1) / block;
      const NDArray w = Random(shape, Int8, 1), scale = Random(blocks, Float32, 2, 0.1, 1),
                    zero = Random(blocks, Int8, 3);
      Model model(21);
      model.InputLike("w", w).Initializer("scale", scale).Initializer("zero", zero).Output("y");
      NodeProto& node = model.Node("DequantizeLinear", {"w", "scale", "zero"}, {"y"});
      SetInt(node, "axis", axis);
      SetInt(node, "block_size", block);
      const NDArray y = Computed(model, {{"w", w}})[0];
      Model back(21);
      back.InputLike("x", y).Initializer("scale", scale).Initializer("zero", zero).Output("q");
      NodeProto& quantize = back.Node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
      SetInt(quantize, "axis", axis);
      SetInt(quantize, "block_size", block);
      EXPECT_EQ(Computed(back, {{"x", y}})[0].ToVector<std::int8_t>(), w.ToVector<std::int8_t>());
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) {
          const std::int64_t at = axis == 0 ? i / block * 7 + j : i * blocks[1] + j / block;
          const float expected =
              static_cast<float>(w.data<std::int8_t>()[i * 7 + j] - zero.data<std::int8_t>()[at]) *
              scale.data<float>()[at];
          EXPECT_EQ(y.data<float>()[i * 7 + j], expected);
        }
      }
    }
  }
}

TEST(BlockedQuantizationTest, WeightsOfFourBitsMultiplyAsTheirValues) {
  // 4 x 6 values from -8 to 7, in blocks of two rows.
  std::string bytes;
  std::vector<int> values;
  for (int i = 0; i < 24; i += 2) {
    const int low = (i * 7 + 3) % 16, high = (i * 5 + 9) % 16;
    bytes.push_back(static_cast<char>(low | high << 4));
    values.push_back(low < 8 ? low : low - 16);
    values.push_back(high < 8 ? high : high - 16);
  }
  const NDArray x = Random({3, 4}, 1), scale = Random({2, 6}, Float32, 2, 0.1, 1);
  Model model(21);
  *model.proto.mutable_graph()->add_initializer() = Stored(22, {4, 6}, bytes);
  model.InputLike("x", x).Initializer("scale", scale).Output("y");
  NodeProto& node = model.Node("DequantizeLinear", {"w", "scale"}, {"f"});
  SetInt(node, "axis", 0);
  SetInt(node, "block_size", 2);
  model.Node("MatMul", {"x", "f"}, {"y"});
  std::vector<float> expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += static_cast<double>(x.data<float>()[i * 4 + k]) *
               values[static_cast<std::size_t>(k * 6 + j)] * scale.data<float>()[k / 2 * 6 + j];
      expected.push_back(static_cast<float>(sum));
    }
  }
  ExpectClose(Computed(model, {{"x", x}})[0], NDArray::FromVector<float>({3, 6}, expected));
}

TEST(BlockedQuantizationTest, QuantisingToFourBitsSaturates) {
  const NDArray x =
      NDArray::FromVector<float>({7}, {-100, -4.3F, -0.25F, 0.25F, 0.75F, 3.2F, 1e9F});
  Model model(21);
  model.InputLike("x", x).Initializer("scale", NDArray::Scalar<float>(0.5F)).Output("y");
  SetInt(model.Node("QuantizeLinear", {"x", "scale"}, {"y"}), "output_dtype", 22);
  EXPECT_THAT(Computed(model, {{"x", x}})[0].ToVector<std::int8_t>(),
              ElementsAre(-8, -8, 0, 0, 2, 6, 7));
}

TEST(BlockedQuantizationTest, FloatsOfEightBitsAreScaledAndRounded) {
  const NDArray x = NDArray::FromVector<float>({2, 3}, {1, -3.3F, 1000, 0.01F, 17, -2000});
  const NDArray scale = NDArray::FromVector<float>({2}, {2, 0.5F});
  const Float8& type = kFloats[0];
  Model model(21);
  model.InputLike("x", x).Initializer("scale", scale).Output("q").Output("y");
  NodeProto& node = model.Node("QuantizeLinear", {"x", "scale"}, {"q"});
  SetInt(node, "axis", 0);
  SetInt(node, "output_dtype", type.onnx);
  SetInt(model.Node("DequantizeLinear", {"q", "scale"}, {"y"}), "axis", 0);
  const std::vector<NDArray> results = Computed(model, {{"x", x}});
  for (int i = 0; i < 6; ++i) {
    const float by = scale.data<float>()[i / 3];
    const float rounded = Nearest(type, x.data<float>()[i] / by, true);
    EXPECT_EQ(results[0].data<float>()[i], rounded);
    EXPECT_EQ(results[1].data<float>()[i], rounded * by);
  }
}

TEST(BlockedQuantizationTest, ScalesOfAnotherShapeAreNamed) {
  Model model(21);
  model.Input("x", {4, 6}, TensorProto::INT8).Input("scale", {2, 6}).Output("y");
  NodeProto& node = model.Node("DequantizeLinear", {"x", "scale"}, {"y"}, "weights");
  SetInt(node, "axis", 0);
  SetInt(node, "block_size", 3);
  EXPECT_TRUE(Imported(model).ok());
  node.mutable_attribute(1)->set_i(1);
  EXPECT_THAT(MessageOf(Imported(model), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("weights (DequantizeLinear)"), HasSubstr("(4, 6), not (2, 6)")));
}

}  // namespace
}  // namespace tenon::onnx_import
