// The least of what random ONNX models (tenon fuzz --onnx) have found, each as the rule that it
// broke.
#include <limits>

#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::ElementsAre;
using testing_graphs::Random;

TEST(GeneratedFindingsTest, AnEmptyListOfAxesReducesAllOfThem) {
  for (const int opset : {11, 13, 18}) {
    for (const char* type : {"ReduceMax", "ReduceSum", "ReduceL2", "ReduceLogSumExp"}) {
      SCOPED_TRACE(StrCat(type, " of opset ", opset));
      Model model(opset);
      model.Input("x", {3, 5}).Output("y").Integers("axes", {});
      const bool is_input = opset >= (std::string_view(type) == "ReduceSum" ? 13 : 18);
      auto& node = model.Node(type, is_input ? Names{"x", "axes"} : Names{"x"}, {"y"});
      if (!is_input) SetInts(node, "axes", {});
      EXPECT_EQ(Computed(model, {{"x", Random({3, 5}, 1)}})[0].shape(), (Shape{1, 1}));
    }
  }
}

TEST(GeneratedFindingsTest, MasksOfDropoutHaveTheTypeOfTheirOpset) {
  for (const int opset : {7, 9, 10, 13}) {
    Model model(opset);
    model.Input("x", {2}).Output("mask").Node("Dropout", {"x"}, {"y", "mask"});
    const NDArray mask = Computed(model, {{"x", Random({2}, 1)}})[0];
    if (opset < 10) {
      EXPECT_THAT(mask.ToVector<float>(), ElementsAre(1, 1)) << opset;
    } else {
      EXPECT_THAT(mask.ToVector<bool>(), ElementsAre(true, true)) << opset;
    }
  }
}

TEST(GeneratedFindingsTest, ASliceOnTheWayDownBeginsAtAnElement) {
  struct Row {
    std::int64_t start, end, step;
    std::vector<float> kept;
  };
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  for (const Row& row : {Row{-9, -9, -2, {0}}, Row{-9, kMin, -1, {0}}, Row{9, 0, -1, {2, 1}},
                         Row{2, kMin, -2, {2, 0}}, Row{0, 0, -1, {}}, Row{-9, 9, 2, {0, 2}}}) {
    Model model;
    model.Input("x", {3}).Output("y").Integers("s", {row.start}).Integers("e", {row.end});
    model.Integers("a", {-1}).Integers("d", {row.step});
    model.Node("Slice", {"x", "s", "e", "a", "d"}, {"y"});
    const NDArray y = Computed(model, {{"x", NDArray::FromVector<float>({3}, {0, 1, 2})}})[0];
    EXPECT_EQ(y.ToVector<float>(), row.kept) << row.start << " " << row.end << " " << row.step;
  }
}

TEST(GeneratedFindingsTest, AnIntegerToARealPowerIsRoundedAtTheEnd) {
  Model model(15);
  model.Input("x", {3}, TensorProto::INT32).Input("e", {}).Output("y");
  model.Node("Pow", {"x", "e"}, {"y"});
  const NDArray x = NDArray::FromVector<std::int32_t>({3}, {2, 3, 16});
  EXPECT_THAT(
      Computed(model, {{"x", x}, {"e", NDArray::Scalar(1.75F)}})[0].ToVector<std::int32_t>(),
      ElementsAre(3, 6, 128));
}

TEST(GeneratedFindingsTest, AnExponentThatIsWiderThanItsBaseKeepsItsValue) {
  Model model(15);
  model.Input("x", {2}, TensorProto::INT32).Input("e", {}, TensorProto::INT64).Output("y");
  model.Node("Pow", {"x", "e"}, {"y"});
  const NDArray x = NDArray::FromVector<std::int32_t>({2}, {-1, 1});
  const NDArray e = NDArray::Scalar((std::int64_t{1} << 32) + 1);
  EXPECT_THAT(Computed(model, {{"x", x}, {"e", e}})[0].ToVector<std::int32_t>(),
              ElementsAre(-1, 1));
}

TEST(GeneratedFindingsTest, APowerOfIntegersOfTwoTypesWrapsAroundInTheBases) {
  Model model(15);
  model.Input("x", {4}, TensorProto::INT32).Input("e", {}, TensorProto::UINT32).Output("y");
  model.Node("Pow", {"x", "e"}, {"y"});
  const NDArray x = NDArray::FromVector<std::int32_t>({4}, {-1, 1, 3, 2});
  // As int32 the exponent would be -1; 3 is of the order 2^30, so that this is its inverse.
  const NDArray e = NDArray::Scalar(UINT32_MAX);
  EXPECT_THAT(Computed(model, {{"x", x}, {"e", e}})[0].ToVector<std::int32_t>(),
              ElementsAre(-1, 1, -1431655765, 0));
}

TEST(GeneratedFindingsTest, ABaseWithoutASignIsNoInverseOfItself) {
  Model model(15);
  model.Input("x", {3}, TensorProto::UINT8).Input("e", {}, TensorProto::INT8).Output("y");
  model.Node("Pow", {"x", "e"}, {"y"});
  const NDArray x = NDArray::FromVector<std::uint8_t>({3}, {255, 1, 2});
  EXPECT_THAT(Computed(model, {{"x", x}, {"e", NDArray::Scalar(std::int8_t{-1})}})[0]
                  .ToVector<std::uint8_t>(),
              ElementsAre(0, 1, 0));
}

TEST(GeneratedFindingsTest, PaddingMayBeAnyNumberOfTheType) {
  for (const std::int64_t value : {INT64_MAX, INT64_MIN, (std::int64_t{1} << 53) + 1}) {
    Model model(19);
    model.Input("x", {1}, TensorProto::INT64).Output("y");
    model.Initializer("pads", NDArray::FromVector<std::int64_t>({2}, {1, 0}));
    model.Initializer("value", NDArray::Scalar(value));
    model.Node("Pad", {"x", "pads", "value"}, {"y"});
    const NDArray x = NDArray::FromVector<std::int64_t>({1}, {7});
    EXPECT_THAT(Computed(model, {{"x", x}})[0].ToVector<std::int64_t>(), ElementsAre(value, 7));
  }
}

// 2.6 as a float32 is a little less; its product with 5 is 13 in float32.
TEST(GeneratedFindingsTest, AScaleTimesAnExtentIsRoundedToFloat32) {
  Model model(18);
  model.Input("x", {1, 1, 5}).Output("y");
  model.Initializer("scales", NDArray::FromVector<float>({3}, {1, 1, 2.6F}));
  model.Node("Resize", {"x", "", "scales"}, {"y"});
  const NDArray x = NDArray::FromVector<float>({1, 1, 5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(Computed(model, {{"x", x}})[0].shape(), (Shape{1, 1, 13}));
}

TEST(GeneratedFindingsTest, AShiftByTheWidthOfTheTypeLeavesNothing) {
  for (const char* direction : {"LEFT", "RIGHT"}) {
    Model model(15);
    model.Input("x", {3}, TensorProto::UINT8).Input("n", {3}, TensorProto::UINT8).Output("y");
    SetString(model.Node("BitShift", {"x", "n"}, {"y"}), "direction", direction);
    const NDArray x = NDArray::FromVector<std::uint8_t>({3}, {192, 192, 192});
    const NDArray n = NDArray::FromVector<std::uint8_t>({3}, {0, 8, 255});
    EXPECT_THAT(Computed(model, {{"x", x}, {"n", n}})[0].ToVector<std::uint8_t>(),
                ElementsAre(192, 0, 0));
  }
}

TEST(GeneratedFindingsTest, MeanAndDeviationOfALayerAreFloat32) {
  for (const int type : {TensorProto::FLOAT16, TensorProto::FLOAT, TensorProto::DOUBLE}) {
    Model model(17);
    model.Input("x", {2, 4}, type).Input("w", {4}, type);
    model.Output("y").Output("mean").Output("inverse");
    model.Node("LayerNormalization", {"x", "w"}, {"y", "mean", "inverse"});
    const ir::Module module = ValueOrThrow(Imported(model));
    std::vector<DataType> types;
    for (const ir::Expr& result : module.Main().body.As<ir::TupleNode>()->fields)
      types.push_back(result.checked_type().As<ir::TensorTypeNode>()->dtype);
    EXPECT_THAT(types, ElementsAre(ToDataType(type, "the input"), Float32, Float32));
  }
}

// Without axes, only what is done to each element is done.
TEST(ReduceTest, WithoutAxesNothingIsReducedIfTheModelSaysSo) {
  const NDArray x = NDArray::FromVector<float>({2}, {-3, 2});
  const auto reduced = [&](const char* type) {
    Model model(18);
    model.Input("x", {2}).Output("y");
    SetInt(model.Node(type, {"x"}, {"y"}), "noop_with_empty_axes", 1);
    return Computed(model, {{"x", x}})[0].ToVector<float>();
  };
  EXPECT_EQ(reduced("ReduceSum"), (std::vector<float>{-3, 2}));
  EXPECT_EQ(reduced("ReduceSumSquare"), (std::vector<float>{9, 4}));
  EXPECT_EQ(reduced("ReduceL1"), (std::vector<float>{3, 2}));
  EXPECT_EQ(reduced("ReduceL2"), (std::vector<float>{3, 2}));
  EXPECT_EQ(reduced("ReduceLogSumExp"), (std::vector<float>{-3, 2}));
}

}  // namespace
}  // namespace tenon::onnx_import
