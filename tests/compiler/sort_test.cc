// Operators that order, write by index and pool regions through library functions, against the
// C++ library and plain loops.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;

// NaN is greater than every number.
bool Less(float a, float b) { return std::isnan(a) ? false : std::isnan(b) || a < b; }

std::vector<std::int64_t> StableOrder(const std::vector<float>& row, bool ascends) {
  std::vector<std::int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const float x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return ascends ? Less(x, y) : Less(y, x);
  });
  return order;
}

class SortTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(SortTest, OrdersEachRowStablyWithNaNAsTheGreatest) {
  const std::int64_t n = GetParam();
  NDArray x = NDArray::Empty({3, n, 2}, Float32);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] = i % 11 == 5 ? std::numeric_limits<float>::quiet_NaN()
                                     : static_cast<float>((i * 37) % 13 - 6);
  for (const bool ascends : {true, false}) {
    SCOPED_TRACE(ascends);
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(3, ", n, ", 2), float32]) { (argsort(%x, axis=1, ",
                      "is_ascend=", ascends ? "True" : "False", ", dtype=\"int64\"), sort(%x, ",
                      "axis=-2, is_ascend=", ascends ? "True" : "False", ")) }"));
    NDArray indices = NDArray::Empty(x.shape(), Int64), values = NDArray::Empty(x.shape(), Float32);
    for (std::int64_t a = 0; a < 3; ++a) {
      for (std::int64_t b = 0; b < 2; ++b) {
        std::vector<float> row;
        for (std::int64_t k = 0; k < n; ++k) row.push_back(x.data<float>()[(a * n + k) * 2 + b]);
        const std::vector<std::int64_t> order = StableOrder(row, ascends);
        for (std::int64_t k = 0; k < n; ++k) {
          indices.data<std::int64_t>()[(a * n + k) * 2 + b] = order[static_cast<std::size_t>(k)];
          values.data<float>()[(a * n + k) * 2 + b] =
              row[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
        }
      }
    }
    ExpectClose(Outcome(module, {{"x", x}}), {indices, values});
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, SortTest, ::testing::Values(1, 2, 3, 16, 17, 63, 64, 65, 1000));

// Few of many, with ties, zeros of both signs, infinities, NaN and neighbours that differ in their
// last digits alone.
TEST(TopKTest, TakesTheFirstOfTheStableOrder) {
  constexpr std::int64_t kCount = 1009;
  const std::vector<std::function<float(std::int64_t)>> rows = {
      [](std::int64_t i) { return static_cast<float>(i * 7919 % kCount) - 500; },
      [](std::int64_t i) { return static_cast<float>(i % 3); },
      [](std::int64_t) { return 1.0F; },
      [](std::int64_t i) { return i % 2 == 0 ? 0.0F : -0.0F; },
      [](std::int64_t i) { return 1 + static_cast<float>(i * 31 % kCount) * 0x1p-23F; },
      [](std::int64_t i) { return i % 100 == 7 ? std::nanf("") : static_cast<float>(i); },
      [](std::int64_t i) { return i % 50 == 7   ? HUGE_VALF
                                  : i % 50 == 8 ? -HUGE_VALF
                                                : 0.5F; }};
  const auto count = static_cast<std::int64_t>(rows.size());
  NDArray x = NDArray::Empty({count, kCount}, Float32);
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t i = 0; i < kCount; ++i)
      x.data<float>()[row * kCount + i] = rows[static_cast<std::size_t>(row)](i);
  }
  for (const std::int64_t k : {1, 2, 16, 63, 64, 251, 252, 253, 1009}) {
    for (const bool ascends : {true, false}) {
      const ir::Module module =
          Parsed(StrCat("def @main(%x: Tensor[(", count, ", 1009), float32]) { %0 = topk(%x, k=", k,
                        ", is_ascend=", ascends ? "True" : "False", ", dtype=\"int64\"); %0.1 }"));
      const NDArray got = Outcome(module, {{"x", x}}).at(0);
      for (std::int64_t row = 0; row < count; ++row) {
        const float* first = x.data<float>() + row * kCount;
        const std::vector<std::int64_t> order = StableOrder({first, first + kCount}, ascends);
        for (std::int64_t i = 0; i < k; ++i) {
          ASSERT_EQ(got.data<std::int64_t>()[row * k + i], order[static_cast<std::size_t>(i)])
              << "row " << row << ", k " << k << ", rank " << i;
        }
      }
    }
  }
}

TEST(SortOfIntegersTest, OrdersTheLeastAndTheGreatestIntegers) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> numbers = {kMax, -1, kMin, 0, 1, kMin + 1, kMax - 1};
  for (std::int64_t i = 0; i < 100; ++i) numbers.push_back((i * 7919 % 101 - 50) << (i % 58));
  const auto count = static_cast<std::int64_t>(numbers.size());
  const ir::Module module =
      Parsed(StrCat("def @main(%x: Tensor[(", count, ",), int64]) { sort(%x) }"));
  const NDArray got = Outcome(module, {{"x", NDArray::FromVector({count}, numbers)}}).at(0);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(got.ToVector<std::int64_t>(), numbers);
}

TEST(TopKTest, TakesTheGreatestAndTheLeastOfIntegers) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 5), int32]) { %0 = topk(%x, k=3, dtype=\"int64\"); %1 = topk(%x, "
      "k=2, ret_type=\"values\", is_ascend=True); (%0.0, %0.1, %1) }");
  const NDArray x = NDArray::FromVector<std::int32_t>({2, 5}, {3, -1, 3, 7, 2, -5, -5, 0, 9, 9});
  ExpectClose(Outcome(module, {{"x", x}}),
              {NDArray::FromVector<std::int32_t>({2, 3}, {7, 3, 3, 9, 9, 0}),
               NDArray::FromVector<std::int64_t>({2, 3}, {3, 0, 2, 3, 4, 2}),
               NDArray::FromVector<std::int32_t>({2, 2}, {-1, 2, -5, -5})});
}

TEST(TopKTest, RefusesMoreThanThereAre) {
  try {
    passes::InferType(Parsed("def @main(%x: Tensor[(2, 5), int32]) { topk(%x, k=6) }"));
    FAIL() << "k is too large";
  } catch (const Error& error) {
    EXPECT_THAT(std::string(error.what()),
                ::testing::HasSubstr("k is 6 for an axis of 5 elements"));
  }
}

TEST(ScatterTest, OfManyUpdatesTheLastCountsAndWrongIndicesAreDropped) {
  constexpr std::int64_t kSize = 1009, kUpdates = 5003;
  NDArray indices = NDArray::Empty({kUpdates}, Int64);
  const NDArray x = Random({kSize}, 1), updates = Random({kUpdates}, 2);
  NDArray last = NDArray::FromVector<float>({kSize}, x.ToVector<float>());
  NDArray sum = NDArray::FromVector<float>({kSize}, x.ToVector<float>());
  for (std::int64_t k = 0; k < kUpdates; ++k) {
    std::int64_t at = (k * 7919) % 2100 - 1040;
    indices.data<std::int64_t>()[k] = at;
    if (at < 0) at += kSize;
    if (at < 0 || at >= kSize) continue;
    last.data<float>()[at] = updates.data<float>()[k];
    sum.data<float>()[at] += updates.data<float>()[k];
  }
  const ir::Module module =
      Parsed(StrCat("def @main(%x: Tensor[(", kSize, "), float32], %i: Tensor[(", kUpdates,
                    "), int64], %u: Tensor[(", kUpdates,
                    "), float32]) { (scatter_elements(%x, %i, %u, axis=0, reduction=\"update\"), "
                    "scatter_elements(%x, %i, %u, axis=0, reduction=\"add\")) }"));
  ExpectClose(Outcome(module, {{"x", x}, {"i", indices}, {"u", updates}}), {last, sum});
}

TEST(RoiAlignTest, MeansOfALinearImageAreItsValuesAtTheCentres) {
  NDArray x = NDArray::Empty({2, 3, 16, 17}, Float32);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] = static_cast<float>(i / (16 * 17)) * 1000 +
                         static_cast<float>(i / 17 % 16) * 3 + static_cast<float>(i % 17);
  const NDArray rois = NDArray::FromVector<float>({2, 5}, {1, 2, 3, 10, 12, 0, 4, 4, 8, 8});
  for (const int ratio : {0, 2}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(2, 3, 16, 17), float32], %r: Tensor[(2, 5), float32]) { "
               "vision.roi_align(%x, %r, pooled_size=[2, 4], spatial_scale=1f, sample_ratio=",
               ratio, ", aligned=True) }"));
    NDArray expected = NDArray::Empty({2, 3, 2, 4}, Float32);
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      const float* roi = rois.data<float>() + i / 24 * 5;
      const float y =
          roi[2] - 0.5F + (roi[4] - roi[2]) * (static_cast<float>(i / 4 % 2) + 0.5F) / 2;
      const float column =
          roi[1] - 0.5F + (roi[3] - roi[1]) * (static_cast<float>(i % 4) + 0.5F) / 4;
      const float plane = roi[0] * 3 + static_cast<float>(i / 8 % 3);
      expected.data<float>()[i] = plane * 1000 + y * 3 + column;
    }
    ExpectClose(Outcome(module, {{"x", x}, {"r", rois}}), {expected});
  }
}

TEST(RegionTest, AnIndexBeyondEveryIntegerNamesTheLastImage) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const NDArray x = NDArray::FromVector<float>({2, 1, 1, 1}, {5, 7});
  const NDArray rois = NDArray::FromVector<float>(
      {4, 5}, {kInfinity, 0, 0, 1, 1, 1e30F, 0, 0, 1, 1, -kInfinity, 0, 0, 1, 1, 1, 0, 0, 1, 1});
  for (const char* op : {"vision.roi_align(%x, %r, pooled_size=[1, 1], spatial_scale=1f)",
                         "vision.roi_pool(%x, %r, pooled_size=[1, 1], spatial_scale=1f)"}) {
    const ir::Module module = Parsed(StrCat(
        "def @main(%x: Tensor[(2, 1, 1, 1), float32], %r: Tensor[(4, 5), float32]) { ", op, " }"));
    ExpectClose(Outcome(module, {{"x", x}, {"r", rois}}),
                {NDArray::FromVector<float>({4, 1, 1, 1}, {7, 7, 5, 7})});
  }
}

TEST(RegionTest, SamplesOfABinAreBounded) {
  EXPECT_FALSE(ir::ParseModule("def @main(%x: Tensor[(1, 1, 2, 2), float32], "
                               "%r: Tensor[(1, 5), float32]) { vision.roi_align(%x, %r, "
                               "pooled_size=[1, 1], spatial_scale=1f, sample_ratio=1000000000) }",
                               ops::OpRegistry::Global().Resolver(), "text")
                   .ok());
}

TEST(NonMaxSuppressionTest, KeepsTheBestOfOverlappingBoxesOfEachClass) {
  const ir::Module module = Parsed(
      "def @main(%b: Tensor[(1, 4, 4), float32], %s: Tensor[(1, 2, 4), float32]) { "
      "%0 = vision.all_class_non_max_suppression(%b, %s, 2i64, 0.5f, 0.1f); (%0.0, %0.1) }");
  const NDArray boxes = NDArray::FromVector<float>(
      {1, 4, 4}, {0, 0, 1, 1, 1, 1.1F, 0, 0.1F, 0, 10, 1, 11, 0, 20, 1, 21});
  const NDArray scores =
      NDArray::FromVector<float>({1, 2, 4}, {0.9F, 0.8F, 0.3F, 0.7F, 0.05F, 0.2F, 0.3F, 0.1F});
  const std::vector<NDArray> got = Outcome(module, {{"b", boxes}, {"s", scores}});
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(*got[1].data<std::int64_t>(), 4);
  EXPECT_EQ(
      std::vector<std::int64_t>(got[0].data<std::int64_t>(), got[0].data<std::int64_t>() + 15),
      (std::vector<std::int64_t>{0, 0, 0, 0, 0, 3, 0, 1, 2, 0, 1, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace tenon
