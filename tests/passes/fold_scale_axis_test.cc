// Scales per channel go into the weights of convolutions. Values are compared by hand: folding is
// exact for the powers of two used here.
#include "tenon/passes/fold_scale_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/fold_constant.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/passes/evaluate.h"
#include "tenon/tests/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Constant;
using ir::Expr;
using ir::Module;
using ::testing::ElementsAre;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

Expr Filled(Shape shape, const std::vector<float>& pattern) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < NumElements(shape); ++i)
    values.push_back(pattern[static_cast<std::size_t>(i) % pattern.size()]);
  return Constant::Make(NDArray::FromVector<float>(std::move(shape), values));
}

// A convolution from 1 to 2 channels.
struct Fixture {
  ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1, 10, 10}, Float32));
  Expr weight = Filled({2, 1, 3, 3}, {1, 2, 3});
  Expr conv =
      ops::Conv2D(x, weight, {.padding = {1, 1}, .channels = 2, .kernel_size = ops::Ints{3, 3}});
};

Module Typed(const Expr& e) { return InferType(Module::FromExpr(e)); }
Module Folded(const Expr& e) { return FoldConstant(FoldScaleAxis(Typed(e)), Evaluate); }
bool Changes(const Expr& e) {
  const Module typed = Typed(e);
  return !(FoldScaleAxis(typed) == typed);
}
std::vector<float> WeightOf(const Expr& conv) {
  return conv.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data.ToVector<float>();
}

// S001-48, S001-49: the scale multiplies the weight along its output channels.
TEST(FoldScaleAxisTest, ScaleAfterAConvolutionMultipliesTheWeight) {
  const Fixture f;
  const Module typed = Typed(ops::Multiply(f.conv, Filled({2, 1, 1}, {2, 4})));
  EXPECT_EQ(
      Print(FoldScaleAxis(typed)),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(1, 1, 10, 10), float32]) -> Tensor[(1, 2, 10, 10), float32] {
  %0 = multiply(meta[relay.Constant][0] /* ty=Tensor[(2, 1, 3, 3), float32] */, meta[relay.Constant][1] /* ty=Tensor[(2, 1, 1, 1), float32] */) /* ty=Tensor[(2, 1, 3, 3), float32] */;
  nn.conv2d(%x, %0, padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3]) /* ty=Tensor[(1, 2, 10, 10), float32] */
}
)");
}

// S001-50.
TEST(FoldScaleAxisTest, AfterConstantFoldingOneConvolutionIsLeft) {
  const Fixture f;
  const Module folded = Folded(ops::Multiply(f.conv, Filled({2, 1, 1}, {2, 4})));
  EXPECT_EQ(
      Print(folded),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(1, 1, 10, 10), float32]) -> Tensor[(1, 2, 10, 10), float32] {
  nn.conv2d(%x, meta[relay.Constant][0] /* ty=Tensor[(2, 1, 3, 3), float32] */, padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3]) /* ty=Tensor[(1, 2, 10, 10), float32] */
}
)");
  EXPECT_THAT(WeightOf(folded.Main().body),
              ElementsAre(2, 4, 6, 2, 4, 6, 2, 4, 6, 4, 8, 12, 4, 8, 12, 4, 8, 12));
}

// S001-51.
TEST(FoldScaleAxisTest, EitherOperandOfTheMultiplicationCanBeTheScale) {
  const Fixture f;
  EXPECT_EQ(Print(Folded(ops::Multiply(Filled({2, 1, 1}, {2, 4}), f.conv))),
            Print(Folded(ops::Multiply(f.conv, Filled({2, 1, 1}, {2, 4})))));
}

TEST(FoldScaleAxisTest, OneElementScalesEveryChannel) {
  const Fixture f;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1, 1, 1}}) {
    const Module folded = Folded(ops::Multiply(f.conv, Filled(shape, {8})));
    ASSERT_EQ(folded.Main().body.As<ir::CallNode>()->op()->name, "nn.conv2d")
        << ShapeToString(shape);
    EXPECT_THAT(WeightOf(folded.Main().body),
                ElementsAre(8, 16, 24, 8, 16, 24, 8, 16, 24, 8, 16, 24, 8, 16, 24, 8, 16, 24));
  }
}

// The batch-norm shape: (conv + bias) * scale.
TEST(FoldScaleAxisTest, ABiasBetweenIsScaledToo) {
  const Fixture f;
  for (const bool bias_first : {false, true}) {
    const Expr bias = Filled({2, 1, 1}, {1, 3});
    const Expr sum = bias_first ? ops::Add(bias, f.conv) : ops::Add(f.conv, bias);
    const Module folded = Folded(ops::Multiply(sum, Filled({2, 1, 1}, {2, 4})));
    const auto& add = *folded.Main().body.As<ir::CallNode>();
    EXPECT_EQ(add.op()->name, "add");
    EXPECT_THAT(WeightOf(add.args[0]),
                ElementsAre(2, 4, 6, 2, 4, 6, 2, 4, 6, 4, 8, 12, 4, 8, 12, 4, 8, 12));
    EXPECT_THAT(add.args[1].As<ir::ConstantNode>()->data.ToVector<float>(), ElementsAre(2, 12));
  }
}

TEST(FoldScaleAxisTest, LastAxisIsTheChannelAxisOfNHWC) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 4, 4, 1}, Float32));
  const Expr conv = ops::Conv2D(x, Filled({1, 1, 1, 2}, {1, 3}),
                                {.data_layout = "NHWC", .kernel_layout = "HWIO"});
  const Module folded = Folded(ops::Multiply(conv, Filled({2}, {2, 4})));
  EXPECT_THAT(WeightOf(folded.Main().body), ElementsAre(2, 12));
}

TEST(FoldScaleAxisTest, ScalesOfTwoConvolutionsInARowFoldIntoEach) {
  const Fixture f;
  const Expr first = ops::Multiply(f.conv, Filled({2, 1, 1}, {2, 4}));
  const Expr second = ops::Conv2D(first, Filled({1, 2, 1, 1}, {1}));
  const Module folded = Folded(ops::Multiply(second, ops::Scalar(2)));
  const auto& outer = *folded.Main().body.As<ir::CallNode>();
  EXPECT_THAT(WeightOf(folded.Main().body), ElementsAre(2, 2));
  EXPECT_EQ(outer.args[0].As<ir::CallNode>()->op()->name, "nn.conv2d");
}

// The weight must be a constant again before it takes the next scale.
TEST(FoldScaleAxisTest, ASecondScaleFoldsInASecondRound) {
  const Fixture f;
  const Module once = Folded(ops::Multiply(ops::Multiply(f.conv, ops::Scalar(2)), ops::Scalar(4)));
  EXPECT_EQ(once.Main().body.As<ir::CallNode>()->op()->name, "multiply");
  const Module twice = FoldConstant(FoldScaleAxis(once), Evaluate);
  EXPECT_THAT(WeightOf(twice.Main().body),
              ElementsAre(8, 16, 24, 8, 16, 24, 8, 16, 24, 8, 16, 24, 8, 16, 24, 8, 16, 24));
}

TEST(FoldScaleAxisTest, TypesAreChecked) {
  const Fixture f;
  const Module after = FoldScaleAxis(Typed(ops::Multiply(f.conv, ops::Scalar(2))));
  EXPECT_EQ(InferType(after), after);
}

// --- what stays

TEST(FoldScaleAxisTest, AConvolutionThatIsUsedTwiceStays) {
  const Fixture f;
  EXPECT_FALSE(Changes(ops::Add(ops::Multiply(f.conv, ops::Scalar(2)), f.conv)));
}

TEST(FoldScaleAxisTest, ASumThatIsUsedTwiceStays) {
  const Fixture f;
  const Expr sum = ops::Add(f.conv, Filled({2, 1, 1}, {1, 3}));
  EXPECT_FALSE(Changes(ops::Add(ops::Multiply(sum, ops::Scalar(2)), sum)));
}

TEST(FoldScaleAxisTest, ASquareStays) {
  const Fixture f;
  EXPECT_FALSE(Changes(ops::Multiply(f.conv, f.conv)));
}

TEST(FoldScaleAxisTest, AScaleAlongAnotherAxisStays) {
  const Fixture f;
  EXPECT_FALSE(Changes(ops::Multiply(f.conv, Filled({10}, {1, 2}))));
  EXPECT_FALSE(Changes(ops::Multiply(f.conv, Filled({10, 1}, {1, 2}))));
  EXPECT_FALSE(Changes(ops::Multiply(f.conv, Filled({2, 10, 10}, {1, 2}))));
}

TEST(FoldScaleAxisTest, AScaleThatIsNoConstantStays) {
  const Fixture f;
  const ir::Var s = ir::Var::Make("s", ir::TensorType({2, 1, 1}, Float32));
  EXPECT_FALSE(Changes(ops::Multiply(f.conv, s)));
}

TEST(FoldScaleAxisTest, AWeightOrABiasThatIsNoConstantStays) {
  const Fixture f;
  const ir::Var w = ir::Var::Make("w", ir::TensorType({2, 1, 3, 3}, Float32));
  const ir::Var b = ir::Var::Make("b", ir::TensorType({2, 1, 1}, Float32));
  EXPECT_FALSE(Changes(ops::Multiply(ops::Conv2D(f.x, w), ops::Scalar(2))));
  EXPECT_FALSE(Changes(ops::Multiply(ops::Add(f.conv, b), ops::Scalar(2))));
}

TEST(FoldScaleAxisTest, ScalesThroughActivationsAndOfOtherOperatorsStay) {
  const Fixture f;
  EXPECT_FALSE(Changes(ops::Multiply(ops::Relu(f.conv), ops::Scalar(2))));
  EXPECT_FALSE(Changes(ops::Divide(f.conv, ops::Scalar(2))));
  EXPECT_FALSE(Changes(ops::Multiply(ops::Exp(f.x), ops::Scalar(2))));
  EXPECT_FALSE(Changes(ops::Conv2D(ops::Multiply(f.x, ops::Scalar(2)), f.weight)));
}

// The scale gives the result its shape.
TEST(FoldScaleAxisTest, AScaleOfMoreChannelsThanTheConvolutionStays) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1, 4, 4}, Float32));
  const Expr conv = ops::Conv2D(x, Filled({1, 1, 1, 1}, {1}), {.channels = 1});
  EXPECT_FALSE(Changes(ops::Multiply(conv, Filled({2, 1, 1}, {2, 4}))));
}

TEST(FoldScaleAxisTest, AScaleOfMoreAxesThanTheConvolutionStays) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1, 4, 4}, Float32));
  const Expr conv = ops::Conv2D(x, Filled({2, 1, 1, 1}, {1}));
  const Module folded = FoldScaleAxis(Typed(ops::Multiply(conv, Filled({1, 1, 1, 1, 1}, {2}))));
  EXPECT_EQ(ir::ToString(folded.Main().body.checked_type()), "Tensor[(1, 1, 2, 4, 4), float32]");
}

// The scale has the type of the result, which is not that of the weight.
TEST(FoldScaleAxisTest, AConvolutionOfAnotherResultTypeStays) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1, 4, 4}, Int8));
  const Expr weight = Constant::Make(NDArray::FromVector<std::int8_t>({1, 1, 1, 1}, {3}));
  const Expr conv = ops::Conv2D(x, weight, {.out_dtype = Int32});
  EXPECT_FALSE(Changes(ops::Multiply(conv, ops::Scalar(2, Int32))));
}

}  // namespace
}  // namespace tenon::passes
