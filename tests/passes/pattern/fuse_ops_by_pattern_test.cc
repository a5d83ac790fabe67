// Grouping by patterns: the rows S000-* of docs/compatibility.md, on the modules of Relax text. A
// dataflow block is an expression graph here, and a binding is a call, in the order in which calls
// are made.
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/relax/text_format.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;
using ir::Module;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// The modules of the notebook, as they stand there.
constexpr char kConvRelu[] = R"py(
@tvm.script.ir_module
class Conv2dReLU:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            R.output(conv1)

        return conv1
)py";
std::string TwoConvRelus(const char* second_padding) {
  return StrCat(R"py(
@tvm.script.ir_module
class Conv2dReLUx2:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
        weight2: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            conv2 = R.nn.relu(R.nn.conv2d(conv1, weight2, padding=)py",
                second_padding, R"py())
            R.output(conv2)

        return conv2
)py");
}
constexpr char kConvConvRelu[] = R"py(
@tvm.script.ir_module
class Conv2dConv2dReLU:
    @R.function
    def main(
        data: R.Tensor((1, 64, 56, 56), "float32"),
        weight1: R.Tensor((64, 64, 3, 3), "float32"),
        weight2: R.Tensor((64, 64, 3, 3), "float32"),
    ):
        with R.dataflow():
            conv1 = R.nn.conv2d(data, weight1, padding=(1, 1))
            conv2d = R.nn.relu(R.nn.conv2d(conv1, weight2, padding=(0, 0)))
            R.output(conv2d)

        return conv2d
)py";

Module Read(const std::string& text) {
  return ValueOrThrow(relax::ParseRelax(text, "notebook.py"));
}

FusionPattern ConvRelu() {
  return {"dnnl.conv2d_relu",
          MakeFusedBiasActivationPattern("relax.nn.conv2d", false, "relax.nn.relu")};
}
FusionPattern Conv() { return {"dnnl.conv2d", MakeFusedBiasActivationPattern("relax.nn.conv2d")}; }

constexpr char kConvReluName[] = "fused_relax_nn_conv2d_relax_nn_relu";

Module Fused(const Module& module, const std::vector<FusionPattern>& patterns,
             const FusePatternOptions& options = {}) {
  const Module fused = FuseOpsByPattern(module, patterns, options);
  ir::VerifyModule(fused);
  EXPECT_TRUE(ir::StructuralEqual(InferType(fused), fused));
  // Everything prints, in both languages, and what is printed parses.
  EXPECT_TRUE(
      ir::StructuralEqual(InferType(Parse(ir::PrintModule(fused, {.metadata = true}))), fused));
  EXPECT_TRUE(ir::StructuralEqual(Read(relax::PrintRelax(fused)), fused));
  EXPECT_EQ(fused.operator_names(), module.operator_names());
  return fused;
}

std::vector<std::string> Names(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, function] : module.functions()) names.push_back(name);
  return names;
}
const FunctionNode& Get(const Module& module, std::string_view name) {
  return *module.Get(std::string(name)).As<FunctionNode>();
}
std::string Text(const FunctionNode& function, const char* attr) {
  return *function.attrs.at(attr).As<std::string>();
}
std::string CalleeOf(const Expr& e) {
  const auto& call = *e.As<ir::CallNode>();
  return call.op() != nullptr ? call.op()->name : call.callee.As<ir::GlobalVarNode>()->name;
}
Expr ArgOf(const Expr& e, std::size_t i) { return e.As<ir::CallNode>()->args[i]; }

std::string TypeOf(const Expr& e) { return ir::ToString(e.checked_type()); }

// The calls of a function, producers first: the bindings of its block.
std::vector<Expr> BindingsOf(const FunctionNode& function) {
  std::vector<Expr> calls;
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    if (e.kind() == ir::ExprKind::kCall) calls.push_back(e);
  });
  return calls;
}

constexpr char kImage[] = "Tensor[(1, 64, 56, 56), float32]";
constexpr char kSmallerImage[] = "Tensor[(1, 64, 54, 54), float32]";
constexpr char kWeight[] = "Tensor[(64, 64, 3, 3), float32]";

NDArray Weight() {
  std::vector<float> values(64 * 64 * 9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97);
  return NDArray::FromVector<float>({64, 64, 3, 3}, values);
}
Module Bound() { return BindParams(Read(kConvRelu), "main", {{"weight1", Weight()}}); }

// One function of two bindings. The empty out_layout is the data's, void the data's element type.
TEST(FuseOpsByPatternTest, S000_01_TheModuleHasFullAttributesAndTypes) {
  const Module typed = InferType(Read(kConvRelu));
  EXPECT_THAT(Names(typed), ElementsAre("main"));
  const std::vector<Expr> bindings = BindingsOf(typed.Main());
  ASSERT_EQ(bindings.size(), 2U);
  EXPECT_EQ(CalleeOf(bindings[0]), "nn.conv2d");
  EXPECT_EQ(CalleeOf(bindings[1]), "nn.relu");
  EXPECT_EQ(typed.Main().body, bindings[1]);
  for (const Expr& binding : bindings) EXPECT_EQ(TypeOf(binding), kImage);
  EXPECT_EQ(ir::ToString(typed.Main().ret_type), kImage);
  const attrs::Attrs& attrs = bindings[0].As<ir::CallNode>()->attrs;
  EXPECT_EQ(attrs.ToJson(),
            R"({"strides":[1,1],"padding":[1,1,1,1],"dilation":[1,1],"groups":1,)"
            R"("channels":null,"kernel_size":null,"data_layout":"NCHW","kernel_layout":"OIHW",)"
            R"("out_layout":"","out_dtype":""})");
  const std::string text = relax::PrintRelax(typed);
  EXPECT_THAT(text, HasSubstr("R.nn.conv2d(data, weight1, strides=[1, 1], padding=[1, 1, 1, 1], "
                              "dilation=[1, 1], groups=1, data_layout=\"NCHW\", "
                              "kernel_layout=\"OIHW\", out_layout=\"NCHW\", out_dtype=\"void\")"));
  EXPECT_THAT(text, HasSubstr("R.output(gv)"));
  EXPECT_TRUE(ir::StructuralEqual(Read(text), typed));
}

TEST(FuseOpsByPatternTest,
     S000_04_S000_07_S000_12_AGroupWithItsConstantInsideIsCalledWithTheDataOnly) {
  const Module original = Read(kConvRelu);
  const std::string before = Print(original);
  const Module bound = BindParams(original, "main", {{"weight1", Weight()}});
  const Module fused = Fused(bound, {ConvRelu()}, {.bind_constants = true});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", kConvReluName));
  EXPECT_EQ(CalleeOf(fused.Main().body), kConvReluName);
  EXPECT_THAT(fused.Main().body.As<ir::CallNode>()->args, ElementsAre(fused.Main().params[0]));
  const FunctionNode& group = Get(fused, kConvReluName);
  EXPECT_EQ(Text(group, "Composite"), "dnnl.conv2d_relu");
  EXPECT_EQ(group.attrs.at("Primitive"), attrs::Value(std::int64_t{1}));
  EXPECT_EQ(group.attrs.size(), 2U);
  EXPECT_TRUE(fused.Main().attrs.empty());
  Fused(original, {ConvRelu()}, {.bind_constants = true, .annotate_codegen = true});
  EXPECT_EQ(Print(original), before);
}

TEST(FuseOpsByPatternTest, S000_04_BothPassesRunAsOneSequence) {
  const Pipeline both = {{"BindParams", 0,
                          [](const Module& m) {
                            return BindParams(m, "main", {{"weight1", Weight()}});
                          }},
                         {"FuseOpsByPattern", 0, [](const Module& m) {
                            return FuseOpsByPattern(m, {ConvRelu()}, {.bind_constants = true});
                          }}};
  const Module fused = RunPasses(both, Read(kConvRelu), {});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", kConvReluName));
  EXPECT_EQ(CalleeOf(fused.Main().body), kConvReluName);
  EXPECT_THAT(fused.Main().body.As<ir::CallNode>()->args, ElementsAre(fused.Main().params[0]));
  EXPECT_TRUE(ir::StructuralEqual(fused, Fused(Bound(), {ConvRelu()}, {.bind_constants = true})));
}

// The stored assertions of the notebook.
TEST(FuseOpsByPatternTest, S000_05_S000_06_TheNotebooksAssertionsHoldAsWritten) {
  const Module mod = Fused(Bound(), {ConvRelu()}, {.bind_constants = true});
  EXPECT_THAT(Names(mod), ::testing::Contains("fused_relax_nn_conv2d_relax_nn_relu"));
  for (const auto& [name, f] : mod.functions()) {
    if (name != "fused_relax_nn_conv2d_relax_nn_relu") continue;
    const Expr conv2d = BindingsOf(*f.As<FunctionNode>())[0];
    EXPECT_EQ(CalleeOf(conv2d), "nn.conv2d");
    ASSERT_EQ(ArgOf(conv2d, 1).kind(), ir::ExprKind::kConstant);
    EXPECT_EQ(ArgOf(conv2d, 1).As<ir::ConstantNode>()->data.ToVector<float>(),
              Weight().ToVector<float>());
  }
}

TEST(FuseOpsByPatternTest, SX_09_NamesOfFunctionsComeFromRelayOrFromRelax) {
  // The text that a module came from says it, unless an option does.
  const Module from_relay = Parse(Print(Read(kConvRelu)));
  EXPECT_THAT(Names(Fused(from_relay, {ConvRelu()})),
              UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu"));
  EXPECT_THAT(Names(Fused(from_relay, {ConvRelu()}, {.names = ops::OperatorNames::kRelax})),
              UnorderedElementsAre("main", kConvReluName));
  EXPECT_THAT(Names(Fused(Read(kConvRelu), {ConvRelu()}, {.names = ops::OperatorNames::kRelay})),
              UnorderedElementsAre("main", "fused_nn_conv2d_nn_relu"));
  // Operators that Relax calls by another word.
  const Module module = Read(R"py(
@R.function
def main(x: R.Tensor((4, 3), "float32")):
    return R.astype(R.permute_dims(x), "int32")
)py");
  const Pattern transposed = IsOp("relax.astype")(IsOp("relax.permute_dims")(Wildcard()));
  EXPECT_THAT(Names(Fused(module, {{"a.b", transposed}})),
              UnorderedElementsAre("main", "fused_relax_permute_dims_relax_astype"));
}

TEST(FuseOpsByPatternTest, AnUnknownNameOfRelaxIsRefusedWithTheNearestName) {
  const Error error = ErrorOf([] { IsOp("relax.nn.conv2"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("nn.conv2"), HasSubstr("did you mean nn.conv2d?")));
}

TEST(FuseOpsByPatternTest, S000_08_AConstantThatIsNotBoundBecomesAParameter) {
  const Module fused = Fused(Bound(), {ConvRelu()});
  const FunctionNode& group = Get(fused, kConvReluName);
  ASSERT_EQ(group.params.size(), 2U);
  EXPECT_EQ(ir::Var(group.params[1]).name(), "param_0");
  EXPECT_EQ(ArgOf(BindingsOf(group)[0], 1), group.params[1]);
  ASSERT_EQ(ArgOf(fused.Main().body, 1).kind(), ir::ExprKind::kConstant);
  EXPECT_EQ(ArgOf(fused.Main().body, 1).As<ir::ConstantNode>()->data.ToVector<float>(),
            Weight().ToVector<float>());
}

TEST(FuseOpsByPatternTest, S000_09_S000_10_CodegenWrapsTheCompositeInAFunctionOfItsSymbol) {
  const Module fused =
      Fused(Read(kConvRelu), {ConvRelu()}, {.bind_constants = true, .annotate_codegen = true});
  const std::string symbol = "fused_relax_nn_conv2d_relax_nn_relu_dnnl";
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
  for (const FunctionNode* function : {&wrapper, &inner}) {
    ASSERT_EQ(function->params.size(), 2U);
    EXPECT_EQ(ir::Var(function->params[0]).name(), "data");
    EXPECT_EQ(TypeOf(function->params[0]), kImage);
    EXPECT_EQ(ir::Var(function->params[1]).name(), "weight1");
    EXPECT_EQ(TypeOf(function->params[1]), kWeight);
    EXPECT_EQ(ir::ToString(function->ret_type), kImage);
  }
}

// The order is that in which the group reads them, not that of the parameters of main.
TEST(FuseOpsByPatternTest, S000_10_ParametersComeInTheOrderOfTheirFirstUse) {
  const Module weight_first = Read(R"py(
@R.function
def main(
    weight1: R.Tensor((64, 64, 3, 3), "float32"),
    data: R.Tensor((1, 64, 56, 56), "float32"),
):
    return R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
)py");
  const Module fused = Fused(weight_first, {ConvRelu()}, {.annotate_codegen = true});
  const FunctionNode& wrapper = Get(fused, "fused_relax_nn_conv2d_relax_nn_relu_dnnl");
  const auto& inner = *wrapper.body.As<ir::CallNode>()->callee.As<FunctionNode>();
  for (const FunctionNode* function : {&wrapper, &inner}) {
    ASSERT_EQ(function->params.size(), 2U);
    EXPECT_EQ(ir::Var(function->params[0]).name(), "data");
    EXPECT_EQ(TypeOf(function->params[0]), kImage);
    EXPECT_EQ(ir::Var(function->params[1]).name(), "weight1");
    EXPECT_EQ(TypeOf(function->params[1]), kWeight);
  }
  EXPECT_THAT(fused.Main().body.As<ir::CallNode>()->args,
              ElementsAre(fused.Main().params[1], fused.Main().params[0]));
}

TEST(FuseOpsByPatternTest, S000_11_NoPatternsChangeNothing) {
  const Module typed = InferType(Read(kConvRelu));
  EXPECT_EQ(FuseOpsByPattern(typed, {}, {.bind_constants = true, .annotate_codegen = true}), typed);
}

TEST(FuseOpsByPatternTest, S000_13_ShapesFollowThePaddingOfEachConvolution) {
  const Module typed = InferType(Read(TwoConvRelus("(0, 0)")));
  std::vector<std::string> types;
  for (const Expr& binding : BindingsOf(typed.Main())) types.push_back(TypeOf(binding));
  EXPECT_THAT(types, ElementsAre(kImage, kImage, kSmallerImage, kSmallerImage));
}

TEST(FuseOpsByPatternTest, S000_14_TwoMatchesGetNamesThatDifferByANumber) {
  const Module fused =
      Fused(Read(TwoConvRelus("(0, 0)")), {ConvRelu()}, {.annotate_codegen = true});
  const std::string first = "fused_relax_nn_conv2d_relax_nn_relu_dnnl";
  const std::string second = "fused_relax_nn_conv2d_relax_nn_relu1_dnnl";
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", first, second));
  const std::vector<Expr> bindings = BindingsOf(fused.Main());
  ASSERT_EQ(bindings.size(), 2U);
  EXPECT_EQ(CalleeOf(bindings[0]), first);
  EXPECT_EQ(CalleeOf(bindings[1]), second);
  EXPECT_EQ(ArgOf(bindings[1], 0), bindings[0]);
  EXPECT_EQ(TypeOf(bindings[0]), kImage);
  EXPECT_EQ(TypeOf(bindings[1]), kSmallerImage);
  const std::pair<std::string, std::string> expected[] = {{first, "padding=[1, 1, 1, 1]"},
                                                          {second, "padding=[0, 0, 0, 0]"}};
  for (const auto& [name, padding] : expected) {
    const FunctionNode& wrapper = Get(fused, name);
    EXPECT_EQ(Text(wrapper, "Codegen"), "dnnl");
    EXPECT_EQ(Text(wrapper, "global_symbol"), name);
    const auto& inner = *wrapper.body.As<ir::CallNode>()->callee.As<FunctionNode>();
    EXPECT_EQ(ir::ToString(inner.ret_type), name == first ? kImage : kSmallerImage);
    const auto& conv = *BindingsOf(inner)[0].As<ir::CallNode>();
    EXPECT_EQ(conv.attrs.ToText(), padding);
  }
}

TEST(FuseOpsByPatternTest, S000_15_EqualGroupsShareAFunction) {
  const Module fused = Fused(Read(TwoConvRelus("(1, 1)")), {ConvRelu()});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", kConvReluName));
  EXPECT_EQ(CalleeOf(fused.Main().body), CalleeOf(ArgOf(fused.Main().body, 0)));
}

TEST(FuseOpsByPatternTest, S000_16_S000_17_TheEarlierPatternTakesTheOperatorAlone) {
  const Module fused = Fused(Read(TwoConvRelus("(0, 0)")), {Conv(), ConvRelu()});
  EXPECT_THAT(Names(fused),
              UnorderedElementsAre("main", "fused_relax_nn_conv2d", "fused_relax_nn_conv2d1"));
  for (const char* name : {"fused_relax_nn_conv2d", "fused_relax_nn_conv2d1"}) {
    EXPECT_EQ(Text(Get(fused, name), "Composite"), "dnnl.conv2d");
    EXPECT_EQ(BindingsOf(Get(fused, name)).size(), 1U);
  }
  EXPECT_EQ(CalleeOf(fused.Main().body), "nn.relu");
  EXPECT_EQ(CalleeOf(ArgOf(ArgOf(fused.Main().body, 0), 0)), "nn.relu");
}

TEST(FuseOpsByPatternTest, S000_18_ShapesOfTheChainWithABareConvolution) {
  const Module typed = InferType(Read(kConvConvRelu));
  std::vector<std::string> types;
  for (const Expr& binding : BindingsOf(typed.Main())) types.push_back(TypeOf(binding));
  EXPECT_THAT(types, ElementsAre(kImage, kSmallerImage, kSmallerImage));
}

TEST(FuseOpsByPatternTest, S000_19_S000_21_LongestFirstGivesTwoKindsOfComposites) {
  const Module fused = Fused(Read(kConvConvRelu), {ConvRelu(), Conv()});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", kConvReluName, "fused_relax_nn_conv2d"));
  EXPECT_EQ(Text(Get(fused, "fused_relax_nn_conv2d"), "Composite"), "dnnl.conv2d");
  EXPECT_EQ(Text(Get(fused, kConvReluName), "Composite"), "dnnl.conv2d_relu");
  // The value between the groups is an ordinary value of main.
  const std::vector<Expr> bindings = BindingsOf(fused.Main());
  ASSERT_EQ(bindings.size(), 2U);
  EXPECT_EQ(CalleeOf(bindings[0]), "fused_relax_nn_conv2d");
  EXPECT_EQ(TypeOf(bindings[0]), kImage);
  EXPECT_EQ(CalleeOf(bindings[1]), kConvReluName);
  EXPECT_EQ(ArgOf(bindings[1], 0), bindings[0]);
}

// The notebook applies the second order to the earlier module; nothing is left for the
// pattern of the convolution alone.
TEST(FuseOpsByPatternTest, S000_20_NothingIsLeftForTheShorterPattern) {
  const Module fused = Fused(Read(TwoConvRelus("(0, 0)")), {ConvRelu(), Conv()});
  const std::string second = StrCat(kConvReluName, 1);
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", kConvReluName, second));
  for (const std::string& name : {std::string(kConvReluName), second})
    EXPECT_EQ(Text(Get(fused, name), "Composite"), "dnnl.conv2d_relu");
}

// The context of a check. A variable of a binding is the value itself, so that what the reference
// looks up in value_to_bound_var is found in `matched`.
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
        EXPECT_THAT(context.matched,
                    ElementsAre(context.annotated_expr.at("conv"), context.matched_expr));
        EXPECT_THAT(context.uses.at(context.annotated_expr.at("conv")),
                    ElementsAre(context.matched_expr));
        EXPECT_TRUE(context.uses.at(context.matched_expr).empty());
        EXPECT_TRUE(context.escaping.empty());
        return false;
      }};
  const Module typed = InferType(Read(kConvRelu));
  EXPECT_EQ(FuseOpsByPattern(typed, {pattern}), typed);
  EXPECT_EQ(calls, 1);
}

// Everything prints with its attributes and types, and what is printed parses to the same module.
TEST(FuseOpsByPatternTest, S000_24_S000_25_FusedModulesPrintAndReadBack) {
  for (const bool codegen : {false, true}) {
    const Module fused =
        Fused(Read(TwoConvRelus("(0, 0)")), {ConvRelu()}, {.annotate_codegen = codegen});
    const std::string text = ir::PrintModule(fused);
    const Module again = Parse(text);
    EXPECT_TRUE(ir::StructuralEqual(InferType(again), fused));
    EXPECT_EQ(ir::PrintModule(InferType(again)), text);
    EXPECT_THAT(text, HasSubstr("Composite=\"dnnl.conv2d_relu\""));
    EXPECT_THAT(text, HasSubstr(codegen ? "Codegen=\"dnnl\", global_symbol=\"fused_relax_nn_conv2d_"
                                          "relax_nn_relu1_dnnl\""
                                        : "Primitive=1"));
    EXPECT_THAT(text, HasSubstr("-> Tensor[(1, 64, 54, 54), float32]"));
  }
}

// A projection is a part of a match like any other.
TEST(FuseOpsByPatternTest, S000_22_PatternsSeeFieldsOfTuples) {
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4, 8), float32]) {
  %0 = split(%x, indices_or_sections=2, axis=1);
  exp(%0.1)
})");
  const Pattern field = IsTupleGetItem(IsOp("relax.split")(Wildcard()), 1);
  const Module fused =
      Fused(module, {{"a.b", IsOp("relax.exp")(field)}}, {.names = ops::OperatorNames::kRelax});
  EXPECT_THAT(Names(fused), UnorderedElementsAre("main", "fused_relax_split_relax_exp"));
}

constexpr char kEscape[] = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 1, 1), float32]) {
  %0 = nn.conv2d(%data, %w, padding=[0, 0, 0, 0]);
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

// A call of the group would stand where %b is computed, and read %a before it is bound.
TEST(FuseOpsByPatternTest, AMatchWithFurtherResultsLiesInOneBodyOfALet) {
  const Module typed = InferType(Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  let %b = sin(%0);
  let %a = cos(%x);
  (add(%0, %a), %b)
})"));
  const Pattern sum = IsOp("add")(IsOp("exp")(Wildcard()), Wildcard());
  EXPECT_EQ(FuseOpsByPattern(typed, {{"a.sum", sum}}), typed);
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
  const Module fused = Fused(Read(kConvRelu), {pattern});
  EXPECT_EQ(Get(fused, kConvReluName).attrs.at("members"), attrs::Value(std::int64_t{2}));
}

}  // namespace
}  // namespace tenon::passes
