// Which operator calls share a kernel when fusion goes around reductions, and the reasons given.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/registry.h"
#include "tenon/tests/passes/fused.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

constexpr FuseOptions kExtended = {.mode = FusionMode::kExtended};

// Of @main with %x, %y: 64 x 512, %g: 512, %i: 2 x 32 x 28 x 28, %w: 64 x 512.
std::string MainOf(const std::string& body) {
  return StrCat("def @main(%x: Tensor[(64, 512), float32], %y: Tensor[(64, 512), float32], ",
                "%g: Tensor[(512), float32], %i: Tensor[(2, 32, 28, 28), float32], ",
                "%w: Tensor[(64, 512), float32]) {\n", body, "\n}");
}

struct Groups {
  const char* name;
  const char* body;
  std::vector<std::string> kernels;
  friend void PrintTo(const Groups& t, std::ostream* out) { *out << t.name; }
};
class FuseExtendedTest : public ::testing::TestWithParam<Groups> {};

TEST_P(FuseExtendedTest, MakesTheKernels) {
  EXPECT_THAT(Kernels(Fused(MainOf(GetParam().body), kExtended)),
              UnorderedElementsAreArray(GetParam().kernels));
}

TEST_P(FuseExtendedTest, KeepsCheckedTypes) {
  const Module once = Fused(MainOf(GetParam().body), kExtended);
  EXPECT_EQ(InferType(once), once);
}

TEST_P(FuseExtendedTest, AgainChangesNothing) {
  const Module once = Fused(MainOf(GetParam().body), kExtended);
  EXPECT_EQ(FuseOps(once, kExtended), once);
}

TEST_P(FuseExtendedTest, TextReadsBack) {
  const std::string text = Print(Fused(MainOf(GetParam().body), kExtended));
  EXPECT_EQ(Print(InferType(Parse(text))), text);
}

// The kernel would read %a where the softmax is computed, before it is bound.
TEST(FuseExtendedTest, AValueThatIsKeptIsReadInOneBodyOfALet) {
  const Module fused = Fused(MainOf(R"(
  %0 = max(%x, axis=[1], keepdims=True);
  %1 = (
    let %a = exp(sum(%y, axis=[1], keepdims=True));
    sum(exp(multiply(subtract(%x, %0), %a)), axis=[1], keepdims=True)
  );
  (%1, nn.softmax(%0, axis=0)))"),
                             kExtended);
  EXPECT_EQ(InferType(Parse(Print(fused))).functions().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    OneKernel, FuseExtendedTest,
    ::testing::Values(
        Groups{"Softmax",
               "%0 = max(%x, axis=[-1], keepdims=True); %1 = exp(subtract(%x, %0)); "
               "divide(%1, sum(%1, axis=[-1], keepdims=True))",
               {"max subtract exp sum divide"}},
        Groups{"SoftmaxWithoutKeptAxes",
               "%0 = expand_dims(max(%x, axis=[1]), axis=1); %1 = exp(subtract(%x, %0)); "
               "divide(%1, expand_dims(sum(%1, axis=[1]), axis=1))",
               {"max expand_dims subtract exp sum expand_dims divide"}},
        Groups{"LogSoftmax",
               "%0 = subtract(%x, max(%x, axis=[-1], keepdims=True)); "
               "subtract(%0, log(sum(exp(%0), axis=[-1], keepdims=True)))",
               {"max subtract exp sum log subtract"}},
        Groups{"LogOfASumOfExponentials",
               "%0 = max(%x, axis=[-1], keepdims=True); "
               "add(log(sum(exp(subtract(%x, %0)), axis=[-1], keepdims=True)), %0)",
               {"max subtract exp sum log add"}},
        Groups{"LayerNorm",
               "%0 = subtract(%x, mean(%x, axis=[-1], keepdims=True)); "
               "%1 = mean(multiply(%0, %0), axis=[-1], keepdims=True); "
               "multiply(divide(%0, sqrt(add(%1, 1e-5f))), %g)",
               {"mean subtract multiply mean add sqrt divide multiply"}},
        Groups{"RmsNorm",
               "%0 = mean(multiply(%x, %x), axis=[-1], keepdims=True); "
               "multiply(multiply(%x, rsqrt(add(%0, 1e-6f))), %g)",
               {"multiply mean add rsqrt multiply multiply"}},
        Groups{"InstanceNorm",
               "%0 = subtract(%i, mean(%i, axis=[2, 3], keepdims=True)); "
               "%1 = mean(multiply(%0, %0), axis=[2, 3], keepdims=True); "
               "multiply(%0, rsqrt(add(%1, 1e-5f)))",
               {"mean subtract multiply mean add rsqrt multiply"}},
        Groups{"Variance",
               "%0 = subtract(%x, mean(%x, axis=[1], keepdims=True)); "
               "mean(multiply(%0, %0), axis=[1])",
               {"mean subtract multiply mean"}},
        Groups{"ArgmaxOfSoftmax", "argmax(nn.softmax(%x), axis=[-1])", {"nn.softmax argmax"}},
        Groups{"WorkBeforeANormalisation",
               "nn.softmax(multiply(add(%x, %y), 0.125f))",
               {"add multiply nn.softmax"}},
        Groups{"WorkAfterASum", "tanh(sum(%x, axis=[1]))", {"sum tanh"}},
        Groups{"SumsThatMeet",
               "divide(sum(multiply(%x, %y), axis=[1]), sum(multiply(%x, %x), axis=[1]))",
               {"multiply sum multiply sum divide"}},
        Groups{"SmallArraysOfFewRows",
               "%0 = reshape(%g, newshape=[1, 512]); %1 = exp(%0); "
               "divide(%1, sum(%1, axis=[-1], keepdims=True))",
               {"reshape exp sum divide"}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    SeveralResults, FuseExtendedTest,
    ::testing::Values(
        Groups{"MeanAndVariance",
               "%0 = mean(%x, axis=[1], keepdims=True); %1 = subtract(%x, %0); "
               "(%0, mean(multiply(%1, %1), axis=[1], keepdims=True))",
               {"mean subtract multiply mean"}},
        Groups{"AMaximumBesideWhatReadsIt",
               "%0 = max(%x, axis=[-1], keepdims=True); (%0, subtract(%x, %0))",
               {"max subtract"}},
        Groups{"AnExponentialBesideItsSum", "%0 = exp(%x); (%0, sum(%0, axis=[1]))", {"exp sum"}},
        Groups{"LayerNormBesideMeanAndDeviation",
               "%0 = mean(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0); "
               "%2 = mean(multiply(%1, %1), axis=[-1], keepdims=True); "
               "%3 = rsqrt(add(%2, 1e-5f)); "
               "(multiply(multiply(%1, %3), %g), %0, %3)",
               {"mean subtract multiply mean add rsqrt multiply multiply"}},
        // The sum and the maximum are results that the other kernel reads.
        Groups{"SoftmaxBesideTheLogOfItsSum",
               "%0 = max(%x, axis=[-1], keepdims=True); %1 = exp(subtract(%x, %0)); "
               "%2 = sum(%1, axis=[-1], keepdims=True); "
               "(divide(%1, %2), add(log(%2), %0))",
               {"max subtract exp sum divide", "log add"}},
        Groups{"ASumThatIsNormalisedAndKept",
               "%0 = add(%x, %y); (nn.softmax(%0), %0)",
               {"add nn.softmax"}},
        Groups{"AnActivationThatIsKept",
               "%0 = nn.relu(%x); %1 = multiply(%0, 2f); (%0, %1)",
               {"nn.relu multiply"}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Apart, FuseExtendedTest,
    ::testing::Values(
        Groups{"SumsOverTheFirstAxis",
               "%0 = sum(%x, axis=[0], keepdims=True); divide(%x, %0)",
               {"sum", "divide"}},
        Groups{"ASumOfEverything", "divide(%x, sum(%x))", {"sum", "divide"}},
        Groups{"AHeavyOperatorBeforeASum",
               "sum(nn.dense(%x, %w, units=64), axis=[1])",
               {"nn.dense", "sum"}},
        Groups{"AHeavyOperatorAfterANormalisation",
               "nn.dense(nn.softmax(%x), %w, units=64)",
               {"nn.softmax", "nn.dense"}},
        Groups{"ATransposeBetween",
               "sum(transpose(nn.softmax(%x)), axis=[1])",
               {"nn.softmax", "transpose", "sum"}},
        Groups{"FewLargeRows",
               "%0 = reshape(%i, newshape=[2, 25088]); "
               "divide(%0, sum(%0, axis=[1], keepdims=True))",
               {"reshape", "sum", "divide"}},
        // Another kernel reads the first value and makes what the last one reads.
        Groups{"AWayAroundThroughAnotherKernel",
               "%0 = nn.relu(%x); %1 = cumsum(%0, axis=1); add(%0, tanh(%1))",
               {"nn.relu", "cumsum", "tanh add"}},
        // Rows of the first axes alone would leave too few to share out.
        Groups{"ASumOverTheFirstAxisThatIsKept",
               "%0 = sum(%x, axis=[0], keepdims=True); (%0, divide(%x, %0))",
               {"sum", "divide"}},
        Groups{"ShortRowsBesideTheirMaximum",
               "%0 = reshape(%x, newshape=[256, 128]); %1 = max(%0, axis=[1], keepdims=True); "
               "(%1, subtract(%0, %1))",
               {"reshape", "max", "subtract"}},
        Groups{"ReadersOfAnotherShapeWithoutAReduction",
               "%0 = exp(%g); (%0, multiply(%x, %0))",
               {"exp", "multiply"}}),
    [](const auto& info) { return info.param.name; });

TEST(FuseExtendedGroupNormTest, IsOneKernelBeforeTheReshapeThatEndsIt) {
  EXPECT_THAT(
      Kernels(Fused("def @main(%x: Tensor[(4, 32, 28, 28), float32], "
                    "%g: Tensor[(32, 1, 1), float32]) {\n"
                    "  %0 = reshape(%x, newshape=[4, 8, 4, 28, 28]);\n"
                    "  %1 = subtract(%0, mean(%0, axis=[2, 3, 4], keepdims=True));\n"
                    "  %2 = mean(multiply(%1, %1), axis=[2, 3, 4], keepdims=True);\n"
                    "  %3 = multiply(%1, rsqrt(add(%2, 1e-5f)));\n"
                    "  multiply(reshape(%3, newshape=[4, 32, 28, 28]), %g)\n"
                    "}",
                    kExtended)),
      UnorderedElementsAreArray(
          {"reshape", "mean subtract multiply mean add rsqrt multiply", "reshape", "multiply"}));
}

// Whatever the level asks for, nothing is grouped when grouping is off.
TEST(FuseExtendedOptionsTest, GroupingOffWins) {
  EXPECT_THAT(Kernels(Fused(MainOf("tanh(sum(%x, axis=[1]))"),
                            {.group = false, .mode = FusionMode::kExtended})),
              UnorderedElementsAreArray({"sum", "tanh"}));
}

TEST(FuseExtendedTextTest, SecondResultsMakeATuple) {
  EXPECT_EQ(Print(Fused("def @main(%x: Tensor[(64, 512), float32]) {\n"
                        "  %0 = nn.relu(%x);\n"
                        "  %1 = nn.softmax(%0);\n"
                        "  (%1, %0)\n"
                        "}",
                        kExtended)),
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(64, 512), float32]) -> (Tensor[(64, 512), float32], Tensor[(64, 512), float32]) {
  %2 = fn (%p0: Tensor[(64, 512), float32], Primitive=1) -> (Tensor[(64, 512), float32], Tensor[(64, 512), float32]) {
    %0 = nn.relu(%p0) /* ty=Tensor[(64, 512), float32] */;
    %1 = nn.softmax(%0) /* ty=Tensor[(64, 512), float32] */;
    (%0, %1)
  };
  %3 = %2(%x) /* ty=(Tensor[(64, 512), float32], Tensor[(64, 512), float32]) */;
  %4 = %3.1;
  %5 = %3.0;
  (%4, %5)
}
)");
}

std::string Chain(int length) {
  std::string text = "def @main(%x: Tensor[(64, 512), float32]) {\n  %0 = tanh(%x);\n";
  for (int i = 1; i < length; ++i) {
    if (i % 3 == 0) {
      StrAppend(&text, "  %", i, " = subtract(%", i - 3, ", %", i - 1, ");\n");
    } else if (i % 3 == 1) {
      StrAppend(&text, "  %", i, " = exp(%", i - 1, ");\n");
    } else {
      StrAppend(&text, "  %", i, " = sum(%", i - 1, ", axis=[1], keepdims=True);\n");
    }
  }
  return StrCat(text, "  %", length - 1, "\n}\n");
}

// Nothing recurses, and no group grows without bound.
TEST(FuseExtendedLimitsTest, LongChainsOfSumsAreKernelsOfBoundedSize) {
  const std::vector<std::string> kernels = Kernels(Fused(Chain(30001), kExtended));
  EXPECT_GE(kernels.size(), 30001U / 64);
  for (const std::string& kernel : kernels)
    ASSERT_LE(std::count(kernel.begin(), kernel.end(), ' '), 63) << kernel;
}

struct Reason {
  const char* name;
  const char* body;
  const char* producer;
  const char* consumer;
  bool fused;
  const char* reason;
  const char* hint;
  FusionMode mode = FusionMode::kExtended;
  friend void PrintTo(const Reason& t, std::ostream* out) { *out << t.name; }
};
class FusionReasonTest : public ::testing::TestWithParam<Reason> {};

TEST_P(FusionReasonTest, IsGivenForTheEdge) {
  const Reason& c = GetParam();
  FusionReport report;
  Fused(MainOf(c.body), {.mode = c.mode, .report = &report});
  bool found = false;
  for (const FusionDecision& decision : report) {
    if (NodeName(decision.producer) != c.producer || NodeName(decision.consumer) != c.consumer)
      continue;
    found = true;
    EXPECT_EQ(decision.fused, c.fused);
    EXPECT_THAT(decision.reason, HasSubstr(c.reason));
    EXPECT_THAT(decision.hint, HasSubstr(c.hint));
    EXPECT_EQ(decision.hint.empty(), c.fused);
  }
  EXPECT_TRUE(found) << ToText(report);
}

INSTANTIATE_TEST_SUITE_P(
    Edges, FusionReasonTest,
    ::testing::Values(
        Reason{"Elementwise", "exp(tanh(%x))", "tanh", "exp", true,
               "each element is computed where it is read", ""},
        Reason{"IntoASum", "sum(exp(%x), axis=[1])", "exp", "sum", true, "row by row", ""},
        Reason{"OutOfASum", "exp(sum(%x, axis=[1]))", "sum", "exp", true,
               "the same iteration of the 64 rows", ""},
        Reason{"AfterAHeavyOperator", "nn.relu(nn.dense(%x, %w, units=64))", "nn.dense", "nn.relu",
               true, "follows the heavy operator", ""},
        Reason{"IntoAHeavyOperator", "nn.dense(nn.relu(%x), %w, units=64)", "nn.relu", "nn.dense",
               false, "reads each element many times", "moving the work"},
        Reason{"TwoHeavyOperators",
               "nn.dense(nn.dense(%x, %w, units=64), reshape(%w, newshape=[512, 64]), units=512)",
               "nn.dense", "nn.dense", false, "each kernel holds one heavy operator", ""},
        Reason{"TooFewRows", "divide(%x, sum(%x))", "sum", "divide", false,
               "they share 1 row, too few to run in parallel", "at least 8 rows"},
        Reason{"Transpose", "sum(transpose(%x), axis=[1])", "transpose", "sum", false,
               "elements are moved", "transposition"},
        Reason{"OtherReaders", "%0 = exp(%x); (%0, sum(%0, axis=[1]))", "exp", "sum", true,
               "row by row", ""},
        Reason{"OtherReadersOfAReduction",
               "%0 = max(%x, axis=[1], keepdims=True); (%0, subtract(%x, %0))", "max", "subtract",
               true, "the same iteration of the 64 rows", ""},
        Reason{"OtherReadersOfShortRows",
               "%0 = reshape(%x, newshape=[256, 128]); %1 = max(%0, axis=[1], keepdims=True); "
               "(%1, subtract(%0, %1))",
               "max", "subtract", false, "rows of 128 elements are too short to gain",
               "rows of at least 512 elements"},
        Reason{"OtherReadersOfAnotherShape", "%0 = exp(%g); (%0, multiply(%x, %0))", "exp",
               "multiply", false, "others read the value, too, and it has another shape",
               "results of one shape, or a reduction of long rows"},
        Reason{"AResult", "%0 = exp(%x); (%0, %0)", "exp", "tuple", false, "", ""},
        Reason{"Opaque", "shape_of(exp(%x))", "exp", "shape_of", false, "shape_of is opaque",
               "another pattern"},
        Reason{"StopFusion", "exp(annotation.stop_fusion(tanh(%x)))", "tanh",
               "annotation.stop_fusion", false, "annotation.stop_fusion asks for it", "removing"},
        Reason{"AfterASumInTheReferencesMode", "exp(sum(%x, axis=[1]))", "sum", "exp", false,
               "nothing follows a reduction", "--fusion=extended", FusionMode::kRelay}),
    [](const auto& info) { return info.param.name; });

// The operators that fuse iterate over the same 20 x 20 elements, the last one over 20.
TEST(FusionReportTest, S001_44_TheReasonNamesTheIterationsThatDoNotMatch) {
  FusionReport report;
  FuseOps(InferType(Parse("def @main(%x: Tensor[(20, 20), float32]) {\n"
                          "  %0 = add(%x, %x);\n  %1 = add(%0, %0);\n"
                          "  %2 = sum(%1, axis=[-1]);\n  add(%2, %2)\n}")),
          {.mode = FusionMode::kRelay, .report = &report});
  std::vector<std::string> edges;
  for (const FusionDecision& d : report)
    edges.push_back(StrCat(d.fused ? "fused: " : "not fused: ", d.reason));
  EXPECT_THAT(edges, ::testing::UnorderedElementsAre(
                         "fused: each element is computed where it is read",
                         "fused: the reduction computes its input row by row",
                         "not fused: nothing follows a reduction in its kernel: sum iterates over "
                         "the elements of Tensor[(20, 20), float32], add over those of "
                         "Tensor[(20), float32]"));
  // Backed by the kinds of the operators.
  const auto pattern = [](const char* op) {
    return *static_cast<const ops::OpDef*>(ops::OpRegistry::Global().Get(op).As<ir::OpNode>())
                ->pattern;
  };
  EXPECT_LT(pattern("add"), ops::OpPattern::kCommReduce);
  EXPECT_EQ(pattern("sum"), ops::OpPattern::kCommReduce);
}

TEST(FusionReportTest, IsText) {
  FusionReport report;
  FuseOps(InferType(Parse("def @main(%x: Tensor[(4, 8), float32]) {\n"
                          "  shape_of(exp(tanh(%x)))\n}")),
          {.report = &report});
  const std::string text = ToText(report);
  EXPECT_THAT(text, HasSubstr("tanh ("));
  EXPECT_THAT(text, HasSubstr(": fused, each element is computed where it is read\n"));
  EXPECT_THAT(text, HasSubstr(": not fused, shape_of is opaque and shares its kernel with nothing\n"
                              "    would change it: registering it with another pattern\n"));
}

TEST(FusionReportTest, IsJson) {
  FusionReport report;
  FuseOps(InferType(Parse("def @main(%x: Tensor[(4, 8), float32]) { exp(tanh(%x)) }")),
          {.report = &report});
  const std::string json = ToJson(report);
  EXPECT_THAT(json, HasSubstr("\"fused\": true"));
  EXPECT_THAT(json, HasSubstr("\"reason\": \"each element is computed where it is read\""));
  EXPECT_THAT(json, HasSubstr("\"hint\": \"\""));
}

}  // namespace
}  // namespace tenon::passes
