// What a node computes between its inputs and its results is not narrower than both, and integers
// are computed exactly or refused.
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ValueAt;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

NDArray Halves(const Shape& shape, const std::function<float(std::int64_t)>& value) {
  NDArray array = NDArray::Empty(shape, Float16);
  for (std::int64_t i = 0; i < array.size(); ++i)
    static_cast<_Float16*>(array.raw())[i] = static_cast<_Float16>(value(i));
  return array;
}

// 0 and 1000 in turn along 1001 elements: float16 has no quarters from 256 on.
NDArray Stripes(const Shape& shape) {
  return Halves(shape, [](std::int64_t i) { return i % 2 == 0 ? 0.0F : 1000.0F; });
}

TEST(ElementTypesTest, PositionsInAVolumeOfHalvesAreFloats) {
  Model model(20);
  const NDArray x = Stripes({1, 1, 1, 1, 1001});
  const NDArray grid = NDArray::FromVector<float>({1, 1, 1, 1, 3}, {0.0003F, 0, 0});
  model.InputLike("x", x).InputLike("grid", grid).Output("y");
  NodeProto& node = model.Node("GridSample", {"x", "grid"}, {"y"});
  SetInt(node, "align_corners", 1);
  // Place 500 + 500 * 0.0003 = 500.15, between 0 and 1000.
  EXPECT_NEAR(ValueAt(Computed(model, {{"x", x}, {"grid", grid}})[0], 0), 150, 0.2);
}

TEST(ElementTypesTest, OffsetsOfHalvesAreAddedToPlacesInFloats) {
  Model model(19);
  const NDArray x = Stripes({1, 1, 1, 1001});
  const NDArray offset =
      Halves({1, 2, 1, 1001}, [](std::int64_t i) { return i < 1001 ? 0.0F : 0.25F; });
  model.InputLike("x", x).InputLike("offset", offset).Output("y");
  model.Initializer("w", Halves({1, 1, 1, 1}, [](std::int64_t) { return 1.0F; }));
  SetInts(model.Node("DeformConv", {"x", "w", "offset"}, {"y"}), "kernel_shape", {1, 1});
  const NDArray y = Computed(model, {{"x", x}, {"offset", offset}})[0];
  for (const std::int64_t i : {0, 1, 254, 513, 998, 999})
    EXPECT_EQ(ValueAt(y, i), i % 2 == 0 ? 250 : 750) << i;
}

TEST(ElementTypesTest, DoublesAreSampledAsDoubles) {
  Model model(16);
  const NDArray x = NDArray::FromVector<double>({1, 1, 2, 2}, {1e300, 1, 2, 3});
  const NDArray grid = NDArray::FromVector<float>({1, 1, 1, 2}, {-1, -1});
  model.InputLike("x", x).InputLike("grid", grid).Output("y");
  SetInt(model.Node("GridSample", {"x", "grid"}, {"y"}), "align_corners", 1);
  EXPECT_EQ(Computed(model, {{"x", x}, {"grid", grid}})[0].data<double>()[0], 1e300);
}

TEST(ElementTypesTest, RegionsOfDoublesAreRefused) {
  Model model(16);
  model.Input("x", {1, 1, 2, 2}, TensorProto::DOUBLE).Input("rois", {1, 4}, TensorProto::DOUBLE);
  model.Integers("batch", {0}).Output("y").Node("RoiAlign", {"x", "rois", "batch"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(model), kInvalid), HasSubstr("must not be float64"));
}

TEST(ElementTypesTest, ANormalisationOfHalvesMayHaveStatisticsOfFloats) {
  Model model(15);
  const NDArray x = Halves({1, 2, 3}, [](std::int64_t i) { return static_cast<float>(i); });
  const auto pair = [](float a, float b) { return NDArray::FromVector<float>({2}, {a, b}); };
  model.InputLike("x", x).Output("y").Constant("scale", pair(2, 3)).Constant("bias", pair(1, -1));
  model.Constant("mean", pair(1, 4)).Constant("variance", pair(4, 0.25F));
  NodeProto& node =
      model.Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
  SetFloat(node, "epsilon", 0);
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(y.dtype(), Float16);
  const double expected[] = {0, 1, 2, -7, -1, 5};
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(ValueAt(y, i), expected[i]) << i;
}

TEST(ElementTypesTest, AScaleMayBeABfloat16) {
  Model model(21);
  const NDArray x = NDArray::FromVector<std::uint8_t>({4}, {0, 1, 131, 255});
  NDArray scale = NDArray::Empty({}, BFloat16);
  *static_cast<std::uint16_t*>(scale.raw()) = 0x3f00;  // 0.5
  model.InputLike("x", x).Initializer("scale", scale).Output("y");
  model.Initializer("zero", NDArray::Scalar<std::uint8_t>(1));
  model.Node("DequantizeLinear", {"x", "scale", "zero"}, {"y"});
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(y.dtype(), BFloat16);
  const double expected[] = {-0.5, 0, 65, 127};
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(ValueAt(y, i), expected[i]) << i;
}

// --- losses

Model LossModel(const char* type, bool ignores) {
  Model model;
  model.Input("x", {2, 3}).Input("target", {2}, TensorProto::INT64).Output("y");
  NodeProto& node = model.Node(type, {"x", "target"}, {"y"});
  if (ignores) SetInt(node, "ignore_index", -1);
  SetString(node, "reduction", "mean");
  return model;
}

TEST(ElementTypesTest, AnIgnoredLossMayBeInfinite) {
  const NDArray x = NDArray::FromVector<float>({2, 3}, {-kInfinity, 0, 0, -1, -2, -4});
  const NDArray target = NDArray::FromVector<std::int64_t>({2}, {-1, 1});
  const auto loss = [&](const char* type) {
    return Computed(LossModel(type, true), {{"x", x}, {"target", target}})[0].data<float>()[0];
  };
  EXPECT_EQ(loss("NegativeLogLikelihoodLoss"), 2);
  const double sum = std::exp(-1.0) + std::exp(-2.0) + std::exp(-4.0);
  EXPECT_NEAR(loss("SoftmaxCrossEntropyLoss"), 2 + std::log(sum), 1e-6);
}

// --- integers

template <typename T>
std::vector<T> Shrunk(const std::vector<T>& values, float lambda, float bias = 0) {
  Model model(9);
  const NDArray x = NDArray::FromVector<T>({static_cast<std::int64_t>(values.size())}, values);
  model.InputLike("x", x).Output("y");
  NodeProto& node = model.Node("Shrink", {"x"}, {"y"});
  SetFloat(node, "lambd", lambda);
  SetFloat(node, "bias", bias);
  return Computed(model, {{"x", x}})[0].template ToVector<T>();
}

TEST(ElementTypesTest, IntegersAreShrunkByBoundsThatTheirTypeDoesNotHold) {
  using Bytes = std::vector<std::uint8_t>;
  using Ints = std::vector<std::int8_t>;
  EXPECT_EQ(Shrunk<std::uint8_t>({0, 1, 2, 255}, 1.5), (Bytes{0, 0, 2, 255}));
  EXPECT_EQ(Shrunk<std::uint8_t>({0, 1, 2, 255}, 300), (Bytes{0, 0, 0, 0}));
  EXPECT_EQ(Shrunk<std::uint8_t>({0, 1, 2, 255}, 254, 5), (Bytes{0, 0, 0, 250}));
  EXPECT_EQ(Shrunk<std::int8_t>({-128, -2, -1, 0, 1, 2, 127}, 1.5, 1),
            (Ints{-127, -1, 0, 0, 0, 1, 126}));
  EXPECT_EQ(Shrunk<std::int8_t>({-128, -2, 0, 2, 127}, 127), (Ints{-128, 0, 0, 0, 0}));
  EXPECT_EQ(Shrunk<std::int8_t>({-3, 0, 3}, -1.5, 1), (Ints{-2, 1, 2}));
}

Model Product(float alpha, float beta) {
  Model model;
  model.Input("a", {2, 2}, TensorProto::INT32).Input("b", {2, 2}, TensorProto::INT32);
  model.Input("c", {2, 2}, TensorProto::INT32).Output("y");
  NodeProto& node = model.Node("Gemm", {"a", "b", "c"}, {"y"}, "product");
  SetFloat(node, "alpha", alpha);
  SetFloat(node, "beta", beta);
  return model;
}

TEST(ElementTypesTest, FractionsOfIntegersAreRefused) {
  EXPECT_THAT(MessageOf(Imported(Product(0.5, 1)), kInvalid),
              AllOf(HasSubstr("product (Gemm)"),
                    HasSubstr("the attribute alpha is 0.5; of int32 it must be a whole number")));
  EXPECT_THAT(MessageOf(Imported(Product(1, -1.5)), kInvalid), HasSubstr("beta is -1.5"));
  Model shrink(9);
  shrink.Input("x", {3}, TensorProto::INT8).Output("y");
  SetFloat(shrink.Node("Shrink", {"x"}, {"y"}), "bias", 0.25);
  EXPECT_THAT(MessageOf(Imported(shrink), kInvalid), HasSubstr("bias is 0.25"));
  const NDArray one = NDArray::FromVector<std::int32_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(
      Computed(Product(2, -1), {{"a", one}, {"b", one}, {"c", one}})[0].ToVector<std::int32_t>(),
      ElementsAre(13, 18, 27, 40));
}

TEST(ElementTypesTest, FactorsThatATypeDoesNotHoldAreRefused) {
  Model model(13);
  model.Input("a", {1, 2}, TensorProto::UINT32).Input("b", {2, 1}, TensorProto::UINT32);
  SetFloat(model.Output("y").Node("Gemm", {"a", "b"}, {"y"}), "alpha", -1);
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              HasSubstr("the attribute alpha is -1, which is not a value of uint32"));
}

// The power of an input by an exponent that is another.
NDArray Power(const NDArray& base, const NDArray& exponent) {
  Model model(15);
  model.InputLike("x", base).InputLike("e", exponent).Output("y").Node("Pow", {"x", "e"}, {"y"});
  return Computed(model, {{"x", base}, {"e", exponent}})[0];
}

// Half the way to the next one, an odd exponent would become an even one.
TEST(ElementTypesTest, AnExponentThatTheTypeOfItsBaseDoesNotHoldIsNotRounded) {
  const NDArray minus_one = Halves({1}, [](std::int64_t) { return -1.0F; });
  const NDArray of_halves = Power(minus_one, NDArray::FromVector<std::int32_t>({1}, {2049}));
  EXPECT_EQ(of_halves.dtype(), Float16);
  EXPECT_EQ(ValueAt(of_halves, 0), -1);
  EXPECT_EQ(ValueAt(Power(NDArray::FromVector<float>({1}, {-1}),
                          NDArray::FromVector<std::int64_t>({1}, {16777217})),
                    0),
            -1);
  const NDArray hundred = Halves({1}, [](std::int64_t) { return 100.0F; });
  EXPECT_EQ(ValueAt(Power(hundred, NDArray::FromVector<float>({1}, {2.0007F})), 0), 10032);
}

TEST(ElementTypesTest, AnExponentOfTheModelMayHaveAnyType) {
  for (const std::int64_t exponent : {2, 2049}) {
    Model model(15);
    const NDArray x = Halves({2}, [](std::int64_t i) { return i == 0 ? -1.0F : 1.0F; });
    model.InputLike("x", x).Output("y").Integers("e", {exponent}).Node("Pow", {"x", "e"}, {"y"});
    const NDArray y = Computed(model, {{"x", x}})[0];
    EXPECT_EQ(ValueAt(y, 0), exponent % 2 == 0 ? 1 : -1) << exponent;
    EXPECT_EQ(ValueAt(y, 1), 1) << exponent;
  }
}

TEST(ElementTypesTest, HalvesAreQuantisedByAScaleOfFloatsInFloats) {
  Model model(23);
  const NDArray x = Halves({2}, [](std::int64_t i) { return i == 0 ? 1.0F : 0.5F; });
  model.InputLike("x", x).Output("y").Constant("scale", NDArray::Scalar(3e-5F));
  model.Initializer("zero", NDArray::Scalar<std::uint16_t>(0));
  model.Node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(ValueAt(y, 0), 33333);
  EXPECT_EQ(ValueAt(y, 1), 16667);
}

std::vector<float> OneHot(int opset) {
  Model model(opset);
  model.Input("x", {3}, TensorProto::INT64).Output("y");
  model.Initializer("depth", NDArray::Scalar<std::int64_t>(2));
  model.Constant("values", NDArray::FromVector<float>({2}, {0, 1}));
  model.Node("OneHot", {"x", "depth", "values"}, {"y"});
  return Computed(model, {{"x", NDArray::FromVector<std::int64_t>({3}, {-1, 0, 2})}})[0]
      .ToVector<float>();
}

TEST(ElementTypesTest, NegativeIndicesCountFromTheEndSinceOpset11) {
  EXPECT_THAT(OneHot(9), ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_THAT(OneHot(11), ElementsAre(0, 1, 1, 0, 0, 0));
}

TEST(ElementTypesTest, AnIndexBeyondInt64IsNoneFromTheEnd) {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  const NDArray x = NDArray::FromVector<std::uint64_t>({3}, {last, 1, last / 2 + 1});
  Model model(11);
  model.InputLike("x", x).Output("y").Initializer("depth", NDArray::Scalar<std::int64_t>(2));
  model.Constant("values", NDArray::FromVector<float>({2}, {0, 1}));
  model.Node("OneHot", {"x", "depth", "values"}, {"y"});
  EXPECT_THAT(Computed(model, {{"x", x}})[0].ToVector<float>(), ElementsAre(0, 0, 0, 1, 0, 0));
}

// --- nodes of halves, which end at 65504

// The first element of what a node makes of some halves, which are each of its inputs.
double FirstOfHalves(const char* type, const Shape& shape, const std::vector<float>& values,
                     std::size_t inputs = 1) {
  Model model(20);
  const NDArray x =
      Halves(shape, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
  model.InputLike("x", x).Output("y");
  model.Node(type, Names(inputs, "x"), {"y"});
  return ValueAt(Computed(model, {{"x", x}})[0], 0);
}

TEST(ElementTypesTest, WhatANodeOfHalvesHasWithinIsNotRounded) {
  EXPECT_EQ(FirstOfHalves("Mean", {1}, {60000}, 3), 60000);
  EXPECT_EQ(FirstOfHalves("Det", {2, 2}, {300, 300, 300, 301}), 300);
  EXPECT_NEAR(FirstOfHalves("Elu", {1}, {-0.001F}), -0.0009999, 1.5e-6);
  EXPECT_NEAR(FirstOfHalves("Celu", {1}, {-0.001F}), -0.0009999, 1.5e-6);
  EXPECT_NEAR(FirstOfHalves("Selu", {1}, {-0.001F}), -0.001758, 3e-6);
  EXPECT_NEAR(FirstOfHalves("Softplus", {1}, {-9}), 1.234e-4, 4e-7);
  EXPECT_NEAR(FirstOfHalves("Mish", {1}, {-6}), -0.014854, 3e-5);
  EXPECT_NEAR(FirstOfHalves("Gelu", {1}, {-3}), -0.00405, 1e-5);
}

// 300 * 300 is no half; times 0.001 it is.
TEST(ElementTypesTest, ASumOfProductsOfThreeHalvesIsRoundedOnce) {
  Model model(12);
  const NDArray x = Halves({2}, [](std::int64_t i) { return i == 0 ? 300.0F : 1.0F; }),
                small = Halves({2}, [](std::int64_t i) { return i == 0 ? 0.001F : 1.0F; });
  model.InputLike("x", x).InputLike("s", small).Output("y");
  SetString(model.Node("Einsum", {"x", "x", "s"}, {"y"}), "equation", "i,i,i->");
  EXPECT_NEAR(ValueAt(Computed(model, {{"x", x}, {"s", small}})[0], 0), 91, 0.1);
}

TEST(ElementTypesTest, LossesOfManyHalvesAreAddedUpInFloats) {
  constexpr std::int64_t kRows = 10000;
  Model model(13);
  const NDArray x = Halves({kRows, 2}, [](std::int64_t i) { return i % 2 == 0 ? 10.0F : 0.0F; });
  const NDArray target = NDArray::FromVector({kRows}, std::vector<std::int64_t>(kRows, 1));
  model.InputLike("x", x).InputLike("target", target).Output("y");
  model.Initializer("weights", Halves({2}, [](std::int64_t) { return 8.0F; }));
  model.Node("SoftmaxCrossEntropyLoss", {"x", "target", "weights"}, {"y"});
  EXPECT_NEAR(ValueAt(Computed(model, {{"x", x}, {"target", target}})[0], 0), 10, 0.01);
}

TEST(ElementTypesTest, RegionsOfHalvesAreOfAnyImage) {
  Model model(16);
  const NDArray x =
      Halves({2052, 1, 1, 1}, [](std::int64_t i) { return static_cast<float>(i % 7); });
  model.InputLike("x", x).Output("y").Integers("batch", {2047, 2049, 2051});
  model.Initializer("rois", Halves({3, 4}, [](std::int64_t i) { return i % 4 < 2 ? 0.0F : 1.0F; }));
  model.Node("RoiAlign", {"x", "rois", "batch"}, {"y"});
  const NDArray y = Computed(model, {{"x", x}})[0];
  const double expected[] = {2047 % 7, 2049 % 7, 2051 % 7};
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(ValueAt(y, i), expected[i]) << i;
}

TEST(ElementTypesTest, SumsOfHalvesAreNormalisedBeforeTheyAreRounded) {
  Model model(17);
  const NDArray x = Halves({1, 1, 4}, [](std::int64_t i) { return i == 0 ? 40000.0F : 1.0F; });
  model.InputLike("x", x).Output("y");
  model.Initializer("gamma", Halves({4}, [](std::int64_t) { return 1.0F; }));
  NodeProto& node = model.Node("SkipLayerNormalization", {"x", "x", "gamma"}, {"y"});
  node.set_domain("com.microsoft");
  EXPECT_NEAR(ValueAt(Computed(model, {{"x", x}})[0], 0), std::sqrt(3), 0.01);
}

// Integers 200 and 100, whose product over 64 elements is 1280000.
Model IntegerProductModel(NDArray* x, float scale) {
  Model model(21);
  *x = NDArray::FromVector({1, 64}, std::vector<std::uint8_t>(64, 200));
  model.InputLike("x", *x).Output("y");
  model.Initializer("w", NDArray::FromVector({64, 1}, std::vector<std::int8_t>(64, 100)));
  model.Initializer("scale", Halves({}, [&](std::int64_t) { return scale; }));
  return model;
}

TEST(ElementTypesTest, IntegerProductsAreScaledByHalvesBeforeTheyAreRounded) {
  NDArray x;
  Model model = IntegerProductModel(&x, 0.003F);
  NodeProto& node = model.Node("MatMulIntegerToFloat", {"x", "w", "scale", "scale"}, {"y"});
  node.set_domain("com.microsoft");
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(y.dtype(), Float16);
  EXPECT_NEAR(ValueAt(y, 0), 1280000 * 9e-6, 0.02);
}

TEST(ElementTypesTest, TheProductOfTwoScalesMayBeTooSmallForAHalf) {
  NDArray x;
  Model model = IntegerProductModel(&x, 0.0001F);
  model.Initializer("all", Halves({}, [](std::int64_t) { return 0.0001F; }));
  model.Initializer("zero", NDArray::Scalar<std::uint8_t>(0));
  model.Initializer("none", NDArray::Scalar<std::int8_t>(0));
  model.Node("QLinearMatMul", {"x", "scale", "zero", "w", "scale", "none", "all", "zero"}, {"y"});
  // The nearest half to 0.0001 is a little more.
  EXPECT_EQ(ValueAt(Computed(model, {{"x", x}})[0], 0), 128);
}

TEST(ElementTypesTest, IntegersOfABlockNeedNotBeHalves) {
  Model model(21);
  const NDArray x = NDArray::FromVector<std::uint16_t>({4}, {65535, 4099, 100, 0});
  model.InputLike("x", x).Output("y");
  model.Initializer("scale", Halves({2}, [](std::int64_t) { return 0.001F; }));
  NodeProto& node = model.Node("DequantizeLinear", {"x", "scale"}, {"y"});
  SetInt(node, "axis", 0);
  SetInt(node, "block_size", 2);
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(y.dtype(), Float16);
  EXPECT_NEAR(ValueAt(y, 0), 65.56, 0.04);
  EXPECT_NEAR(ValueAt(y, 1), 4.1007, 0.002);
}

// The products are 64 * 3600 = 230400, and a part of them.
TEST(ElementTypesTest, AFusedProductOfHalvesIsScaledBeforeItIsRounded) {
  for (const Shape& batch : {Shape{}, Shape{3}}) {
    Model model(17);
    Shape rows = batch, columns = batch;
    rows.insert(rows.end(), {2, 64});
    columns.insert(columns.end(), {64, 2});
    const NDArray a = Halves(rows, [](std::int64_t) { return 60.0F; }),
                  b = Halves(columns, [](std::int64_t) { return 60.0F; });
    model.InputLike("a", a).InputLike("b", b).Output("y");
    NodeProto& node = model.Node("FusedMatMul", {"a", "b"}, {"y"}, "", "com.microsoft");
    SetFloat(node, "alpha", 0.125F);
    const NDArray y = Computed(model, {{"a", a}, {"b", b}})[0];
    EXPECT_EQ(y.dtype(), Float16);
    EXPECT_EQ(ValueAt(y, 0), 28800) << batch.size();
  }
}

}  // namespace
}  // namespace tenon::onnx_import
