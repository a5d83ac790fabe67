// Integers of data as indices, lengths and bounds, at the ends of their types, in kernels and in
// the interpreter.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;

constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

// The first result of both, which must be the same.
template <typename T>
std::vector<T> ResultOf(const std::string& text, const std::vector<NDArray>& arrays) {
  const ir::Module module = Parsed(text);
  runtime::Inputs inputs;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    inputs[ir::Var(module.Main().params[i]).name()] = arrays[i];
  const std::vector<T> compiled = Outcome(module, inputs)[0].ToVector<T>();
  EXPECT_EQ(compiled, Interpreted(module, inputs)[0].ToVector<T>());
  return compiled;
}

NDArray Longs(const Shape& shape, const std::vector<std::uint64_t>& values) {
  return NDArray::FromVector<std::uint64_t>(shape, values);
}
NDArray Ints(const Shape& shape, const std::vector<std::int32_t>& values) {
  return NDArray::FromVector<std::int32_t>(shape, values);
}

using IntVector = std::vector<std::int32_t>;
using LongVector = std::vector<std::uint64_t>;

TEST(IndexValuesTest, NumbersThatInt64DoesNotHoldLieAfterTheEnd) {
  const NDArray x = Ints({3}, {10, 20, 30}), far = Longs({2}, {kHalf + 1, UINT64_MAX});
  const char* params = "def @main(%x: Tensor[(3), int32], %i: Tensor[(2), uint64]) ";
  const IntVector last = {30, 30};
  EXPECT_EQ(ResultOf<std::int32_t>(std::string(params) + "{ take(%x, %i, axis=0) }", {x, far}),
            last);
  EXPECT_EQ(ResultOf<std::int32_t>(std::string(params) + "{ gather(%x, %i) }", {x, far}), last);
  // 2^63 + 1 and 2^64 - 1 are multiples of 3.
  EXPECT_EQ(ResultOf<std::int32_t>(std::string(params) + "{ take(%x, %i, axis=0, mode=\"wrap\") }",
                                   {x, far}),
            (IntVector{10, 10}));
  EXPECT_EQ(ResultOf<std::int32_t>("def @main(%x: Tensor[(3), int32], %i: Tensor[(2), uint64], "
                                   "%u: Tensor[(2), int32]) { scatter_elements(%x, %i, %u) }",
                                   {x, far, Ints({2}, {1, 2})}),
            (IntVector{10, 20, 30}));
}

TEST(IndexValuesTest, LengthsThatInt64DoesNotHoldAreThoseOfTheAxis) {
  const NDArray x = Ints({2, 2}, {1, 2, 3, 4}), lengths = Longs({2}, {UINT64_MAX, 1});
  const std::string params = "def @main(%x: Tensor[(2, 2), int32], %n: Tensor[(2), uint64]) ";
  EXPECT_EQ(ResultOf<std::int32_t>(params + "{ reverse_sequence(%x, %n) }", {x, lengths}),
            (IntVector{2, 1, 3, 4}));
  EXPECT_EQ(ResultOf<std::int32_t>(params + "{ sequence_mask(%x, %n, axis=1) }", {x, lengths}),
            (IntVector{1, 2, 3, 0}));
  EXPECT_EQ(
      ResultOf<std::int32_t>("def @main(%x: Tensor[(2, 2), int32], %k: uint64) { trilu(%x, %k) }",
                             {x, NDArray::Scalar<std::uint64_t>(kHalf)}),
      (IntVector{0, 0, 0, 0}));
}

TEST(IndexValuesTest, OffsetsOfUInt64AreDividedWithoutASign) {
  EXPECT_EQ(ResultOf<std::uint64_t>("def @main(%i: Tensor[(2), uint64], %s: Tensor[(2), uint64]) "
                                    "{ unravel_index(%i, %s) }",
                                    {Longs({2}, {UINT64_MAX, kHalf}), Longs({2}, {kHalf, 10})}),
            (LongVector{UINT64_MAX / 10, kHalf / 10, 5, 8}));
}

TEST(IndexValuesTest, TheLeastOfUInt64IsThatOfNumbersWithoutASign) {
  const NDArray x = Longs({2}, {kHalf, 5}), i = Ints({2}, {0, 1});
  const std::string text =
      "def @main(%x: Tensor[(2), uint64], %i: Tensor[(2), int32], %u: Tensor[(2), uint64]) "
      "{ scatter_elements(%x, %i, %u, reduction=";
  EXPECT_EQ(ResultOf<std::uint64_t>(text + "\"min\") }", {x, i, Longs({2}, {3, UINT64_MAX})}),
            (LongVector{3, 5}));
  EXPECT_EQ(ResultOf<std::uint64_t>(text + "\"max\") }", {x, i, Longs({2}, {3, UINT64_MAX})}),
            (LongVector{kHalf, UINT64_MAX}));
}

TEST(IndexValuesTest, TheLongestStepBackTakesOneElement) {
  const auto bounds = [](std::int64_t value) {
    return NDArray::FromVector<std::int64_t>({1}, {value});
  };
  EXPECT_EQ(
      ResultOf<std::int32_t>(
          "def @main(%x: Tensor[(3), int32], %v: Tensor[(3), int32], %b: Tensor[(1), int64], "
          "%e: Tensor[(1), int64], %s: Tensor[(1), int64]) { strided_set(%x, %v, %b, %e, %s) }",
          {Ints({3}, {1, 2, 3}), Ints({3}, {7, 8, 9}), bounds(2), bounds(-9),
           bounds(std::numeric_limits<std::int64_t>::min())}),
      (IntVector{1, 2, 7}));
}

TEST(IndexValuesTest, ASearchTakesNaNForGreaterThanEveryNumber) {
  const NDArray sequence = NDArray::FromVector<float>({4}, {1, 2, NAN, NAN}),
                values = NDArray::FromVector<float>({3}, {NAN, 2, INFINITY});
  const std::string text =
      "def @main(%s: Tensor[(4), float32], %v: Tensor[(3), float32]) "
      "{ searchsorted(%s, %v, right=";
  EXPECT_EQ(ResultOf<std::int32_t>(text + "False) }", {sequence, values}), (IntVector{2, 1, 2}));
  EXPECT_EQ(ResultOf<std::int32_t>(text + "True) }", {sequence, values}), (IntVector{4, 2, 2}));
}

}  // namespace
}  // namespace tenon::strategies
