// Regions for code generators: marked, joined, moved into functions, compiled and run.
#include "tenon/passes/partition/partition_graph.h"

#include <regex>

#include <gmock/gmock.h>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/inline.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/partition/merge_compiler_regions.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/tests/passes/algebra_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;
using ir::Module;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMatrix[] = "%x: Tensor[(3, 5), float32], %k: Tensor[(5), float32]";

// A generator that takes these operators.
CodeGenerator Taking(const std::string& name, const std::vector<std::string>& operators) {
  return {name, [operators](const Expr& call) {
            const std::string& op = call.As<ir::CallNode>()->op()->name;
            return std::find(operators.begin(), operators.end(), op) != operators.end();
          }};
}
// "npu" takes what the tables below call its operators.
std::vector<CodeGenerator> Npu() {
  return {Taking("npu", {"abs", "add", "split", "concatenate", "nn.relu"})};
}

Module Checked(const Module& module) {
  ir::VerifyModule(module);
  EXPECT_EQ(InferType(module), module);
  return module;
}
Module Annotated(const Module& module) { return Checked(AnnotateTarget(module, Npu())); }
Module Merged(const Module& module) { return Checked(MergeCompilerRegions(Annotated(module))); }
Module Partitioned(const Module& module) { return Checked(PartitionGraph(Merged(module))); }

// The text with marks written b(x:npu) and e(x:npu), without types and globals' attributes.
std::string Short(const Module& module) {
  std::string text = Body(module);
  text = std::regex_replace(
      text, std::regex(R"re(annotation\.compiler_(b|e)\w*\((%\w+|k\d+), compiler="(\w+)"\))re"),
      "$1($2:$3)");
  text = std::regex_replace(text, std::regex(R"(%(\w+): Tensor\[[^\]]*\])"), "%$1");
  text = std::regex_replace(text,
                            std::regex(R"(, Compiler="\w+", Inline=1, Primitive=1, )"
                                       R"(global_symbol="\w+"\) -> .* \{)"),
                            ") {");
  return std::regex_replace(text, std::regex("tvmgen_default_"), "");
}

std::vector<NDArray> Compiled(const Module& module, const std::vector<NDArray>& inputs,
                              int opt_level) {
  runtime::Inputs named;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    named.emplace(ir::Var(module.Main().params[i]).name(), inputs[i]);
  return ValueOrThrow(
      ValueOrThrow(Compile(module, {.opt_level = opt_level, .verify = true})).Run(named));
}

// What each pass makes of a graph keeps its values, interpreted and compiled.
void ExpectValuesKept(const Module& module) {
  const runtime::Inputs named = testing_graphs::RandomInputs(module, 11);
  std::vector<NDArray> inputs;
  for (const Expr& param : module.Main().params) inputs.push_back(named.at(ir::Var(param).name()));
  const std::vector<NDArray> expected = verify::Interpret(module, inputs);
  for (const Module& changed : {Annotated(module), Merged(module), Partitioned(module),
                                InferType(Inline(Partitioned(module)))}) {
    testing_graphs::ExpectClose(verify::Interpret(changed, inputs), expected, 0);
    for (const int opt_level : {0, 3})
      testing_graphs::ExpectClose(Compiled(changed, inputs, opt_level), expected, 1e-5);
  }
}

struct PartitionCase {
  const char* name;
  const char* body;
  const char* annotated;
  const char* merged;
  const char* partitioned;
  friend void PrintTo(const PartitionCase& c, std::ostream* out) { *out << c.name; }
};
class PartitionTest : public ::testing::TestWithParam<PartitionCase> {};

TEST_P(PartitionTest, MarksJoinsAndMoves) {
  const Module module = WithConstants(kMatrix, GetParam().body);
  EXPECT_EQ(Short(Annotated(module)), GetParam().annotated);
  EXPECT_EQ(Short(Merged(module)), GetParam().merged);
  EXPECT_EQ(Short(Partitioned(module)), GetParam().partitioned);
  ExpectValuesKept(module);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, PartitionTest,
    ::testing::Values(
        PartitionCase{"OneCall", "abs(%x)", "%0 = b(%x:npu);\n%1 = abs(%0);\ne(%1:npu)\n",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\ne(%1:npu)\n",
                      "@npu_main_0(%x)\n}\n\ndef @npu_main_0(%x) {\nabs(%x)\n"},
        PartitionCase{"ConstantsGoInside", "add(abs(%x), %k)",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = e(%1:npu);\n%3 = b(%2:npu);\n"
                      "%4 = b(k0:npu);\n%5 = add(%3, %4);\ne(%5:npu)\n",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = b(k0:npu);\n%3 = add(%1, %2);\n"
                      "e(%3:npu)\n",
                      "@npu_main_0(%x)\n}\n\ndef @npu_main_0(%x) {\n%0 = abs(%x);\n"
                      "add(%0, k0)\n"},
        // The diamond: abs and add in one region would read its own result through tanh.
        PartitionCase{
            "ARegionNeverReadsWhatDependsOnIt", "%0 = abs(%x);\nadd(nn.relu(%0), tanh(%0))",
            "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = e(%1:npu);\n%3 = b(%2:npu);\n"
            "%4 = nn.relu(%3);\n%5 = e(%4:npu);\n%6 = b(%2:default);\n%7 = tanh(%6);\n"
            "%8 = e(%7:default);\n%9 = b(%5:npu);\n%10 = b(%8:npu);\n%11 = add(%9, %10);\n"
            "e(%11:npu)\n",
            "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = nn.relu(%1);\n%3 = e(%2:npu);\n"
            "%4 = e(%1:npu);\n%5 = b(%4:default);\n%6 = tanh(%5);\n%7 = e(%6:default);\n"
            "%8 = b(%3:npu);\n%9 = b(%7:npu);\n%10 = add(%8, %9);\ne(%10:npu)\n",
            "%0 = @npu_main_0(%x);\n%1 = %0.1;\n%2 = %0.0;\n%3 = tanh(%1);\n"
            "@npu_main_1(%2, %3)\n}\n\n"
            "def @npu_main_0(%x) {\n%0 = abs(%x);\n%1 = nn.relu(%0);\n(%1, %0)\n}\n\n"
            "def @npu_main_1(%p0, %p1) {\nadd(%p0, %p1)\n"},
        // abs is on the lowest level and add above tanh; it rises to it.
        PartitionCase{"AnotherInputIsNoObstacle", "add(abs(%x), tanh(%x))",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = e(%1:npu);\n%3 = b(%x:default);\n"
                      "%4 = tanh(%3);\n%5 = e(%4:default);\n%6 = b(%2:npu);\n%7 = b(%5:npu);\n"
                      "%8 = add(%6, %7);\ne(%8:npu)\n",
                      "%0 = b(%x:npu);\n%1 = b(%x:default);\n%2 = tanh(%1);\n%3 = e(%2:default);\n"
                      "%4 = abs(%0);\n%5 = b(%3:npu);\n%6 = add(%4, %5);\ne(%6:npu)\n",
                      "%0 = tanh(%x);\n@npu_main_0(%x, %0)\n}\n\n"
                      "def @npu_main_0(%x, %p1) {\n%0 = abs(%x);\nadd(%0, %p1)\n"},
        // Tuples and projections go with their inputs; one that is a result is made outside.
        PartitionCase{"TuplesGoWithTheirInputs",
                      "%0 = split(%x, indices_or_sections=[2], axis=1);\n(%0.0, abs(%0.1))",
                      "%0 = b(%x:npu);\n%1 = split(%0, indices_or_sections=[2], axis=1);\n"
                      "%2 = e(%1:npu);\n%3 = b(%2:npu);\n%4 = %3.0;\n%5 = e(%4:npu);\n"
                      "%6 = b(%2:npu);\n%7 = %6.1;\n%8 = e(%7:npu);\n%9 = b(%8:npu);\n"
                      "%10 = abs(%9);\n%11 = e(%10:npu);\n%12 = b(%5:npu);\n%13 = b(%11:npu);\n"
                      "%14 = (%12, %13);\ne(%14:npu)\n",
                      "%0 = b(%x:npu);\n%1 = split(%0, indices_or_sections=[2], axis=1);\n"
                      "%2 = %1.1;\n%3 = %1.0;\n%4 = abs(%2);\n%5 = (%3, %4);\ne(%5:npu)\n",
                      "%0 = @npu_main_0(%x);\n%1 = %0.1;\n%2 = %0.0;\n(%1, %2)\n}\n\n"
                      "def @npu_main_0(%x) {\n"
                      "%0 = split(%x, indices_or_sections=[2], axis=1);\n%1 = %0.1;\n"
                      "%2 = abs(%1);\n%3 = %0.0;\n(%2, %3)\n"},
        PartitionCase{"ATupleOfOthersIsAParameter", "concatenate((abs(%x), %x))",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = e(%1:npu);\n%3 = b(%2:default);\n"
                      "%4 = b(%x:default);\n%5 = (%3, %4);\n%6 = e(%5:default);\n"
                      "%7 = b(%6:npu);\n%8 = concatenate(%7);\ne(%8:npu)\n",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = e(%1:npu);\n%3 = b(%2:default);\n"
                      "%4 = b(%x:default);\n%5 = (%3, %4);\n%6 = e(%5:default);\n"
                      "%7 = b(%6:npu);\n%8 = concatenate(%7);\ne(%8:npu)\n",
                      "%0 = @npu_main_0(%x);\n%1 = (%0, %x);\n@npu_main_1(%1)\n}\n\n"
                      "def @npu_main_0(%x) {\nabs(%x)\n}\n\n"
                      "def @npu_main_1(%p0: (Tensor[(3, 5), float32], Tensor[(3, 5), float32])) "
                      "{\nconcatenate(%p0)\n"},
        PartitionCase{"ATupleThatIsReadInsideStaysInside", "concatenate((abs(%x), abs(%x)))",
                      "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = e(%1:npu);\n%3 = b(%x:npu);\n"
                      "%4 = abs(%3);\n%5 = e(%4:npu);\n%6 = b(%2:npu);\n%7 = b(%5:npu);\n"
                      "%8 = (%6, %7);\n%9 = e(%8:npu);\n%10 = b(%9:npu);\n"
                      "%11 = concatenate(%10);\ne(%11:npu)\n",
                      "%0 = b(%x:npu);\n%1 = b(%x:npu);\n%2 = abs(%0);\n%3 = abs(%1);\n"
                      "%4 = (%2, %3);\n%5 = concatenate(%4);\ne(%5:npu)\n",
                      "@npu_main_0(%x)\n}\n\ndef @npu_main_0(%x) {\n%0 = abs(%x);\n"
                      "%1 = abs(%x);\n%2 = (%0, %1);\nconcatenate(%2)\n"}),
    [](const auto& info) { return info.param.name; });

class NotPartitionedTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(NotPartitionedTest, Stays) {
  const Module module = WithConstants(GetParam());
  EXPECT_TRUE(ir::StructuralEqual(Partitioned(module), module)) << Print(Partitioned(module));
  // Without marks there is nothing to do for the others.
  EXPECT_EQ(MergeCompilerRegions(module), module);
  EXPECT_EQ(PartitionGraph(module), module);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, NotPartitionedTest,
    ::testing::Values(PassCase{"NothingThatItTakes", kMatrix, "tanh(exp(%x))"},
                      PassCase{"NoCall", kMatrix, "(%x, %x)"},
                      PassCase{"AKernel", kMatrix,
                               "%0 = fn (%p: Tensor[(3, 5), float32], Primitive=1) { abs(%p) };\n"
                               "%0(%x)"}),
    [](const auto& info) { return info.param.name; });

// The call of a branch's function is marked around the marks in its body.
TEST(MarkedRegionsTest, OfMarksAroundMarksTheInnerOneCounts) {
  const Module module = InferType(Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = annotation.compiler_begin(%x, compiler="default");
  %1 = annotation.compiler_begin(%0, compiler="npu");
  %2 = annotation.compiler_end(abs(%1), compiler="npu");
  exp(annotation.compiler_end(%2, compiler="default"))
})"));
  EXPECT_EQ(Short(PartitionGraph(MergeCompilerRegions(module))),
            "%0 = @npu_main_0(%x);\nexp(%0)\n}\n\ndef @npu_main_0(%x) {\nabs(%x)\n");
}

TEST(AnnotateTargetTest, TheFirstGeneratorThatTakesACallGetsIt) {
  const Module module = WithConstants(kMatrix, "tanh(abs(%x))");
  const CodeGenerator a = Taking("a", {"abs", "tanh"});
  const CodeGenerator b = Taking("b", {"abs", "tanh"});
  EXPECT_THAT(Print(AnnotateTarget(module, {a, b})), Not(HasSubstr("\"b\"")));
  EXPECT_THAT(Print(AnnotateTarget(module, {b, a})), Not(HasSubstr("\"a\"")));
}

// Two runs with a generator each give what one run with both gives; a third changes nothing.
TEST(AnnotateTargetTest, MarksThatAreThereDecideFirst) {
  const Module module = WithConstants(kMatrix, "sigmoid(tanh(abs(%x)))");
  const std::vector<CodeGenerator> a = {Taking("a", {"abs"})};
  const std::vector<CodeGenerator> b = {Taking("b", {"abs", "tanh"})};
  const Module both = AnnotateTarget(module, {a[0], b[0]});
  const Module twice = Checked(AnnotateTarget(AnnotateTarget(module, a), b));
  EXPECT_TRUE(ir::StructuralEqual(twice, both)) << Print(twice);
  EXPECT_TRUE(ir::StructuralEqual(AnnotateTarget(twice, a), both));
}

TEST(AnnotateTargetTest, TuplesStayUnmarkedWhenOnlyCallsAreAskedFor) {
  const Module module = WithConstants(kMatrix, "concatenate((abs(%x), abs(%x)))");
  EXPECT_EQ(Short(AnnotateTarget(module, Npu(), /*include_non_call_ops=*/false)),
            "%0 = b(%x:npu);\n%1 = abs(%0);\n%2 = b(%x:npu);\n%3 = abs(%2);\n%4 = e(%1:npu);\n"
            "%5 = e(%3:npu);\n%6 = (%4, %5);\n%7 = b(%6:npu);\n%8 = concatenate(%7);\ne(%8:npu)\n");
}

TEST(AnnotateTargetTest, RefusesNamesThatMeanNothingOrNobody) {
  const Module module = WithConstants(kMatrix, "abs(%x)");
  for (const char* name : {"", "default"}) {
    const Error error = ErrorOf([&] { AnnotateTarget(module, {{name, nullptr}}); });
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.message(), HasSubstr(StrCat("a code generator is named \"", name, "\"")));
  }
}

// A region that is made by hand, around what leaves it and comes back.
TEST(PartitionGraphTest, RefusesARegionThatReadsWhatDependsOnIt) {
  const Module module =
      WithConstants("%x: Tensor[(3), float32]",
                    "%0 = abs(annotation.compiler_begin(%x, compiler=\"npu\"));\n"
                    "%1 = tanh(annotation.compiler_end(%0, compiler=\"npu\"));\n"
                    "%2 = add(%0, annotation.compiler_begin(%1, compiler=\"npu\"));\n"
                    "annotation.compiler_end(%2, compiler=\"npu\")");
  const Error error = ErrorOf([&] { PartitionGraph(module); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("abs, add"), HasSubstr("through tanh")));
  // MergeCompilerRegions takes it apart.
  EXPECT_EQ(Checked(PartitionGraph(MergeCompilerRegions(module))).functions().size(), 3U);
}

TEST(PartitionGraphTest, RefusesMarksThatDisagree) {
  const Module module =
      WithConstants("%x: Tensor[(3), float32]",
                    "annotation.compiler_end(abs(annotation.compiler_begin(%x, compiler=\"a\")), "
                    "compiler=\"b\")");
  const Error error = ErrorOf([&] { PartitionGraph(module); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("name the code generators a and b"));
}

TEST(PartitionGraphTest, ConstantsAreParametersWhenTheyAreNotBound) {
  const Module merged = Merged(WithConstants(kMatrix, "add(abs(%x), %k)"));
  const Module module = Checked(PartitionGraph(merged, {"net.1", /*bind_constants=*/false}));
  const auto& region = *module.Get("tvmgen_net_1_npu_main_0").As<FunctionNode>();
  EXPECT_EQ(region.params.size(), 2U);
  for (const char* mark : {"Primitive", "Inline"}) EXPECT_TRUE(region.IsSet(mark)) << mark;
  EXPECT_EQ(region.attrs.at("Compiler"), attrs::Value("npu"));
  EXPECT_EQ(region.attrs.at("global_symbol"), attrs::Value("tvmgen_net_1_npu_main_0"));
}

// A let's variable depends on what it is bound to.
TEST(PartitionGraphTest, LetsHoldRegionsApart) {
  const Module module =
      WithConstants(kMatrix, "%0 = abs(%x);\nlet %t = tanh(%0);\nadd(%0, abs(%t))");
  const Module partitioned = Partitioned(module);
  EXPECT_EQ(partitioned.functions().size(), 3U) << Print(partitioned);
  ExpectValuesKept(module);
}

TEST(PartitionGraphTest, ALongChainIsOneRegion) {
  const Module module = WithConstants(kMatrix, LongChain("abs(%x)", "add", "%k", 50'000) + "%last");
  const Module partitioned = PartitionGraph(MergeCompilerRegions(AnnotateTarget(module, Npu())));
  EXPECT_EQ(partitioned.functions().size(), 2U);
}

// Composites are their generator's by name and become literals; oneDNN makes their kernels.
// A copy of the module for each function that is added or inlined would take minutes.
TEST(PartitionGraphTest, ThirtyThousandRegionsBecomeFunctionsAndAreInlinedAgain) {
  constexpr int kRegions = 30'000;
  Expr e = ir::Var::Make("x", ir::TensorType({3}, Float32));
  for (int i = 0; i < kRegions; ++i) e = ops::Tanh(ops::Relu(e));
  const Module module = InferType(Module::FromExpr(e));
  const Module parts = PartitionGraph(AnnotateTarget(module, Npu()));
  EXPECT_EQ(parts.functions().size(), kRegions + 1U);
  EXPECT_TRUE(ir::StructuralEqual(Inline(parts, InlineRule::kAll), module));
}

TEST(PartitionGraphTest, CompositesOfOneDnnAreItsKernels) {
  const Module module =
      WithConstants("%x: Tensor[(1, 5, 9, 11), float32], %k: Tensor[(7, 5, 3, 3), float32]",
                    "%0 = nn.relu(nn.conv2d(%x, %k, padding=[1, 1, 1, 1]));\n(%0, tanh(%0))");
  const Module fused = FuseOpsByPattern(module, OneDnnPatterns(), {.bind_constants = true});
  const Module partitioned =
      Checked(PartitionGraph(MergeCompilerRegions(AnnotateTarget(fused, {OneDnnCodeGenerator()}))));
  EXPECT_EQ(partitioned.functions().size(), 2U);
  const auto& region = *partitioned.Get("tvmgen_default_dnnl_main_0").As<FunctionNode>();
  EXPECT_EQ(region.attrs.at("Compiler"), attrs::Value("dnnl"));
  EXPECT_THAT(Print(partitioned), HasSubstr("Composite=\"dnnl.conv2d_"));
  const Executable executable = ValueOrThrow(Compile(partitioned));
  EXPECT_THAT(executable.kernels().front()->implementation(), HasSubstr("onednn"));
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 3);
  testing_graphs::ExpectClose(ValueOrThrow(executable.Run(inputs)),
                              verify::Interpret(module, {inputs.at("x")}), 1e-4);
}

// A call that oneDNN takes alone.
TEST(AnnotateTargetTest, OneDnnTakesWhatItsStrategyTakes) {
  const Module module =
      WithConstants("%x: Tensor[(1, 5, 9, 11), float32], %k: Tensor[(7, 5, 3, 3), float32]",
                    "tanh(nn.conv2d(%x, %k))");
  const std::string text = Short(AnnotateTarget(module, {OneDnnCodeGenerator()}));
  EXPECT_THAT(text, AllOf(HasSubstr(":dnnl"), HasSubstr(":default")));
}

TEST(PartitionGraphTest, S003_09_TheBlockIsOneRegion) {
  const Module block = WithConstants(
      "%x: Tensor[(1, 3, 8, 8), float32], %k_w: Tensor[(6, 3, 3, 3), float32], "
      "%k_a: Tensor[(6, 1, 1), float32], %k_b: Tensor[(6, 1, 1), float32]",
      "nn.relu(add(add(nn.conv2d(%x, %k_w), %k_a), %k_b))");
  const Module parts = Checked(PartitionGraph(MergeCompilerRegions(
      AnnotateTarget(block, {Taking("npu", {"nn.conv2d", "add", "nn.relu"})}))));
  EXPECT_EQ(Short(parts),
            "@npu_main_0(%x)\n}\n\ndef @npu_main_0(%x) {\n%0 = nn.conv2d(%x, k0);\n"
            "%1 = add(%0, k1);\n%2 = add(%1, k2);\nnn.relu(%2)\n");
}

}  // namespace
}  // namespace tenon::passes
