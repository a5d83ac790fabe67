#include "tenon/quantize/byte_range.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::quantize {
namespace {

using passes::ByteRange;

Histogram Of(const std::vector<float>& values) {
  Histogram h;
  EXPECT_TRUE(
      h.Add(NDArray::FromVector<float>({static_cast<std::int64_t>(values.size())}, values)));
  return h;
}

// Bell-shaped, with a few values far outside.
std::vector<float> WithOutliers() {
  std::mt19937 random(1);
  std::normal_distribution<float> bell(0.2F, 1);
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i) values.push_back(bell(random));
  values.push_back(60);
  values.push_back(-40);
  return values;
}

// The mean square error of rounding, by rounding.
double ErrorOf(const std::vector<float>& values, const ByteRange& range) {
  const double scale = (static_cast<double>(range.high) - range.low) / 255;
  double sum = 0;
  for (const float v : values) {
    const double steps = std::clamp(std::nearbyint((v - range.low) / scale), 0.0, 255.0);
    const double off = v - (range.low + steps * scale);
    sum += off * off;
  }
  return sum / static_cast<double>(values.size());
}

TEST(ChooseRangeTest, MinMaxHoldsAllAndZero) {
  const ByteRange range = ChooseRange(Of({2, 5}), {.rule = RangeRule::kMinMax});
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 5);
}

TEST(ChooseRangeTest, APercentileCutsBothEnds) {
  std::vector<float> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<float>(i) / 500 - 1);
  const ByteRange range =
      ChooseRange(Of(values), {.rule = RangeRule::kPercentile, .percentile = 80});
  EXPECT_NEAR(range.low, -0.8, 0.01);
  EXPECT_NEAR(range.high, 0.8, 0.01);
  const ByteRange all =
      ChooseRange(Of(values), {.rule = RangeRule::kPercentile, .percentile = 100});
  EXPECT_NEAR(all.low, -1, 0.001);
  EXPECT_NEAR(all.high, 1, 0.001);
}

TEST(ChooseRangeTest, MeanSquareRoundsBetterThanAnyOtherRuleByItsMeasure) {
  const std::vector<float> values = WithOutliers();
  const Histogram h = Of(values);
  const ByteRange chosen = ChooseRange(h, {.rule = RangeRule::kMeanSquare});
  for (const RangeRule rule : {RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kEntropy})
    EXPECT_LE(ErrorOf(values, chosen), ErrorOf(values, ChooseRange(h, {.rule = rule})) * 1.001)
        << NameOf(rule);
  // And than ranges nearby.
  for (const float factor : {0.9F, 1.1F})
    EXPECT_LE(ErrorOf(values, chosen),
              ErrorOf(values, {chosen.low * factor, chosen.high * factor}) * 1.02);
}

TEST(ChooseRangeTest, EntropyLeavesOutliersOut) {
  const ByteRange range = ChooseRange(Of(WithOutliers()), {.rule = RangeRule::kEntropy});
  EXPECT_GT(range.low, -20);
  EXPECT_LT(range.high, 30);
  EXPECT_LT(range.low, -1);
  EXPECT_GT(range.high, 1);
}

TEST(ChooseRangeTest, RangesOfOneSideStayThere) {
  for (const RangeRule rule :
       {RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kEntropy, RangeRule::kMeanSquare}) {
    const ByteRange above = ChooseRange(Of({0, 1, 2, 3}), {.rule = rule});
    EXPECT_EQ(above.low, 0) << NameOf(rule);
    EXPECT_GT(above.high, 1) << NameOf(rule);
    const ByteRange below = ChooseRange(Of({0, -1, -2, -3}), {.rule = rule});
    EXPECT_EQ(below.high, 0) << NameOf(rule);
    EXPECT_LT(below.low, -1) << NameOf(rule);
    const ByteRange zero = ChooseRange(Of({0, 0}), {.rule = rule});
    EXPECT_EQ(zero.low, 0) << NameOf(rule);
    EXPECT_EQ(zero.high, 0) << NameOf(rule);
    EXPECT_EQ(ChooseRange(Histogram(), {.rule = rule}).high, 0) << NameOf(rule);
  }
}

TEST(NoiseOfTest, IsTheErrorOfRounding) {
  const std::vector<float> values = WithOutliers();
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * v;
  squares /= static_cast<double>(values.size());
  for (const ByteRange range : {ByteRange{-40, 60}, ByteRange{-4, 5}, ByteRange{-1, 1}}) {
    const double expected = ErrorOf(values, range) / squares;
    EXPECT_NEAR(NoiseOf(Of(values), range), expected, 0.05 * expected);
  }
  EXPECT_EQ(NoiseOf(Of({0, 0}), {0, 0}), 0);
}

TEST(RangeRuleTest, NamesAreReadBack) {
  for (const std::string& name : RangeRuleNames()) EXPECT_EQ(NameOf(*ParseRangeRule(name)), name);
  EXPECT_FALSE(ParseRangeRule("max").has_value());
}

}  // namespace
}  // namespace tenon::quantize
