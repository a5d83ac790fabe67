#include "tenon/support/real_text.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RealTextTest, ANumberIsTheNearestThatTheTypeHolds) {
  EXPECT_EQ(ParseReal<float>("0.1"), 0.1F);
  EXPECT_EQ(ParseReal<double>("-1.5e3"), -1500);
  // The least float32 above 0 is 2^-149, or 1.401e-45; half of it is 7.006e-46.
  const float least = std::ldexp(1.0F, -149);
  EXPECT_EQ(ParseReal<float>("1e-45"), least);
  EXPECT_EQ(ParseReal<float>("7.1e-46"), least);
  EXPECT_EQ(ParseReal<float>("7e-46"), 0);
  EXPECT_EQ(ParseReal<double>("7e-46"), 7e-46);
  EXPECT_EQ(ParseReal<double>("5e-324"), std::ldexp(1.0, -1074));
}

TEST(RealTextTest, ANumberThatIsTooSmallIsAZeroOfItsSign) {
  for (const char* text : {"1e-50", "0.001e-47", "12345e-99", "1e-99999999999999999999"}) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(ParseReal<float>(text).value()), 0U) << text;
    const std::string negative = std::string("-") + text;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(ParseReal<float>(negative).value()), 0x80000000U)
        << text;
  }
  EXPECT_EQ(ParseReal<float>("0." + std::string(60, '0') + "1"), 0);
  EXPECT_EQ(ParseReal<float>("0." + std::string(60, '0') + "1e10"), 0);
  EXPECT_EQ(ParseReal<double>("1e-400"), 0);
}

TEST(RealTextTest, ANumberThatIsTooGreatIsAnInfinity) {
  for (const char* text : {"1e39", "3.5e+38", "0.0001e50", "1e99999999999999999999"}) {
    EXPECT_EQ(ParseReal<float>(text), kInfinity) << text;
    EXPECT_EQ(ParseReal<float>(std::string("-") + text), -kInfinity) << text;
  }
  EXPECT_EQ(ParseReal<float>("1" + std::string(60, '0')), kInfinity);
  EXPECT_EQ(ParseReal<float>("1" + std::string(60, '0') + ".5e-10"), kInfinity);
  EXPECT_TRUE(std::isinf(ParseReal<double>("1e400").value()));
}

TEST(RealTextTest, OtherTextsAreNoNumbers) {
  for (const char* text : {"", "inf", "nan", "-inf", "x", "1x", "1e39x", " 1", "1 ", ".", "-"})
    EXPECT_EQ(ParseReal<float>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tenon
