#include "tenon/support/extent_condition.h"

#include <limits>

#include <gtest/gtest.h>

namespace tenon {
namespace {

using Kind = ExtentCondition::Kind;

const Dim n = Dim::Symbol("n"), w = Dim::Symbol("w");

TEST(ExtentConditionTest, HoldsForValuesThatFulfilIt) {
  const ExtentCondition equal = {n * 2, Kind::kEqual, w + 1, "add"};
  EXPECT_TRUE(equal.Holds({{"n", 2}, {"w", 3}}));
  EXPECT_FALSE(equal.Holds({{"n", 2}, {"w", 4}}));
  const ExtentCondition at_most = {3, Kind::kAtMost, w + 2, "nn.conv2d"};
  EXPECT_TRUE(at_most.Holds({{"w", 1}}));
  EXPECT_TRUE(at_most.Holds({{"w", 2}}));
  EXPECT_FALSE(at_most.Holds({{"w", 0}}));
}

TEST(ExtentConditionTest, DoesNotHoldWhereAVariableHasNoValue) {
  const ExtentCondition condition = {1, Kind::kAtMost, n + w, "add"};
  EXPECT_FALSE(condition.Holds({{"n", 5}}));
  EXPECT_TRUE(condition.Holds({{"n", 5}, {"w", 1}, {"other", 7}}));
}

TEST(ExtentConditionTest, DoesNotHoldWhereASideDoesNotFit64Bits) {
  const ExtentCondition condition = {1, Kind::kAtMost, n * n, "add"};
  EXPECT_TRUE(condition.Holds({{"n", 1000}}));
  EXPECT_FALSE(condition.Holds({{"n", std::numeric_limits<std::int64_t>::max()}}));
}

TEST(ExtentConditionTest, PrintsWhatIsNeededAndByWhat) {
  EXPECT_EQ((ExtentCondition{3, Kind::kAtMost, w + 2, "nn.conv2d"}).ToString(),
            "3 <= w + 2, for nn.conv2d");
  EXPECT_EQ((ExtentCondition{n, Kind::kEqual, w, "concatenate"}).ToString(),
            "n == w, for concatenate");
}

TEST(ExtentConditionTest, EqualWhereAllPartsAre) {
  const ExtentCondition condition = {n, Kind::kEqual, w, "add"};
  EXPECT_EQ(condition, (ExtentCondition{n, Kind::kEqual, w, "add"}));
  EXPECT_FALSE(condition == (ExtentCondition{n, Kind::kAtMost, w, "add"}));
  EXPECT_FALSE(condition == (ExtentCondition{n, Kind::kEqual, w, "multiply"}));
  EXPECT_FALSE(condition == (ExtentCondition{n, Kind::kEqual, w + 1, "add"}));
}

}  // namespace
}  // namespace tenon
