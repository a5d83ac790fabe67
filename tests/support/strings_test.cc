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

TEST(StringsTest, NearestNameKnowsNamesByTheirLastPartAndInOtherLetters) {
  EXPECT_EQ(NearestName("conv2d", {"cos", "nn.conv2d"}), "nn.conv2d");
  EXPECT_EQ(NearestName("Run", {"run", "opt"}), "run");
}

TEST(StringsTest, WhatWasTypedInPartIsMeantToGoOn) {
  EXPECT_EQ(DidYouMean("; ", "resnet", {"lenet", "resnet18", "resnet34"}),
            "; did you mean resnet18, resnet34?");
  EXPECT_EQ(DidYouMean("", "lene", {"lenet", "resnet18"}), "did you mean lenet?");
  EXPECT_EQ(DidYouMean("", "conv2", {"conv2d", "conv2d_transpose"}), "did you mean conv2d?");
}

}  // namespace
}  // namespace tenon
