#include "tenon/support/enum_set.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

enum class Letter { kA, kB, kC };
using Letters = EnumSet<Letter>;

constexpr Letters kAB{Letter::kA, Letter::kB}, kBC{Letter::kB, Letter::kC};

TEST(EnumSetTest, HoldsWhatItIsMadeOf) {
  EXPECT_TRUE(kAB.Has(Letter::kA));
  EXPECT_FALSE(kAB.Has(Letter::kC));
  EXPECT_TRUE(Letters().empty());
  EXPECT_FALSE(kAB.empty());
}

TEST(EnumSetTest, ASetIsHeldWhenAllOfItIs) {
  EXPECT_TRUE(kAB.Has(Letters{Letter::kB}));
  EXPECT_TRUE(kAB.Has(Letters()));
  EXPECT_FALSE(kAB.Has(kBC));
}

TEST(EnumSetTest, OperatorsAreThoseOfSets) {
  EXPECT_EQ(kAB | kBC, (Letters{Letter::kA, Letter::kB, Letter::kC}));
  EXPECT_EQ(kAB & kBC, Letters{Letter::kB});
  EXPECT_EQ(kAB - kBC, Letters{Letter::kA});
}

}  // namespace
}  // namespace tenon
