// Kernels around reductions give what the unfused graph gives, on every shape and number of
// threads.
#include <cmath>
#include <cstring>
#include <limits>

#include "tenon/loop/print.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

const CompileOptions kExtended = {.library = LibraryChoice::kTe, .fusion = FusionMode::kExtended};
const CompileOptions kUnfused = {.opt_level = 0, .library = LibraryChoice::kTe};

struct Pattern {
  const char* name;
  const char* body;                // of @main with %x, %y: rows x columns and %g: columns
  bool empty_columns = true;       // whether rows of no elements have a result
  std::int64_t least_columns = 0;  // for which it is one kernel
  friend void PrintTo(const Pattern& p, std::ostream* out) { *out << p.name; }
};

ir::Module ModuleOf(const Pattern& pattern, std::int64_t rows, std::int64_t columns) {
  const std::string matrix = StrCat(": Tensor[(", rows, ", ", columns, "), float32]");
  return Parsed(StrCat("def @main(%x", matrix, ", %y", matrix, ", %g: Tensor[(", columns,
                       "), float32]) {\n", pattern.body, "\n}"));
}

const Pattern kPatterns[] = {
    {"Softmax",
     "%0 = max(%x, axis=[-1], keepdims=True); %1 = exp(subtract(%x, %0)); "
     "divide(%1, sum(%1, axis=[-1], keepdims=True))"},
    {"SoftmaxWithoutKeptAxes",
     "%0 = expand_dims(max(%x, axis=[1]), axis=1); %1 = exp(subtract(%x, %0)); "
     "divide(%1, expand_dims(sum(%1, axis=[1]), axis=1))"},
    {"LogSoftmax",
     "%0 = subtract(%x, max(%x, axis=[-1], keepdims=True)); "
     "subtract(%0, log(sum(exp(%0), axis=[-1], keepdims=True)))"},
    {"LogOfASumOfExponentials",
     "%0 = max(%x, axis=[-1], keepdims=True); "
     "add(log(sum(exp(subtract(%x, %0)), axis=[-1], keepdims=True)), %0)"},
    {"LayerNorm",
     "%0 = subtract(%x, mean(%x, axis=[-1], keepdims=True)); "
     "%1 = mean(multiply(%0, %0), axis=[-1], keepdims=True); "
     "add(multiply(divide(%0, sqrt(add(%1, 1e-5f))), %g), %y)"},
    {"LayerNormOfASumThatIsKept", "%0 = add(%x, %y); (nn.layer_norm(%0, %g, %g), %0)"},
    {"RmsNorm",
     "%0 = mean(multiply(%x, %x), axis=[-1], keepdims=True); "
     "multiply(multiply(%x, rsqrt(add(%0, 1e-6f))), %g)"},
    {"Variance",
     "%0 = subtract(%x, mean(%x, axis=[1], keepdims=True)); mean(multiply(%0, %0), axis=[1])"},
    {"MeanAndVariance",
     "%0 = mean(%x, axis=[1], keepdims=True); %1 = subtract(%x, %0); "
     "(%0, mean(multiply(%1, %1), axis=[1], keepdims=True))"},
    {"ArgmaxOfSoftmax", "argmax(nn.softmax(%x), axis=[-1])", false},
    {"CosineOfRows",
     "divide(sum(multiply(%x, %y), axis=[1]), "
     "add(sqrt(multiply(sum(multiply(%x, %x), axis=[1]), sum(multiply(%y, %y), axis=[1]))), "
     "1e-8f))"},
    {"TanhOfMeans", "tanh(multiply(mean(nn.relu(%x), axis=[1]), 2f))"},
    {"AMaximumBesideWhatReadsIt", "%0 = max(%x, axis=[-1], keepdims=True); (subtract(%x, %0), %0)",
     true, 512},
    {"AMeanWithoutKeptAxesBesideItsRows",
     "%0 = mean(%x, axis=[1]); (%0, subtract(%x, expand_dims(%0, axis=1)))", true, 512},
    {"AnExponentialBesideItsSum", "%0 = exp(%x); (sum(%0, axis=[1]), %0)", true, 512},
    {"SoftmaxBesideItsMaximumAndSum",
     "%0 = max(%x, axis=[-1], keepdims=True); %1 = exp(subtract(%x, %0)); "
     "%2 = sum(%1, axis=[-1], keepdims=True); (divide(%1, %2), %0, %2)",
     true, 512},
    {"SoftmaxBesideTheSumOfItsSquares",
     "%0 = max(%x, axis=[-1], keepdims=True); %1 = exp(subtract(%x, %0)); "
     "%2 = divide(%1, sum(%1, axis=[-1], keepdims=True)); "
     "(%2, sum(multiply(%2, %2), axis=[-1], keepdims=True))",
     true, 512},
    {"LayerNormBesideMeanAndDeviation",
     "%0 = mean(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0); "
     "%2 = sqrt(add(mean(multiply(%1, %1), axis=[-1], keepdims=True), 1e-5f)); "
     "%3 = divide(1f, %2); (add(multiply(multiply(%1, %3), %g), %y), %0, %3)",
     true, 512},
    {"RmsNormOfASumBesideThatSumAndTheScale",
     "%0 = add(%x, %y); %1 = mean(multiply(%0, %0), axis=[-1], keepdims=True); "
     "%2 = rsqrt(add(%1, 1e-6f)); (multiply(multiply(%0, %2), %g), %2, %0)",
     true, 512},
    {"AnActivationThatIsKept", "%0 = tanh(%x); (%0, multiply(%0, %y))"},
    {"AConcatenationOfACheapAndADearPart",
     "%0 = (nn.relu(%x), sigmoid(%y)); concatenate(%0, axis=0)"},
    {"AnExponentialThatTwoReductionsRead",
     "%0 = exp(%x); divide(max(%0, axis=[1]), add(sum(%0, axis=[1]), 1f))"},
    {"ALongExpressionThatIsReadTwice",
     "%0 = add(multiply(%x, %y), multiply(add(%x, 1f), subtract(%y, %g))); "
     "%1 = multiply(add(%0, multiply(%x, %g)), subtract(%0, multiply(%y, %g))); nn.softmax(%1)"},
};

class ExtendedFusionTest : public ::testing::TestWithParam<Pattern> {};

TEST_P(ExtendedFusionTest, IsOneKernelOfEqualNumbers) {
  constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {
      {1, 1},   {1, 17},  {17, 1},  {7, 13},  {15, 16},
      {16, 17}, {63, 65}, {9, 257}, {1, 263}, {64, 1000}};
  for (const auto& [rows, columns] : kShapes) {
    SCOPED_TRACE(StrCat(rows, " x ", columns));
    const ir::Module module = ModuleOf(GetParam(), rows, columns);
    const runtime::Inputs inputs = RandomInputs(module, 1);
    const Executable exe = ValueOrThrow(Compile(module, kExtended));
    if (columns >= GetParam().least_columns) {
      EXPECT_EQ(exe.num_kernel_calls(), 1);
    }
    const auto results = ValueOrThrow(exe.Run(inputs));
    ExpectClose(results, Outcome(module, inputs, kUnfused), 2e-4);
    if (rows * columns < 5000) ExpectClose(results, Interpreted(module, inputs), 2e-4);
  }
}

TEST_P(ExtendedFusionTest, TakesArraysOfNoElements) {
  for (const std::int64_t columns : {5, 0}) {
    if (columns == 0 && !GetParam().empty_columns) continue;
    const ir::Module module = ModuleOf(GetParam(), columns == 0 ? 5 : 0, columns);
    const runtime::Inputs inputs = RandomInputs(module, 1);
    ExpectClose(Outcome(module, inputs, kExtended), Outcome(module, inputs, kUnfused));
  }
}

TEST_P(ExtendedFusionTest, PassesNotANumberAndInfinityOn) {
  const std::int64_t columns = GetParam().least_columns + 33;
  const ir::Module module = ModuleOf(GetParam(), 5, columns);
  runtime::Inputs inputs = RandomInputs(module, 1);
  float* x = inputs["x"].data<float>();
  x[3] = std::numeric_limits<float>::quiet_NaN();
  x[columns + 5] = std::numeric_limits<float>::infinity();
  x[2 * columns + 32] = -std::numeric_limits<float>::infinity();
  x[3 * columns + 1] = 1e30F;
  ExpectClose(Outcome(module, inputs, kExtended), Outcome(module, inputs, kUnfused), 2e-4);
}

TEST_P(ExtendedFusionTest, HasTheSameBitsOnEveryNumberOfThreads) {
  const ir::Module module = ModuleOf(GetParam(), 211, 383);
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const Executable exe = ValueOrThrow(Compile(module, kExtended));
  const auto run = [&](int threads) {
    Session session(exe, {.threads = threads});
    return ValueOrThrow(session.Run(inputs));
  };
  const auto one = run(1);
  for (const int threads : {2, 3}) {
    const auto several = run(threads);
    for (std::size_t i = 0; i < one.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(one[i].size()) * one[i].dtype().bytes();
      EXPECT_EQ(std::memcmp(one[i].raw(), several[i].raw(), bytes), 0) << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, ExtendedFusionTest, ::testing::ValuesIn(kPatterns),
                         [](const auto& info) { return info.param.name; });

TEST(ExtendedFusionLevelTest, IsTheDefaultAtLevelThreeOnly) {
  const ir::Module module = ModuleOf(kPatterns[0], 64, 64);
  const auto kernels = [&](const CompileOptions& options) {
    return ValueOrThrow(Lower(module, options)).kernels.size();
  };
  EXPECT_EQ(kernels({.opt_level = 3}), 1U);
  EXPECT_EQ(kernels({.opt_level = 2}), 4U);
  EXPECT_EQ(kernels({.opt_level = 3, .fusion = FusionMode::kRelay}), 4U);
  EXPECT_EQ(kernels({.opt_level = 1, .fusion = FusionMode::kExtended}), 1U);
  EXPECT_EQ(kernels({.opt_level = 0, .fusion = FusionMode::kExtended}), 5U);
}

TEST(ExtendedFusionLevelTest, ReportsItsDecisions) {
  passes::FusionReport report;
  ValueOrThrow(Lower(ModuleOf(kPatterns[0], 64, 64), {.fusion_report = &report}));
  ASSERT_EQ(report.size(), 5U);
  for (const passes::FusionDecision& decision : report) EXPECT_TRUE(decision.fused);
}

// An exponential that both a sum and what follows the sum read, be it through cheap work, is kept
// for the row: the kernel has one array of a row and computes it once.
TEST(ExtendedFusionNormTest, KeepsExponentialsForTheRow) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(64, 96), float32]) {\n"
      "  %0 = multiply(exp(%x), 2f);\n"
      "  divide(%0, sum(%0, axis=[1], keepdims=True))\n"
      "}");
  const Lowered lowered = ValueOrThrow(Lower(module, kExtended));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const std::string loops =
      loop::Print(std::get<loop::Function>(lowered.kernels[0].choice.built.kernel));
  EXPECT_THAT(loops, ::testing::HasSubstr("allocate exp: float32[1, 96]"));
}

TEST(ExtendedFusionNormTest, InstanceAndGroupNormOfOddSizes) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(3, 6, 7, 5), float32], %g: Tensor[(6, 1, 1), float32]) {\n"
      "  %0 = subtract(%x, mean(%x, axis=[2, 3], keepdims=True));\n"
      "  %1 = mean(multiply(%0, %0), axis=[2, 3], keepdims=True);\n"
      "  %2 = multiply(%0, rsqrt(add(%1, 1e-5f)));\n"
      "  %3 = reshape(multiply(%2, %g), newshape=[3, 3, 2, 7, 5]);\n"
      "  %4 = subtract(%3, mean(%3, axis=[2, 3, 4], keepdims=True));\n"
      "  %5 = mean(multiply(%4, %4), axis=[2, 3, 4], keepdims=True);\n"
      "  %6 = multiply(%4, rsqrt(add(%5, 1e-5f)));\n"
      "  add(multiply(reshape(%6, newshape=[3, 6, 7, 5]), %g), %x)\n"
      "}");
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const Executable exe = ValueOrThrow(Compile(module, kExtended));
  EXPECT_EQ(exe.num_kernel_calls(), 3);
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs), 1e-3);
}

// Scale and shift are constants, as in models.
TEST(ExtendedFusionNormTest, GroupAndInstanceNormAreOneKernelAndViews) {
  struct Row {
    const char* norm;
    int kernels;
  };
  // What follows a group norm joins the view after it.
  const Row rows[] = {{"nn.relu(nn.instance_norm(%x, %g, %b))", 1},
                      {"nn.group_norm(%x, %g, %b, num_groups=4)", 1},
                      {"nn.group_norm(%x, %g, %b, num_groups=12, center=False)", 1},
                      {"nn.relu(nn.group_norm(%x, %g, %b, num_groups=3))", 2}};
  for (const auto& [norm, kernels] : rows) {
    SCOPED_TRACE(norm);
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(3, 12, 7, 5), float32], %g: Tensor[(12), float32], "
                      "%b: Tensor[(12), float32]) { ",
                      norm, " }"));
    const runtime::Inputs inputs = RandomInputs(module, 1);
    const std::vector<NDArray> wanted = Interpreted(module, inputs);
    for (int level = 0; level <= 4; ++level)
      ExpectClose(Outcome(module, inputs, {.opt_level = level}), wanted, 1e-3);
    const ir::Module bound =
        passes::BindParams(module, "main", {{"g", inputs.at("g")}, {"b", inputs.at("b")}});
    const Executable exe = ValueOrThrow(Compile(bound, kExtended));
    EXPECT_EQ(exe.num_kernel_calls(), kernels);
    ExpectClose(ValueOrThrow(exe.Run({{"x", inputs.at("x")}})), wanted, 1e-3);
  }
}

}  // namespace
}  // namespace tenon
