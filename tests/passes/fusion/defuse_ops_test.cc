// Fused functions are put back where they are called.
#include "tenon/passes/fusion/defuse_ops.h"

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

class DefuseOpsTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(DefuseOpsTest, InvertsFuseOps) {
  const Module before = WithConstants(GetParam());
  const Module fused = FuseOps(before);
  ASSERT_NE(fused, before);
  const Module after = DefuseOps(fused);
  EXPECT_TRUE(ir::StructuralEqual(after, before)) << Print(after);
  EXPECT_EQ(InferType(after), after);
}

constexpr char kMatrix[] = "%x: Tensor[(4, 6), float32], %k: Tensor[(6), float32]";
INSTANTIATE_TEST_SUITE_P(
    Graphs, DefuseOpsTest,
    ::testing::Values(PassCase{"S001_32_AChain", kMatrix,
                               "%0 = add(%x, %x);\n%1 = add(%0, %0);\nexp(%1)"},
                      PassCase{"S001_36_AReduction", kMatrix,
                               "%0 = add(%x, %x);\n%1 = sum(add(%0, %0), axis=[-1]);\nadd(%1, %1)"},
                      PassCase{"Constants", kMatrix, "nn.relu(add(multiply(%x, 2f), %k))"},
                      PassCase{"Tuples", kMatrix,
                               "%0 = split(exp(%x), indices_or_sections=2, axis=1);\n"
                               "(concatenate((%0.0, tanh(%0.1))), %0.1)"},
                      PassCase{"Diamond", kMatrix, "%0 = exp(%x);\nadd(tanh(%0), nn.relu(%0))"}),
    [](const auto& info) { return info.param.name; });

// The reference refuses two parameters of one name.
TEST(DefuseOpsTest, ParametersOfOneNameAreToldApart) {
  const ir::Var a = ir::Var::Make("p", ir::TensorType({2}, Float32));
  const ir::Var b = ir::Var::Make("p", ir::TensorType({2}, Float32));
  const ir::Expr function = ir::Function::Make({a, b}, ops::CallOp("subtract", {a, b}), ir::Type(),
                                               {{"Primitive", attrs::Value(std::int64_t{1})}});
  const ir::Var x = ir::Var::Make("x", ir::TensorType({2}, Float32));
  const ir::Var y = ir::Var::Make("y", ir::TensorType({2}, Float32));
  const Module module = InferType(Module::FromExpr(ir::Call::Make(function, {x, y})));
  EXPECT_EQ(Body(DefuseOps(module)), "subtract(%x, %y)\n");
}

TEST(DefuseOpsTest, OtherFunctionsStay) {
  const Module before =
      WithConstants(kMatrix, "%0 = fn (%p: Tensor[(4, 6), float32]) { exp(%p) };\n%0(%x)");
  EXPECT_EQ(DefuseOps(before), before);
}

TEST(DefuseOpsTest, EachCallOfAKernelBindsVariablesOfItsOwn) {
  const ir::Module after = DefuseOps(
      InferType(Parse("def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) {\n"
                      "  %0 = fn (%a: Tensor[(4), float32], Primitive=1) -> Tensor[(4), float32] "
                      "{ let %b = negative(%a); add(%b, %b) };\n  add(%0(%x), %0(%y))\n}")));
  ir::VerifyModule(after);
}

}  // namespace
}  // namespace tenon::passes
