// Equal values are computed once.
#include "tenon/passes/simplify/eliminate_common_subexpr.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

constexpr char kMatrix[] = "%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]";

class EliminateCommonSubexprChangesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(EliminateCommonSubexprChangesTest, ToOneOfEach) {
  const Module before = WithConstants(GetParam());
  const Module after = EliminateCommonSubexpr(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after, 0);
  EXPECT_EQ(InferType(after), after);
}

INSTANTIATE_TEST_SUITE_P(
    Change, EliminateCommonSubexprChangesTest,
    ::testing::Values(
        PassCase{"EqualCalls", kMatrix, "add(exp(%x), exp(%x))", "%0 = exp(%x);\nadd(%0, %0)\n"},
        PassCase{"EqualChains", kMatrix,
                 "subtract(negative(tanh(add(%x, %y))), negative(tanh(add(%x, %y))))",
                 "%0 = add(%x, %y);\n%1 = tanh(%0);\n%2 = negative(%1);\nsubtract(%2, %2)\n"},
        PassCase{"EqualScalars", kMatrix, "add(multiply(%x, 2f), multiply(%x, 2f))",
                 "%0 = multiply(%x, 2f);\nadd(%0, %0)\n"},
        PassCase{"EqualAttributes", kMatrix, "add(sum(%x, axis=[1]), sum(%x, axis=[1]))",
                 "%0 = sum(%x, axis=[1]);\nadd(%0, %0)\n"},
        PassCase{"EqualProjections", kMatrix,
                 "%0 = split(%x, indices_or_sections=2, axis=1);\nadd(exp(%0.0), exp(%0.0))",
                 "%0 = split(%x, indices_or_sections=2, axis=1);\n%1 = %0.0;\n%2 = exp(%1);\n"
                 "add(%2, %2)\n"},
        PassCase{"EqualTuples", kMatrix,
                 "%0 = (%x, %y);\n%1 = (%x, %y);\n"
                 "add(concatenate(%0, axis=1), concatenate(%1, axis=1))",
                 "%0 = (%x, %y);\n%1 = concatenate(%0, axis=1);\nadd(%1, %1)\n"}),
    [](const auto& info) { return info.param.name; });

class EliminateCommonSubexprLeavesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(EliminateCommonSubexprLeavesTest, TheSameNodes) {
  const Module before = WithConstants(GetParam());
  EXPECT_EQ(EliminateCommonSubexpr(before), before);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, EliminateCommonSubexprLeavesTest,
    ::testing::Values(
        PassCase{"OtherOperators", kMatrix, "add(exp(%x), tanh(%x))"},
        PassCase{"OtherArguments", kMatrix, "add(exp(%x), exp(%y))"},
        PassCase{"OperandsInAnotherOrder", kMatrix, "add(subtract(%x, %y), subtract(%y, %x))"},
        PassCase{"OtherAttributes", kMatrix, "(sum(%x, axis=[1]), sum(%x, axis=[0]))"},
        PassCase{"OtherScalars", kMatrix, "add(multiply(%x, 2f), multiply(%x, 3f))"},
        // Their values are equal, their bytes are not: 1 / x tells.
        PassCase{"ZerosOfTwoSigns", kMatrix, "add(multiply(%x, 0f), multiply(%x, -0f))"},
        PassCase{"OtherProjections", kMatrix,
                 "%0 = split(%x, indices_or_sections=2, axis=1);\nadd(%0.0, %0.1)"},
        PassCase{"NoArguments", kMatrix,
                 "add(ones(shape=[2, 4], dtype=\"float32\"), "
                 "ones(shape=[2, 4], dtype=\"float32\"))"}),
    [](const auto& info) { return info.param.name; });

TEST(EliminateCommonSubexprTest, EqualConstantsOfRankAboveZeroAreToldApart) {
  const Module before =
      WithConstants("%x: Tensor[(2), float32], %k: Tensor[(2), float32], %k2: Tensor[(2), float32]",
                    "add(multiply(%x, %k), multiply(%x, %k2))");
  EXPECT_EQ(EliminateCommonSubexpr(before), before);
}

TEST(EliminateCommonSubexprTest, TwoEqualChainsOfAnyLengthBecomeOne) {
  const Module module =
      WithConstants("%x: Tensor[(2), float32]", LongChain("exp(%x)", "add", "%x", 20000) + "%last");
  // The same chain again over new nodes.
  const ir::Expr& body = module.Main().body;
  const ir::Expr other = ir::RewritePostOrder(body, [](const ir::Expr& e, const ir::Expr& rebuilt) {
    const auto* call = rebuilt.As<ir::CallNode>();
    return call == nullptr
               ? rebuilt
               : ir::Call::Make(call->callee, call->args, call->attrs, {}, e.checked_type());
  });
  const Module twice = InferType(ir::Module().With(
      "main", ir::Function::Make(module.Main().params, ir::Tuple::Make({body, other}))));
  const Module merged = EliminateCommonSubexpr(twice);
  const auto& fields = merged.Main().body.As<ir::TupleNode>()->fields;
  EXPECT_EQ(fields[0], fields[1]);
}

}  // namespace
}  // namespace tenon::passes
