#include "tenon/passes/partition/merge_composite_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/passes/pattern/pattern_match.h"
#include "tenon/relax/text_format.h"
#include "tenon/tests/testing/relay_text.h"

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

// --- conv2d, reshape of the bias, add, relu

constexpr char kConvReshapeAddRelu[] = R"py(
@I.ir_module
class Module:
    @R.function
    def main(
        data: R.Tensor((1, 4, 8, 8), "float32"),
        weight: R.Tensor((6, 4, 3, 3), "float32"),
        bias: R.Tensor((6,), "float32"),
    ):
        with R.dataflow():
            conv = R.nn.conv2d(data, weight, padding=(1, 1))
            reshaped = R.reshape(bias, R.shape([1, 6, 1, 1]))
            result = R.nn.relu(R.add(conv, reshaped))
            R.output(result)
        return result
)py";
Module ReadConvReshapeAddRelu() {
  return ValueOrThrow(relax::ParseRelax(kConvReshapeAddRelu, "conv.py"));
}
constexpr char kComposite[] = "fused_relax_nn_conv2d_relax_reshape_relax_add_relax_nn_relu";

struct ReshapePattern {
  Pattern data = Wildcard(), weight = Wildcard(), bias = Wildcard(), shape = Wildcard();
  Pattern conv = IsOp("relax.nn.conv2d")(data, weight);
  Pattern reshape = IsOp("relax.reshape")(bias, shape);
  Pattern relu = IsOp("relax.nn.relu")(IsOp("relax.add")(conv, reshape));
};

// A module pass of one's own around the stock pass.
Pass FuseConv2dReshapeAddRelu() {
  return {.name = "FuseConv2dReshapeAddRelu", .min_opt_level = 0, .function = [](const Module& m) {
            return FuseOpsByPattern(m, {{"dnnl.conv2d_reshape_add_relu", ReshapePattern().relu}},
                                    {.bind_constants = true});
          }};
}
Pass MergeComposites() {
  return {.name = "MergeCompositeFunctions", .min_opt_level = 0, .function = [](const Module& m) {
            return MergeCompositeFunctions(m);
          }};
}

TEST(MergeCompositeFunctionsTest, S002_01_OneMatchCoversTheFourCallsForAnyShape) {
  const Module module = InferType(ReadConvReshapeAddRelu());
  const ReshapePattern pattern;
  const auto found = Matcher(module.Get("main")).Match(pattern.relu, module.Main().body);
  ASSERT_TRUE(found);
  std::vector<std::string> operators;
  for (const Expr& e : found->matched()) operators.push_back(e.As<ir::CallNode>()->op()->name);
  EXPECT_THAT(operators, UnorderedElementsAre("nn.conv2d", "reshape", "add", "nn.relu"));
  EXPECT_EQ(found->At(pattern.data), module.Main().params[0]);
  EXPECT_EQ(found->At(pattern.weight), module.Main().params[1]);
  EXPECT_EQ(found->At(pattern.bias), module.Main().params[2]);
  // The shape that the wildcard stands for is an attribute here.
  EXPECT_FALSE(found->Find(pattern.shape));
  EXPECT_EQ(found->At(pattern.reshape).As<ir::CallNode>()->attrs.ToText(), "newshape=[1, 6, 1, 1]");
}

TEST(MergeCompositeFunctionsTest, S002_02_S002_03_APassOfOnesOwnMakesTheComposite) {
  const Module fused = RunPasses({FuseConv2dReshapeAddRelu()}, ReadConvReshapeAddRelu(), {});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", kComposite));
  const auto& group = *fused.Get(kComposite).As<FunctionNode>();
  EXPECT_EQ(group.attrs.at("Composite"), attrs::Value("dnnl.conv2d_reshape_add_relu"));
  EXPECT_EQ(group.attrs.at("Primitive"), attrs::Value(std::int64_t{1}));
  EXPECT_EQ(group.attrs.size(), 2U);
  std::vector<std::string> params;
  for (const Expr& param : group.params) params.push_back(ir::Var(param).name());
  EXPECT_THAT(params, ElementsAre("data", "weight", "bias"));
}

TEST(MergeCompositeFunctionsTest, S002_04_S002_08_ASequenceOfTwoPassesMakesTheExternalFunction) {
  PassReport report;
  const Module merged = RunPasses({FuseConv2dReshapeAddRelu(), MergeComposites()},
                                  ReadConvReshapeAddRelu(), {.report = &report});
  ASSERT_EQ(report.size(), 2U);
  EXPECT_TRUE(report[0].changed && report[1].changed);
  ir::VerifyModule(merged);
  const std::string symbol = "fused_relax_nn_conv2d_relax_reshape_relax_add_relax_nn_relu1_dnnl";
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
