// Scales, shifts and weights at the ends of what their types hold.
#include <cmath>
#include <limits>
#include <vector>

#include "tenon/ops/builders.h"
#include "tenon/passes/affine/fold_affine.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;

TEST(FoldAffineTest, AScaleThatItsTypeDoesNotHoldIsNotFolded) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1}, Float32));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({1, 1}, Float32));
  const ir::Expr one = ir::Constant::Make(NDArray::FromVector<float>({1, 1}, {1}));
  for (const ir::Expr& weight : {ir::Expr(w), one}) {
    const ir::Expr scaled =
        ops::Multiply(ops::Divide(ops::Dense(x, weight), ops::Scalar(2e38)), ops::Scalar(2));
    const Module before = InferType(Module::FromExpr(ir::Function::Make({x, w}, scaled)));
    FoldAffineReport report;
    EXPECT_EQ(FoldAffine(before, &report), before);
    EXPECT_EQ(report.flushed, 0);
    EXPECT_THAT(report.refusals, ::testing::Not(::testing::IsEmpty()));
  }
}

// Nor is it in one channel of several.
TEST(FoldAffineTest, AFactorOfAChannelThatItsTypeDoesNotHoldIsNotFolded) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1}, Float32));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({2, 1}, Float32));
  const ir::Expr ones = ir::Constant::Make(NDArray::FromVector<float>({2, 1}, {1, 1}));
  const auto channels = [](float a, float b) {
    return ir::Constant::Make(NDArray::FromVector<float>({2}, {a, b}));
  };
  for (const ir::Expr& weight : {ir::Expr(w), ones}) {
    const ir::Expr scaled =
        ops::Multiply(ops::Divide(ops::Dense(x, weight), channels(1, 2e38F)), channels(1, 2));
    const Module before = InferType(Module::FromExpr(ir::Function::Make({x, w}, scaled)));
    FoldAffineReport report;
    EXPECT_EQ(FoldAffine(before, &report), before);
    EXPECT_EQ(report.flushed, 0);
  }
}

TEST(FoldAffineTest, ValuesTooSmallToBeNormalBecomeZeroAndAreCounted) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2}, Float32));
  const ir::Expr weight =
      ir::Constant::Make(NDArray::FromVector<float>({2, 2}, {1e-30F, -1e-30F, 1, std::nanf("")}));
  const Module before =
      InferType(Module::FromExpr(ops::Multiply(ops::Dense(x, weight), ops::Scalar(1e-10))));
  FoldAffineReport report;
  const Module after = FoldAffine(before, &report);
  EXPECT_EQ(report.flushed, 2);
  const auto values =
      after.Main().body.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data.ToVector<float>();
  EXPECT_EQ(values[0], 0);
  EXPECT_FALSE(std::signbit(values[0]));
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_EQ(values[2], 1e-10F);
  EXPECT_TRUE(std::isnan(values[3]));
}

// The shift, divided by the scale, would be multiplied by a weight that has become zero.
TEST(FoldAffineTest, AShiftDoesNotPassAScaleThatMakesTheWeightDenormal) {
  const auto constant = [](Shape shape, float value) {
    const auto size = static_cast<std::size_t>(NumElements(shape));
    return ir::Constant::Make(NDArray::FromVector(shape, std::vector<float>(size, value)));
  };
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2, 3, 3}, Float32));
  const ir::Expr scaled =
      ops::Add(ops::Multiply(x, constant({2, 1, 1}, 1.2e-38F)), constant({2, 1, 1}, 1.5F));
  const ir::Expr activated = ops::Relu(scaled);
  for (const ir::Expr& image : {scaled, activated}) {
    const Module before = InferType(Module::FromExpr(
        ops::Conv2D(image, constant({1, 2, 3, 3}, 0.5F),
                    {.padding = {1, 1}, .channels = 1, .kernel_size = ops::Ints{3, 3}})));
    FoldAffineReport report;
    EXPECT_EQ(FoldAffine(before, &report), before);
    EXPECT_THAT(report.refusals,
                ::testing::Contains(::testing::HasSubstr("too small to be normal")));
  }
}

// (x + 2) * inf is inf for x = -1, and -inf + inf is not a number.
TEST(FoldAffineTest, AShiftDoesNotPassAWeightOfInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2}, Float32));
  const ir::Expr shifted = ops::Add(x, ir::Constant::Make(NDArray::FromVector<float>({2}, {2, 0})));
  const ir::Expr weight =
      ir::Constant::Make(NDArray::FromVector<float>({2, 2}, {kInfinity, 2, 3, kInfinity}));
  const Module before = InferType(Module::FromExpr(ops::Dense(shifted, weight)));
  FoldAffineReport report;
  EXPECT_EQ(FoldAffine(before, &report), before);
  EXPECT_THAT(report.refusals, ::testing::Contains(::testing::HasSubstr("has infinities")));
}

// Kernels divide by it as by zero.
TEST(FoldAffineTest, ADenormalDivisorIsNoFactor) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2}, Float32));
  const ir::Expr weight = ir::Constant::Make(NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4}));
  const Module before = InferType(Module::FromExpr(
      ops::Divide(ops::Dense(x, weight), ir::Constant::Make(NDArray::Scalar(1e-40F)))));
  EXPECT_EQ(FoldAffine(before), before);
}

// x * 1e-37 + 100 would become x + 1e39, which float32 does not hold.
TEST(FoldAffineTest, AShiftIsNotDividedBeyondItsType) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2}, Float32));
  const ir::Expr shifted = ops::Add(ops::Multiply(x, ops::Scalar(1e-37)), ops::Scalar(100));
  const ir::Expr weight = ir::Constant::Make(NDArray::FromVector<float>({2, 2}, {64, 0, 128, 256}));
  const Module before = InferType(Module::FromExpr(ops::Dense(ops::Relu(shifted), weight)));
  FoldAffineReport report;
  EXPECT_EQ(FoldAffine(before, &report), before);
  EXPECT_THAT(report.refusals, ::testing::Contains(HasSubstr("beyond the range of its type")));
}

}  // namespace
}  // namespace tenon::passes
