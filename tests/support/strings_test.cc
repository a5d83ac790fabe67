#include "tenon/support/strings.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(StringsTest, CatJoinSplit) {
  EXPECT_EQ(StrCat("a", 1, std::string_view("b"), std::string("c")), "a1bc");
  EXPECT_EQ(StrJoin({1, 2, 3}, ", "), "1, 2, 3");
  EXPECT_EQ(StrSplit("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(StrSplit("", ','), (std::vector<std::string>{""}));
}

TEST(StringsTest, ParsesWholeNumbersOnly) {
  EXPECT_EQ(ParseNumber<std::int64_t>("-12"), -12);
  EXPECT_EQ(ParseNumber<std::int64_t>("12a"), std::nullopt);
  EXPECT_EQ(ParseNumber<std::int8_t>("200"), std::nullopt);
  EXPECT_EQ(ParseNumber<double>("1e-5"), 1e-5);
  EXPECT_EQ(ParseNumber<double>(""), std::nullopt);
}

TEST(StringsTest, ShortestTextReadsBackEqual) {
  EXPECT_EQ(FormatShortest(0.1F), "0.1");
  EXPECT_EQ(FormatShortest(1e-5), "1e-05");
  EXPECT_EQ(FormatShortest(HUGE_VAL), "inf");
}

TEST(StringsTest, NearestNameFindsSlipsOnly) {
  EXPECT_EQ(NearestName("nn.conv2", {"nn.conv2d", "add"}), "nn.conv2d");
  EXPECT_EQ(NearestName("zzzz", {"nn.conv2d", "add"}), std::nullopt);
}

}  // namespace
}  // namespace tenon
