#include "tenon/strategies/strategy.h"

#include <algorithm>

#include "tenon/loop/print.h"
#include "tenon/ops/builders.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/choice_testing.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_choices::ConvThen;
using testing_choices::DenseOf;
using testing_choices::DenseThen;
using testing_choices::Explanation;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;

std::vector<std::string> Implementations(const ir::Module& module, LibraryChoice library) {
  const auto lowered = Lower(module, {.library = library});
  if (!lowered.ok()) return {std::string(lowered.status().message())};
  std::vector<std::string> names;
  for (const LoweredKernel& kernel : lowered->kernels)
    names.push_back(kernel.choice.implementation);
  return names;
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

}  // namespace
}  // namespace tenon::strategies
