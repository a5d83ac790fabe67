// What compilation gives besides numbers: texts, kernels in order, names of their own.
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using schedule::Lower;
using schedule::Schedule;
using te::Placeholder;
using te::Tensor;
using te::Var;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(KernelTextTest, EachStageOfCompilationHasItsText) {
  const Kernel kernel = VectorAdd(64);
  EXPECT_EQ(kernel.name(), "vadd");
  EXPECT_EQ(kernel.Loops(), loop::Print(kernel.function()));
  EXPECT_THAT(kernel.Loops(), HasSubstr("function vadd(A: float32[64]"));
  EXPECT_THAT(kernel.LlvmIr(), ContainsRegex("define .*i32 @vadd\\(ptr"));
  EXPECT_THAT(kernel.LlvmIr(), HasSubstr("fadd"));
  EXPECT_THAT(kernel.LlvmIr(false), ContainsRegex("define .*i32 @vadd\\(ptr"));
  EXPECT_NE(kernel.LlvmIr(true), kernel.LlvmIr(false));
  EXPECT_THAT(kernel.Assembly(), HasSubstr("vadd:"));
  EXPECT_THAT(kernel.Assembly(), HasSubstr("ret"));
}

TEST(KernelTextTest, TextsAreTheSameEveryTime) {
  const Kernel kernel = ParallelKernel();
  EXPECT_EQ(kernel.LlvmIr(), kernel.LlvmIr());
  EXPECT_EQ(kernel.Assembly(), kernel.Assembly());
}

TEST(KernelTextTest, MaskedRegistersDoNotOccurInTheCode) {
  const Tensor a = Placeholder({64}, Float32, "A");
  const Tensor b = te::Compute(
      {64}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Vectorize(b.axis(0));
  CompileOptions no_avx;
  no_avx.target = HostTarget("-avx");
  const std::string assembly = Compiled(s, {a, b}, "f", no_avx).Assembly();
  EXPECT_THAT(assembly, HasSubstr("xmm"));
  EXPECT_THAT(assembly, Not(HasSubstr("ymm")));
  EXPECT_THAT(assembly, Not(HasSubstr("zmm")));
}

// LLVM ends the process where it has no instruction for a step.
TEST(KernelTextTest, TailsOfAllElementsAreCompiledWithoutAnyOneFeature) {
  const auto compile = [](DataType from, DataType to, const CompileOptions& options) {
    SCOPED_TRACE(from.ToString() + " to " + to.ToString());
    const Tensor a = Placeholder({35}, from, "A");
    const Tensor b = te::Compute(
        {35}, [&](Var i) { return te::Cast(to, a(i)); }, "B");
    Schedule s(b);
    s[b].Vectorize(s[b].Split(s[b].axis(0), 16).second);
    EXPECT_FALSE(Compiled(s, {a, b}, "f", options).Assembly().empty());
  };
  for (const std::string& feature : HostTarget().features) {
    if (feature == "64bit" || feature == "sse" || feature == "sse2") continue;
    SCOPED_TRACE(feature);
    CompileOptions options;
    options.target = HostTarget("-" + feature);
    for (const DataType type : {Float16, BFloat16, Int16, Int8, Float64}) {
      compile(Float32, type, options);
      compile(type, Float32, options);
    }
  }
}

// LLVM would copy the loop over 600 columns 13 times, and then work on every copy; nothing is left
// of one over 3.
TEST(KernelTextTest, LlvmIsToldNotToCopyLoopsThatHoldLongLoops) {
  const std::string hint = "!\"llvm.loop.unroll.disable\"";
  for (const int columns : {3, 600}) {
    const Tensor a = Placeholder({13, columns}, Float32, "A");
    const Tensor b = te::Compute(
        {13, columns}, [&](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
    const std::string ir = Compiled(Schedule(b), {a, b}, "f").LlvmIr(false);
    const std::size_t first = ir.find(hint);
    EXPECT_EQ(first != std::string::npos, columns == 600) << ir;
    if (columns == 600) {
      EXPECT_EQ(ir.find(hint, first + 1), std::string::npos) << "the inner one";
    }
  }
}

// It would compare each load and store of such a loop with each other.
TEST(KernelTextTest, LoopsOfThousandsOfAccessesAreNotVectorisedByLlvm) {
  for (const int copies : {2, 25}) {
    const Tensor a = Placeholder({copies, copies, 64}, Float32, "A");
    const Tensor b = te::Compute(
        {copies, copies, 64}, [&](Var i, Var j, Var k) { return a(i, j, k) + 1.0F; }, "B");
    Schedule s(b);
    s[b].Reorder({b.axis(2), b.axis(0), b.axis(1)});
    s[b].Unroll(b.axis(0));
    s[b].Unroll(b.axis(1));
    const std::string ir = Compiled(s, {a, b}, "f").LlvmIr();
    const std::string hint = "llvm.loop.vectorize.enable";
    EXPECT_EQ(ir.find(hint) != std::string::npos, copies == 25) << ir.substr(0, 4000);
  }
}

TEST(KernelTextTest, ACallableSaysThatTenonMadeIt) {
  const std::shared_ptr<const Callable> callable = VectorAdd(4).AsCallable();
  EXPECT_EQ(callable->implementation(), "tenon");
  EXPECT_EQ(callable->workspace_bytes(), 0U);
}

loop::Function AddConstant(std::int64_t extent, float constant, const std::string& name) {
  const Tensor a = Placeholder({extent}, Float32, "A");
  const Tensor b = te::Compute(
      {extent}, [&](Var i) { return a(i) + constant; }, "B");
  return Lower(Schedule(b), {a, b}, name);
}

TEST(CompileAllTest, KernelsComeInTheOrderOfTheFunctions) {
  std::vector<loop::Function> functions;
  for (int i = 0; i < 20; ++i)
    functions.push_back(AddConstant(4, static_cast<float>(i), StrCat("add", i)));
  const auto kernels = CompileAll(functions);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 20U);
  const NDArray x = NDArray::Zeros({4}, Float32), y = NDArray::Zeros({4}, Float32);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ((*kernels)[i].name(), StrCat("add", i));
    ASSERT_TRUE((*kernels)[i](x, y).ok());
    EXPECT_EQ(y.data<float>()[3], static_cast<float>(i));
  }
}

TEST(CompileAllTest, FunctionsOfOneNameAreKeptApart) {
  const auto kernels =
      CompileAll(std::vector<loop::Function>{AddConstant(4, 1, "f"), AddConstant(4, 2, "f")});
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const NDArray x = NDArray::Zeros({4}, Float32), y = NDArray::Zeros({4}, Float32);
  ASSERT_TRUE((*kernels)[0](x, y).ok());
  EXPECT_EQ(y.data<float>()[0], 1);
  ASSERT_TRUE((*kernels)[1](x, y).ok());
  EXPECT_EQ(y.data<float>()[0], 2);
}

TEST(CompileAllTest, NoFunctionsGiveNoKernels) {
  const auto kernels = CompileAll({});
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_TRUE(kernels->empty());
}

TEST(CompileAllTest, OneErrorFailsTheWhole) {
  const Var i("i");
  const loop::Buffer a = loop::Buffer::Make("A", Float32, {4});
  const loop::Function broken{
      .name = "broken",
      .buffers = {a},
      .scalars = {},
      .body = loop::For(i, 0, 4, loop::ForKind::kVectorized, loop::Store(a, 1.0F, {i}))};
  const auto kernels = CompileAll(std::vector<loop::Function>{AddConstant(4, 1, "f"), broken});
  EXPECT_EQ(kernels.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(kernels.status().message()),
              HasSubstr("function broken: vectorised loops are expanded: i"));
}

// The names of what the code calls belong to the compiler, not to its user.
class NameTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(LibraryFunctions, NameTest,
                         ::testing::Values("anything", "exp", "expf", "memcpy", "memset", "main",
                                           "tenon_parallel_for"),
                         [](const auto& info) { return info.param; });

// Compiles a kernel of the name, with copies, fills, library calls and a parallel loop, and tells
// whether its numbers are right.
bool WorksUnderTheName(const std::string& name) {
  const Tensor a = Placeholder({5000}, Float64, "A"), b = Placeholder({5000}, Float32, "B");
  const Tensor copy = te::Compute(
      {5000}, [&](Var i) { return b(i); }, "copy");
  const Tensor zero = te::Compute(
      {5000}, [&](Var) { return Expr(0.0F); }, "zero");
  const Tensor c = te::Compute(
      {5000}, [&](Var i) { return te::Exp(a(i)); }, "C");
  const Tensor d = te::Compute(
      {5000}, [&](Var i) { return te::Exp(copy(i)) + zero(i); }, "D");
  const Tensor e = te::Compute(
      {5000}, [&](Var i) { return b(i); }, "E");
  Schedule s(std::vector<Tensor>{c, d, e});
  s[c].Parallel(c.axis(0));
  const auto kernel = Compile(Lower(s, {a, b, c, d, e}, name));
  if (!kernel.ok()) return false;
  const NDArray x = NDArray::Zeros({5000}, Float64), y = NDArray::Zeros({5000}, Float32),
                p = NDArray::Zeros({5000}, Float64), q = NDArray::Zeros({5000}, Float32),
                r = Random({5000});
  return (*kernel)(x, y, p, q, r).ok() && p.data<double>()[4999] == 1 &&
         q.data<float>()[4999] == 1 && r.data<float>()[4999] == 0;
}

// In a process of its own: what goes wrong here is a crash.
TEST_P(NameTest, AKernelMayBeNamedLikeALibraryFunction) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(WorksUnderTheName(GetParam()) ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

// LLVM ends the process over such errors where nobody takes them.
TEST(LlvmErrorTest, AFatalErrorOfLlvmIsThrown) {
  VectorAdd(64);  // sets LLVM up
  using Fatal = void (*)(const char* reason, bool);
  const auto fatal =
      reinterpret_cast<Fatal>(dlsym(RTLD_DEFAULT, "_ZN4llvm18report_fatal_errorEPKcb"));
  ASSERT_NE(fatal, nullptr);
  try {
    fatal("Cannot select: t0", false);
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("LLVM cannot compile a kernel: Cannot select: t0"));
  }
  EXPECT_TRUE(VectorAdd(65).function().body.stmt());
}

// A host's threads may have stacks of a few hundred KiB.
TEST(FrameTest, BuffersBeyondAFrameComeFromTheHeap) {
  const te::Tensor a = Placeholder({8192}, Float32, "A");
  std::vector<te::Tensor> stages = {a};
  for (int i = 0; i < 12; ++i) {
    stages.push_back(te::Compute(
        {8192}, [&](const Var& j) { return stages.back()(8191 - j) + 1.0F; }, StrCat("S", i)));
  }
  const te::Tensor& last = stages.back();
  const Kernel kernel = ValueOrThrow(Compile(Lower(Schedule(last), {a, last}, "chain")));
  std::size_t bytes = 0;
  for (const std::string& line : StrSplit(kernel.LlvmIr(false), '\n')) {
    if (line.find("alloca float, i64 8192") != std::string::npos) bytes += 8192 * 4;
  }
  EXPECT_LE(bytes, 256U * 1024);
  const NDArray x = NDArray::Zeros({8192}, Float32), y = NDArray::Zeros({8192}, Float32);
  ASSERT_TRUE(kernel(x, y).ok());
  EXPECT_EQ(y.data<float>()[0], 12);
  EXPECT_EQ(y.data<float>()[8191], 12);
}

TEST(FrameTest, AnIntermediateResultOfMoreBytesThanThereAreIsAnError) {
  const Var n("n");
  const te::Tensor a = Placeholder({n}, Float32, "A");
  const te::Tensor wide = te::Compute(
      {n, n, n, n, n}, [&](const std::vector<Var>& i) { return a(i[0]) + a(i[4]); }, "wide");
  const te::Tensor b = te::Compute(
      {n}, [&](const Var& i) { return wide(i, i, i, i, i); }, "B");
  const Kernel kernel = ValueOrThrow(Compile(Lower(Schedule(b), {a, b}, "wide")));
  const NDArray x = NDArray::Zeros({8192}, Float32), y = NDArray::Zeros({8192}, Float32);
  // 2^67 bytes.
  EXPECT_EQ(kernel(x, y).code(), absl::StatusCode::kResourceExhausted);
}

// The step from -1 to 0 wraps around where numbers have no sign.
TEST(LoopCodeTest, ALoopMayBeginBelowZero) {
  for (const std::int64_t extent : {1, 2, 5}) {
    SCOPED_TRACE(extent);
    const loop::Buffer a = loop::Buffer::Make("A", Float32, {8});
    const Var i("i");
    const auto function = [&](std::int64_t begin) {
      const Expr sum = loop::Load(a, {i - begin}) + loop::Cast(Float32, i);
      return loop::Function{.name = "f",
                            .buffers = {a},
                            .scalars = {},
                            .body = loop::For(i, begin, extent, loop::ForKind::kSerial,
                                              loop::Store(a, sum, {i - begin}))};
    };
    const Kernel kernel = ValueOrThrow(Compile(function(-1)));
    const NDArray x = NDArray::Zeros({8}, Float32);
    ASSERT_TRUE(kernel(x).ok());
    for (std::int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(x.data<float>()[j], j < extent ? static_cast<float>(j - 1) : 0) << j;
    EXPECT_THAT(kernel.LlvmIr(false), Not(HasSubstr("add nuw nsw i64 %i, 1")));
    EXPECT_THAT(ValueOrThrow(Compile(function(0))).LlvmIr(false),
                HasSubstr("add nuw nsw i64 %i, 1"));
  }
}

}  // namespace
}  // namespace tenon::jit
