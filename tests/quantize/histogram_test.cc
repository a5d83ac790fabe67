#include "tenon/quantize/histogram.h"

#include <limits>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::quantize {
namespace {

NDArray Values(std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return NDArray::FromVector<float>({count}, std::move(values));
}

std::int64_t Total(const Histogram& h) {
  return std::accumulate(h.bins().begin(), h.bins().end(), std::int64_t{0});
}

TEST(HistogramTest, EachValueIsInTheBinAroundIt) {
  Histogram h;
  ASSERT_TRUE(h.Add(Values({-3.5F, 0, 0.25F, 4, 4})));
  EXPECT_EQ(h.least(), -3.5F);
  EXPECT_EQ(h.most(), 4.0F);
  EXPECT_EQ(Total(h), 5);
  EXPECT_EQ(h.width(), 16.0 / Histogram::kBins);
  for (int bin = 0; bin < Histogram::kBins; ++bin) {
    if (h.bins()[static_cast<std::size_t>(bin)] == 0) continue;
    double nearest = 1e9;
    for (const double v : {-3.5, 0.0, 0.25, 4.0})
      nearest = std::min(nearest, std::abs(v - h.CenterOf(bin)));
    EXPECT_LE(nearest, h.width() / 2) << "bin " << bin;
  }
}

TEST(HistogramTest, TheOrderOfValuesDoesNotMatter) {
  std::mt19937 random(5);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), i % 60 - 30));
  Histogram forward, backward, at_once;
  for (const float v : values) ASSERT_TRUE(forward.Add(Values({v})));
  for (auto v = values.rbegin(); v != values.rend(); ++v) ASSERT_TRUE(backward.Add(Values({*v})));
  ASSERT_TRUE(at_once.Add(Values(values)));
  EXPECT_EQ(forward.bins(), backward.bins());
  EXPECT_EQ(forward.bins(), at_once.bins());
  EXPECT_EQ(forward.width(), backward.width());
  EXPECT_EQ(Total(forward), 1000);
}

TEST(HistogramTest, InfinityAndNaNAddNothing) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    Histogram h;
    EXPECT_FALSE(h.Add(Values({1, bad, 2})));
    EXPECT_EQ(h.count(), 0);
    EXPECT_EQ(Total(h), 0);
  }
}

TEST(HistogramTest, TakesTheEndsOfFloatAndNothingAtAll) {
  Histogram h;
  EXPECT_TRUE(h.Add(Values({})));
  EXPECT_EQ(h.count(), 0);
  const float most = std::numeric_limits<float>::max();
  EXPECT_TRUE(h.Add(Values({-most, most, std::numeric_limits<float>::denorm_min()})));
  EXPECT_EQ(Total(h), 3);
  EXPECT_EQ(h.most(), most);
}

}  // namespace
}  // namespace tenon::quantize
