// What is predicted of choices, and what a search gains by it.
#include "tenon/tune/cost_model.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/best.h"
#include "tenon/tune/frontier.h"

namespace tenon::tune {
namespace {

using strategies::ConfigValues;

// Of a tile that is best at 16 by 32, where the best of one depends on the other.
double RatioOf(const ConfigValues& config) {
  const double a = std::log2(static_cast<double>(config.at("a"))) - 4;
  const double b = std::log2(static_cast<double>(config.at("b"))) - 5;
  return 0.25 * std::exp(0.1 * (a * a + b * b + a * b));
}

TEST(CostModelTest, FindsTheBestOfASpaceOfWhichItKnowsAPart) {
  CostModel model;
  for (const auto& [a, b] : {std::pair{1, 1},
                             {2, 1},
                             {1, 4},
                             {4, 4},
                             {64, 2},
                             {2, 64},
                             {8, 8},
                             {64, 64},
                             {32, 4},
                             {4, 128}})
    model.Learn({{"a", a}, {"b", b}}, RatioOf({{"a", a}, {"b", b}}));
  ConfigValues best;
  double least = 1e9;
  for (std::int64_t a = 1; a <= 256; a *= 2) {
    for (std::int64_t b = 1; b <= 256; b *= 2) {
      const double ratio = model.Predict({{"a", a}, {"b", b}}).value();
      if (ratio < least) best = {{"a", a}, {"b", b}};
      least = std::min(least, ratio);
    }
  }
  EXPECT_LT(RatioOf(best), 1.2 * RatioOf({{"a", 16}, {"b", 32}}));
}

TEST(CostModelTest, SaysNothingOfWhatItDoesNotKnow) {
  CostModel model;
  EXPECT_FALSE(model.Predict({{"a", 1}}));
  for (int i = 1; i < 4; ++i) {
    model.Learn({{"a", i}}, i);
    EXPECT_FALSE(model.Predict({{"a", i}})) << "too few";
  }
  model.Learn({{"a", 4}}, 4);
  EXPECT_TRUE(model.Predict({{"a", 4}}));
  EXPECT_FALSE(model.Predict({{"b", 4}}));
  EXPECT_FALSE(model.Predict({{"a", 4}, {"b", 4}}));
  EXPECT_FALSE(model.Predict({}));
}

TEST(CostModelTest, OddPointsDoNoHarm) {
  CostModel model;
  for (int i = 0; i < 8; ++i) {
    model.Learn({{"a", 7}, {"b", 0}}, 1);  // the same point again and again
    model.Learn({{"a", -1}, {"b", std::int64_t{1} << 62}}, 1e-300);
    model.Learn({{"a", 1}, {"b", 1}}, 0);             // no time
    model.Learn({{"a", 1}, {"b", 1}}, std::nan(""));  // no number
    model.Learn({{"a", 1}}, 1);                       // other choices
    model.Learn({}, 1);
  }
  EXPECT_NEAR(model.Predict({{"a", 7}, {"b", 0}}).value(), 1, 0.1);
}

TEST(CostModelTest, ASearchByItNeedsFewRaces) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = 1; value <= 256; value *= 2) values.push_back(value);
  const auto choices = [&](const ConfigValues& config) {
    return std::vector<strategies::Config::Choice>{{"a", values, config.at("a")},
                                                   {"b", values, config.at("b")}};
  };
  const ConfigValues usual = {{"a", 1}, {"b", 256}};
  Frontier frontier({.content = "c", .over = ChoiceText("row", usual), .choices = choices(usual)},
                    {}, "v");
  int races = 0;
  double best = 1;
  while (best > 0.25 * 1.1) {
    const Candidate candidate = frontier.Next().value();
    ConfigValues config = candidate.config;
    for (const auto& [name, value] : usual) config.try_emplace(name, value);
    if (frontier.known().contains(ChoiceText("row", config))) {
      frontier.Take(candidate, {.refused = "it was raced already"});
      continue;
    }
    Record record = SampleRecord("c", RatioOf(config) / RatioOf(usual));
    best = std::min(best, RatioOf(config));
    frontier.Take(
        candidate,
        {.choice = ChoiceText("row", config), .choices = choices(config), .record = record});
    ASSERT_LT(++races, 81) << "all of them";
  }
  // Neighbours alone take 18.
  EXPECT_LE(races, 12);
}

}  // namespace
}  // namespace tenon::tune
