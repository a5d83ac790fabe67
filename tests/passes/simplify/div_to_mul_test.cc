// Divisions by constants become multiplications.
#include "tenon/passes/simplify/div_to_mul.h"

#include "tenon/ops/builders.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::ElementsAre;

Module Divided(const NDArray& by) {
  const ir::Var x = ir::Var::Make("x", ir::TensorTypeOf(by.shape(), by.dtype()));
  return InferType(Module::FromExpr(ops::Divide(x, ir::Constant::Make(by))));
}

// The reference inverts the first element alone.
TEST(DivToMulTest, EveryElementIsInverted) {
  const Module before = Divided(NDArray::FromVector<float>({3}, {2, 4, -0.5F}));
  const Module after = DivToMul(before);
  EXPECT_EQ(Body(after), "multiply(%x, k0)\n");
  EXPECT_THAT(
      after.Main().body.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data.ToVector<float>(),
      ElementsAre(0.5F, 0.25F, -2));
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

TEST(DivToMulTest, DoublesAndScalarsAreInverted) {
  EXPECT_EQ(Body(DivToMul(Divided(NDArray::FromVector<double>({2}, {3, 7})))),
            "multiply(%x, k0)\n");
  EXPECT_EQ(Body(DivToMul(Divided(NDArray::Scalar(4.0F)))), "multiply(%x, 0.25f)\n");
}

TEST(DivToMulTest, WhatHasNoNormalReciprocalStays) {
  for (const float bad :
       {0.0F, -0.0F, std::numeric_limits<float>::infinity(), std::nanf(""), 1e-39F, 3e38F}) {
    const Module before = Divided(NDArray::FromVector<float>({2}, {2, bad}));
    EXPECT_EQ(DivToMul(before), before) << bad;
  }
}

// Kernels take it for zero, of which the quotient is infinite.
TEST(DivToMulTest, ADenormalDivisorStays) {
  const Module before = Divided(NDArray::FromVector<double>({1}, {1e-308}));
  EXPECT_EQ(DivToMul(before), before);
}

TEST(DivToMulTest, IntegersAndVariablesStay) {
  const Module integers = Divided(NDArray::FromVector<std::int32_t>({2}, {2, 4}));
  EXPECT_EQ(DivToMul(integers), integers);
  const Module variables =
      WithConstants("%x: Tensor[(2), float32], %y: Tensor[(2), float32]", "divide(%x, %y)");
  EXPECT_EQ(DivToMul(variables), variables);
}

}  // namespace
}  // namespace tenon::passes
