#include "tenon/compiler/compile.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/bind_params.h"
#include "tenon/strategies/register_op.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using runtime::NodeKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;

// @main of one vector %x.
ir::Module OfVector(const std::string& body) {
  return Parsed(StrCat("def @main(%x: Tensor[(4), float32]) { ", body, " }"));
}
NDArray Vector(std::vector<float> values) {
  return NDArray::FromVector<float>({static_cast<std::int64_t>(values.size())}, values);
}
const NDArray& X() {
  static const NDArray x = Vector({1, -2, 3, -4});
  return x;
}

std::vector<std::vector<float>> Values(const std::vector<NDArray>& results) {
  std::vector<std::vector<float>> values;
  for (const NDArray& result : results) values.push_back(result.ToVector<float>());
  return values;
}
using Lists = std::vector<std::vector<float>>;

// --- threads

TEST(CompileTest, KernelsAreMadeUnderTheCallersNumberOfThreads) {
  const jit::ScopedThreads three(3);
  const int threads = jit::ParallelThreads();
  const auto others = std::make_shared<std::atomic<int>>(0);
  strategies::OpRegistration("test.counts_threads")
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity)
      .Elementwise([others, threads](te::Expr x) {
        if (jit::ParallelThreads() != threads) ++*others;
        return x;
      });
  constexpr int kKernels = 50;
  std::string params, results;
  for (int i = 1; i <= kKernels; ++i) {
    StrAppend(&params, i > 1 ? ", " : "", "%x", i, ": Tensor[(", i, "), float32]");
    StrAppend(&results, i > 1 ? ", " : "", "test.counts_threads(%x", i, ")");
  }
  const auto lowered =
      Lower(Parsed(StrCat("def @main(", params, ") { (", results, ") }")), {.opt_level = 0});
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(lowered->kernels.size(), kKernels);
  EXPECT_EQ(*others, 0);
}

// --- what may stand in a graph

TEST(CompileTest, LetBoundGraphsRunAtEveryLevel) {
  const ir::Module module = OfVector(
      "let %a = negative(%x);\n let %b = add(%a, %x);\n let %c = add(%a, %b);\n "
      "subtract(%c, %x)");
  for (int level = 0; level <= 3; ++level)
    EXPECT_EQ(Values(Outcome(module, {{"x", X()}}, {.opt_level = level})), (Lists{{-2, 4, -6, 8}}));
}

TEST(CompileTest, ALetThatIsNotUsedDoesNotMatter) {
  EXPECT_EQ(Values(Outcome(OfVector("let %a = exp(%x);\n negative(%x)"), {{"x", X()}})),
            (Lists{{-1, 2, -3, 4}}));
}

TEST(CompileTest, TupleResultsAreFlattenedInOrder) {
  const ir::Module module = OfVector("%0 = negative(%x); %1 = abs(%x); ((%0, %1), %x, (%1,))");
  for (int level = 0; level <= 3; ++level)
    EXPECT_EQ(Values(Outcome(module, {{"x", X()}}, {.opt_level = level})),
              (Lists{{-1, 2, -3, 4}, {1, 2, 3, 4}, {1, -2, 3, -4}, {1, 2, 3, 4}}));
}

TEST(CompileTest, FieldsOfATupleAreTakenOut) {
  const ir::Module module = OfVector(
      "%0 = split(%x, indices_or_sections=2, axis=0); %1 = %0.1; %2 = %0.0; "
      "subtract(%1, %2)");
  for (int level = 0; level <= 3; ++level)
    EXPECT_EQ(Values(Outcome(module, {{"x", X()}}, {.opt_level = level})), (Lists{{2, -2}}));
}

TEST(CompileTest, FieldsOfATupleThatIsWrittenAreTakenOutAtEveryLevel) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(4), float32], %i: int64) {\n  let %t = (%a, %i).0;\n"
      "  add(%t, %a)\n}");
  const NDArray a = NDArray::FromVector<float>({4}, {1, 2, 3, 4});
  for (int level = 0; level <= 4; ++level) {
    const Executable exe = ValueOrThrow(Compile(module, {.opt_level = level}));
    const auto results = ValueOrThrow(exe.Run({{"a", a}, {"i", NDArray::Scalar<std::int64_t>(1)}}));
    EXPECT_EQ(results[0].ToVector<float>(), (std::vector<float>{2, 4, 6, 8})) << level;
  }
}

TEST(CompileTest, ConvolutionsOverNoChannelsAreZero) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 0, 4, 4), float32], %w: Tensor[(5, 0, 3, 3), float32]) {\n"
      "  nn.conv2d(%x, %w, padding=[1, 1])\n}");
  for (const LibraryChoice library :
       {LibraryChoice::kAuto, LibraryChoice::kTe, LibraryChoice::kLibrary}) {
    const Executable exe = ValueOrThrow(Compile(module, {.library = library}));
    const auto results = ValueOrThrow(exe.Run({{"x", NDArray::Zeros({2, 0, 4, 4}, Float32)},
                                               {"w", NDArray::Zeros({5, 0, 3, 3}, Float32)}}));
    EXPECT_TRUE(results[0].SameBytes(NDArray::Zeros({2, 5, 4, 4}, Float32)));
  }
}

TEST(CompileTest, AResultThatOccursTwiceComesTwice) {
  const auto results = Outcome(OfVector("%0 = negative(%x); (%0, %0)"), {{"x", X()}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(results[0].SameBytes(results[1]));
}

TEST(CompileTest, AResultThatIsAnInputIsACopyOfIt) {
  const auto results = Outcome(OfVector("%x"), {{"x", X()}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_TRUE(results[0].SameBytes(X()));
  EXPECT_NE(results[0].raw(), X().raw());
}

TEST(CompileTest, AResultThatIsAConstantIsItsValue) {
  const ir::Module scalar = Parsed("def @main() { 2.5f }");
  EXPECT_EQ(Values(Outcome(scalar, {})), (Lists{{2.5}}));
  const ir::Module array = ir::Module::FromExpr(ir::Constant::Make(X()));
  const Executable exe = ValueOrThrow(Compile(array));
  const NDArray first = ValueOrThrow(exe.Run({})).at(0);
  first.data<float>()[0] = 99;  // the caller's own
  EXPECT_TRUE(ValueOrThrow(exe.Run({})).at(0).SameBytes(X()));
}

TEST(CompileTest, AnInputThatIsNotReadMustStillBeGiven) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(4), float32], %y: Tensor[(3), int32]) { negative(%x) }");
  const Executable exe = ValueOrThrow(Compile(module));
  EXPECT_THAT(std::string(exe.Run({{"x", X()}}).status().message()), HasSubstr("'y' is missing"));
  EXPECT_TRUE(exe.Run({{"x", X()}, {"y", NDArray::Zeros({3}, Int32)}}).ok());
}

TEST(CompileTest, GraphsWithoutElementsRun) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(0, 5), float32]) { (exp(%x), sum(%x, axis=[0])) }");
  const auto results = Outcome(module, {{"x", NDArray::Zeros({0, 5}, Float32)}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].shape(), (Shape{0, 5}));
  EXPECT_EQ(results[1].ToVector<float>(), std::vector<float>(5, 0.0F));
}

// --- kernels

TEST(CompileKernelTest, EqualGroupsShareAKernel) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32], %z: Tensor[(5), float32]) "
      "{ (exp(negative(%x)), exp(negative(%y)), exp(negative(%z))) }");
  const Lowered lowered = ValueOrThrow(Lower(module));
  EXPECT_EQ(lowered.kernels.size(), 2U);  // %z has another shape
  const Executable exe = ValueOrThrow(Link(lowered));
  EXPECT_EQ(exe.num_kernel_calls(), 3);
  const runtime::Inputs inputs = RandomInputs(module, 1);
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs));
}

TEST(CompileKernelTest, AttributesTellKernelsApart) {
  const ir::Module module = OfVector(
      "(clip(%x, a_min=0f, a_max=1f), clip(negative(%x), a_min=0f, a_max=2f), "
      "clip(negative(negative(%x)), a_min=0f, a_max=1f))");
  const runtime::Inputs inputs = {{"x", X()}};
  for (int level = 0; level <= 3; ++level)
    ExpectClose(Outcome(module, inputs, {.opt_level = level}), Interpreted(module, inputs));
}

TEST(CompileKernelTest, GroupsWithDifferentWeightsPackedByALibraryAreDifferentKernels) {
  using namespace ops;  // NOLINT
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({3, 16}, Float32));
  const NDArray first = Random({16, 16}, 1), second = Random({16, 16}, 2);
  const ir::Expr shared = ir::Constant::Make(first);
  const ir::Module module =
      ir::Module::FromExpr(Dense(Dense(Dense(x, shared), ir::Constant::Make(second)), shared));
  const runtime::Inputs inputs = {{"x", Random({3, 16}, 3)}};
  const auto by_te = Outcome(module, inputs, {.library = LibraryChoice::kTe});
  ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}), by_te);
  EXPECT_EQ(ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe})).kernels.size(), 1U);
  EXPECT_EQ(ValueOrThrow(Lower(module, {.library = LibraryChoice::kLibrary})).kernels.size(), 2U);
}

TEST(CompileKernelTest, GroupsOfReshapesOnlyAreViews) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 1, 6), float32]) "
      "{ expand_dims(squeeze(reshape(%x, newshape=[3, 1, 4])), axis=0) }");
  const Executable exe = ValueOrThrow(Compile(module));
  EXPECT_EQ(exe.num_kernel_calls(), 0);
  for (const runtime::Node& node : exe.plan().nodes)
    EXPECT_TRUE(node.kind == NodeKind::kInput || node.kind == NodeKind::kView);
  const NDArray x = Random({2, 1, 6}, 1);
  const NDArray y = ValueOrThrow(exe.Run({{"x", x}})).at(0);
  EXPECT_EQ(y.shape(), (Shape{1, 3, 4}));
  EXPECT_TRUE(y.Reshape({2, 1, 6}).SameBytes(x));
  EXPECT_NE(y.raw(), x.raw());
}

TEST(CompileKernelTest, AViewOfAValueThatIsStillReadKeepsIt) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 6), float32]) {\n"
      "  %0 = nn.softmax(%x);\n  %1 = reshape(%0, newshape=[3, 4]);\n"
      "  %2 = nn.softmax(%1);\n  %3 = nn.softmax(%2);\n  %4 = reshape(%3, newshape=[2, 6]);\n"
      "  (add(%4, %0), %1)\n}");
  const runtime::Inputs inputs = RandomInputs(module, 4);
  for (int level = 0; level <= 3; ++level)
    ExpectClose(Outcome(module, inputs, {.opt_level = level}), Interpreted(module, inputs));
}

// --- levels and passes

TEST(CompileOptionsTest, LevelsFuseAndFold) {
  const ir::Module module = OfVector("exp(negative(add(%x, add(1f, 2f))))");
  const auto calls = [&](int level) {
    return ValueOrThrow(Compile(module, {.opt_level = level})).num_kernel_calls();
  };
  EXPECT_EQ(calls(0), 4);
  EXPECT_EQ(calls(1), 1);
  const auto has_two_additions = [&](int level) {
    const std::string text =
        ir::PrintModule(ValueOrThrow(Lower(module, {.opt_level = level})).module);
    const std::size_t first = text.find("add(");
    return text.find("add(", first + 1) != std::string::npos;
  };
  EXPECT_TRUE(has_two_additions(1));
  EXPECT_FALSE(has_two_additions(2));
}

TEST(CompileOptionsTest, LevelThreeFoldsABatchNormIntoTheWeights) {
  using namespace ops;  // NOLINT
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({1, 3, 8, 8}, Float32));
  const auto channel = [](int seed) {
    return ir::Constant::Make(Random({5}, Float32, seed, 0.5, 1.5));
  };
  const ir::Expr conv = Conv2D(x, ir::Constant::Make(Random({5, 3, 3, 3}, 1)));
  const ir::Module module = ir::Module::FromExpr(Relu(
      ir::TupleGetItem::Make(BatchNorm(conv, channel(2), channel(3), channel(4), channel(5)), 0)));
  const auto text = [&](int level) {
    return ir::PrintModule(ValueOrThrow(Lower(module, {.opt_level = level})).module,
                           {.metadata = false});
  };
  EXPECT_THAT(text(2), HasSubstr("multiply("));
  EXPECT_THAT(text(3), ::testing::Not(HasSubstr("multiply(")));
  const runtime::Inputs inputs = {{"x", Random({1, 3, 8, 8}, 6)}};
  const auto plain = Outcome(module, inputs, {.opt_level = 0, .library = LibraryChoice::kTe});
  for (int level = 1; level <= 3; ++level)
    ExpectClose(Outcome(module, inputs, {.opt_level = level}), plain);
}

TEST(CompileOptionsTest, ALevelBelowZeroIsRefused) {
  const absl::Status status = Compile(OfVector("exp(%x)"), {.opt_level = -1}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("opt_level is -1"));
}

// Ends the process with the number of its threads after a run.
[[noreturn]] void RunAndCountThreads(LibraryChoice library, int threads) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 64, 28, 28), float32], %w: Tensor[(64, 64, 3, 3), float32]) { "
      "nn.relu(nn.conv2d(%x, %w, padding=[1, 1])) }");
  CompileOptions options;
  options.library = library;
  options.threads = threads;
  (void)Outcome(module, RandomInputs(module, 1), options);
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  std::_Exit(static_cast<int>(std::distance(begin(tasks), end(tasks))));
}

TEST(CompileOptionsDeathTest, AModelForOneThreadStartsNoOther) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kLibrary})
    EXPECT_EXIT(RunAndCountThreads(library, 1), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(RunAndCountThreads(LibraryChoice::kLibrary, 2), ::testing::ExitedWithCode(2), "");
}

TEST(CompileOptionsTest, PassesCanBeRequiredDisabledAndReported) {
  passes::PassReport report;
  CompileOptions options;
  options.opt_level = 0;
  options.required_passes = {"FoldConstant"};
  options.verify = true;
  options.pass_report = &report;
  ASSERT_TRUE(Compile(OfVector("exp(add(%x, add(1f, 2f)))"), options).ok());
  std::vector<std::string> names;
  for (const auto& record : report) names.push_back(record.name);
  EXPECT_THAT(names, AllOf(::testing::Contains("FoldConstant"), ::testing::Contains("FuseOps")));
  options.required_passes = {"FoldConstnt"};
  EXPECT_EQ(Compile(OfVector("exp(%x)"), options).status().code(), absl::StatusCode::kNotFound);
}

// --- errors

// Compile takes all shapes (symbolic_model_test.cc); a plan is of one.
TEST(CompileTest, LoweringGivesThePlanForAllExtents) {
  const Lowered lowered =
      ValueOrThrow(Lower(Parsed("def @main(%x: Tensor[(n, 3), float32]) { exp(%x) }")));
  EXPECT_EQ(lowered.plan.symbols, std::vector<std::string>{"n"});
  const Dim n = Dim::Symbol("n");
  EXPECT_EQ(lowered.plan.entry(lowered.plan.heads[0]).dims(), (std::vector<Dim>{n, 3}));
  EXPECT_EQ(lowered.plan.nodes.back().arguments, std::vector<Dim>{n});
}

TEST(CompileTest, GlobalFunctionsAreInlined) {
  const ir::Module module = ir::ParseModule(
                                "def @f(%a: Tensor[(4), float32]) -> Tensor[(4), float32] { let %b "
                                "= exp(%a); add(%b, %b) }\n"
                                "def @main(%x: Tensor[(4), float32]) { @f(@f(%x)) }",
                                ops::OpRegistry::Global().Resolver())
                                .value();
  const Executable exe = Compile(module).value();
  const NDArray y = exe.Run({{"x", NDArray::Zeros({4}, Float32)}}).value()[0];
  EXPECT_NEAR(y.data<float>()[3], 2 * std::exp(2.0F), 1e-4);
}

TEST(CompileErrorTest, WrongInputsAreNamedWithWhatIsExpected) {
  const Executable exe = ValueOrThrow(Compile(OfVector("exp(%x)")));
  const auto message = [&](const runtime::Inputs& inputs) {
    const absl::Status status = exe.Run(inputs).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(message({}), HasSubstr("input 'x' is missing"));
  EXPECT_THAT(message({{"x", X()}, {"y", X()}}), HasSubstr("no input 'y'"));
  EXPECT_THAT(message({{"x", Vector({1, 2})}}),
              AllOf(HasSubstr("'x' is float32 (2,)"), HasSubstr("float32 (4,)")));
  EXPECT_THAT(message({{"x", NDArray::Zeros({4}, Float64)}}), HasSubstr("'x' is float64 (4,)"));
  EXPECT_THAT(message({{"x", NDArray()}}), HasSubstr("'x'"));
  Session session(exe);
  EXPECT_FALSE(session.Run({}).ok());
  EXPECT_TRUE(session.Run({{"x", X()}}).ok());  // still usable
}

// --- many threads, long graphs

TEST(CompileTest, ManyThreadsRunOneExecutable) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(3, 17), float32], %w: Tensor[(31, 17), float32]) {\n"
      "  nn.softmax(nn.relu(nn.dense(nn.softmax(%x), %w)))\n}");
  const Executable exe = ValueOrThrow(Compile(module));
  std::vector<runtime::Inputs> inputs;
  std::vector<NDArray> expected;
  for (int i = 0; i < 6; ++i) {
    inputs.push_back(RandomInputs(module, 100 * i));
    expected.push_back(ValueOrThrow(exe.Run(inputs.back())).at(0));
  }
  EXPECT_FALSE(expected[0].SameBytes(expected[1]));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 50; ++i) {
        const std::size_t which = (t + i) % inputs.size();
        const auto results = exe.Run(inputs[which]);
        if (!results.ok() || !(*results)[0].SameBytes(expected[which])) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CompileTest, AChainOfTwoThousandDistinctCallsCompiles) {
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({7}, Float32));
  ir::Expr y = x;
  double sum = 0;
  for (int i = 0; i < 2000; ++i) {
    y = ops::Add(y, ops::Scalar(i % 7 - 3 + i * 0.0009765625));
    sum += i % 7 - 3 + i * 0.0009765625;
  }
  const auto results = Outcome(ir::Module::FromExpr(y), {{"x", NDArray::Zeros({7}, Float32)}});
  ASSERT_EQ(results.size(), 1U);
  for (const float v : results[0].ToVector<float>()) EXPECT_NEAR(v, sum, 1e-4 * sum);
}

TEST(CompileTest, AChainOfTwoThousandDifferentOperatorsCompiles) {
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({2, 6}, Float32));
  ir::Expr y = x;
  for (int i = 0; i < 400; ++i) {
    y = ops::Tanh(y);
    y = ops::Transpose(y);
    y = ops::Clip(y, -0.5 - i, 0.5 + i);
    y = ops::Transpose(y);
    y = ops::Softmax(ops::Multiply(y, ops::Scalar(i % 5)), i % 2);
  }
  const ir::Module module = ir::Module::FromExpr(y);
  const runtime::Inputs inputs = {{"x", Random({2, 6}, 1)}};
  ExpectClose(Outcome(module, inputs), Interpreted(module, inputs));
}

// --- results

TEST(CompileTest, WritingToOneResultChangesNoOther) {
  for (const char* body :
       {"%0 = exp(%x); (%0, %0)", "%0 = exp(%x); (%0, reshape(%0, newshape=[2, 2]))",
        "%0 = exp(%x); (reshape(%0, newshape=[2, 2]), %0, %x, %x)"}) {
    const std::vector<NDArray> results = Outcome(OfVector(body), {{"x", X()}});
    const std::vector<float> before = results[1].ToVector<float>();
    for (std::int64_t i = 0; i < 4; ++i) results[0].data<float>()[i] = 7;
    for (std::size_t r = 1; r < results.size(); ++r) {
      EXPECT_EQ(results[r].ToVector<float>(), r == 1 ? before : X().ToVector<float>()) << body;
    }
  }
}

// --- sizes

TEST(CompileTest, AValueOfMoreBytesThanThereAreIsRefusedInWords) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1), float32]) { broadcast_to(%x, shape=[4611686018427387905]) }");
  for (const int level : {0, 3}) {
    const auto compiled = Compile(module, {.opt_level = level});
    EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument) << compiled.status();
    EXPECT_THAT(std::string(compiled.status().message()),
                AllOf(HasSubstr("4611686018427387905"), HasSubstr("too many bytes")));
  }
}

TEST(CompileTest, ValuesOfMoreBytesThanThereAreTogetherAreRefused) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1), float32]) { (broadcast_to(%x, shape=[2000000000000000000]), "
      "broadcast_to(%x, shape=[2000000000000000001])) }");
  const auto compiled = Compile(module, {.opt_level = 0});
  EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(compiled.status().message()), HasSubstr("2^63 bytes together"));
}

// --- libraries

// The weight is packed into oneDNN's kernel, and an operand of its epilogue.
TEST(CompileTest, AWeightThatIsAlsoAddedBelongsToItsOwnKernel) {
  const auto weight = [](float value) {
    return ir::Constant::Make(
        NDArray::FromVector<float>({64, 64}, std::vector<float>(64 * 64, value)));
  };
  const ir::Var x = ir::Var::Make("x", ir::TensorType({64, 64}, Float32));
  const auto layer = [&](const ir::Expr& w) { return ops::Add(ops::Matmul(x, w), w); };
  const ir::Module module =
      ir::Module::FromExpr(ir::Tuple::Make({layer(weight(1)), layer(weight(2))}));
  const NDArray ones = NDArray::FromVector<float>({64, 64}, std::vector<float>(64 * 64, 1));
  for (const LibraryChoice library :
       {LibraryChoice::kAuto, LibraryChoice::kTe, LibraryChoice::kLibrary}) {
    const std::vector<NDArray> results = Outcome(module, {{"x", ones}}, {.library = library});
    EXPECT_EQ(results[0].data<float>()[0], 65);
    EXPECT_EQ(results[1].data<float>()[0], 130);
  }
}

// oneDNN's kernels are made for a number of threads; a region that is parallel already gives one.
TEST(CompileTest, LibraryKernelsComputeAllOfTheirResultInsideAParallelRegion) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(67, 96), float32], %w: Tensor[(80, 96), float32]) {"
      " nn.dense(%x, %w) }");
  const runtime::Inputs inputs = RandomInputs(module, 3);
  const jit::ScopedThreads four(4);
  const Executable executable = ValueOrThrow(Compile(module, {.library = LibraryChoice::kLibrary}));
  const std::vector<NDArray> expected = Interpreted(module, inputs);
  ExpectClose(ValueOrThrow(executable.Run(inputs)), expected);
  struct Run {
    const Executable& executable;
    const runtime::Inputs& inputs;
    std::vector<NDArray> results[2];
  } run{executable, inputs, {}};
  const auto body = [](void* closure, std::int64_t begin, std::int64_t end) {
    Run& self = *static_cast<Run*>(closure);
    for (std::int64_t i = begin; i < end; ++i)
      self.results[i] = ValueOrThrow(self.executable.Run(self.inputs));
  };
  const jit::ScopedThreads two(2);
  jit::ParallelFor(body, &run, 2);
  for (const std::vector<NDArray>& results : run.results) ExpectClose(results, expected);
}

TEST(CompileTest, SessionsOfOtherNumbersOfThreadsComputeTheSame) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(48, 32, 1, 1), float32]) {"
      " nn.relu(nn.conv2d(%x, %w)) }");
  const runtime::Inputs inputs = RandomInputs(module, 4);
  const Executable executable =
      ValueOrThrow(Compile(module, {.threads = 2, .library = LibraryChoice::kLibrary}));
  const std::vector<NDArray> expected = Interpreted(module, inputs);
  for (const int threads : {1, 2, 3, 8}) {
    runtime::Session session(executable, {.threads = threads});
    for (int i = 0; i < 2; ++i) ExpectClose(ValueOrThrow(session.Run(inputs)), expected);
  }
}

// --- NaN and denormals

// A relu or clip after a product of NaN is NaN, unless a library that loses it is asked for.
// Rows of few terms, whose sums LLVM unrolls. How many rows a thread has must not matter.
TEST(CompileTest, GeneratedKernelsGiveTheSameBitsOnAnyNumberOfThreads) {
  for (const int terms : {3, 7, 8, 15, 16, 31, 33, 63}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(525, ", terms,
                      "), float32], %p: Tensor[(525, 1), float32], "
                      "%g: Tensor[(",
                      terms,
                      "), float32]) {\n"
                      "  %0 = multiply(%x, %p);\n"
                      "  (nn.layer_norm(%0, %g, %g), mean(%0, axis=[1]), nn.softmax(%0))\n}"));
    const runtime::Inputs inputs = RandomInputs(module, terms);
    const Executable exe =
        ValueOrThrow(Compile(module, {.threads = 1, .library = LibraryChoice::kTe}));
    const std::vector<NDArray> expected = ValueOrThrow(exe.Run(inputs));
    for (const int threads : {2, 3, 5, 16}) {
      runtime::Session session(exe, {.threads = threads});
      const std::vector<NDArray> results = ValueOrThrow(session.Run(inputs));
      for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_TRUE(results[i].SameBytes(expected[i]))
            << "result " << i << " of " << terms << " terms on " << threads << " threads";
    }
  }
}

// Kernels take denormal floats for zero, and so does what is folded.
TEST(CompileTest, ADenormalConstantCountsAsADenormalInputDoes) {
  const NDArray x = Vector({1e-40F, -1e-40F, 1, 0});
  for (const char* body : {"greater(%x, 0f)", "cast(%x, dtype=\"bool\")"}) {
    const std::vector<NDArray> of_input = Outcome(OfVector(body), {{"x", x}});
    const ir::Module of_constant = passes::BindParams(OfVector(body), "main", {{"x", x}});
    const std::vector<NDArray> folded = Outcome(of_constant, {});
    EXPECT_TRUE(of_input.at(0).SameBytes(folded.at(0))) << body;
  }
}

}  // namespace
}  // namespace tenon
