#include "tenon/support/build_id.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace tenon {
namespace {

const void* Here() { return reinterpret_cast<const void*>(&Here); }
const void* InLibc() { return reinterpret_cast<const void*>(&std::qsort); }

TEST(BuildIdTest, CodeOfOneProgramHasOneId) {
  EXPECT_EQ(BuildIdOf(Here()), BuildIdOf(reinterpret_cast<const void*>(&BuildIdOf)));
}

TEST(BuildIdTest, AnotherLibraryHasAnother) {
  EXPECT_NE(BuildIdOf(InLibc()), "");
  EXPECT_NE(BuildIdOf(InLibc()), BuildIdOf(Here()));
}

TEST(BuildIdTest, WhatIsNoCodeHasNone) {
  const int local = 0;
  EXPECT_EQ(BuildIdOf(&local), "");
  EXPECT_EQ(BuildIdOf(nullptr), "");
}

}  // namespace
}  // namespace tenon
