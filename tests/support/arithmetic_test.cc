#include "tenon/support/arithmetic.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(ArithmeticTest, CeilDivCountsTheBlocksThatCover) {
  for (std::int64_t b = 1; b <= 17; ++b) {
    for (std::int64_t a = 0; a <= 70; ++a) {
      const std::int64_t blocks = CeilDiv(a, b);
      EXPECT_GE(blocks * b, a) << a << " " << b;
      EXPECT_LT((blocks - 1) * b, a) << a << " " << b;
    }
  }
}

TEST(ArithmeticTest, CeilDivOfTheLargestValuesDoesNotOverflow) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(CeilDiv(kMax, 1), kMax);
  EXPECT_EQ(CeilDiv(kMax, 2), kMax / 2 + 1);
  EXPECT_EQ(CeilDiv(kMax, kMax), 1);
  constexpr auto kMaxBytes = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(CeilDiv(kMaxBytes, 64), kMaxBytes / 64 + 1);
}

TEST(ArithmeticTest, RoundUpGivesTheNextMultiple) {
  EXPECT_EQ(RoundUp(std::size_t{0}, 64), 0U);
  EXPECT_EQ(RoundUp(std::size_t{1}, 64), 64U);
  EXPECT_EQ(RoundUp(std::size_t{64}, 64), 64U);
  EXPECT_EQ(RoundUp(std::size_t{65}, 64), 128U);
  EXPECT_EQ(RoundUp(std::int64_t{13}, 7), 14);
}

TEST(ArithmeticTest, BitCeilGivesThePowerOfTwoFromANumberOn) {
  EXPECT_EQ(BitCeil(std::int64_t{0}), 1);
  EXPECT_EQ(BitCeil(std::int64_t{1}), 1);
  EXPECT_EQ(BitCeil(std::int64_t{64}), 64);
  EXPECT_EQ(BitCeil(std::int64_t{65}), 128);
  EXPECT_EQ(BitCeil(std::size_t{3}), 4U);
}

TEST(ArithmeticTest, TheTightestBlocksLeaveTheLeastAndAreTheLargest) {
  EXPECT_EQ(TightestBlock(std::int64_t{56}, 4, 8), 8);
  EXPECT_EQ(TightestBlock(std::int64_t{28}, 4, 8), 7);
  EXPECT_EQ(TightestBlock(std::int64_t{13}, 4, 8), 7);
  EXPECT_EQ(TightestBlock(std::int64_t{13}, 1, 8), 1);
  EXPECT_EQ(TightestBlock(std::int64_t{3}, 1, 8), 3);
  EXPECT_EQ(TightestBlock(std::int64_t{17}, 5, 5), 5);
}

}  // namespace
}  // namespace tenon
