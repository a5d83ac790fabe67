// The choices of a schedule.
#include "tenon/strategies/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon::strategies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Body>
std::string ErrorOf(const Body& body) {
  return std::string(CatchErrors([&] { body(); }).message());
}

TEST(ConfigTest, WithoutGivenValuesEveryChoiceHasItsDefault) {
  Config config;
  EXPECT_EQ(config.Knob("order", {3, 1, 2}), 3);
  EXPECT_EQ(config.Knob("depth", {1, 2, 4}, 2), 2);
  EXPECT_EQ(config.Knob("order", {7}), 3);  // asked again
  EXPECT_EQ(config.ToText(), "depth=2 order=3");
  ASSERT_EQ(config.choices().size(), 2U);
  EXPECT_THAT(config.choices()[0].values, ElementsAre(3, 1, 2));
}

TEST(ConfigTest, ASplitOffersDivisorsAndItsDefault) {
  Config config;
  EXPECT_EQ(config.Split("a", 12), 12);
  EXPECT_THAT(config.choices()[0].values, ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_EQ(config.Split("b", 60, {.min = 2, .max = 10}), 10);
  EXPECT_THAT(config.choices()[1].values, ElementsAre(2, 3, 4, 5, 6, 10));
  EXPECT_EQ(config.Split("c", 7, {.default_value = 4}), 4);
  EXPECT_THAT(config.choices()[2].values, ElementsAre(1, 4, 7));
  EXPECT_EQ(config.Split("prime", 1009), 1);
  EXPECT_EQ(config.Split("one", 1), 1);
  EXPECT_EQ(config.Split("none", 0), 1);
  EXPECT_EQ(config.Split("far", std::int64_t{1} << 40, {.min = std::int64_t{1} << 39}),
            std::int64_t{1} << 39);
}

TEST(ConfigTest, AnEnumIsOneOfItsValues) {
  enum class Order { kRows, kColumns };
  Config usual, given({{"order", 1}});
  EXPECT_EQ(usual.OneOf("order", {Order::kColumns, Order::kRows}), Order::kColumns);
  EXPECT_EQ(usual.OneOf("other", {Order::kRows, Order::kColumns}, {Order::kColumns}),
            Order::kColumns);
  EXPECT_EQ(given.OneOf("order", {Order::kRows, Order::kColumns}), Order::kColumns);
  EXPECT_EQ(given.ToText(), "order=1");
}

TEST(ConfigTest, GivenValuesAreTakenWhereTheyAreAllowed) {
  Config config({{"tile", 4}, {"order", 9}});
  EXPECT_EQ(config.Split("tile", 8), 4);
  EXPECT_THAT(ErrorOf([&] {
                config.Knob("order", {0, 1});
              }),
              HasSubstr("order=9 is none of its values: 0, 1"));
}

TEST(ConfigTest, AGivenValueThatNobodyAskedForIsRefused) {
  Config config({{"tile", 4}, {"other", 1}});
  config.Split("tile", 8);
  EXPECT_THAT(ErrorOf([&] { config.RequireAllAsked(); }),
              HasSubstr("the schedule has no choice other; it has tile"));
}

TEST(ConfigTest, WhatAnAuthorHasWrongIsSaidInWords) {
  Config config;
  EXPECT_THAT(ErrorOf([&] { config.Knob("a b", {1}); }), HasSubstr("without blanks"));
  EXPECT_THAT(ErrorOf([&] { config.Knob("none", {}); }), HasSubstr("none has no values"));
  EXPECT_THAT(ErrorOf([&] { config.Knob("far", {1, 2}, 3); }), HasSubstr("default 3"));
  EXPECT_THAT(ErrorOf([&] { config.Split("tile", 8, {.min = 0}); }),
              HasSubstr("the choice tile has the least factor 0; factors are at least 1"));
  EXPECT_THAT(ErrorOf([&] { config.Split("tile", 8, {.min = 4, .max = 2}); }),
              HasSubstr("the greatest factor 2, which is less than the least one, 4"));
}

TEST(ConfigTest, ItsTextComesBack) {
  EXPECT_EQ(ParseConfig("rows=6 vectors=3"), (ConfigValues{{"rows", 6}, {"vectors", 3}}));
  EXPECT_EQ(ParseConfig(""), ConfigValues());
  for (const char* wrong : {"rows", "=3", "rows=x", "rows=1 rows=2", "rows=1  a=2", "rows=1.5"})
    EXPECT_THAT(ErrorOf([&] { ParseConfig(wrong); }), HasSubstr("NAME=NUMBER")) << wrong;
}

}  // namespace
}  // namespace tenon::strategies
