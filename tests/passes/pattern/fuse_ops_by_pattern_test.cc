// Grouping by patterns: the rows S000-* of the documents, in Relay's IR. A dataflow block of the
// reference is an expression graph here, and fused_relax_nn_conv2d_relax_nn_relu is
// fused_nn_conv2d_nn_relu.
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;
using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kConvRelu[] = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 64, 56, 56), float32], %weight1: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.conv2d(%data, %weight1, padding=[1, 1, 1, 1]);
  nn.relu(%0)
})";
std::string TwoConvRelus(const char* second_padding) {
  return StrCat(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 64, 56, 56), float32], %weight1: Tensor[(64, 64, 3, 3), float32],
          %weight2: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%data, %weight1, padding=[1, 1, 1, 1]));
  nn.relu(nn.conv2d(%0, %weight2, padding=)",
                second_padding, R"())
})");
}
constexpr char kConvConvRelu[] = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 64, 56, 56), float32], %weight1: Tensor[(64, 64, 3, 3), float32],
          %weight2: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.conv2d(%data, %weight1, padding=[1, 1, 1, 1]);
  nn.relu(nn.conv2d(%0, %weight2, padding=[0, 0, 0, 0]))
})";

FusionPattern ConvRelu() {
  return {"dnnl.conv2d_relu", MakeFusedBiasActivationPattern("nn.conv2d", false, "nn.relu")};
}
FusionPattern Conv() { return {"dnnl.conv2d", MakeFusedBiasActivationPattern("nn.conv2d")}; }

Module Fused(const Module& module, const std::vector<FusionPattern>& patterns,
             const FusePatternOptions& options = {}) {
  const Module fused = FuseOpsByPattern(module, patterns, options);
  ir::VerifyModule(fused);
  EXPECT_TRUE(ir::StructuralEqual(InferType(fused), fused));
  // Everything prints, and what is printed parses.
  EXPECT_TRUE(
      ir::StructuralEqual(InferType(Parse(ir::PrintModule(fused, {.metadata = true}))), fused));
  return fused;
}

std::vector<std::string> Names(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, function] : module.functions()) names.push_back(name);
  return names;
}
const FunctionNode& Get(const Module& module, const std::string& name) {
  return *module.Get(name).As<FunctionNode>();
}
std::string Text(const FunctionNode& function, const char* attr) {
  return *function.attrs.at(attr).As<std::string>();
}
std::string CalleeOf(const Expr& e) {
  const auto& call = *e.As<ir::CallNode>();
  return call.op() != nullptr ? call.op()->name : call.callee.As<ir::GlobalVarNode>()->name;
}
Expr ArgOf(const Expr& e, std::size_t i) { return e.As<ir::CallNode>()->args[i]; }

NDArray Weight() {
  std::vector<float> values(64 * 64 * 9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97);
  return NDArray::FromVector<float>({64, 64, 3, 3}, values);
}

// The module of the notebook and its types.
TEST(FuseOpsByPatternTest, S000_01_TheModuleHasFullAttributesAndTypes) {
  const Module typed = InferType(Parse(kConvRelu));
  EXPECT_EQ(ir::ToString(typed.Main().ret_type), "Tensor[(1, 64, 56, 56), float32]");
  EXPECT_EQ(CalleeOf(typed.Main().body), "nn.relu");
  EXPECT_EQ(CalleeOf(ArgOf(typed.Main().body, 0)), "nn.conv2d");
}

TEST(FuseOpsByPatternTest, S000_04_AGroupWithItsConstantInsideIsCalledWithTheDataOnly) {
  const Module original = Parse(kConvRelu);
  const std::string before = Print(original);
  const Module bound = BindParams(original, "main", {{"weight1", Weight()}});
  const Module fused = Fused(bound, {ConvRelu()}, {.bind_constants = true});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu"));
  EXPECT_EQ(CalleeOf(fused.Main().body), "fused_nn_conv2d_nn_relu");
  EXPECT_THAT(fused.Main().body.As<ir::CallNode>()->args, ElementsAre(fused.Main().params[0]));
  const FunctionNode& group = Get(fused, "fused_nn_conv2d_nn_relu");
  const Expr conv = ArgOf(group.body, 0);
  EXPECT_EQ(CalleeOf(conv), "nn.conv2d");
  ASSERT_EQ(ArgOf(conv, 1).kind(), ir::ExprKind::kConstant);
  EXPECT_EQ(ArgOf(conv, 1).As<ir::ConstantNode>()->data.ToVector<float>(),
            Weight().ToVector<float>());
  EXPECT_EQ(Text(group, "Composite"), "dnnl.conv2d_relu");
  EXPECT_TRUE(group.is_primitive());
  EXPECT_EQ(group.attrs.size(), 2U);
  EXPECT_TRUE(fused.Main().attrs.empty());
  EXPECT_EQ(Print(original), before);
}

TEST(FuseOpsByPatternTest, S000_08_AConstantThatIsNotBoundBecomesAParameter) {
  const Module bound = BindParams(Parse(kConvRelu), "main", {{"weight1", Weight()}});
  const Module fused = Fused(bound, {ConvRelu()});
  const FunctionNode& group = Get(fused, "fused_nn_conv2d_nn_relu");
  ASSERT_EQ(group.params.size(), 2U);
  EXPECT_EQ(ir::Var(group.params[1]).name(), "param_0");
  EXPECT_EQ(ArgOf(fused.Main().body, 1).kind(), ir::ExprKind::kConstant);
}

TEST(FuseOpsByPatternTest, S000_09_CodegenWrapsTheCompositeInAFunctionOfItsSymbol) {
  const Module fused =
      Fused(Parse(kConvRelu), {ConvRelu()}, {.bind_constants = true, .annotate_codegen = true});
  const std::string symbol = "fused_nn_conv2d_nn_relu_dnnl";
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", symbol));
  const FunctionNode& wrapper = Get(fused, symbol);
  EXPECT_EQ(Text(wrapper, "Codegen"), "dnnl");
  EXPECT_EQ(Text(wrapper, "global_symbol"), symbol);
  EXPECT_EQ(wrapper.attrs.size(), 2U);
  const auto& inner = *wrapper.body.As<ir::CallNode>()->callee.As<FunctionNode>();
  EXPECT_EQ(Text(inner, "Composite"), "dnnl.conv2d_relu");
  EXPECT_FALSE(inner.HasAttr("Primitive"));
  EXPECT_EQ(CalleeOf(fused.Main().body), symbol);
  EXPECT_THAT(fused.Main().body.As<ir::CallNode>()->args,
              ElementsAre(fused.Main().params[0], fused.Main().params[1]));
  ASSERT_EQ(wrapper.params.size(), 2U);
  EXPECT_EQ(ir::Var(wrapper.params[0]).name(), "data");
  EXPECT_EQ(ir::Var(wrapper.params[1]).name(), "weight1");
  EXPECT_EQ(ir::ToString(wrapper.ret_type), "Tensor[(1, 64, 56, 56), float32]");
}

TEST(FuseOpsByPatternTest, S000_11_NoPatternsChangeNothing) {
  const Module typed = InferType(Parse(kConvRelu));
  EXPECT_EQ(FuseOpsByPattern(typed, {}, {.annotate_codegen = true}), typed);
}

TEST(FuseOpsByPatternTest, S000_14_TwoMatchesGetNamesThatDifferByANumber) {
  const Module fused =
      Fused(Parse(TwoConvRelus("[0, 0, 0, 0]")), {ConvRelu()}, {.annotate_codegen = true});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu_dnnl",
                                                 "fused_nn_conv2d_nn_relu1_dnnl"));
  EXPECT_EQ(CalleeOf(fused.Main().body), "fused_nn_conv2d_nn_relu1_dnnl");
  EXPECT_EQ(CalleeOf(ArgOf(fused.Main().body, 0)), "fused_nn_conv2d_nn_relu_dnnl");
  EXPECT_EQ(ir::ToString(fused.Main().ret_type), "Tensor[(1, 64, 54, 54), float32]");
  EXPECT_EQ(Text(Get(fused, "fused_nn_conv2d_nn_relu1_dnnl"), "global_symbol"),
            "fused_nn_conv2d_nn_relu1_dnnl");
}

TEST(FuseOpsByPatternTest, S000_15_EqualGroupsShareAFunction) {
  const Module fused = Fused(Parse(TwoConvRelus("[1, 1, 1, 1]")), {ConvRelu()});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu"));
  EXPECT_EQ(CalleeOf(fused.Main().body), CalleeOf(ArgOf(fused.Main().body, 0)));
}

TEST(FuseOpsByPatternTest, S000_16_TheEarlierPatternTakesTheOperator) {
  const Module fused = Fused(Parse(TwoConvRelus("[0, 0, 0, 0]")), {Conv(), ConvRelu()});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_nn_conv2d", "fused_nn_conv2d1"));
  for (const char* name : {"fused_nn_conv2d", "fused_nn_conv2d1"})
    EXPECT_EQ(Text(Get(fused, name), "Composite"), "dnnl.conv2d");
  EXPECT_EQ(CalleeOf(fused.Main().body), "nn.relu");
  EXPECT_EQ(CalleeOf(ArgOf(ArgOf(fused.Main().body, 0), 0)), "nn.relu");
}

TEST(FuseOpsByPatternTest, S000_19_LongestFirstGivesTwoKindsOfComposites) {
  const Module fused = Fused(Parse(kConvConvRelu), {ConvRelu(), Conv()});
  EXPECT_THAT(Names(fused),
              UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu", "fused_nn_conv2d"));
  EXPECT_EQ(CalleeOf(fused.Main().body), "fused_nn_conv2d_nn_relu");
  EXPECT_EQ(CalleeOf(ArgOf(fused.Main().body, 0)), "fused_nn_conv2d");
  EXPECT_EQ(Text(Get(fused, "fused_nn_conv2d"), "Composite"), "dnnl.conv2d");
}

// The notebook applies the second order to the earlier module; nothing is left for the
// pattern of the convolution alone.
TEST(FuseOpsByPatternTest, S000_20_NothingIsLeftForTheShorterPattern) {
  const Module fused = Fused(Parse(TwoConvRelus("[0, 0, 0, 0]")), {ConvRelu(), Conv()});
  EXPECT_THAT(Names(fused),
              UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu", "fused_nn_conv2d_nn_relu1"));
}

// The context of a check.
TEST(FuseOpsByPatternTest, S000_22_TheCheckSeesTheMatchItsNamedPartsAndWhatEscapes) {
  const Pattern weight = Wildcard();
  const Pattern conv = IsOp("nn.conv2d")(Wildcard(), weight);
  int calls = 0;
  const FusionPattern pattern{
      .name = "dnnl.conv2d_relu",
      .pattern = IsOp("nn.relu")(conv),
      .annotations = {{"conv", conv}, {"weight", weight}, {"absent", IsVar("other")}},
      .check = [&](const PatternCheckContext& context) {
        ++calls;
        EXPECT_EQ(CalleeOf(context.matched_expr), "nn.relu");
        EXPECT_EQ(context.annotated_expr.size(), 2U);
        EXPECT_EQ(CalleeOf(context.annotated_expr.at("conv")), "nn.conv2d");
        EXPECT_EQ(ir::Var(context.annotated_expr.at("weight")).name(), "weight1");
        EXPECT_EQ(context.matched.size(), 2U);
        EXPECT_TRUE(context.escaping.empty());
        return false;
      }};
  const Module typed = InferType(Parse(kConvRelu));
  EXPECT_EQ(FuseOpsByPattern(typed, {pattern}), typed);
  EXPECT_EQ(calls, 1);
}

constexpr char kEscape[] = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 1, 1), float32]) {
  %0 = nn.conv2d(%data, %w);
  %1 = nn.relu(%0);
  (exp(%0), %1)
})";

TEST(FuseOpsByPatternTest, S000_26_AnEscapingValueIsAFurtherResult) {
  const Module fused = Fused(Parse(kEscape), {ConvRelu()});
  const FunctionNode& group = Get(fused, "fused_nn_conv2d_nn_relu");
  const auto* results = group.body.As<ir::TupleNode>();
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(CalleeOf(results->fields[0]), "nn.relu");
  EXPECT_EQ(CalleeOf(results->fields[1]), "nn.conv2d");
  const auto& out = *fused.Main().body.As<ir::TupleNode>();
  EXPECT_EQ(ArgOf(out.fields[0], 0).As<ir::TupleGetItemNode>()->index, 1);
  EXPECT_EQ(out.fields[1].As<ir::TupleGetItemNode>()->index, 0);
}

TEST(FuseOpsByPatternTest, S000_26_ACheckCanRefuseWhatEscapes) {
  FusionPattern pattern = ConvRelu();
  std::vector<std::string> users;
  pattern.check = [&](const PatternCheckContext& context) {
    for (const EscapingValue& value : context.escaping) {
      EXPECT_EQ(CalleeOf(value.value), "nn.conv2d");
      for (const Expr& use : value.uses) users.push_back(CalleeOf(use));
    }
    return context.escaping.empty();
  };
  const Module typed = InferType(Parse(kEscape));
  EXPECT_EQ(FuseOpsByPattern(typed, {pattern}), typed);
  EXPECT_THAT(users, ElementsAre("exp"));
}

// The greatest match wins: a chain that grows swallows the shorter matches inside it.
TEST(FuseOpsByPatternTest, AMatchReplacesThoseThatLieInIt) {
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) { nn.relu(exp(%x)) })");
  const Pattern exp = IsOp("exp")(Wildcard());
  const Module fused = Fused(module, {{"a.chain", exp | IsOp("nn.relu")(exp)}});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_exp_nn_relu"));
}

// Two chains share an operator, and neither lies in the other: the first stays.
TEST(FuseOpsByPatternTest, AMatchThatOverlapsAnEarlierOneIsDropped) {
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  (nn.relu(%0), nn.relu(tanh(%0)), sigmoid(nn.relu(%0)))
})");
  const Pattern exp = IsOp("exp")(Wildcard());
  const Module fused =
      Fused(module, {{"a.chain", IsOp("nn.relu")(exp) | IsOp("nn.relu")(IsOp("tanh")(exp))}});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_exp_nn_relu"));
}

TEST(FuseOpsByPatternTest, AGroupThatReadsWhatDependsOnItIsRefusedByName) {
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  add(%0, tanh(%0))
})");
  const Pattern sum = IsOp("add")(IsOp("exp")(Wildcard()), Wildcard());
  const Error error = ErrorOf([&] { FuseOpsByPattern(module, {{"a.sum", sum}}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(),
            "the group of exp, add reads what depends on its own result, through tanh");
}

TEST(FuseOpsByPatternTest, OnlyEntryFunctionsAreChanged) {
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) { exp(%x) }
def @other(%x: Tensor[(4), float32]) { exp(%x) })");
  const FusionPattern pattern{"a.exp", IsOp("exp")(Wildcard())};
  const Module fused = Fused(module, {pattern}, {.entry_functions = {"other"}});
  EXPECT_EQ(CalleeOf(fused.Main().body), "exp");
  EXPECT_EQ(CalleeOf(Get(fused, "other").body), "fused_exp");
  const Error error =
      ErrorOf([&] { FuseOpsByPattern(module, {pattern}, {.entry_functions = {"none"}}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("none"));
}

TEST(FuseOpsByPatternTest, FurtherAttributesComeFromTheMatch) {
  FusionPattern pattern = ConvRelu();
  pattern.attrs = [](const PatternCheckContext& context) {
    return ir::FunctionAttrs{
        {"members", attrs::Value(static_cast<std::int64_t>(context.matched.size()))}};
  };
  const Module fused = Fused(Parse(kConvRelu), {pattern});
  EXPECT_EQ(Get(fused, "fused_nn_conv2d_nn_relu").attrs.at("members"),
            attrs::Value(std::int64_t{2}));
}

}  // namespace
}  // namespace tenon::passes
