// Reductions along memory at odd lengths: values against the interpreter, on arrays that end or
// begin at a protected page, and code that runs in vectors.
#include <cmath>
#include <cstring>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
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
using te::IterVar;
using te::Placeholder;
using te::Tensor;
using te::Var;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr std::int64_t kExtents[] = {0, 1, 2, 15, 16, 17, 31, 33, 63, 65, 1000, 1023};
constexpr std::int64_t kRows = 3;

using Body = std::function<te::Reduction(const Expr& element, const IterVar& k)>;

struct RowReduction {
  Tensor in;
  std::vector<Tensor> outs;
};

RowReduction Rows(std::int64_t n, DataType type, const Body& body) {
  const Tensor a = Placeholder({kRows, n}, type, "A");
  const IterVar k = te::ReduceAxis(0, n);
  const Tensor c = te::Compute(
      {kRows}, [&](Var i) { return body(a(i, k.var), k); }, "C");
  RowReduction rows{a, {}};
  for (int i = 0; i < static_cast<int>(c.op()->outputs.size()); ++i)
    rows.outs.emplace_back(c.op(), i);
  return rows;
}

Kernel Compiled(const RowReduction& rows, const std::string& features) {
  std::vector<Tensor> args = {rows.in};
  args.insert(args.end(), rows.outs.begin(), rows.outs.end());
  return Compile(schedule::Lower(Schedule(rows.outs[0]), args, "rows"),
                 {.target = HostTarget(features)})
      .value();
}

// Small whole numbers: sums are exact in any order. `spoil` changes the input first.
void ExpectAsInterpreted(std::int64_t n, DataType type, const Body& body,
                         const std::string& features,
                         const std::function<void(const NDArray&)>& spoil = nullptr) {
  const RowReduction rows = Rows(n, type, body);
  const Kernel kernel = Compiled(rows, features);
  for (const Place place : {Place::kAtTheEnd, Place::kAtTheStart}) {
    const NDArray in = GuardedNumbers({kRows, n}, type, place, static_cast<unsigned>(n));
    if (spoil) spoil(in);
    std::vector<NDArray> arrays = {in};
    for (const Tensor& out : rows.outs) arrays.push_back(Guarded({kRows}, out.dtype(), place));
    ASSERT_TRUE(kernel.Run(arrays).ok());
    const std::vector<NDArray> wanted = te::Interpret(rows.outs, {{rows.in, in}});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(std::memcmp(arrays[i + 1].raw(), wanted[i].raw(), wanted[i].bytes()), 0)
          << "result " << i << " of rows of " << n;
    }
  }
}

te::Reduction ArgMaxOf(const Expr& element, const IterVar& k) {
  return te::ArgMax(te::Cast(Int32, k.var), element, {k});
}
te::Reduction LastArgMinOf(const Expr& element, const IterVar& k) {
  return te::ArgMin(k.var, element, {k}, /*select_last=*/true);
}

class RowReductionTest : public ::testing::TestWithParam<std::tuple<DataType, const char*>> {
 protected:
  void ExpectAtAllExtents(const Body& body) const {
    for (const std::int64_t n : kExtents)
      ExpectAsInterpreted(n, std::get<0>(GetParam()), body, std::get<1>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(
    Types, RowReductionTest,
    ::testing::Combine(::testing::Values(Float32, Float64, Int8, UInt8, Int32, Int64, Float16),
                       ::testing::Values("", "-avx512f", "-avx512f,-avx2,-avx")),
    [](const auto& info) {
      const std::string features = std::get<1>(info.param);
      return StrCat(std::get<0>(info.param).ToString(), features.empty()         ? "Host"
                                                        : features == "-avx512f" ? "Avx2"
                                                                                 : "Sse");
    });

TEST_P(RowReductionTest, TheFirstOfEqualMaximaIsFound) { ExpectAtAllExtents(ArgMaxOf); }
TEST_P(RowReductionTest, TheLastOfEqualMinimaIsFound) { ExpectAtAllExtents(LastArgMinOf); }
TEST_P(RowReductionTest, SumsAreExact) {
  if (std::get<0>(GetParam()) == Float16) return;  // has not all whole numbers that sums reach
  ExpectAtAllExtents([](const Expr& e, const IterVar& k) { return te::Sum(e, {k}); });
}
TEST_P(RowReductionTest, MaximaAreExact) {
  ExpectAtAllExtents([](const Expr& e, const IterVar& k) { return te::Max(e, {k}); });
}
TEST_P(RowReductionTest, MaximaOfNumbersAreExact) {
  ExpectAtAllExtents([](const Expr& e, const IterVar& k) { return te::MaxOfNumbers(e, {k}); });
}
TEST_P(RowReductionTest, AnyAndAllOfComparisonsAreExact) {
  ExpectAtAllExtents([](const Expr& e, const IterVar& k) {
    return te::Any(e > loop::Constant(e.dtype(), 4), {k});
  });
  ExpectAtAllExtents([](const Expr& e, const IterVar& k) {
    return te::All(e < loop::Constant(e.dtype(), 5), {k});
  });
}

TEST(ArgMaxTest, TheFirstNanWins) {
  for (const std::int64_t n : {17, 64, 1000}) {
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      ExpectAsInterpreted(n, Float32, ArgMaxOf, "", [&](const NDArray& in) {
        in.data<float>()[at] = NAN;
        in.data<float>()[n + n - 1] = NAN;
        in.data<float>()[n + at] = NAN;
        for (std::int64_t i = 0; i < n; ++i) in.data<float>()[2 * n + i] = -HUGE_VALF;
      });
    }
  }
}

TEST(ExtremaTest, OneNanAnywhereWinsAndInfinitiesMakeNone) {
  for (const std::int64_t n : {8, 16, 33, 64, 100}) {
    const RowReduction greatest =
        Rows(n, Float32, [](const Expr& e, const IterVar& k) { return te::Max(e, {k}); });
    const RowReduction least =
        Rows(n, Float32, [](const Expr& e, const IterVar& k) { return te::Min(e, {k}); });
    const Kernel max = Compiled(greatest, ""), min = Compiled(least, "");
    const NDArray in = NDArray::Zeros({kRows, n}, Float32), out = NDArray::Zeros({kRows}, Float32);
    for (std::int64_t at = 0; at < n; ++at) {
      for (std::int64_t i = 0; i < n; ++i) {
        in.data<float>()[i] = i == at ? NAN : 1;
        in.data<float>()[n + i] = i % 2 == 0 ? HUGE_VALF : -HUGE_VALF;
        in.data<float>()[2 * n + i] = static_cast<float>(i == at ? -5 : 1);
      }
      const auto result = [&](const Kernel& kernel, int row) {
        EXPECT_TRUE(kernel.Run(std::vector<NDArray>{in, out}).ok());
        return out.data<float>()[row];
      };
      EXPECT_TRUE(std::isnan(result(max, 0)) && std::isnan(result(min, 0))) << at << " of " << n;
      EXPECT_EQ(result(max, 1), HUGE_VALF);
      EXPECT_EQ(result(min, 1), -HUGE_VALF);
      EXPECT_EQ(result(max, 2), 1);
      EXPECT_EQ(result(min, 2), -5);
    }
  }
}

TEST(MaxOfNumbersTest, NansAreNoNumbers) {
  for (const std::int64_t n : {3, 17, 64, 1000}) {
    const RowReduction rows =
        Rows(n, Float32, [](const Expr& e, const IterVar& k) { return te::MaxOfNumbers(e, {k}); });
    const NDArray in = GuardedNumbers({kRows, n}, Float32, Place::kAtTheEnd, 5);
    for (std::int64_t i = 0; i < n; ++i) in.data<float>()[i] = i == n / 2 ? -7 : NAN;
    for (std::int64_t i = 0; i < n; ++i) in.data<float>()[n + i] = NAN;
    const NDArray out = NDArray::Zeros({kRows}, Float32);
    ASSERT_TRUE(Compiled(rows, "").Run(std::vector<NDArray>{in, out}).ok());
    EXPECT_EQ(out.data<float>()[0], -7);
    EXPECT_EQ(out.data<float>()[1], -HUGE_VALF);
  }
}

te::Reduction SumOfExps(const Expr& element, const IterVar& k) {
  return te::Sum(te::Exp(element), {k});
}

TEST(SumOfExpsTest, MatchesALoopAtAllExtents) {
  for (const std::int64_t n : kExtents) {
    const Kernel kernel = Compiled(Rows(n, Float32, SumOfExps), "");
    const NDArray in = GuardedNumbers({kRows, n}, Float32, Place::kAtTheEnd, 5);
    const NDArray out = Guarded({kRows}, Float32, Place::kAtTheEnd);
    ASSERT_TRUE(kernel(in, out).ok());
    for (std::int64_t i = 0; i < kRows; ++i) {
      double wanted = 0;
      for (std::int64_t k = 0; k < n; ++k) wanted += std::exp(double{in.data<float>()[i * n + k]});
      EXPECT_NEAR(out.data<float>()[i], wanted, wanted * 1e-6) << n;
    }
  }
}

// All of the work but the last steps runs in vectors.
TEST(ReductionCodeTest, RowsAreReducedInVectors) {
  const auto ir = [](DataType type, const Body& body) {
    return Compiled(Rows(1000, type, body), "").LlvmIr();
  };
  EXPECT_THAT(ir(Float32, ArgMaxOf), ContainsRegex("fcmp [a-z ]*<[0-9]+ x float>"));
  EXPECT_THAT(ir(Int8, ArgMaxOf), ContainsRegex("icmp [a-z ]*<[0-9]+ x i8>"));
  EXPECT_THAT(ir(Bool, [](const Expr& e, const IterVar& k) { return te::Any(e, {k}); }),
              ContainsRegex("or <[0-9]+ x i[18]>"));
  const auto total = [](const Expr& e, const IterVar& k) { return te::Sum(e, {k}); };
  // LLVM's vectors take all terms, or those of loop/transform/vectorize_sums.cc do.
  const auto sum_of_1024 = Compiled(Rows(1024, Float64, total), "").LlvmIr();
  EXPECT_THAT(sum_of_1024, HasSubstr("@llvm.vector.reduce.fadd"));
  EXPECT_THAT(ir(Float64, total), ContainsRegex("fadd [a-z ]*<32 x double>"));
  EXPECT_THAT(ir(Int32, total), HasSubstr("@llvm.vector.reduce.add"));
  const auto wide = [](const Expr& e, const IterVar& k) {
    return te::Sum(te::Cast(e.dtype() == Int8 ? Int32 : Float32, e), {k});
  };
  EXPECT_THAT(ir(Int8, wide), ContainsRegex("sext <[0-9]+ x i8>"));
  EXPECT_THAT(ir(BFloat16, wide), ContainsRegex("zext <[0-9]+ x i16>"));
}

// The sum may be added up in another order, the exponential's own steps may not.
TEST(SumOfExponentialsTest, IsExactOnEveryCpu) {
  for (const char* features : {"", "-avx512f", "-fma", "-avx", "-sse3"}) {
    SCOPED_TRACE(features);
    const std::int64_t n = 67;
    const RowReduction rows = Rows(n, Float32, [](const Expr& e, const IterVar& k) {
      return te::Sum(te::Exp(e * -0.01F), {k});
    });
    const NDArray in = GuardedNumbers({kRows, n}, Float32, Place::kAtTheEnd, 7);
    const NDArray out = NDArray::Zeros({kRows}, Float32);
    ASSERT_TRUE(Compiled(rows, features).Run(std::vector<NDArray>{in, out}).ok());
    for (std::int64_t i = 0; i < kRows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += std::exp(static_cast<double>(in.data<float>()[i * n + j] * -0.01F));
      EXPECT_NEAR(out.data<float>()[i], sum, 2e-6 * sum);
    }
  }
}

// Rows of exponentials, four vectors at a time, and their sums.
Kernel SumOfRows(std::int64_t n) {
  const Tensor a = Placeholder({kRows, n}, Float32, "A");
  const Tensor e = te::Compute(
      {kRows, n}, [&](Var i, Var j) { return te::Exp(a(i, j)); }, "E");
  const IterVar k = te::ReduceAxis(0, n);
  const Tensor c = te::Compute(
      {kRows}, [&](Var i) { return te::Sum(e(i, k.var), {k}); }, "C");
  Schedule s(c);
  s[e].ComputeAt(s[c], s[c].leaves()[0]);
  const auto [vectors, lanes] = s[e].Split(e.axis(1), HostTarget().vector_bytes / 4);
  s[e].Unroll(s[e].Split(vectors, 4).second);
  s[e].Vectorize(lanes);
  return Compile(schedule::Lower(s, {a, c}, "rows")).value();
}

TEST(SumOfARowTest, IsAddedUpWhileTheRowIsMade) {
  for (const std::int64_t n : {63, 64, 65, 128, 200, 1000, 1023, 1024}) {
    const NDArray in = GuardedNumbers({kRows, n}, Float32, Place::kAtTheEnd, 5);
    const NDArray out = NDArray::Zeros({kRows}, Float32);
    ASSERT_TRUE(SumOfRows(n)(in, out).ok());
    for (std::int64_t i = 0; i < kRows; ++i) {
      double wanted = 0;
      for (std::int64_t j = 0; j < n; ++j) wanted += std::exp(double{in.data<float>()[i * n + j]});
      EXPECT_NEAR(out.data<float>()[i], wanted, wanted * 1e-6) << n;
    }
  }
  // Nothing else reads the row, so that it needs no memory where registers hold what is unrolled.
  if (HostTarget().vector_registers < 32) return;
  EXPECT_THAT(SumOfRows(1024).LlvmIr(), ::testing::Not(HasSubstr("alloca [1024")));
}

}  // namespace
}  // namespace tenon::jit
