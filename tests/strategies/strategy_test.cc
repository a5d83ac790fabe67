#include "tenon/strategies/strategy.h"

#include <algorithm>

#include "tenon/loop/print.h"
#include "tenon/ops/builders.h"
#include "tenon/strategies/onednn/epilogue.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using onednn::Epilogue;
using onednn::PostOp;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;
using Kind = PostOp::Kind;

// One convolution with what follows it; %r has the type of its result, %b one value a channel.
ir::Module ConvThen(const std::string& rest) {
  return Parsed(
      StrCat("def @main(%x: Tensor[(2, 5, 9, 7), float32], "
             "%w: Tensor[(8, 5, 3, 3), float32], "
             "%r: Tensor[(2, 8, 9, 7), float32], "
             "%b: Tensor[(8), float32]) {\n"
             "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);\n",
             rest, "\n}"));
}
ir::Module DenseOf(int rows, int columns, const std::string& rest) {
  return Parsed(StrCat("def @main(%x: Tensor[(", rows, ", 17), float32], %w: Tensor[(", columns,
                       ", 17), float32], %r: Tensor[(", rows, ", ", columns,
                       "), float32], %b: Tensor[(", columns,
                       "), float32]) {\n  %0 = nn.dense(%x, %w);\n", rest, "\n}"));
}
ir::Module DenseThen(const std::string& rest) { return DenseOf(5, 8, rest); }

std::vector<std::string> Implementations(const ir::Module& module, LibraryChoice library) {
  const auto lowered = Lower(module, {.library = library});
  if (!lowered.ok()) return {std::string(lowered.status().message())};
  std::vector<std::string> names;
  for (const LoweredKernel& kernel : lowered->kernels)
    names.push_back(kernel.choice.implementation);
  return names;
}

std::string Explanation(const ir::Module& module, LibraryChoice library = LibraryChoice::kLibrary) {
  const auto lowered = Lower(module, {.library = library});
  if (!lowered.ok()) return std::string(lowered.status().message());
  std::string text;
  for (const LoweredKernel& kernel : lowered->kernels) text += kernel.choice.Explanation();
  return text;
}

// --- deferral

TEST(StrategyTest, AKernelThatIsDeferredIsTheOneThatIsLoweredAtOnce) {
  for (const ir::Module& module :
       {ConvThen("nn.relu(nn.bias_add(%0, %b))"), DenseThen("nn.softmax(%0)"),
        Parsed("def @main(%x: Tensor[(3, 17), float32]) { (exp(%x), sum(%x, axis=[1])) }")}) {
    for (const LoweredKernel& kernel : ValueOrThrow(Lower(module)).kernels) {
      const auto* group = kernel.function.As<ir::FunctionNode>();
      std::vector<NDArray> constants(group->params.size());
      if (constants.size() > 1)
        constants[1] = Random(ir::StaticShape(group->params[1].checked_type(), "w"), 1);
      const auto made = [&](bool defer) {
        const Choice choice = Choose({.function = group, .name = "f", .constants = constants},
                                     {.library = LibraryChoice::kTe, .lowering = {.defer = defer}});
        return std::get<loop::Function>(choice.built.kernel);
      };
      const loop::Function at_once = made(false), deferred = made(true);
      EXPECT_EQ(at_once.origin, "");
      EXPECT_NE(deferred.origin, "");
      EXPECT_EQ(deferred.origin, made(true).origin);
      EXPECT_EQ(loop::Print(deferred), loop::Print(at_once));
    }
  }
}

// Schedules read caches and cores, so code in the cache is for these alone.
TEST(StrategyTest, AnOriginSaysWhatTheScheduleReadsOfTheTarget) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(1024, 3072), float32]) { sum(%x, axis=[0]) }");
  const LoweredKernel kernel = ValueOrThrow(Lower(module)).kernels.at(0);
  const auto origin = [&](const Target& target) {
    const Choice choice =
        Choose({.function = kernel.function.As<ir::FunctionNode>(), .name = "f", .constants = {{}}},
               {.library = LibraryChoice::kTe, .lowering = {.target = target, .defer = true}});
    return std::get<loop::Function>(choice.built.kernel).origin;
  };
  const Target host = jit::HostTarget();
  EXPECT_EQ(origin(host), origin(host));
  for (const auto change :
       {+[](Target* t) { t->cores += 7; }, +[](Target* t) { t->l1_bytes /= 2; },
        +[](Target* t) { t->l2_bytes *= 2; }, +[](Target* t) { t->l3_bytes *= 2; }}) {
    Target other = host;
    change(&other);
    EXPECT_NE(origin(other), origin(host));
  }
}

// --- choice

TEST(StrategyTest, ProductsThatGeneratedCodeMakesFasterAreGenerated) {
  const std::string batches =
      "def @main(%a: Tensor[(3, 5, 17), float32], %b: Tensor[(3, 17, 16), float32]) "
      "{ nn.batch_matmul(%a, %b) }";
  const ir::Expr of_constant = ops::Dense(ir::Var::Make("x", ir::TensorType({5, 17}, Float32)),
                                          ir::Constant::Make(Random({16, 17}, 1)));
  struct Case {
    ir::Module module;
    const char* why;
  };
  const Case cases[] = {
      {DenseOf(1, 16, "%0"), "one row by a matrix reads the matrix once"},
      {DenseOf(5, 15, "%0"), "the few columns do not fill its blocks"},
      {DenseOf(12, 16, "%0"), "so many rows pay for packing the second operand"},
      {Parsed(batches), "each matrix of a batch has a second operand of its own"},
      {ir::Module::FromExpr(of_constant), "the second operand is constant"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Implementations(c.module, LibraryChoice::kAuto), ElementsAre(StartsWith("te.")));
    EXPECT_THAT(Explanation(c.module, LibraryChoice::kAuto), HasSubstr(c.why));
    EXPECT_THAT(Implementations(c.module, LibraryChoice::kLibrary), ElementsAre("onednn"));
  }
  for (const ir::Module& other : {DenseOf(2, 16, "%0"), DenseOf(11, 16, "%0")})
    EXPECT_THAT(Implementations(other, LibraryChoice::kAuto), ElementsAre("onednn"));
}

// Whole panels of a computed operand in rows are read where they are; ragged ones, constants and
// large operands for many rows are packed. Nothing runs on the target, whose vectors decide.
TEST(StrategyTest, RowsOfTheSecondOperandAreReadInPlaceWhereThatPays) {
  Target target = testing_targets::Avx512();
  target.l2_bytes = 1 << 20;
  struct Case {
    std::int64_t batch, rows, columns, depth;
    bool is_packed;
  };
  const Case cases[] = {{1, 16, 256, 100, false}, {1, 33, 256, 100, true}, {1, 100, 64, 7, false},
                        {1, 16, 250, 100, true},  {3, 50, 128, 50, false}, {3, 50, 16, 1000, false},
                        {3, 50, 128, 100, false}, {3, 50, 256, 100, true}, {1, 16, 256, 0, false}};
  for (const Case& c : cases) {
    const std::string batch = c.batch > 1 ? StrCat(c.batch, ", ") : "";
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(", batch, c.rows, ", ", c.depth, "), float32], %w: Tensor[(",
               batch, c.depth, ", ", c.columns, "), float32]) { ",
               c.batch > 1 ? "nn.batch_matmul(%x, %w)" : "nn.matmul(%x, %w, units=None)", " }"));
    SCOPED_TRACE(StrCat(c.batch, " x ", c.rows, " x ", c.columns, " x ", c.depth));
    const auto lowered =
        ValueOrThrow(Lower(module, {.target = target, .library = LibraryChoice::kTe}));
    const std::string loops =
        loop::Print(std::get<loop::Function>(lowered.kernels[0].choice.built.kernel));
    EXPECT_EQ(loops.find("allocate packed") != std::string::npos, c.is_packed);
    const runtime::Inputs inputs = RandomInputs(module, 1);
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kTe}),
                Interpreted(module, inputs));
  }
}

TEST(StrategyTest, FewColumnsOfARowFillATile) {
  const auto module = [](int columns) {
    return Parsed(StrCat("def @main(%x: Tensor[(9, 17), float32], %w: Tensor[(17, ", columns,
                         "), float32]) { nn.matmul(%x, %w, units=None) }"));
  };
  for (const int columns : {2, 3, 7, 15, 16, 17}) {
    EXPECT_THAT(Implementations(module(columns), LibraryChoice::kTe),
                ElementsAre("te.matmul.tiled"));
    const runtime::Inputs inputs = {{"x", Random({9, 17}, 1)}, {"w", Random({17, columns}, 2)}};
    ExpectClose(Outcome(module(columns), inputs, {.library = LibraryChoice::kTe}),
                Interpreted(module(columns), inputs));
  }
  EXPECT_THAT(Implementations(module(1), LibraryChoice::kTe), ElementsAre("te.matmul.plain"));
}

constexpr const char* kNotNarrow =
    "  onednn_narrow: no, it sums uint8 by int8 in int32 and bfloat16 in float32\n";

TEST(StrategyTest, S004_27_TheBestRowIsTakenAndTheRestIsNotNeeded) {
  const char* no_dots = "no, the target adds up no products of these types by one instruction\n";
  EXPECT_EQ(Explanation(DenseThen("multiply(%0, 2f)")),
            StrCat(kNotNarrow,
                   "  onednn: chosen, the best whose condition holds\n"
                   "  onednn_scaled: no, its right operand is no known bytes times a scale\n"
                   "  te.dense.dot_tiled: ",
                   no_dots,
                   "  te.dense.tiled: no, 5 rows are fewer than 12, which pay for packing the "
                   "right operand\n"
                   "  te.dense.plain: not needed\n"));
}

TEST(StrategyTest, S004_27_ARefusalIsExplainedAndTheNextIsTaken) {
  EXPECT_THAT(
      Explanation(ConvThen("exp(%0)")),
      AllOf(HasSubstr(kNotNarrow), HasSubstr("  onednn: no, oneDNN has no post-op for exp here\n"),
            HasSubstr("  te.conv2d.plain: chosen, the best whose condition "
                      "holds\n")));
}

TEST(StrategyTest, AFunctionWithoutAnchorHasOneCandidate) {
  EXPECT_EQ(Explanation(Parsed("def @main(%x: Tensor[(3), float32]) { exp(%x) }")),
            "  te: chosen, the best whose condition holds\n");
}

TEST(StrategyTest, TeNeverUsesALibrary) {
  for (const ir::Module& module :
       {ConvThen("nn.relu(%0)"), DenseThen("nn.relu(%0)"), DenseThen("add(%0, %r)"),
        Parsed("def @main(%a: Tensor[(3, 5, 7), float32], %b: Tensor[(3, 7, 4), float32]) "
               "{ nn.batch_matmul(%a, %b) }")}) {
    EXPECT_THAT(Implementations(module, LibraryChoice::kTe), ElementsAre(StartsWith("te.")));
    EXPECT_THAT(Explanation(module, LibraryChoice::kTe),
                HasSubstr("onednn: no, generated code is asked for"));
    EXPECT_THAT(Implementations(module, LibraryChoice::kLibrary), ElementsAre("onednn"));
  }
}

TEST(StrategyTest, WhatRunsIsNamedByTheKernel) {
  const ir::Module module = DenseOf(5, 16, "multiply(%0, 2f)");
  const Executable with = Compile(module).value();
  EXPECT_THAT(with.kernels()[0]->implementation(), HasSubstr("onednn"));
  const Executable without = Compile(module, {.library = LibraryChoice::kTe}).value();
  EXPECT_THAT(without.kernels()[0]->implementation(), Not(HasSubstr("onednn")));
}

TEST(StrategyTest, WhatLosesNanInOneDnnIsGeneratedAfterAProduct) {
  for (const char* after : {"nn.relu(%0)", "sigmoid(%0)", "tanh(%0)"}) {
    const ir::Module module = DenseOf(5, 16, after);
    EXPECT_THAT(Explanation(module, LibraryChoice::kAuto),
                HasSubstr("would give a number for NaN"));
    const Executable made = Compile(module).value();
    EXPECT_THAT(made.kernels()[0]->implementation(), Not(HasSubstr("onednn")));
  }
}

TEST(StrategyRefusalTest, OneDnnTakesFloat32Only) {
  for (const char* type : {"float64", "int32"}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(5, 7), ", type, "], %w: Tensor[(3, 7), ", type,
                      "]) { nn.dense(%x, %w) }"));
    EXPECT_THAT(Explanation(module), HasSubstr("onednn: no, it takes float32 only"));
    ExpectClose(Outcome(module, RandomInputs(module, 1)),
                Interpreted(module, RandomInputs(module, 1)));
  }
}

TEST(StrategyRefusalTest, OneDnnTakesOnlyTheLayoutsThatItNames) {
  const auto conv = [](const char* x, const char* w, const char* attributes) {
    return Parsed(StrCat("def @main(%x: Tensor[(", x, "), float32], %w: Tensor[(", w,
                         "), float32]) { nn.conv2d(%x, %w, ", attributes, ") }"));
  };
  EXPECT_THAT(Explanation(conv("5, 9, 7, 2", "8, 5, 3, 3", "data_layout=\"CHWN\"")),
              HasSubstr("no, it takes the layouts NCHW and NHWC, not CHWN"));
  EXPECT_THAT(Explanation(conv("2, 5, 9, 7", "3, 3, 5, 8", "kernel_layout=\"HWIO\"")),
              HasSubstr("no, it takes kernels in OIHW, not HWIO"));
  EXPECT_THAT(Explanation(conv("2, 5, 9, 7", "8, 5, 3, 3", "out_layout=\"NHWC\"")),
              HasSubstr("no, it keeps the layout of the data"));
  EXPECT_THAT(Explanation(conv("2, 9, 7, 5", "8, 5, 3, 3", "data_layout=\"NHWC\"")),
              HasSubstr("onednn: chosen"));
}

TEST(StrategyRefusalTest, AResultWithoutElementsIsNotForOneDnn) {
  EXPECT_THAT(Explanation(Parsed("def @main(%x: Tensor[(0, 7), float32], "
                                 "%w: Tensor[(3, 7), float32]) { nn.dense(%x, %w) }")),
              HasSubstr("no, the result has no elements"));
  EXPECT_THAT(Explanation(Parsed("def @main(%x: Tensor[(2, 0), float32], "
                                 "%w: Tensor[(3, 0), float32]) { nn.dense(%x, %w) }")),
              HasSubstr("no, the sum has no terms"));
}

// A padding and a dilation that each fit, but not together, ended the process.
TEST(StrategyRefusalTest, PaddedImagesBeyond32BitsAreNotForOneDnn) {
  const auto explained = [](const char* op, const char* attributes) {
    return Explanation(Parsed(StrCat("def @main(%x: Tensor[(1, 16, 4, 4), float32], ",
                                     "%w: Tensor[(16, 16, 3, 3), float32]) { ", op, "(%x, %w, ",
                                     attributes, ") }")));
  };
  for (const char* attributes : {"padding=[4294967296, 1], strides=[2147483647, 1]",
                                 "padding=[2147483645, 1], strides=[2147483646, 1]",
                                 "padding=[1500000000, 1], dilation=[1500000000, 1]"})
    EXPECT_THAT(explained("nn.conv2d", attributes), HasSubstr("onednn: no, the padded image is"));
  EXPECT_THAT(explained("nn.conv2d_transpose", "padding=[1500000000, 1], dilation=[1500000000, 1]"),
              HasSubstr("onednn: no, the padded image is"));
}

// oneDNN 3.7 ends the process while it plans some of these on CPUs with AVX-512.
TEST(StrategyRefusalTest, ConvolutionsOfEveryPairOfChannelsAreCompiled) {
  for (const auto& [in, out] :
       {std::pair(1024, 2048), std::pair(1024, 512), std::pair(256, 1024), std::pair(512, 1024),
        std::pair(512, 2048), std::pair(1024, 2040)}) {
    for (const bool nhwc : {false, true}) {
      const std::string image = nhwc ? StrCat("1, 3, 3, ", in) : StrCat("1, ", in, ", 3, 3");
      const ir::Module module = Parsed(
          StrCat("def @main(%x: Tensor[(", image, "), float32], %w: Tensor[(", out, ", ", in,
                 ", 1, 1), float32]) { nn.relu(nn.conv2d(%x, %w, strides=[2, 2], channels=", out,
                 ", kernel_size=[1, 1], data_layout=\"", nhwc ? "NHWC" : "NCHW", "\")) }"));
      const runtime::Inputs inputs = RandomInputs(module, 1);
      const std::vector<NDArray> expected =
          Outcome(module, inputs, {.library = LibraryChoice::kTe});
      for (const LibraryChoice library : {LibraryChoice::kAuto, LibraryChoice::kLibrary})
        ExpectClose(Outcome(module, inputs, {.library = library}), expected);
    }
  }
}

TEST(StrategyRefusalTest, ABroadcastFirstOperandIsNotForOneDnn) {
  EXPECT_THAT(Explanation(Parsed("def @main(%a: Tensor[(1, 5, 7), float32], "
                                 "%b: Tensor[(3, 7, 4), float32]) { nn.batch_matmul(%a, %b) }")),
              HasSubstr("no, the first operand is shared by a batch"));
}

// --- epilogues

struct EpilogueCase {
  const char* name;
  const char* rest;
  std::vector<PostOp> post_ops;
  bool has_bias;
  int operands;
};

void PrintTo(const EpilogueCase& c, std::ostream* out) { *out << c.name; }

class EpilogueTest : public ::testing::TestWithParam<EpilogueCase> {};

TEST_P(EpilogueTest, IsReadFromTheGraphAndComputedByTheLibrary) {
  const EpilogueCase& c = GetParam();
  for (const ir::Module& module : {ConvThen(c.rest), DenseThen(c.rest)}) {
    const bool is_conv = ir::PrintModule(module).find("conv2d") != std::string::npos;
    // There the vector would run along the width.
    if (is_conv && std::string(c.name) == "BiasByBroadcast") continue;
    const auto lowered = Lower(module, {.library = LibraryChoice::kLibrary});
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    const LoweredKernel& kernel = lowered->kernels.back();
    if (is_conv && c.operands > 0 && !onednn::Facts().nchw_takes_tensors) {
      EXPECT_THAT(kernel.choice.Explanation(), HasSubstr("takes no tensor after it in NCHW"));
    } else {
      EXPECT_EQ(kernel.choice.implementation, "onednn") << kernel.choice.Explanation();
    }
    const auto& function = *kernel.function.As<ir::FunctionNode>();
    const Group group{.function = &function, .name = kernel.name, .constants = {}};
    ASSERT_NE(group.Anchor(), nullptr);
    const auto read = onednn::ReadEpilogue(function, *group.Anchor(), 1);
    ASSERT_TRUE(std::holds_alternative<Epilogue>(read)) << std::get<std::string>(read);
    const auto& epilogue = std::get<Epilogue>(read);
    EXPECT_EQ(static_cast<bool>(epilogue.bias), c.has_bias);
    EXPECT_EQ(epilogue.operands.size(), static_cast<std::size_t>(c.operands));
    EXPECT_EQ(epilogue.post_ops, c.post_ops);
    const runtime::Inputs inputs = RandomInputs(module, 7);
    const auto expected = Interpreted(module, inputs);
    for (const LibraryChoice library :
         {LibraryChoice::kAuto, LibraryChoice::kLibrary, LibraryChoice::kTe})
      ExpectClose(Outcome(module, inputs, {.library = library}), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, EpilogueTest,
    ::testing::Values(
        EpilogueCase{"Nothing", "%0", {}, false, 0},
        EpilogueCase{"Relu", "nn.relu(%0)", {{Kind::kRelu}}, false, 0},
        EpilogueCase{"LeakyRelu", "nn.leaky_relu(%0, alpha=0.5f)", {{Kind::kRelu, 0.5F}}, false, 0},
        EpilogueCase{
            "Clip", "clip(%0, a_min=-0.5f, a_max=0.25f)", {{Kind::kClip, -0.5F, 0.25F}}, false, 0},
        EpilogueCase{"Sigmoid", "sigmoid(%0)", {{Kind::kSigmoid}}, false, 0},
        EpilogueCase{"Tanh", "tanh(%0)", {{Kind::kTanh}}, false, 0},
        EpilogueCase{"BiasAdd", "nn.bias_add(%0, %b)", {}, true, 0},
        EpilogueCase{"BiasByBroadcast", "add(%b, %0)", {}, true, 0},
        EpilogueCase{"BiasThenRelu", "nn.relu(nn.bias_add(%0, %b))", {{Kind::kRelu}}, true, 0},
        EpilogueCase{"ResidualAdd", "add(%0, %r)", {{Kind::kAddTensor}}, false, 1},
        EpilogueCase{"ResidualAddFromTheLeft", "add(%r, %0)", {{Kind::kAddTensor}}, false, 1},
        EpilogueCase{"BiasResidualRelu",
                     "nn.relu(add(nn.bias_add(%0, %b), %r))",
                     {{Kind::kAddTensor}, {Kind::kRelu}},
                     true,
                     1},
        EpilogueCase{"ResidualProduct", "multiply(%r, %0)", {{Kind::kMulTensor}}, false, 1},
        EpilogueCase{"Swish", "multiply(%0, sigmoid(%0))", {{Kind::kSwish, 1.0F}}, false, 0},
        EpilogueCase{
            "SwishFromTheLeft", "multiply(sigmoid(%0), %0)", {{Kind::kSwish, 1.0F}}, false, 0},
        EpilogueCase{"SwishOfBiased",
                     "%1 = nn.bias_add(%0, %b); multiply(%1, sigmoid(%1))",
                     {{Kind::kSwish, 1.0F}},
                     true,
                     0},
        EpilogueCase{"HardSwishProductOverSix",
                     "divide(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=6f)), 6f)",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishProductOverSixFromTheLeft",
                     "divide(multiply(clip(add(3f, %0), a_min=0f, a_max=6f), %0), 6f)",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishGateOverSix",
                     "multiply(%0, divide(clip(add(%0, 3f), a_min=0f, a_max=6f), 6f))",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishGateTimesASixth",
                     "multiply(%0, multiply(clip(add(%0, 3f), a_min=0f, a_max=6f), 0.16666667f))",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishHardSigmoid",
                     "multiply(clip(add(divide(%0, 6f), 0.5f), a_min=0f, a_max=1f), %0)",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishHardSigmoidTimesASixth",
                     "multiply(%0, clip(add(multiply(%0, 0.16666667f), 0.5f), a_min=0f, a_max=1f))",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{
            "ScalarSum", "subtract(add(%0, 2f), 0.5f)", {{Kind::kLinear, 1, 1.5F}}, false, 0},
        EpilogueCase{
            "ScalarProduct", "divide(multiply(%0, 3f), 2f)", {{Kind::kLinear, 1.5F}}, false, 0}),
    [](const auto& info) { return info.param.name; });

// Sizes that other primitives of the library take.
ir::Module WideConvThen(int in, int out, int groups, int kernel, const std::string& rest) {
  return Parsed(StrCat("def @main(%x: Tensor[(1, ", in, ", 14, 14), float32], %w: Tensor[(", out,
                       ", ", in / groups, ", ", kernel, ", ", kernel,
                       "), float32], %r: Tensor[(1, ", out, ", 14, 14), float32], %b: Tensor[(",
                       out, "), float32]) {\n  %0 = nn.conv2d(%x, %w, padding=[", kernel / 2,
                       "], groups=", groups, ");\n", rest, "\n}"));
}

struct Chain {
  const char* name;
  const char* rest;
};
void PrintTo(const Chain& c, std::ostream* out) { *out << c.name; }

class ChainTest : public ::testing::TestWithParam<Chain> {};

// Post-ops of one kind in a row, each with its own numbers.
TEST_P(ChainTest, CountsEachOfItsPostOps) {
  const std::string rest = GetParam().rest;
  for (const ir::Module& module :
       {ConvThen(rest), DenseThen(rest), WideConvThen(16, 16, 1, 3, rest),
        WideConvThen(64, 64, 1, 1, rest), WideConvThen(32, 32, 32, 3, rest)}) {
    const runtime::Inputs inputs = RandomInputs(module, 3);
    SCOPED_TRACE(ValueOrThrow(Compile(module, {.library = LibraryChoice::kLibrary}))
                     .kernels()[0]
                     ->implementation());
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                Interpreted(module, inputs), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(
    PostOps, ChainTest,
    ::testing::Values(
        Chain{"Sums", "subtract(add(%0, 2f), 0.5f)"},
        Chain{"Products", "add(multiply(multiply(nn.relu(%0), 6f), 0.5f), 3f)"},
        Chain{"HardSwishTimesASixth",
              "multiply(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=6f)), 0.16666667f)"},
        Chain{"Clips", "clip(clip(%0, a_min=-1f, a_max=1f), a_min=-0.25f, a_max=0.125f)"},
        Chain{"LeakyRelus", "nn.leaky_relu(nn.leaky_relu(%0, alpha=0.5f), alpha=0.25f)"},
        Chain{"ClipAndRelu", "nn.relu(clip(%0, a_min=-1f, a_max=1f))"},
        Chain{"Residuals", "add(add(%0, %r), %r)"},
        Chain{"BiasResidualProduct", "multiply(add(nn.bias_add(%0, %b), %r), %r)"},
        Chain{"Relus", "nn.relu(add(%r, nn.relu(%0)))"},
        Chain{"Swishes",
              "%1 = nn.bias_add(%0, %b); %2 = multiply(%1, sigmoid(%1)); "
              "multiply(%2, sigmoid(%2))"}),
    [](const auto& info) { return info.param.name; });

// Almost hard-swish, almost swish: each must come out as what it is.
TEST(EpilogueEdgeTest, GatesThatOnlyLookLikeHardSwishAreComputedAsWritten) {
  for (const char* rest :
       {"divide(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=5f)), 6f)",
        "divide(multiply(%0, clip(add(%0, 2f), a_min=0f, a_max=6f)), 6f)",
        "divide(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=6f)), 3f)",
        "divide(multiply(%0, clip(add(%0, 3f), a_min=-1f, a_max=6f)), 6f)",
        "multiply(%0, clip(add(divide(%0, 5f), 0.5f), a_min=0f, a_max=1f))",
        "multiply(%0, clip(add(divide(6f, %0), 0.5f), a_min=0f, a_max=1f))",
        "multiply(%0, sigmoid(multiply(%0, 2f)))", "multiply(%r, sigmoid(%0))",
        "multiply(nn.relu(%0), sigmoid(%0))", "subtract(2f, %0)", "subtract(%r, %0)",
        "divide(2f, %0)", "divide(%r, %0)", "add(%0, %0)", "multiply(%0, %0)",
        "%1 = nn.relu(%0); add(%1, %0)", "add(nn.relu(%0), %r)", "nn.bias_add(nn.relu(%0), %b)",
        "nn.relu(add(%r, multiply(%0, 2f)))"}) {
    SCOPED_TRACE(rest);
    for (const ir::Module& module : {ConvThen(rest), DenseThen(rest)}) {
      const runtime::Inputs inputs = RandomInputs(module, 3);
      ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                  Interpreted(module, inputs));
    }
  }
}

// One factor stands for several constants only where it gives what they give one after the other.
TEST(EpilogueEdgeTest, ConstantsWhoseProductFloat32DoesNotHoldStayApart) {
  struct Case {
    float value;  // of all elements of the operands
    const char* rest;
  };
  for (const auto& [value, rest] :
       {Case{0, "multiply(multiply(%0, 1e30f), 2e30f)"}, Case{1e18F, "divide(%0, 3e38f)"},
        Case{1e18F, "subtract(multiply(subtract(%0, 1e30f), 1e30f), 1f)"}}) {
    SCOPED_TRACE(rest);
    for (const ir::Module& module : {ConvThen(rest), DenseThen(rest)}) {
      runtime::Inputs inputs = RandomInputs(module, 3);
      for (const char* name : {"x", "w"})
        std::fill_n(inputs.at(name).data<float>(), inputs.at(name).size(), value);
      ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                  Interpreted(module, inputs));
    }
  }
}

// A large number that is added and taken off again rounds to its steps: a quantiser.
TEST(EpilogueEdgeTest, ConstantsThatCancelStayApart) {
  for (const char* rest : {"subtract(add(%0, 12582912f), 12582912f)",
                           "multiply(subtract(add(%0, 12582912f), 12582912f), 0.3f)",
                           "add(divide(subtract(add(%0, 12582912f), 12582912f), 7f), 2f)",
                           "subtract(add(add(%0, 0.375f), 12582912f), 12582912f)",
                           "subtract(add(multiply(%0, 3f), 12582912f), 12582912f)",
                           "subtract(multiply(add(%0, 12582912f), 0.25f), 3145728f)"}) {
    SCOPED_TRACE(rest);
    for (const ir::Module& module : {ConvThen(rest), DenseThen(rest)}) {
      runtime::Inputs inputs = RandomInputs(module, 3);
      // Quarters, whose products and sums are exact and whose halves no order of terms moves.
      for (const char* name : {"x", "w"}) {
        NDArray& operand = inputs.at(name);
        for (std::int64_t i = 0; i < operand.size(); ++i)
          operand.data<float>()[i] = static_cast<float>(i * 7 % 9 - 4) / 4;
      }
      ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                  Interpreted(module, inputs));
    }
  }
}

// Its values lie along another axis than the channels.
TEST(EpilogueEdgeTest, WhatGivesASumMoreAxesIsNoBias) {
  const char* const body =
      "(%x: Tensor[(8, 17), float32], %w: Tensor[(8, 17), float32], "
      "%b: Tensor[(1, 8, 1), float32]";
  const char* const sum = "{ add(nn.dense(%x, %w), %b) }";
  const ir::Module plain = Parsed(StrCat("def @main", body, ") ", sum));
  const ir::Module composite = Parsed(StrCat("def @sum", body, ", Composite=\"dnnl.dense_add\") ",
                                             sum, " def @main", body, ") { @sum(%x, %w, %b) }"));
  const runtime::Inputs inputs = RandomInputs(plain, 3);
  ExpectClose(Outcome(composite, inputs), Interpreted(plain, inputs));
}

TEST(EpilogueEdgeTest, MoreOperatorsThanAPrimitiveTakesAreGenerated) {
  std::string rest;
  for (int i = 0; i < 36; ++i)
    StrAppend(&rest, "%", i + 1, i % 2 == 0 ? " = sigmoid(%" : " = tanh(%", i, ");\n");
  for (const ir::Module& module :
       {ConvThen(StrCat(rest, "nn.relu(%36)")), DenseThen(StrCat(rest, "nn.relu(%36)"))}) {
    const runtime::Inputs inputs = RandomInputs(module, 3);
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                Interpreted(module, inputs));
  }
}

// Post-ops come from the graph, never from a name, so that no bias gets lost.
TEST(BiasTest, IsAppliedHoweverItIsSpelledAndWhereverItComesFrom) {
  using namespace ops;  // NOLINT: a graph reads best without qualifiers
  const NDArray weight = Random({8, 5, 3, 3}, 1);
  const NDArray bias = Random({8}, Float32, 2, 1, 2);
  const NDArray x_value = Random({2, 5, 9, 7}, 3);
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({2, 5, 9, 7}, Float32));
  const ir::Expr b_var = ir::Var::Make("b", ir::TensorType({8}, Float32));
  const ir::Expr b_constant = ir::Constant::Make(bias);
  const ir::Expr conv = Conv2D(x, ir::Constant::Make(weight), {.padding = {1, 1}});
  for (const ir::Expr& b : {b_var, b_constant}) {
    for (const ir::Expr& y :
         {BiasAdd(conv, b), Add(conv, ExpandDims(b, 1, 2)), Add(Reshape(b, {1, 8, 1, 1}), conv),
          Add(conv, Reshape(b, {8, 1, 1}))}) {
      const ir::Module module = ir::Module::FromExpr(Relu(y));
      SCOPED_TRACE(ir::PrintModule(module, {.metadata = false}));
      runtime::Inputs inputs = {{"x", x_value}};
      if (b == b_var) inputs["b"] = bias;
      // The definition: the convolution alone, then the bias by hand.
      const std::vector<NDArray> plain =
          Outcome(ir::Module::FromExpr(conv), {{"x", x_value}}, {.library = LibraryChoice::kTe});
      const NDArray expected = plain.at(0).Clone();
      for (std::int64_t i = 0; i < expected.size(); ++i) {
        float& value = expected.data<float>()[i];
        value = std::max(value + bias.data<float>()[i / 63 % 8], 0.0F);
      }
      for (const LibraryChoice library :
           {LibraryChoice::kAuto, LibraryChoice::kTe, LibraryChoice::kLibrary})
        for (const int opt_level : {0, 1, 2, 3}) {
          const auto results =
              Outcome(module, inputs, {.opt_level = opt_level, .library = library});
          ASSERT_EQ(results.size(), 1U);
          ExpectClose(results[0], expected);
        }
    }
  }
}

TEST(BiasTest, OfTwoConvolutionsWithDifferentConstantsEachKeepsItsOwn) {
  using namespace ops;  // NOLINT
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({1, 4, 5, 5}, Float32));
  ir::Expr y = x;
  for (int i = 0; i < 3; ++i)
    y = Relu(BiasAdd(Conv2D(y, ir::Constant::Make(Random({4, 4, 1, 1}, 10 + i))),
                     ir::Constant::Make(Random({4}, 20 + i))));
  const ir::Module module = ir::Module::FromExpr(y);
  const NDArray value = Random({1, 4, 5, 5}, 5);
  const auto by_te =
      Outcome(module, {{"x", value}}, {.opt_level = 0, .library = LibraryChoice::kTe});
  ExpectClose(Outcome(module, {{"x", value}}), by_te);
  // Not all rectified away, or nothing would be compared.
  double sum = 0;
  for (const float v : by_te.at(0).ToVector<float>()) sum += v;
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace tenon::strategies
