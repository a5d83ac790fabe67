// Which operator calls share a kernel, as the operators of each, and what fusion leaves alone.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/tests/passes/fused.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::Module;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Unchanged {
  const char* name;
  const char* text;
  friend void PrintTo(const Unchanged& t, std::ostream* out) { *out << t.name; }
};
class FuseOpsLeavesTest : public ::testing::TestWithParam<Unchanged> {};

TEST_P(FuseOpsLeavesTest, TheSameNodes) {
  const Module typed = InferType(Parse(GetParam().text));
  EXPECT_EQ(FuseOps(typed), typed);
  EXPECT_EQ(FuseOps(typed, {.group = false}), typed);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, FuseOpsLeavesTest,
    ::testing::Values(
        Unchanged{"AParameterAlone", "def @main(%x: Tensor[(2), float32]) { %x }"},
        Unchanged{"TuplesAndProjectionsOfParameters",
                  "def @main(%x: Tensor[(2), float32]) { %0 = (%x, %x); (%0.1, %0) }"},
        Unchanged{"AConstantAlone", "def @main() { 1f }"},
        Unchanged{"ACallOfAGlobalFunction",
                  "def @f(%x: Tensor[(2), float32]) { %x }\n"
                  "def @main(%x: Tensor[(2), float32]) { @f(%x) }"},
        Unchanged{"APrimitiveFunction",
                  "def @main(%x: Tensor[(2), float32]) {\n"
                  "  %0 = fn (%p0: Tensor[(2), float32], Primitive=1) { exp(exp(%p0)) };\n"
                  "  %0(%x)\n"
                  "}"},
        Unchanged{"AFunctionOfACodeGenerator",
                  "def @f(%x: Tensor[(2), float32], Codegen=\"dnnl\") { exp(exp(%x)) }\n"
                  "def @main(%x: Tensor[(2), float32]) { @f(%x) }"},
        Unchanged{"ARegionOfACodeGenerator",
                  "def @f(%x: Tensor[(2), float32], Compiler=\"npu\") { exp(exp(%x)) }\n"
                  "def @main(%x: Tensor[(2), float32]) { @f(%x) }"},
        Unchanged{"ACompositeFunction",
                  "def @f(%x: Tensor[(2), float32], Composite=\"dnnl.exp\") { exp(exp(%x)) }\n"
                  "def @main(%x: Tensor[(2), float32]) { @f(%x) }"},
        Unchanged{"ACompositeWithinAFunctionOfACodeGenerator",
                  "def @main(%x: Tensor[(2), float32]) {\n"
                  "  %0 = fn (%p0: Tensor[(2), float32], Codegen=\"dnnl\") {\n"
                  "    %1 = fn (%p1: Tensor[(2), float32], Composite=\"dnnl.exp\") { exp(%p1) };\n"
                  "    %1(%p0)\n"
                  "  };\n"
                  "  %0(%x)\n"
                  "}"},
        Unchanged{"APrimitiveGlobalFunction",
                  "def @main(%x: Tensor[(2), float32], Primitive=1) { exp(exp(%x)) }"}),
    [](const auto& info) { return info.param.name; });

TEST(FuseOpsLevelTest, ConstantsOfAKernelThatAreNoNumbersOfItsCodeBecomeParameters) {
  const char* kernel = "%0 = fn (%p: Tensor[(2), int16], Primitive=1) { add(%p, ";
  const auto text = [&](const char* constant) {
    return StrCat("def @main(%x: Tensor[(2), int16]) {\n", kernel, constant, ") };\n%0(%x) }");
  };
  EXPECT_THAT(Print(Fused(text("3i16"))),
              AllOf(HasSubstr("fn (%p: Tensor[(2), int16], %constant_1: int16, Primitive=1)"),
                    HasSubstr("add(%p, %constant_1)"), HasSubstr("%0(%x, 3i16")));
  const Module number = InferType(Parse(text("cast(3, dtype=\"int16\")")));
  EXPECT_EQ(FuseOps(number), number);
}

TEST(FuseOpsLevelTest, WithoutGroupingTuplesStayOutside) {
  EXPECT_THAT(Kernels(Fused("def @main(%x: Tensor[(4), float32]) {\n"
                            "  %0 = (exp(%x), tanh(%x));\n"
                            "  concatenate(%0)\n"
                            "}",
                            {.group = false})),
              UnorderedElementsAre("exp", "tanh", "concatenate"));
}

struct Groups {
  const char* name;
  const char* body;  // of @main with %x, %y: 4 x 8, %v: 8, %i: 1 x 4 x 8 x 8, %w: its kernel
  std::vector<std::string> kernels;
  friend void PrintTo(const Groups& t, std::ostream* out) { *out << t.name; }
};
class FuseOpsGroupsTest : public ::testing::TestWithParam<Groups> {};

TEST_P(FuseOpsGroupsTest, AreTheKernels) {
  const std::string text =
      StrCat("def @main(%x: Tensor[(4, 8), float32], %y: Tensor[(4, 8), float32], ",
             "%v: Tensor[(8), float32], %i: Tensor[(1, 4, 8, 8), float32], ",
             "%w: Tensor[(4, 4, 1, 1), float32]) {\n", GetParam().body, "\n}");
  EXPECT_THAT(Kernels(Fused(text)), ::testing::UnorderedElementsAreArray(GetParam().kernels));
}

INSTANTIATE_TEST_SUITE_P(
    Groups, FuseOpsGroupsTest,
    ::testing::Values(
        Groups{"BroadcastingWorkJoinsElementwiseWork", "exp(add(exp(%v), %x))", {"exp add exp"}},
        Groups{
            "ADiamondIsOneKernel", "%0 = exp(%x); add(tanh(%0), sqrt(%0))", {"exp tanh sqrt add"}},
        Groups{"ADiamondAroundAReductionStaysOpen",
               "%0 = exp(%x); %1 = sum(%0, axis=[1], keepdims=True); divide(%0, %1)",
               {"exp", "sum", "divide"}},
        Groups{
            "BroadcastingWorkJoinsAReduction", "sum(multiply(%x, %y), axis=[0])", {"multiply sum"}},
        Groups{
            "TransposeDoesNotJoinAReduction", "sum(transpose(%x), axis=[0])", {"transpose", "sum"}},
        Groups{"TransposeDoesNotJoinAMatrixProduct",
               "nn.dense(%x, transpose(transpose(%y)), units=4)",
               {"transpose transpose", "nn.dense"}},
        Groups{"ElementwiseWorkDoesNotJoinSoftmax", "nn.softmax(exp(%x))", {"exp", "nn.softmax"}},
        Groups{"TwoReductionsStayApart", "sum(sum(%x, axis=[0]), axis=[0])", {"sum", "sum"}},
        Groups{"TwoConvolutionsStayApart",
               "nn.conv2d(nn.conv2d(%i, %w), %w)",
               {"nn.conv2d", "nn.conv2d"}},
        Groups{
            "AResultThatIsAlsoUsedLeavesTwoKernels", "%0 = exp(%x); (%0, exp(%0))", {"exp", "exp"}},
        Groups{"ConvolutionUsedTwiceMeetsInAnAddition",
               "%0 = nn.conv2d(%i, %w); add(%0, nn.relu(%0))",
               {"nn.conv2d nn.relu add"}},
        Groups{"ConvolutionAndResidual",
               "nn.relu(add(nn.conv2d(%i, %w), %i))",
               {"nn.conv2d add nn.relu"}},
        Groups{"ReshapeAfterAConvolutionIsApart",
               "nn.batch_flatten(nn.relu(nn.conv2d(%i, %w)))",
               {"nn.conv2d nn.relu", "nn.batch_flatten"}},
        Groups{"PadIsInjectiveAndStaysBeforeAConvolution",
               "nn.conv2d(nn.pad(%i, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), %w)",
               {"nn.pad", "nn.conv2d"}},
        Groups{"ConcatenateOfConvolutionsStaysApart",
               "%0 = (nn.conv2d(%i, %w), nn.relu(%i)); concatenate(%0, axis=1)",
               {"nn.conv2d", "nn.relu concatenate"}},
        Groups{"StackTakesItsFields", "%0 = (exp(%x), tanh(%y)); stack(%0)", {"exp tanh stack"}},
        Groups{
            "ReshapeWithOtherWorkIsNotMarked", "exp(reshape(%x, newshape=[32]))", {"reshape exp"}},
        Groups{"NothingFusesAcrossAnOpaqueOperator",
               "%0 = shape_of(exp(%x)); add(%0, %0)",
               {"exp", "shape_of", "add"}}),
    [](const auto& info) { return info.param.name; });

TEST(FuseOpsTest, ReshapeBesideOtherWorkIsNotMarked) {
  EXPECT_THAT(Print(Fused("def @main(%x: Tensor[(4), float32]) { exp(reshape(%x, newshape=[2, 2])) "
                          "}")),
              ::testing::Not(HasSubstr("reshape_only")));
}

TEST(FuseOpsTest, OnlyScalarsOfCommonTypesStayInside) {
  const auto fused = [](const NDArray& constant) {
    const Expr x = ir::Var::Make("x", ir::TensorType({4}, constant.dtype()));
    return Fused(ir::PrintModule(Module::FromExpr(ops::Add(x, ir::Constant::Make(constant)))));
  };
  const auto parameters = [&](const NDArray& constant) {
    const Module module = fused(constant);
    const auto& call = *module.Main().body.As<ir::CallNode>();
    return call.callee.As<ir::FunctionNode>()->params.size();
  };
  EXPECT_EQ(parameters(NDArray::Scalar<float>(1)), 1U);
  EXPECT_EQ(parameters(NDArray::Scalar<double>(1)), 1U);
  EXPECT_EQ(parameters(NDArray::Scalar<std::int32_t>(1)), 1U);
  EXPECT_EQ(parameters(NDArray::Scalar<std::int64_t>(1)), 1U);
  EXPECT_EQ(parameters(NDArray::Scalar<std::int8_t>(1)), 2U);
  EXPECT_EQ(parameters(NDArray::FromVector<float>({1}, {1})), 2U);
}

TEST(FuseOpsTest, ParametersComeInOrderOfFirstUseAndOnce) {
  const Module fused = Fused(
      "def @main(%a: Tensor[(4), float32], %b: Tensor[(4), float32], %c: Tensor[(4), float32]) {\n"
      "  add(multiply(%c, %a), multiply(%a, %b))\n"
      "}");
  const auto& call = *fused.Main().body.As<ir::CallNode>();
  std::vector<std::string> names;
  for (const Expr& arg : call.args) names.push_back(ir::Var(arg).name());
  EXPECT_THAT(names, ElementsAre("c", "a", "b"));
}

// Regions of a code generator stay apart, and no kernel copies what is marked.
TEST(FuseOpsTest, MarksOfCodeGeneratorsSeparateAndVanish) {
  const Module fused = Fused(R"(def @main(%x: Tensor[(4, 6), float32]) {
  %0 = annotation.compiler_begin(exp(%x), compiler="npu");
  %1 = split(%0, indices_or_sections=2, axis=1);
  %2 = annotation.compiler_end(%1, compiler="npu");
  add(%2.0, %2.1)
})");
  EXPECT_THAT(Kernels(fused), UnorderedElementsAre("exp", "split", "add"));
  EXPECT_EQ(InferType(fused), fused);
}

TEST(FuseOpsTest, StopFusionOfAParameterOrAResultVanishes) {
  EXPECT_THAT(Kernels(Fused("def @main(%x: Tensor[(4), float32]) {\n"
                            "  annotation.stop_fusion(exp(annotation.stop_fusion(%x)))\n"
                            "}")),
              ElementsAre("exp"));
  EXPECT_THAT(Kernels(Fused("def @main(%x: Tensor[(4), float32]) {\n"
                            "  annotation.stop_fusion(%x)\n"
                            "}")),
              IsEmpty());
}

TEST(FuseOpsTest, ReferencesStayOutsideOfKernels) {
  const Module module = Fused(
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  let %r = ref(exp(%x));\n"
      "  let %u = ref_write(%r, tanh(exp(%x)));\n"
      "  sqrt(ref_read(%r))\n"
      "}");
  const std::string text = Print(module);
  EXPECT_THAT(text, AllOf(HasSubstr("= ref(%"), HasSubstr("= ref_write(%r, %"),
                          HasSubstr(" = ref_read(%r)")));
  // It can be read again.
  EXPECT_EQ(Print(InferType(Parse(text))), text);
}

std::string Chain(int length) {
  std::string text = "def @main(%x: Tensor[(4), float32]) {\n  %0 = add(%x, %x);\n";
  for (int i = 1; i < length; ++i)
    StrAppend(&text, "  %", i, " = add(%", i - 1, ", %", i - 1, ");\n");
  return StrCat(text, "  %", length - 1, "\n}\n");
}

TEST(FuseOpsTest, MaxDepthBoundsTheCallsOfAKernel) {
  EXPECT_THAT(Kernels(Fused(Chain(5), {.max_depth = 2})),
              UnorderedElementsAre("add add", "add add", "add"));
  EXPECT_THAT(Kernels(Fused(Chain(3), {.max_depth = 1})), ElementsAre("add", "add", "add"));
  EXPECT_THAT(Kernels(Fused(Chain(256))), testing::SizeIs(1));
  EXPECT_THAT(Kernels(Fused(Chain(257))), testing::SizeIs(2));
}

TEST(FuseOpsTest, OperatorWithoutAPatternIsRefusedByName) {
  static const bool registered = [] {
    ops::OpRegistry::Global()
        .Register("test.no_pattern")
        .Describe("x")
        .Argument("data", "Tensor", "input")
        .TypeRelation(ops::Identity);
    return true;
  }();
  ASSERT_TRUE(registered);
  const Error error =
      ErrorOf([] { Fused("def @main(%x: Tensor[(4), float32]) {\n  test.no_pattern(%x)\n}"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(error.message(),
              HasSubstr("the operator test.no_pattern has no pattern; register it with .Pattern"));
  EXPECT_EQ(error.span().line, 2);
}

// Nothing on the way recurses: a stack of 8 MiB would not hold 100,000 frames.
TEST(FuseOpsTest, ChainOfAHundredThousandParsesFusesPrintsAndDies) {
  const Module fused = Fused(Chain(100000));
  EXPECT_THAT(Kernels(fused), testing::SizeIs((100000 + 255) / 256));
  const std::string text = Print(fused);
  EXPECT_EQ(Kernels(Parse(text)).size(), Kernels(fused).size());
}

TEST(FuseOpsTest, WithoutGroupingAHundredThousandCallsAreAHundredThousandKernels) {
  EXPECT_THAT(Kernels(Fused(Chain(100000), {.group = false})), testing::SizeIs(100000));
}

}  // namespace
}  // namespace tenon::passes
