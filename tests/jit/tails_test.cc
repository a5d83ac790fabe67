// Vectorised loops whose extent is no multiple of the vector's: the last block runs under a mask,
// gives what the interpreter gives, and touches nothing outside of the arrays.
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/jit/guarded_array.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using schedule::Schedule;
using te::Placeholder;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kExtents[] = {0, 1, 2, 15, 16, 17, 31, 33, 63, 65, 1000, 1023};

// Runs the schedule of `out` on guarded arrays and compares every byte with the interpreter's.
void ExpectAsInterpreted(const Schedule& schedule, const std::vector<Tensor>& inputs,
                         const Tensor& out, const std::vector<Shape>& shapes, const Shape& result,
                         const std::string& features = "") {
  std::vector<Tensor> args = inputs;
  args.push_back(out);
  const loop::Function function = schedule::Lower(schedule, args, "kernel");
  const absl::StatusOr<Kernel> kernel = Compile(function, {.cpu_features = features});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (const Place place : {Place::kAtTheEnd, Place::kAtTheStart}) {
    std::vector<NDArray> arrays;
    std::vector<std::pair<Tensor, NDArray>> given;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      arrays.push_back(
          GuardedNumbers(shapes[i], inputs[i].dtype(), place, static_cast<unsigned>(i + 1)));
      given.emplace_back(inputs[i], arrays[i]);
    }
    const NDArray wanted = te::Interpret({out}, given)[0];
    const NDArray got = Guarded(result, out.dtype(), place);
    arrays.push_back(got);
    const absl::Status status = kernel->Run(arrays);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(got.bytes(), wanted.bytes());
    if (got.bytes() == 0) continue;
    EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), got.bytes()), 0) << loop::Print(function);
  }
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<DataType, const char*>>& info) {
  const std::string features = std::get<1>(info.param);
  return StrCat(std::get<0>(info.param).ToString(), features.empty()         ? "Host"
                                                    : features == "-avx512f" ? "Avx2"
                                                                             : "Sse");
}

class TailTest : public ::testing::TestWithParam<std::tuple<DataType, const char*>> {
 protected:
  DataType type() const { return std::get<0>(GetParam()); }
  std::string features() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Types, TailTest,
                         ::testing::Combine(::testing::Values(Float32, Float64, Int8, UInt8, Int32,
                                                              Int64, Bool, Float16, BFloat16),
                                            ::testing::Values("", "-avx512f",
                                                              "-avx512f,-avx2,-avx")),
                         NameOf);

Expr Joined(const Expr& a, const Expr& b) {
  return a.dtype().is_bool() ? a && !b : loop::Select(a < b, a + b, a - b);
}

TEST_P(TailTest, ElementsOfEveryExtent) {
  for (const std::int64_t n : kExtents) {
    SCOPED_TRACE(n);
    const Tensor a = Placeholder({n}, type(), "A"), b = Placeholder({n}, type(), "B");
    const Tensor c = te::Compute(
        {n}, [&](Var i) { return Joined(a(i), b(i)); }, "C");
    Schedule s(c);
    s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
    ExpectAsInterpreted(s, {a, b}, c, {{n}, {n}}, {n}, features());
  }
}

// Whole vectors and the masked one are told apart as the kernel runs.
TEST_P(TailTest, ElementsOfASymbolicExtentInAParallelLoop) {
  for (const std::int64_t size : {0, 1, 16, 33, 1000}) {
    SCOPED_TRACE(size);
    const Var n("n");
    const Tensor a = Placeholder({n}, type(), "A"), b = Placeholder({n}, type(), "B");
    const Tensor c = te::Compute(
        {n}, [&](Var i) { return Joined(b(i), a(i)); }, "C");
    Schedule s(c);
    const auto [blocks, lane] = s[c].Split(c.axis(0), 16);
    s[c].Vectorize(lane).Parallel(blocks);
    ExpectAsInterpreted(s, {a, b}, c, {{size}, {size}}, {size}, features());
  }
}

TEST_P(TailTest, EveryThirdElementIsGathered) {
  for (const std::int64_t n : {1, 15, 17, 65}) {
    SCOPED_TRACE(n);
    const Tensor a = Placeholder({3 * n - 2}, type(), "A");
    const Tensor c = te::Compute(
        {n}, [&](Var i) { return Joined(a(i * 3), a(0)); }, "C");
    Schedule s(c);
    s[c].Vectorize(s[c].Split(c.axis(0), 8).second);
    ExpectAsInterpreted(s, {a}, c, {{3 * n - 2}}, {n}, features());
  }
}

// A load that some lanes must not make.
TEST_P(TailTest, PaddingIsLoadedUnderAMask) {
  for (const std::int64_t n : {1, 15, 16, 40}) {
    SCOPED_TRACE(n);
    const Tensor a = Placeholder({n}, type(), "A");
    const Tensor c = te::Compute(
        {n + 5},
        [&](Var i) {
          return loop::IfThenElse(i >= 3 && i < n + 3, a(i - 3), loop::Constant(type(), 1));
        },
        "C");
    Schedule s(c);
    s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
    ExpectAsInterpreted(s, {a}, c, {{n}}, {n + 5}, features());
  }
}

TEST_P(TailTest, ColumnSumsKeepAMaskedVectorOfResults) {
  for (const std::int64_t n : {1, 15, 17, 63}) {
    SCOPED_TRACE(n);
    const Tensor a = Placeholder({6, n}, type(), "A");
    const te::IterVar k = te::ReduceAxis(0, 6);
    const Tensor c = te::Compute(
        {n},
        [&](Var i) {
          return type().is_bool() ? te::Any(a(k.var, i), {k}) : te::Max(a(k.var, i), {k});
        },
        "C");
    Schedule s(c);
    const auto [blocks, lane] = s[c].Split(c.axis(0), 16);
    s[c].Reorder({blocks, c.reduce_axis(0), lane});
    s[c].Vectorize(lane);
    ExpectAsInterpreted(s, {a}, c, {{6, n}}, {n}, features());
  }
}

loop::Function Added(std::int64_t n) {
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor c = te::Compute(
      {n}, [&](Var i) { return a(i) + 1.0F; }, "C");
  Schedule s(c);
  s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
  return schedule::Lower(s, {a, c}, "added");
}

TEST(TailCodeTest, TheLastBlockOfAThousandRunsOnceUnderAMask) {
  EXPECT_EQ(loop::Print(Added(1000).body),
            "for i.outer in [0, 62) {\n"
            "  C[ramp((i.outer * 16), 1, 16)] = (A[ramp((i.outer * 16), 1, 16)] + x16(1f))\n"
            "}\n"
            "C[ramp(992, 1, 16)] = (A[ramp(992, 1, 16) where (ramp(992, 1, 16) < x16(1000))] + "
            "x16(1f)) where (ramp(992, 1, 16) < x16(1000))\n");
}

TEST(TailCodeTest, AMultipleOfTheVectorNeedsNoMask) {
  EXPECT_THAT(loop::Print(Added(1024).body), Not(HasSubstr("where")));
}

TEST(TailCodeTest, MaskedAccessesAreMaskedInLlvm) {
  const Kernel kernel = Compile(Added(1000)).value();
  EXPECT_THAT(kernel.LlvmIr(false), HasSubstr("call void @llvm.masked.store.v16f32"));
  EXPECT_THAT(kernel.LlvmIr(false), HasSubstr("@llvm.masked.load.v16f32"));
}

// exp(0) of the lanes that do not run is computed and thrown away.
TEST(TailCodeTest, VectorMathRunsOnMaskedLanes) {
  const std::int64_t n = 21;
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor c = te::Compute(
      {n}, [&](Var i) { return te::Exp(a(i)); }, "C");
  Schedule s(c);
  s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
  const Kernel kernel = Compile(schedule::Lower(s, {a, c}, "exps")).value();
  const NDArray x = GuardedNumbers({n}, Float32, Place::kAtTheEnd, 3);
  const NDArray y = Guarded({n}, Float32, Place::kAtTheEnd);
  ASSERT_TRUE(kernel(x, y).ok());
  for (std::int64_t i = 0; i < n; ++i)
    EXPECT_NEAR(y.data<float>()[i] / std::exp(x.data<float>()[i]), 1, 1e-6) << i;
}

}  // namespace
}  // namespace tenon::jit
