#include "tenon/passes/partition/merge_composite_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/tests/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;
using ir::Module;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Module Merged(const std::string& text, const std::vector<FusionPattern>& patterns) {
  const Module merged =
      MergeCompositeFunctions(FuseOpsByPattern(Parse("#[version = \"0.0.5\"]\n" + text), patterns));
  ir::VerifyModule(merged);
  EXPECT_TRUE(ir::StructuralEqual(InferType(merged), merged));
  return merged;
}

std::vector<std::string> Names(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, function] : module.functions()) names.push_back(name);
  return names;
}

FusionPattern Unary(const std::string& codegen, const std::string& op) {
  return {codegen + "." + op, IsOp(op)(Wildcard())};
}

TEST(MergeCompositeFunctionsTest, S002_04_ACompositeBecomesAFunctionOfItsCodeGenerator) {
  const Pattern conv = IsOp("nn.conv2d")(Wildcard(), Wildcard());
  const Pattern sum = IsOp("add")(conv, IsOp("reshape")(Wildcard()));
  const std::vector<FusionPattern> patterns = {
      {"dnnl.conv2d_reshape_add_relu", IsOp("nn.relu")(sum)}};
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 4, 8, 8), float32], %weight: Tensor[(6, 4, 3, 3), float32],
          %bias: Tensor[(6), float32]) {
  %0 = nn.conv2d(%data, %weight, padding=[1, 1, 1, 1]);
  %1 = reshape(%bias, newshape=[1, 6, 1, 1]);
  nn.relu(add(%0, %1))
})");
  const Module fused = FuseOpsByPattern(module, patterns);
  const std::string composite = "fused_nn_conv2d_reshape_add_nn_relu";
  const auto& group = *fused.Get(composite).As<FunctionNode>();
  EXPECT_EQ(group.attrs.at("Composite"), attrs::Value("dnnl.conv2d_reshape_add_relu"));
  EXPECT_TRUE(group.is_primitive());
  std::vector<std::string> params;
  for (const Expr& param : group.params) params.push_back(ir::Var(param).name());
  EXPECT_THAT(params, ElementsAre("data", "weight", "bias"));

  const Module merged = MergeCompositeFunctions(fused);
  ir::VerifyModule(merged);
  const std::string symbol = "fused_nn_conv2d_reshape_add_nn_relu1_dnnl";
  EXPECT_THAT(Names(merged), UnorderedElementsAre("main", symbol));
  const auto& region = *merged.Get(symbol).As<FunctionNode>();
  EXPECT_EQ(region.attrs.at("Codegen"), attrs::Value("dnnl"));
  EXPECT_EQ(region.attrs.at("global_symbol"), attrs::Value(symbol));
  const auto& inner = *region.body.As<ir::CallNode>()->callee.As<FunctionNode>();
  EXPECT_EQ(inner.attrs.at("Composite"), attrs::Value("dnnl.conv2d_reshape_add_relu"));
  EXPECT_FALSE(inner.HasAttr("Primitive"));
  // One call is left of four.
  EXPECT_NE(merged.Main().body.As<ir::CallNode>()->callee.As<ir::GlobalVarNode>(), nullptr);
  for (const Expr& arg : merged.Main().body.As<ir::CallNode>()->args)
    EXPECT_EQ(arg.kind(), ir::ExprKind::kVar);
}

// Neighbours share one external function.
TEST(MergeCompositeFunctionsTest, S003_09_NeighboursOfOneCodeGeneratorShareARegion) {
  const Module merged = Merged("def @main(%x: Tensor[(4), float32]) { tanh(exp(%x)) }",
                               {Unary("a", "exp"), Unary("a", "tanh")});
  EXPECT_THAT(Names(merged), UnorderedElementsAre("main", "fused_exp_tanh_a"));
}

TEST(MergeCompositeFunctionsTest, OtherCodeGeneratorsStayApart) {
  const Module merged = Merged("def @main(%x: Tensor[(4), float32]) { tanh(exp(%x)) }",
                               {Unary("a", "exp"), Unary("b", "tanh")});
  EXPECT_THAT(Names(merged), UnorderedElementsAre("main", "fused_exp1_a", "fused_tanh1_b"));
}

// exp -> log (plain) -> add and exp -> add: one region of exp and add would read its own result.
TEST(MergeCompositeFunctionsTest, ARegionNeverReadsWhatDependsOnIt) {
  const Module merged = Merged(R"(def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  add(%0, log(%0))
})",
                               {Unary("a", "exp"), {"a.add", IsOp("add")(Wildcard(), Wildcard())}});
  EXPECT_THAT(Names(merged), UnorderedElementsAre("main", "fused_exp1_a", "fused_add1_a"));
}

// A plain operator that does not depend on the region is no obstacle.
TEST(MergeCompositeFunctionsTest, AnIndependentInputIsNoObstacle) {
  const Module merged = Merged(R"(def @main(%x: Tensor[(4), float32]) {
  add(exp(%x), log(%x))
})",
                               {Unary("a", "exp"), {"a.add", IsOp("add")(Wildcard(), Wildcard())}});
  EXPECT_THAT(Names(merged), UnorderedElementsAre("main", "fused_exp_add_a"));
}

// Two regions meet in a call and become one.
TEST(MergeCompositeFunctionsTest, RegionsThatMeetAreJoined) {
  const Module merged = Merged(
      "def @main(%x: Tensor[(4), float32]) { add(exp(%x), tanh(%x)) }",
      {Unary("a", "exp"), Unary("a", "tanh"), {"a.add", IsOp("add")(Wildcard(), Wildcard())}});
  EXPECT_THAT(Names(merged), UnorderedElementsAre("main", "fused_exp_tanh_add_a"));
}

// A value that is used outside of the region, too, is a further result.
TEST(MergeCompositeFunctionsTest, AnInnerValueThatIsUsedOutsideIsAResult) {
  const Module merged = Merged(R"(def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  (tanh(%0), log(%0))
})",
                               {Unary("a", "exp"), Unary("a", "tanh")});
  const auto& region = *merged.Get("fused_exp_tanh_a").As<FunctionNode>();
  EXPECT_NE(region.body.As<ir::TupleNode>(), nullptr);
}

TEST(MergeCompositeFunctionsTest, WithoutCompositesNothingChanges) {
  const Module typed = InferType(Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) { exp(%x) })"));
  EXPECT_EQ(MergeCompositeFunctions(typed), typed);
}

}  // namespace
}  // namespace tenon::passes
