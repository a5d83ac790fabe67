#include "tenon/strategies/auto_schedule.h"

#include <algorithm>

#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"
#include "tenon/te/extern.h"
#include "tenon/te/interpret.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

const CompileOptions kTeOnly = {.library = LibraryChoice::kTe};

// For vectors of AVX-512, whatever the host has; nothing runs.
const CompileOptions kOfSixteenLanes = [] {
  CompileOptions options = kTeOnly;
  options.target.vector_bytes = 64;
  options.target.vector_registers = 32;
  return options;
}();

// Bytes of the largest array that a kernel keeps for itself.
std::int64_t LargestTemporary(const loop::Function& function) {
  std::int64_t largest = 0;
  loop::VisitStmts(function.body, [&](const loop::Stmt& s) {
    if (const auto* allocate = s.As<loop::AllocateNode>()) {
      std::int64_t bytes = static_cast<std::int64_t>(allocate->buffer->dtype.bytes());
      for (const loop::Expr& extent : allocate->buffer->shape) {
        const auto* constant = extent.As<loop::IntImmNode>();
        ASSERT_NE(constant, nullptr);
        bytes *= constant->value;
      }
      largest = std::max(largest, bytes);
    }
  });
  return largest;
}

struct Fused {
  const char* name;
  const char* text;
  std::int64_t rows;        // lines that are normalised
  std::int64_t line_bytes;  // of one line
};

void PrintTo(const Fused& c, std::ostream* out) { *out << c.name; }

class OneKernelTest : public ::testing::TestWithParam<Fused> {};

TEST_P(OneKernelTest, KeepsNoTemporaryOfFullSize) {
  const Fused& c = GetParam();
  const ir::Module module = Parsed(c.text);
  const Lowered lowered = ValueOrThrow(Lower(module, kTeOnly));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const auto* function = std::get_if<loop::Function>(&lowered.kernels[0].choice.built.kernel);
  ASSERT_NE(function, nullptr);
  EXPECT_LE(LargestTemporary(*function), std::max(c.line_bytes, c.rows * 4));
  const Executable exe = ValueOrThrow(Link(lowered));
  EXPECT_EQ(exe.num_kernel_calls(), 1);
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const auto results = ValueOrThrow(exe.Run(inputs));
  ExpectClose(results, Interpreted(module, inputs));
  EXPECT_EQ(exe.working_bytes(), results.at(0).bytes()) << "more is kept than the result";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, OneKernelTest,
    ::testing::Values(
        Fused{"Softmax", "def @main(%x: Tensor[(64, 128), float32]) { nn.softmax(%x) }", 64, 512},
        Fused{"SoftmaxOfRank4", "def @main(%x: Tensor[(2, 3, 31, 37), float32]) { nn.softmax(%x) }",
              186, 148},
        Fused{"LogSoftmax", "def @main(%x: Tensor[(61, 127), float32]) { nn.log_softmax(%x) }", 61,
              508},
        Fused{"LayerNorm",
              "def @main(%x: Tensor[(64, 128), float32], %g: Tensor[(128), float32], "
              "%b: Tensor[(128), float32]) { nn.layer_norm(%x, %g, %b) }",
              64, 512},
        Fused{"LayerNormOfRank3",
              "def @main(%x: Tensor[(3, 17, 61), float32], %g: Tensor[(61), float32], "
              "%b: Tensor[(61), float32]) { nn.layer_norm(%x, %g, %b) }",
              51, 244},
        Fused{"SoftmaxOfAScaledInput",
              "def @main(%x: Tensor[(64, 128), float32]) "
              "{ multiply(nn.softmax(%x), 2f) }",
              64, 512}),
    [](const auto& info) { return info.param.name; });

TEST(AutoScheduleTest, AnEpilogueNeedsNoStorageOfTheConvolutionsSize) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 8, 32, 32), float32], %w: Tensor[(16, 8, 1, 1), float32], "
      "%b: Tensor[(16), float32]) { nn.relu(nn.bias_add(nn.conv2d(%x, %w), %b)) }");
  const Lowered lowered = ValueOrThrow(Lower(module, kTeOnly));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const auto* function = std::get_if<loop::Function>(&lowered.kernels[0].choice.built.kernel);
  ASSERT_NE(function, nullptr);
  EXPECT_LT(LargestTemporary(*function), 16 * 32 * 32 * 4);
}

TEST(AutoScheduleTest, OneAndTwoThreadsGiveTheSameBits) {
  for (const char* text :
       {"def @main(%x: Tensor[(211, 513), float32]) { nn.softmax(%x) }",
        "def @main(%x: Tensor[(211, 513), float32]) { sum(exp(%x), axis=[1]) }",
        "def @main(%x: Tensor[(211, 513), float32]) { sum(exp(%x), axis=[0]) }",
        "def @main(%x: Tensor[(211, 513), float32]) { mean(%x) }",
        "def @main(%x: Tensor[(3, 16, 33, 31), float32], %w: Tensor[(17, 16, 3, 3), float32]) "
        "{ nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])) }",
        "def @main(%x: Tensor[(97, 131), float32], %w: Tensor[(61, 131), float32]) "
        "{ tanh(nn.dense(%x, %w)) }",
        "def @main(%x: Tensor[(211, 513), float32], %g: Tensor[(513), float32], "
        "%b: Tensor[(513), float32]) { nn.layer_norm(%x, %g, %b) }",
        "def @main(%x: Tensor[(2, 17, 64, 64), float32]) "
        "{ nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]) }",
        "def @main(%x: Tensor[(211, 513), float32]) { argmax(%x, axis=[1]) }",
        "def @main(%x: Tensor[(1000003), float32]) { exp(%x) }"}) {
    SCOPED_TRACE(text);
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = RandomInputs(module, 5);
    for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto}) {
      const Executable exe = ValueOrThrow(Compile(module, {.library = library}));
      Session one(exe, {.threads = 1}), two(exe, {.threads = 2});
      const auto serial = ValueOrThrow(one.Run(inputs));
      for (int i = 0; i < 3; ++i) {
        const auto parallel = ValueOrThrow(two.Run(inputs));
        ASSERT_EQ(parallel.size(), serial.size());
        for (std::size_t r = 0; r < serial.size(); ++r)
          EXPECT_TRUE(parallel[r].SameBytes(serial[r]));
      }
    }
  }
}

TEST(AutoScheduleTest, LargeElementwiseWorkIsParallelAndSmallIsNot) {
  const auto is_parallel = [](const char* text) {
    const Lowered lowered = ValueOrThrow(Lower(Parsed(text), kTeOnly));
    bool found = false;
    loop::VisitStmts(std::get<loop::Function>(lowered.kernels[0].choice.built.kernel).body,
                     [&](const loop::Stmt& s) {
                       const auto* loop = s.As<loop::ForNode>();
                       found =
                           found || (loop != nullptr && loop->for_kind == loop::ForKind::kParallel);
                     });
    return found;
  };
  EXPECT_TRUE(is_parallel("def @main(%x: Tensor[(1024, 1024), float32]) { exp(%x) }"));
  EXPECT_FALSE(is_parallel("def @main(%x: Tensor[(8, 8), float32]) { exp(%x) }"));
}

std::string LoopsOf(const char* text) { return testing_graphs::LoopsOf(Parsed(text)); }

std::string LoopsOf(const char* text, const AutoScheduleOptions& options) {
  RegisterStrategies(ops::OpRegistry::Global());
  const ir::Module module = passes::InferType(Parsed(text));
  const TeFunction function = LowerFunction(module.Main());
  std::vector<te::Tensor> args = function.params;
  args.insert(args.end(), function.outputs.begin(), function.outputs.end());
  return loop::Print(schedule::Lower(AutoSchedule(function.outputs, options), args, "kernel"));
}

// Whether the next row is asked for.
bool FetchesRows(const char* text, bool fetch_rows = true) {
  Target target = jit::HostTarget();
  target.cpu = fetch_rows ? "sapphirerapids" : "znver4";
  return LoopsOf(text, {.target = target}).find("prefetch(") != std::string::npos;
}

TEST(AutoScheduleTest, RowsFetchTheNextOneUnlessTheyAreReadOnACondition) {
  EXPECT_TRUE(FetchesRows("def @main(%x: Tensor[(256, 1024), float32]) { nn.softmax(%x) }"));
  EXPECT_FALSE(
      FetchesRows("def @main(%x: Tensor[(256, 256), float32], %y: Tensor[(256, 256), float32]) "
                  "{ concatenate((%x, %y), axis=0) }"));
}

TEST(AutoScheduleTest, OnlyRowsOfMathematicsAreFetchedWhereTheCpuFetchesRows) {
  const char* softmax = "def @main(%x: Tensor[(512, 1024), float32]) { nn.softmax(%x) }";
  const char* most = "def @main(%x: Tensor[(512, 1024), float32]) { max(%x, axis=[1]) }";
  const char* norm =
      "def @main(%x: Tensor[(512, 1024), float32], %g: Tensor[(1024), float32], "
      "%b: Tensor[(1024), float32]) { nn.layer_norm(%x, %g, %b) }";
  for (const char* text : {softmax, most, norm}) EXPECT_TRUE(FetchesRows(text)) << text;
  EXPECT_TRUE(FetchesRows(softmax, false));
  EXPECT_FALSE(FetchesRows(most, false));
  EXPECT_FALSE(FetchesRows(norm, false));
}

// Their rows have no shares that could be fetched.
TEST(AutoScheduleTest, DepthwiseConvolutionsOfImagesOfAnyExtentsFetchNothing) {
  const std::string loops = LoopsOf(
      "def @main(%x: Tensor[(1, 96, h, w), float32], %w: Tensor[(96, 1, 3, 3), float32]) "
      "{ nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=96) }");
  EXPECT_NE(loops.find("for "), std::string::npos);
  EXPECT_EQ(loops.find("prefetch"), std::string::npos);
}

// Quotients and remainders of pixels that are counted through rows come to one place in memory.
TEST(AutoScheduleTest, PixelsOfAStridedDepthwiseConvolutionAreReadInVectors) {
  const std::string loops = LoopsOf(
      "def @main(%x: Tensor[(1, 16, 36, 36), float32], %w: Tensor[(16, 1, 3, 3), float32]) "
      "{ nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], groups=16) }");
  // AVX-512 reads a copy of the image, AVX2 one that is taken apart by the places in a step.
  const std::string copy = loops.find("(steps[") != std::string::npos ? "(steps[" : "(pad_image[";
  std::size_t reads = 0;
  for (std::size_t at = loops.find(copy); at != std::string::npos; at = loops.find(copy, at + 1)) {
    ++reads;
    EXPECT_EQ(loops.substr(at + copy.size(), 5), "ramp(") << loops.substr(at, 200);
  }
  EXPECT_GT(reads, 0U);
}

TEST(AutoScheduleTest, BitsUnderAnotherTypeAreOneKernelWithWhatIsAround) {
  const Lowered lowered =
      ValueOrThrow(Lower(Parsed("def @main(%x: Tensor[(5, 13), int32]) "
                                "{ add(reinterpret(add(%x, 1), dtype=\"float32\"), 1f) }"),
                         kOfSixteenLanes));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const std::string loops =
      loop::Print(std::get<loop::Function>(lowered.kernels[0].choice.built.kernel));
  EXPECT_NE(loops.find("reinterpret<float32x16>("), std::string::npos) << loops;
}

TEST(AutoScheduleTest, AnExtremumFetchesTheNextRowOfWhatItAloneReadsFromMemory) {
  EXPECT_TRUE(FetchesRows("def @main(%x: Tensor[(512, 1024), float32]) { argmax(%x, axis=[1]) }"));
  EXPECT_TRUE(FetchesRows("def @main(%x: Tensor[(512, 1024), float32]) { max(%x, axis=[1]) }"));
  EXPECT_TRUE(
      FetchesRows("def @main(%x: Tensor[(512, 32, 32), float32]) { max(%x, axis=[1, 2]) }"));
  // Rows that are no run of memory.
  EXPECT_FALSE(
      FetchesRows("def @main(%x: Tensor[(32, 512, 32), float32]) { max(%x, axis=[0, 2]) }"));
  // A sum, an array that stays in cache, short and long rows.
  EXPECT_FALSE(FetchesRows("def @main(%x: Tensor[(512, 1024), float32]) { sum(%x, axis=[1]) }"));
  EXPECT_FALSE(FetchesRows("def @main(%x: Tensor[(64, 1024), float32]) { argmax(%x, axis=[1]) }"));
  EXPECT_FALSE(FetchesRows("def @main(%x: Tensor[(8192, 64), float32]) { argmax(%x, axis=[1]) }"));
  EXPECT_FALSE(FetchesRows("def @main(%x: Tensor[(64, 16384), float32]) { argmax(%x, axis=[1]) }"));
  // The exponentials fetch what both read.
  const std::string softmax =
      LoopsOf("def @main(%x: Tensor[(512, 1024), float32]) { nn.softmax(%x) }", {});
  const std::size_t fetch = softmax.find("prefetch(");
  EXPECT_EQ(softmax.find("prefetch(", fetch + 1), std::string::npos);
  EXPECT_LT(softmax.find("softmax_max[0] = "), fetch);
}

// The last loop of softmax has nothing to do while it waits for its lines.
TEST(AutoScheduleTest, LinesOfARowAreFetchedWhileItsExponentialsAreComputed) {
  const std::string loops = testing_graphs::LoopsOf(
      Parsed("def @main(%x: Tensor[(256, 1024), float32]) { nn.softmax(%x) }"), kOfSixteenLanes);
  const std::size_t fetch = loops.find("prefetch_write(");
  EXPECT_LT(fetch, loops.find("exp("));
  // Eight steps of four vectors ahead.
  EXPECT_NE(loops.substr(fetch, loops.find("\n", fetch) - fetch).find(" + 512)"),
            std::string::npos);
}

// Whether `of`, one of `outputs` of {16, 9} numbers, is computed in the loop of another one. All
// have the interpreter's numbers.
bool SharesALoop(const te::Tensor& x, const std::vector<te::Tensor>& outputs,
                 const te::Tensor& of) {
  NDArray input = NDArray::Empty({16, 9}, Float32);
  for (std::int64_t i = 0; i < input.size(); ++i)
    input.data<float>()[i] = static_cast<float>(i * 37 % 101) / 16;
  const std::vector<NDArray> expected = te::Interpret(outputs, {{x, input}});
  std::vector<te::Tensor> args = {x};
  std::vector<NDArray> arrays = {input};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    args.push_back(outputs[i]);
    arrays.push_back(NDArray::Empty(expected[i].shape(), Float32));
    std::fill_n(arrays.back().data<float>(), arrays.back().size(), -1000.0F);
  }
  schedule::Schedule s = AutoSchedule(outputs);
  EXPECT_TRUE(jit::Compile(schedule::Lower(s, args, "kernel")).value().Run(arrays).ok());
  for (std::size_t i = 0; i < outputs.size(); ++i) ExpectClose(arrays[i + 1], expected[i]);
  return s[of].placement() == schedule::Stage::Placement::kAt;
}

TEST(AutoScheduleTest, AResultThatAnotherReadsByRowsSharesItsLoop) {
  const te::Tensor x = te::Placeholder({16, 9}, Float32, "x");
  const te::IterVar k = te::ReduceAxis(0, 9);
  const te::Tensor most = te::Compute(
      {16}, [&](const te::Var& i) { return te::Max(x(i, k.var), {k}); }, "most");
  const te::Tensor less = te::Compute(
      {16, 9}, [&](const te::Var& i, const te::Var& j) { return x(i, j) - most(i); }, "less");
  EXPECT_TRUE(SharesALoop(x, {most, less}, most));
  EXPECT_TRUE(SharesALoop(x, {less, most}, most));
}

TEST(AutoScheduleTest, AResultThatAnotherReadsOtherwiseHasALoopOfItsOwn) {
  const te::Tensor x = te::Placeholder({16, 9}, Float32, "x");
  const te::Tensor twice = te::Compute(
      {16, 9}, [&](const te::Var& i, const te::Var& j) { return x(i, j) * 2.0F; }, "twice");
  const te::Tensor half = te::Compute(
      {8, 9}, [&](const te::Var& i, const te::Var& j) { return twice(i, j) + 1.0F; }, "half");
  const te::Tensor turned = te::Compute(
      {16, 9}, [&](const te::Var& i, const te::Var& j) { return twice(15 - i, j) + 1.0F; },
      "turned");
  EXPECT_FALSE(SharesALoop(x, {twice, half}, twice));
  EXPECT_FALSE(SharesALoop(x, {twice, turned}, twice));
}

// It has elements that no row reads.
TEST(AutoScheduleTest, AResultThatAnotherReadsInPartIsComputedAsAWhole) {
  const te::Tensor x = te::Placeholder({16, 9}, Float32, "x");
  const te::Tensor twice = te::Compute(
      {16, 9}, [&](const te::Var& i, const te::Var& j) { return x(i, j) * 2.0F; }, "twice");
  const te::Tensor first = te::Compute(
      {16, 5}, [&](const te::Var& i, const te::Var& j) { return twice(i, 0) + x(i, j); }, "first");
  const te::Tensor none = te::Compute(
      {16, 0}, [&](const te::Var& i, const te::Var& j) { return twice(i, j); }, "none");
  EXPECT_TRUE(SharesALoop(x, {twice, first}, twice));
  EXPECT_FALSE(SharesALoop(x, {twice, none}, twice));
}

// Whoever lowers the schedule may run it on no columns, with which there are sums all the same.
TEST(AutoScheduleTest, AResultBesideOneThatMayBeEmptyIsComputedForAllExtents) {
  const te::Var n("n");
  const te::Tensor x = te::Placeholder({16, n}, Float32, "x");
  const te::IterVar k = te::ReduceAxis(0, n);
  const te::Tensor sum = te::Compute(
      {16}, [&](const te::Var& i) { return te::Sum(x(i, k.var), {k}); }, "sum");
  const te::Tensor less = te::Compute(
      {16, n}, [&](const te::Var& i, const te::Var& j) { return x(i, j) - sum(i); }, "less");
  schedule::Schedule s = AutoSchedule({sum, less});
  const jit::Kernel kernel = jit::Compile(schedule::Lower(s, {x, sum, less}, "kernel")).value();
  for (const std::int64_t columns : {0, 1, 5}) {
    NDArray in = NDArray::Empty({16, columns}, Float32);
    for (std::int64_t i = 0; i < in.size(); ++i) in.data<float>()[i] = static_cast<float>(i % 7);
    const std::vector<NDArray> expected = te::Interpret({sum, less}, {{x, in}});
    NDArray sums = NDArray::Empty({16}, Float32), rest = NDArray::Empty({16, columns}, Float32);
    std::fill_n(sums.data<float>(), 16, -1000.0F);
    ASSERT_TRUE(kernel(in, sums, rest).ok());
    ExpectClose(sums, expected[0]);
    ExpectClose(rest, expected[1]);
  }
  EXPECT_EQ(s[sum].placement(), schedule::Stage::Placement::kRoot);
  schedule::Schedule of_some = AutoSchedule({sum, less}, {.positive = {n}});
  EXPECT_EQ(of_some[sum].placement(), schedule::Stage::Placement::kAt);
}

void Reverse(const float* in, float* out, std::int64_t n) { std::reverse_copy(in, in + n, out); }

TEST(AutoScheduleTest, ComputesAroundExternalOperationsAndScansAreScheduled) {
  const te::Tensor x = te::Placeholder({33}, Float32, "x");
  const te::Tensor twice = te::Compute(
      {33}, [&](const te::Var& i) { return x(i) * 2.0F; }, "twice");
  const te::ExternFunction reverse = te::ExternFunction::At("reverse", &Reverse);
  const te::Tensor turned = te::Extern(
      {{33}}, {twice}, {Float32},
      [&](const auto& in, const auto& out) {
        return te::ExternCall(reverse, {in[0], out[0], te::Expr(33)});
      },
      "turned")[0];
  const te::Tensor state = te::Placeholder({33}, Float32, "state");
  const te::Tensor first = te::Compute(
      {1}, [&](const te::Var& t) { return turned(t); }, "first");
  const te::Tensor next = te::Compute(
      {33}, [&](const te::Var& t) { return state(t - 1) + turned(t); }, "next");
  const te::Tensor sum = te::Scan({first}, {next}, {state}, "sum")[0];
  const te::Tensor out = te::Compute(
      {33}, [&](const te::Var& i) { return sum(i) + 1.0F; }, "out");
  const schedule::Schedule s = AutoSchedule({out});
  const jit::Kernel kernel = jit::Compile(schedule::Lower(s, {x, out}, "kernel")).value();
  NDArray in = NDArray::Empty({33}, Float32), result = NDArray::Empty({33}, Float32);
  for (int i = 0; i < 33; ++i) in.data<float>()[i] = static_cast<float>(i);
  ASSERT_TRUE(kernel(in, result).ok());
  float expected = 1;
  for (int i = 0; i < 33; ++i) {
    expected += 2 * static_cast<float>(32 - i);
    EXPECT_EQ(result.data<float>()[i], expected) << i;
  }
}

// What a concatenation along memory is computed on: every vector knows the field that it reads, but
// for those that two fields share, or that end with the line.
TEST(AutoScheduleTest, ElementsOfConcatenatedChannelsAreChosenBeforehand) {
  const auto module = [](int last) {
    return Parsed(
        StrCat("def @main(%a: Tensor[(3, 5, 64), bfloat16], %b: Tensor[(3, 5, 32), "
               "bfloat16], %c: Tensor[(3, 5, ",
               last, "), bfloat16], %s: Tensor[(", 96 + last,
               "), bfloat16]) { %0 = (%a, %b, %c); %1 = concatenate(%0, axis=2); "
               "%2 = add(%1, %s); nn.relu(%2) }"));
  };
  const std::string whole = testing_graphs::LoopsOf(module(16), kOfSixteenLanes);
  EXPECT_THAT(whole, ::testing::Not(::testing::HasSubstr("where")));
  EXPECT_THAT(whole, ::testing::Not(::testing::HasSubstr("select")));
  EXPECT_THAT(whole, ::testing::HasSubstr(" * 112) + 64), 1, 16)] = max((p1[ramp((ax0.ax1.fused"));
  for (const int last : {1, 15, 16, 17, 900, 2000}) {
    SCOPED_TRACE(last);
    const runtime::Inputs inputs = RandomInputs(module(last), 5);
    for (const char* features : {"", "-avx512f", "-avx"})
      ExpectClose(testing_graphs::Outcome(
                      module(last), inputs,
                      {.target = jit::HostTarget(features), .library = LibraryChoice::kTe}),
                  Interpreted(module(last), inputs));
  }
}

// Each stage with loops of its own is scheduled once, by the first rule that fits.
TEST(AutoScheduleTest, SaysByWhichRuleEachStageIsScheduled) {
  const te::Tensor a = te::Placeholder({16, 300}, Float32, "a");
  const te::IterVar k = te::ReduceAxis(0, 300, "k");
  const te::Tensor sums = te::Compute(
      {16}, [&](te::Var i) { return te::Sum(a(i, k.var), {k}); }, "sums");
  const te::Tensor scaled = te::Compute(
      {16, 300}, [&](te::Var i, te::Var j) { return a(i, j) / sums(i); }, "scaled");
  const te::Tensor kept = te::Compute(
      {300, 16}, [&](te::Var i, te::Var j) { return a(j, i); }, "kept", te::Stored{});
  const te::Tensor turned = te::Compute(
      {16, 300}, [&](te::Var i, te::Var j) { return scaled(i, j) + kept(j, 15 - i); }, "turned");
  RulesUsed used;
  AutoSchedule({turned}, {}, &used);
  std::vector<std::pair<std::string, std::vector<std::string>>> rules;
  for (const auto& [rule, reason, stages] : used) rules.emplace_back(rule, stages);
  const decltype(rules) expected = {{"result with producers", {"turned", "sums"}},
                                    {"transposed", {"kept"}}};
  EXPECT_EQ(rules, expected);
}

}  // namespace
}  // namespace tenon::strategies
