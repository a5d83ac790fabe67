#include "tenon/loop/index_arithmetic.h"

#include <gtest/gtest.h>

namespace tenon::loop {
namespace {

constexpr std::int64_t PowerOf2(int n) { return std::int64_t{1} << n; }

const Var i("i"), n("n");
const Buffer words = Buffer::Make("words", Int32, {100}), longs = Buffer::Make("longs", Int64, {9});

// i in [0, 9], nothing of n.
Bounds Known() {
  Bounds bounds;
  bounds.Bind(i, {0, 9});
  return bounds;
}

bool Proves(const Expr& e) {
  const Bounds bounds = Known();
  return IndexArithmetic(bounds).Proves(e);
}

// Data: int32 and int64.
Expr Word() { return Cast(Int64, Load(words, {i})); }
Expr Long() { return Load(longs, {i}); }
Expr Clamped(const Expr& e, const Expr& extent) { return Max(Min(e, extent - 1), 0); }

TEST(IndexArithmeticTest, VariablesAreIndices) {
  EXPECT_TRUE(Proves(i * 1000 + n));
  EXPECT_TRUE(Proves(n * n + FloorDiv(n, 4) * 64));
}

TEST(IndexArithmeticTest, NarrowDataIsAnIndexWhereItsTypeAndFactorsFit) {
  EXPECT_TRUE(Proves(Word() * PowerOf2(31) + i));
  EXPECT_TRUE(Proves(Word() * 4096 + n));
  EXPECT_FALSE(Proves(Word() * PowerOf2(40)));
  EXPECT_FALSE(Proves(Word() * PowerOf2(30) * PowerOf2(3)));
  EXPECT_FALSE(Proves(Word() * n));
}

TEST(IndexArithmeticTest, WideDataIsAnIndexWhereItIsClamped) {
  EXPECT_FALSE(Proves(Long() + 1));
  EXPECT_TRUE(Proves(Clamped(Long(), 100) * 4096 + i));
  EXPECT_TRUE(Proves(Clamped(Long(), n) * 4096 + i));
  EXPECT_FALSE(Proves(Clamped(Long() + 1, 100) * 4096));  // the sum below it wraps around
}

TEST(IndexArithmeticTest, ValuesOfOtherTypesAreData) {
  EXPECT_FALSE(Proves(Cast(Int64, Cast(UInt64, i)) * 2));
  EXPECT_FALSE(Proves(Cast(Int64, Cast(Float32, i)) + 1));
  EXPECT_TRUE(Proves(Cast(Int64, Cast(Int32, i)) + 1));
}

TEST(IndexArithmeticTest, FactorsBeyondMemoryMakeNoIndices) {
  EXPECT_FALSE(Proves(i * PowerOf2(62)));
  EXPECT_FALSE(Proves(n * PowerOf2(62)));
}

TEST(IndexArithmeticTest, AVariableIsWhatItStandsFor) {
  const Bounds bounds = Known();
  IndexArithmetic index(bounds);
  const Var v("v");
  EXPECT_TRUE(index.Proves(v + 1));
  index.Define(v, Long());
  EXPECT_FALSE(index.Proves(v + 1));
}

TEST(IndexArithmeticTest, RangesAreThoseOfTypesAndClamps) {
  const Bounds bounds = Known();
  IndexArithmetic index(bounds);
  EXPECT_EQ(index.RangeOf(Word()), (Interval{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(index.RangeOf(Clamped(Long(), 100)), (Interval{0, 99}));
  EXPECT_EQ(index.RangeOf(FloorDiv(Word(), 2)), (Interval{INT32_MIN / 2, INT32_MAX / 2}));
  EXPECT_EQ(index.RangeOf(Long()), Interval());
  EXPECT_EQ(index.RangeOf(n), Interval());
}

}  // namespace
}  // namespace tenon::loop
