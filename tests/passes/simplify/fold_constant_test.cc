// Operator calls over constants become their values.
#include "tenon/passes/simplify/fold_constant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/passes/evaluate.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Constant;
using ir::Expr;
using ir::Module;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

Module Folded(std::string_view text) { return FoldConstant(InferType(Parse(text)), Evaluate); }

Expr Floats(const std::vector<float>& values) {
  return Constant::Make(
      NDArray::FromVector<float>({static_cast<std::int64_t>(values.size())}, values));
}
Expr FoldedExpr(const Expr& expr) { return FoldConstant(InferType(expr), Evaluate); }
std::vector<float> Values(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  return constant == nullptr ? std::vector<float>{} : constant->data.ToVector<float>();
}

TEST(FoldConstantTest, ACallOverConstantsIsItsValue) {
  EXPECT_THAT(Values(FoldedExpr(ops::Add(Floats({1, 2}), Floats({3, 5})))), ElementsAre(4, 7));
}

TEST(FoldConstantTest, ATreeOfCallsFoldsToOneConstant) {
  const Expr c = Floats({1, 2});
  EXPECT_THAT(Values(FoldedExpr(ops::Multiply(ops::Add(c, ops::Scalar(1)), ops::Negative(c)))),
              ElementsAre(-2, -6));
}

TEST(FoldConstantTest, OnlyTheConstantPartFolds) {
  EXPECT_EQ(Print(Folded("def @main(%x: float32) { add(%x, add(1f, 2f)) }")),
            std::string(kVersion) +
                "def @main(%x: float32) -> float32 {\n"
                "  add(%x, 3f /* ty=float32 */) /* ty=float32 */\n"
                "}\n");
}

TEST(FoldConstantTest, TypesStayChecked) {
  const Module folded = Folded(
      "def @main(%x: float32) { let %y = add(%x, add(1f, 2f)); (%y, exp(%y), negative(2f)) }");
  EXPECT_EQ(InferType(folded), folded);
}

TEST(FoldConstantTest, AResultOfSeveralTensorsBecomesATuple) {
  const Expr split = ops::Split(Floats({1, 2, 3, 4}), {.indices_or_sections = std::int64_t{2}});
  const Expr folded = FoldedExpr(split);
  ASSERT_EQ(folded.kind(), ir::ExprKind::kTuple);
  EXPECT_THAT(Values(folded.As<ir::TupleNode>()->fields[1]), ElementsAre(3, 4));
  EXPECT_EQ(ir::ToString(folded.checked_type()), "(Tensor[(2), float32], Tensor[(2), float32])");
  EXPECT_THAT(Values(FoldedExpr(ir::TupleGetItem::Make(split, 0))), ElementsAre(1, 2));
}

TEST(FoldConstantTest, ATupleOfConstantsIsAConstantArgument) {
  EXPECT_THAT(Values(FoldedExpr(ops::Concatenate({Floats({1}), Floats({2, 3})}, 0))),
              ElementsAre(1, 2, 3));
}

TEST(FoldConstantTest, AProjectionOfALiteralTupleIsTheField) {
  EXPECT_EQ(Print(Folded("def @main(%x: float32, %y: int32) { (%x, %y).1 }")),
            std::string(kVersion) + "def @main(%x: float32, %y: int32) -> int32 {\n  %y\n}\n");
}

TEST(FoldConstantTest, ShapeOfAndNdarraySizeFoldFromTheType) {
  EXPECT_EQ(Print(Folded("def @main(%x: Tensor[(2, 3), float32]) { ndarray_size(%x) }")),
            std::string(kVersion) +
                "def @main(%x: Tensor[(2, 3), float32]) -> int32 {\n"
                "  6 /* ty=int32 */\n"
                "}\n");
  const Module shape =
      Folded("def @main(%x: Tensor[(2, 3), float32]) { shape_of(%x, dtype=\"int64\") }");
  const auto* constant = shape.Main().body.As<ir::ConstantNode>();
  ASSERT_NE(constant, nullptr);
  EXPECT_THAT(constant->data.ToVector<std::int64_t>(), ElementsAre(2, 3));
}

TEST(FoldConstantTest, ShapeOfARankZeroTensorIsEmpty) {
  const Module shape = Folded("def @main(%x: float32) { shape_of(%x) }");
  const auto* constant = shape.Main().body.As<ir::ConstantNode>();
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->data.shape(), (Shape{0}));
}

class FoldConstantLeavesTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(FoldConstantLeavesTest, TheSameNodes) {
  const Module typed = InferType(Parse(GetParam().text));
  EXPECT_EQ(FoldConstant(typed, Evaluate), typed);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, FoldConstantLeavesTest,
    ::testing::Values(
        NamedText{"AProjectionBesideAWrite",
                  "def @main(%x: float32, %y: float32) { let %r = ref(%x); "
                  "%0 = (ref_write(%r, %y), %x); let %a = %0.1; (%a, ref_read(%r)) }"},
        NamedText{"ACallOverAVariable", "def @main(%x: float32) { add(%x, 1f) }"},
        NamedText{"AStatefulOperator", "def @main() { nn.dropout(1f) }"},
        NamedText{"AKernel", "def @main() { %0 = fn (Primitive=1) { add(1f, 2f) }; %0() }"},
        NamedText{"WhatTheEvaluatorDoesNotKnow", "def @main() { tanh(1f) }"},
        NamedText{"AnOperatorWithoutArguments",
                  "def @main() { zeros(shape=[1000000], dtype=\"float32\") }"},
        NamedText{"ACallOfAFunction", "def @f(%x: float32) { %x }\ndef @main() { @f(1f) }"},
        NamedText{"ShapeOfUnknownExtents",
                  "def @main(%x: Tensor[(n, 3), float32]) { shape_of(%x) }"},
        NamedText{"AProjectionOfAVariable", "def @main(%t: (float32, int32)) { %t.1 }"}),
    [](const auto& info) { return info.param.name; });

TEST(FoldConstantTest, FunctionLiteralsThatAreNoKernelsFoldInside) {
  EXPECT_THAT(Print(Folded("def @main(%x: float32) {\n"
                           "  %0 = fn (%y: float32) { add(%y, add(1f, 2f)) };\n"
                           "  %0(%x)\n"
                           "}")),
              HasSubstr("add(%y, 3f /* ty=float32 */)"));
}

TEST(FoldConstantTest, AnErrorOfTheEvaluatorIsPassedOn) {
  const Module typed = InferType(Parse("def @main() { add(1f, 2f) }"));
  const Error error = ErrorOf([&] {
    FoldConstant(typed, [](const ir::CallNode&, ops::FoldingBudget*) -> std::vector<NDArray> {
      throw InvalidArgument("no kernel");
    });
  });
  EXPECT_EQ(error.message(), "no kernel");
}

TEST(FoldConstantTest, TheEvaluatorSeesATypedCall) {
  std::vector<std::string> types;
  FoldConstant(InferType(Parse("def @main() { negative(add(1f, 2f)) }")),
               [&](const ir::CallNode& call, ops::FoldingBudget*) {
                 types.push_back(call.op()->name + " " + ir::ToString(call.checked_type) + " of " +
                                 ir::ToString(call.args[0].checked_type()));
                 return Evaluate(call);
               });
  EXPECT_THAT(types, ElementsAre("add float32 of float32", "negative float32 of float32"));
}

TEST(FoldConstantTest, ASharedCallIsEvaluatedOnce) {
  int runs = 0;
  FoldConstant(InferType(Parse("def @main() { %0 = add(1f, 2f); (%0, negative(%0), %0) }")),
               [&](const ir::CallNode& call, ops::FoldingBudget*) {
                 ++runs;
                 return Evaluate(call);
               });
  EXPECT_EQ(runs, 2);
}

TEST(FoldConstantTest, ChainOfAHundredThousandFolds) {
  Expr e = ops::Scalar(1);
  for (int i = 0; i < 100000; ++i) e = ops::Negative(e);
  EXPECT_THAT(Values(FoldedExpr(e)), ElementsAre(FloatEq(1)));
}

// Runs a call where the budget pays for it.
ConstantEvaluator Costing(double steps, double bytes, int* runs) {
  return [=](const ir::CallNode& call, ops::FoldingBudget* budget) {
    if (!budget->Pay(steps, bytes)) return std::vector<NDArray>();
    ++*runs;
    return Evaluate(call);
  };
}

TEST(FoldConstantTest, CallsBeyondTheBudgetOfAModuleAreLeft) {
  const Module typed = InferType(Parse("def @main() { (add(1f, 2f), add(3f, 4f), add(5f, 6f)) }"));
  int runs = 0;
  FoldConstant(typed, Costing(1, 1, &runs));
  EXPECT_EQ(runs, 3);
  runs = 0;
  FoldConstant(typed, Costing(ops::FoldingBudget::kSteps / 2, 0, &runs));
  EXPECT_EQ(runs, 2);
  runs = 0;
  FoldConstant(typed, Costing(0, ops::FoldingBudget::kBytes / 2, &runs));
  EXPECT_EQ(runs, 2);
  runs = 0;
  EXPECT_EQ(FoldConstant(typed, Costing(2 * ops::FoldingBudget::kSteps, 0, &runs)), typed);
  EXPECT_EQ(runs, 0);
}

TEST(FoldConstantTest, TheBudgetGrowsWithTheConstantsOfTheModule) {
  constexpr std::int64_t kElements = 1 << 8;
  const Expr large = Constant::Make(NDArray::Zeros({kElements}, Float32));
  const Expr call = InferType(ops::Add(large, ops::Scalar(1)));
  int runs = 0;
  const double grown =
      ops::FoldingBudget::kSteps + ops::FoldingBudget::kStepsPerByte * 4 * kElements;
  FoldConstant(call, Costing(grown, 0, &runs));
  EXPECT_EQ(runs, 1);
  FoldConstant(call, Costing(grown * 1.1, 0, &runs));
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace tenon::passes
