// Compiled schedules against plain loops, at sizes around the width of a vector register.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/loop/print.h"
#include "tenon/support/strings.h"
#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using schedule::Lower;
using schedule::Schedule;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Tensor;
using te::Var;

class ExtentTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OddSizes, ExtentTest, ::testing::Values(1, 7, 15, 16, 17, 31, 33));

TEST_P(ExtentTest, AnElementwiseKernelMatchesALoop) {
  const std::int64_t n = GetParam();
  const Kernel kernel = VectorAdd(n);
  const NDArray x = Random({n}, 1), y = Random({n}, 2), z = NDArray::Zeros({n}, Float32);
  ASSERT_TRUE(kernel(x, y, z).ok());
  for (std::int64_t i = 0; i < n; ++i)
    EXPECT_EQ(z.data<float>()[i], x.data<float>()[i] + y.data<float>()[i]) << "element " << i;
}

TEST_P(ExtentTest, AKernelWritesNothingBeyondItsOutput) {
  const std::int64_t n = GetParam();
  const Kernel kernel = VectorAdd(n);
  std::vector<float> memory(static_cast<std::size_t>(n) + 64, 77);
  const NDArray x = Random({n}, 1), y = Random({n}, 2),
                z = NDArray::View({n}, Float32, memory.data() + 32, nullptr);
  ASSERT_TRUE(kernel(x, y, z).ok());
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(memory[i], 77) << i << " before";
    EXPECT_EQ(memory[memory.size() - 1 - i], 77) << i << " from the end";
  }
}

TEST_P(ExtentTest, AMatmulMatchesALoop) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n, n}, Float32, "A"), b = Placeholder({n, n}, Float32, "B");
  const te::IterVar k = ReduceAxis(0, n);
  const Tensor c = te::Compute(
      {n, n}, [&](Var i, Var j) { return Sum(a(i, k.var) * b(k.var, j), {k}); }, "C");
  Schedule s(c);
  const auto tiles = s[c].Tile(c.axis(0), c.axis(1), 4, 16);
  s[c].Reorder({tiles.x_outer, tiles.y_outer, c.reduce_axis(0), tiles.x_inner, tiles.y_inner});
  s[c].Unroll(tiles.x_inner).Vectorize(tiles.y_inner);
  const Kernel kernel = Compiled(s, {a, b, c}, "matmul");
  const NDArray x = Random({n, n}, 1), y = Random({n, n}, 2), z = NDArray::Zeros({n, n}, Float32);
  ASSERT_TRUE(kernel(x, y, z).ok());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < n; ++l)
        sum += static_cast<double>(x.data<float>()[i * n + l]) * y.data<float>()[l * n + j];
      EXPECT_NEAR(z.data<float>()[i * n + j], sum, 1e-5) << i << ", " << j;
    }
  }
}

TEST_P(ExtentTest, RowReductionsMatchALoop) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({3, n}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, n);
  const Tensor largest = te::Compute(
      {3}, [&](Var i) { return te::Max(a(i, k.var), {k}); }, "largest");
  const Kernel kernel = Compiled(Schedule(largest), {a, largest}, "row_max");
  const NDArray x = Random({3, n}), y = NDArray::Zeros({3}, Float32);
  ASSERT_TRUE(kernel(x, y).ok());
  for (std::int64_t i = 0; i < 3; ++i) {
    const float* row = x.data<float>() + i * n;
    EXPECT_EQ(y.data<float>()[i], *std::max_element(row, row + n)) << "row " << i;
  }
}

TEST_P(ExtentTest, APaddedCopyReadsNothingOutside) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor padded = te::Compute(
      {n + 5}, [&](Var i) { return te::IfThenElse(i >= 2 && i < n + 2, a(i - 2), 9.0F); },
      "padded");
  Schedule s(padded);
  s[padded].Vectorize(s[padded].Split(padded.axis(0), 8).second);
  const Kernel kernel = Compiled(s, {a, padded}, "pad");
  const NDArray x = Random({n}), y = NDArray::Zeros({n + 5}, Float32);
  ASSERT_TRUE(kernel(x, y).ok());
  for (std::int64_t i = 0; i < n + 5; ++i)
    EXPECT_EQ(y.data<float>()[i], i >= 2 && i < n + 2 ? x.data<float>()[i - 2] : 9) << i;
}

TEST(KernelTest, OneSymbolicKernelServesEveryExtent) {
  const Var n("n"), m("m");
  const Tensor a = Placeholder({n}, Float32, "A"), b = Placeholder({m}, Float32, "B");
  const Tensor c = te::Compute(
      {n, m}, [&](Var i, Var j) { return a(i) * b(j); }, "C");
  Schedule s(c);
  s[c].Vectorize(s[c].Split(c.axis(1), 16).second);
  s[c].Parallel(c.axis(0));
  const Kernel kernel = Compiled(s, {a, b, c}, "outer");
  for (const std::int64_t rows : {0, 1, 7, 33}) {
    for (const std::int64_t columns : {0, 1, 15, 16, 17, 31}) {
      const NDArray x = Random({rows}, 1), y = Random({columns}, 2),
                    z = NDArray::Zeros({rows, columns}, Float32);
      ASSERT_TRUE(kernel(x, y, z).ok());
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        ASSERT_EQ(z.data<float>()[i], x.data<float>()[i / columns] * y.data<float>()[i % columns])
            << rows << " by " << columns << ", element " << i;
      }
    }
  }
}

TEST(KernelTest, ANameMayBeAnyText) {
  const Tensor a = Placeholder({40}, Float32, "A");
  const Tensor b = te::Compute(
      {40}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const std::string with_zero("x\0y", 3);
  for (const std::string& name : {std::string(), with_zero, std::string("llvm.memcpy")}) {
    Schedule s(b);
    s[b].Parallel(b.axis(0));
    const Kernel kernel = Compiled(s, {a, b}, name);
    EXPECT_EQ(kernel.name(), name);
    const NDArray x = NDArray::Zeros({40}, Float32), y = NDArray::Zeros({40}, Float32);
    ASSERT_TRUE(kernel(x, y).ok());
    EXPECT_EQ(y.data<float>()[39], 1);
    EXPECT_FALSE(kernel.LlvmIr().empty());
    EXPECT_FALSE(kernel.Assembly().empty());
  }
}

TEST(KernelTest, IntermediateResultsOfASymbolicExtentHaveMemory) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor b = te::Compute(
      {n}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const te::IterVar k = ReduceAxis(0, n);
  const Tensor c = te::Compute(
      {n}, [&](Var i) { return Sum(b(k.var) * b(i), {k}); }, "C");
  const Kernel kernel = Compiled(Schedule(c), {a, c}, "sums");
  for (const std::int64_t size : {1, 17, 300}) {
    const NDArray x = Random({size}), y = NDArray::Zeros({size}, Float32);
    ASSERT_TRUE(kernel(x, y).ok());
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += x.data<float>()[i] + 1;
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_NEAR(y.data<float>()[i], sum * (x.data<float>()[i] + 1), 1e-3) << i << " of " << size;
  }
}

// A row that is computed before it is read, of any length: short ones lie on the stack, long ones
// in the runtime's memory.
TEST(KernelTest, BuffersOfAnySizeAreTakenInEachIteration) {
  const Var n("n");
  const Tensor a = Placeholder({3, n}, Float32, "A");
  const Tensor twice = te::Compute(
      {3, n}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor turned = te::Compute(
      {3, n}, [&](Var i, Var j) { return twice(i, n - 1 - j) + twice(i, 0); }, "C");
  Schedule s(turned);
  s[turned].Parallel(turned.axis(0));
  s[twice].ComputeAt(s[turned], turned.axis(0));
  const Kernel kernel = Compiled(s, {a, turned}, "turned");
  EXPECT_THAT(kernel.LlvmIr(), ::testing::HasSubstr("tenon_take_memory"));
  for (const std::int64_t size : {1, 100, 4095, 4096, 4097, 100000}) {
    const NDArray x = Random({3, size}), y = NDArray::Zeros({3, size}, Float32);
    ASSERT_TRUE(kernel(x, y).ok());
    for (std::int64_t at = 0; at < 3 * size; ++at) {
      const std::int64_t row = at / size * size, column = at - row;
      ASSERT_EQ(y.data<float>()[at],
                x.data<float>()[row + size - 1 - column] * 2 + x.data<float>()[row] * 2)
          << at << " of " << size;
    }
  }
}

// A stage and its reader in one kernel, both with several loops.
TEST(KernelTest, AParallelLoopMayFollowASerialOne) {
  const Tensor a = Placeholder({64}, Float32, "A");
  const Tensor b = te::Compute(
      {64}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = te::Compute(
      {64}, [&](Var i) { return b(63 - Expr(i)) * 2.0F; }, "C");
  Schedule s(c);
  s[c].Parallel(c.axis(0));
  const loop::Function function = Lower(s, {a, c}, "two_stages");
  const auto kernel = Compile(function);
  ASSERT_TRUE(kernel.ok()) << kernel.status() << loop::Print(function);
  const NDArray x = Random({64}), y = NDArray::Zeros({64}, Float32);
  ASSERT_TRUE((*kernel)(x, y).ok());
  for (std::int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(y.data<float>()[i], (x.data<float>()[63 - i] + 1) * 2) << i;
}

TEST(KernelTest, ALargeIntermediateResultInsideAParallelLoopIsEachThreadsOwn) {
  const std::int64_t rows = 12, columns = 40000;  // a row is too large for the stack
  const Tensor a = Placeholder({rows, columns}, Float32, "A");
  const Tensor b = te::Compute(
      {rows, columns}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const te::IterVar k = ReduceAxis(0, columns);
  const Tensor c = te::Compute(
      {rows}, [&](Var i) { return te::Max(b(i, k.var), {k}); }, "C");
  Schedule s(c);
  s[c].Parallel(c.axis(0));
  s[b].ComputeAt(s[c], c.axis(0));
  const Kernel kernel = Compiled(s, {a, c}, "rows");
  const NDArray x = Random({rows, columns}), y = NDArray::Zeros({rows}, Float32);
  const ScopedThreads two(2);
  ASSERT_TRUE(kernel(x, y).ok());
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x.data<float>() + i * columns;
    EXPECT_EQ(y.data<float>()[i], 2 * *std::max_element(row, row + columns)) << "row " << i;
  }
}

TEST(KernelTest, AVectorisedLoopLongerThanAnyVectorTypeIsRight) {
  const std::int64_t n = 65536 + 16;  // a type's lane count has 16 bits
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor b = te::Compute(
      {n}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Vectorize(b.axis(0));
  const auto kernel = Compile(Lower(s, {a, b}, "long"));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const NDArray x = Random({n}), y = NDArray::Zeros({n}, Float32);
  ASSERT_TRUE((*kernel)(x, y).ok());
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_EQ(y.data<float>()[i], x.data<float>()[i] + 1) << "element " << i;
}

TEST(KernelTest, IntegerDivisionsFollowTheirDefinitions) {
  std::vector<std::int32_t> a, b;
  for (std::int32_t x = -9; x <= 9; ++x) {
    for (std::int32_t y = -4; y <= 4; ++y) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  a.push_back(INT32_MIN);
  b.push_back(-1);
  const auto n = static_cast<std::int64_t>(a.size());
  const NDArray x = NDArray::FromVector<std::int32_t>({n}, a),
                y = NDArray::FromVector<std::int32_t>({n}, b);
  const auto apply = [&](loop::BinaryOp op) {
    const NDArray z = NDArray::Zeros({n}, Int32);
    const Kernel kernel = Elementwise(n, {Int32, Int32}, [&](const std::vector<Expr>& e) {
      return loop::Binary(op, e[0], e[1]);
    });
    EXPECT_TRUE(kernel(x, y, z).ok());
    return z.ToVector<std::int32_t>();
  };
  const auto div = apply(loop::BinaryOp::kDiv), mod = apply(loop::BinaryOp::kMod),
             floor_div = apply(loop::BinaryOp::kFloorDiv),
             floor_mod = apply(loop::BinaryOp::kFloorMod);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t p = a[i], q = b[i];
    // Division by zero gives zero; the lowest value over -1 wraps to itself.
    const std::int64_t quotient = q == 0 ? 0 : p / q, rest = q == 0 ? 0 : p % q;
    const bool step = rest != 0 && (rest < 0) != (q < 0);
    EXPECT_EQ(div[i], static_cast<std::int32_t>(quotient)) << p << ", " << q;
    EXPECT_EQ(mod[i], static_cast<std::int32_t>(rest)) << p << ", " << q;
    EXPECT_EQ(floor_div[i], static_cast<std::int32_t>(quotient - step)) << p << ", " << q;
    EXPECT_EQ(floor_mod[i], static_cast<std::int32_t>(step ? rest + q : rest)) << p << ", " << q;
  }
}

// By a constant, of which powers of two are shifts and masks; the lowest number is no power of two.
TEST(KernelTest, DivisionsByConstantsRoundDown) {
  const std::vector<std::int64_t> values = {0,  1, -1, 2,  -2,  7,  -7,        8,
                                            -8, 9, -9, 63, -64, 65, INT64_MAX, INT64_MIN};
  const auto n = static_cast<std::int64_t>(values.size());
  const NDArray x = NDArray::FromVector<std::int64_t>({n}, values);
  for (const std::int64_t divisor :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{8}, std::int64_t{-8},
        std::int64_t{1} << 62, INT64_MAX, INT64_MIN}) {
    const auto apply = [&](loop::BinaryOp op) {
      const NDArray z = NDArray::Zeros({n}, Int64);
      const Kernel kernel = Elementwise(n, {Int64}, [&](const std::vector<Expr>& e) {
        return loop::Binary(op, e[0], Expr(divisor));
      });
      EXPECT_TRUE(kernel(x, z).ok());
      return z.ToVector<std::int64_t>();
    };
    const auto quotients = apply(loop::BinaryOp::kFloorDiv),
               rests = apply(loop::BinaryOp::kFloorMod);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t p = values[i], rest = p % divisor;
      const bool step = rest != 0 && (rest < 0) != (divisor < 0);
      EXPECT_EQ(quotients[i], p / divisor - (step ? 1 : 0)) << p << ", " << divisor;
      EXPECT_EQ(rests[i], step ? rest + divisor : rest) << p << ", " << divisor;
    }
  }
}

// A kernel that runs once is made quickly and gives the same numbers.
TEST(KernelTest, AKernelThatRunsOnceIsRightAtOddSizes) {
  for (const std::int64_t n : {0, 1, 15, 16, 17, 33}) {
    const auto result = [&](bool runs_once) {
      const Kernel kernel =
          Elementwise(n, {Float32, Float32},
                      [](const std::vector<Expr>& e) { return te::Exp(e[0]) + e[1] * 3.0F; },
                      "kernel", {.runs_once = runs_once});
      const NDArray x = Random({n}, 1), y = Random({n}, 2), z = NDArray::Zeros({n}, Float32);
      EXPECT_TRUE(kernel(x, y, z).ok());
      return z.ToVector<float>();
    };
    const std::vector<float> quick = result(true), full = result(false);
    for (std::size_t i = 0; i < full.size(); ++i) EXPECT_FLOAT_EQ(quick[i], full[i]) << i;
  }
}

TEST(KernelTest, Int64MinimaAndMaximaHoldAtTheEndsOfTheType) {
  constexpr std::int64_t kLow = INT64_MIN, kHigh = INT64_MAX;
  const std::vector<std::int64_t> values = {0, 1, -1, kLow, kHigh};
  const NDArray x = NDArray::FromVector<std::int64_t>({5}, values), y = NDArray::Zeros({5}, Int64);
  const auto apply = [&](auto body) {
    const Tensor a = Placeholder({5}, Int64, "A");
    const Tensor b = te::Compute(
        {5}, [&](Var i) { return body(a(i)); }, "B");
    EXPECT_TRUE(Compiled(Schedule(b), {a, b}, "kernel")(x, y).ok());
    return y.ToVector<std::int64_t>();
  };
  EXPECT_EQ(apply([](const Expr& e) { return te::Max(e, Expr(kLow)); }), values);
  EXPECT_EQ(apply([](const Expr& e) { return te::Min(e, Expr(kHigh)); }), values);
  EXPECT_EQ(apply([](const Expr& e) { return te::Max(e, Expr(kHigh)); }),
            std::vector<std::int64_t>(5, kHigh));
  EXPECT_EQ(apply([](const Expr& e) { return te::Min(e, Expr(kLow)); }),
            std::vector<std::int64_t>(5, kLow));
}

TEST(KernelTest, CastsSaturateAndTurnNanIntoZero) {
  const std::vector<float> values = {0,     1.9F,     -1.9F,     127, 128,    300, -128.5F,
                                     -1000, INFINITY, -INFINITY, NAN, 255.5F, 256, -0.5F};
  const auto n = static_cast<std::int64_t>(values.size());
  const NDArray x = NDArray::FromVector<float>({n}, values), low = NDArray::Zeros({n}, Int8),
                byte = NDArray::Zeros({n}, UInt8);
  ASSERT_TRUE(Elementwise(n, {Float32},
                          [](const std::vector<Expr>& e) { return te::Cast(Int8, e[0]); })(x, low)
                  .ok());
  ASSERT_TRUE(Elementwise(n, {Float32},
                          [](const std::vector<Expr>& e) { return te::Cast(UInt8, e[0]); })(x, byte)
                  .ok());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float v = std::isnan(values[i]) ? 0 : std::trunc(values[i]);
    EXPECT_EQ(low.data<std::int8_t>()[i], std::clamp(v, -128.0F, 127.0F)) << values[i];
    EXPECT_EQ(byte.data<std::uint8_t>()[i], std::clamp(v, 0.0F, 255.0F)) << values[i];
  }
}

TEST(KernelTest, CastsOfFloat32ToInt32SaturateInVectors) {
  constexpr float kBeyond = 2147483648.0F;
  const std::vector<float> values = {
      0,   1.9F,       -1.9F, kBeyond, -kBeyond,     3e9F,        -3e9F,      INFINITY, -INFINITY,
      NAN, 2147483520, -0.5F, 1e30F,   -16777218.0F, 16777216.0F, 8388607.5F, 4.99F};
  const auto n = static_cast<std::int64_t>(values.size());
  const NDArray x = NDArray::FromVector<float>({n}, values), y = NDArray::Zeros({n}, Int32);
  const Kernel kernel =
      Elementwise(n, {Float32}, [](const std::vector<Expr>& e) { return te::Cast(Int32, e[0]); });
  EXPECT_THAT(kernel.LlvmIr(false), ::testing::Not(::testing::HasSubstr("fptosi.sat")));
  ASSERT_TRUE(kernel(x, y).ok());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = std::isnan(values[i]) ? 0 : std::trunc(static_cast<double>(values[i]));
    EXPECT_EQ(y.data<std::int32_t>()[i], std::clamp(v, -2147483648.0, 2147483647.0)) << values[i];
  }
}

// Bounds of the type's own, narrower ones, wider ones, and bounds on one side.
TEST(KernelTest, CastsOfClampedNumbersSaturateAllTheSame) {
  const std::vector<float> values = {0, 1.9F, -1.9F, 255, 256, 300, -300, INFINITY, -INFINITY, NAN};
  const auto n = static_cast<std::int64_t>(values.size());
  const NDArray x = NDArray::FromVector<float>({n}, values);
  const std::pair<float, float> bounds[] = {{0, 255},      {3, 200},  {-5, 280}, {-INFINITY, 9},
                                            {7, INFINITY}, {-1, 255}, {0, 256}};
  for (const auto& [low, high] : bounds) {
    for (const bool low_first : {false, true}) {
      const NDArray y = NDArray::Zeros({n}, UInt8);
      const auto clamped = [&](const std::vector<Expr>& e) {
        const Expr least = Expr(low), most = Expr(high);
        return te::Cast(UInt8, low_first ? te::Min(te::Max(e[0], least), most)
                                         : te::Max(te::Min(e[0], most), least));
      };
      ASSERT_TRUE(Elementwise(n, {Float32}, clamped)(x, y).ok());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float v = std::isnan(values[i]) ? 0 : std::clamp(values[i], low, high);
        EXPECT_EQ(y.data<std::uint8_t>()[i], std::trunc(std::clamp(v, 0.0F, 255.0F)))
            << values[i] << " in " << low << ", " << high;
      }
    }
  }
}

TEST(KernelTest, BoolsAreBytesOfZeroAndOne) {
  const NDArray x = NDArray::FromVector<float>({3}, {-1, 0, 1}), y = NDArray::Empty({3}, Bool);
  ASSERT_TRUE(
      Elementwise(3, {Float32}, [](const std::vector<Expr>& e) { return e[0] >= 0.0F; })(x, y)
          .ok());
  const auto* bytes = static_cast<const std::uint8_t*>(y.raw());
  EXPECT_THAT(std::vector<int>(bytes, bytes + 3), ::testing::ElementsAre(0, 1, 1));
}

TEST(KernelTest, MinAndMaxGiveNanWhenEitherSideIsNan) {
  const NDArray x = NDArray::FromVector<float>({4}, {NAN, 1, NAN, 2}),
                y = NDArray::FromVector<float>({4}, {1, NAN, NAN, 3}),
                z = NDArray::Zeros({4}, Float32);
  for (const bool is_max : {false, true}) {
    ASSERT_TRUE(Elementwise(4, {Float32, Float32},
                            [&](const std::vector<Expr>& e) {
                              return is_max ? te::Max(e[0], e[1]) : te::Min(e[0], e[1]);
                            })(x, y, z)
                    .ok());
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(z.data<float>()[i])) << i;
    EXPECT_EQ(z.data<float>()[3], is_max ? 3 : 2);
  }
  ASSERT_TRUE(Elementwise(4, {Float32},
                          [&](const std::vector<Expr>& e) { return te::Max(e[0], 0.0F); })(x, z)
                  .ok());
  EXPECT_TRUE(std::isnan(z.data<float>()[0]));
}

TEST(KernelTest, WithoutReassociationASumIsAddedInOrder) {
  const Tensor a = Placeholder({1000}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 1000);
  const Tensor b = te::Compute(
      {1}, [&](Var) { return Sum(a(k.var), {k}); }, "B");
  CompileOptions in_order;
  in_order.reassociate_reductions = false;
  const NDArray x = Random({1000}), y = NDArray::Zeros({1}, Float32);
  ASSERT_TRUE(Compiled(Schedule(b), {a, b}, "sum", in_order)(x, y).ok());
  float sum = 0;
  for (std::int64_t i = 0; i < 1000; ++i) sum += x.data<float>()[i];
  EXPECT_EQ(y.data<float>()[0], sum);
  ASSERT_TRUE(Compiled(Schedule(b), {a, b}, "sum")(x, y).ok());
  EXPECT_NEAR(y.data<float>()[0], sum, 1e-3);
}

TEST(KernelTest, ACallFlushesDenormalsAndLeavesTheCallersModeAlone) {
  const Kernel kernel =
      Elementwise(1, {Float32}, [](const std::vector<Expr>& e) { return e[0] * 0.5F; });
  const NDArray x = NDArray::FromVector<float>({1}, {FLT_MIN}), y = NDArray::Zeros({1}, Float32);
  ASSERT_TRUE(kernel(x, y).ok());
  EXPECT_EQ(y.data<float>()[0], 0);
  volatile float half = x.data<float>()[0];
  half = half * 0.5F;
  EXPECT_GT(half, 0);
}

}  // namespace
}  // namespace tenon::jit
