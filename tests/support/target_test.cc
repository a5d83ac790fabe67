#include "tenon/support/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon {
namespace {

using ::testing::HasSubstr;

TEST(TargetTest, LanesAreElementsOfAVector) {
  const Target target{.vector_bytes = 32};
  EXPECT_EQ(target.Lanes(1), 32);
  EXPECT_EQ(target.Lanes(4), 8);
  EXPECT_EQ(target.Lanes(8), 4);
}

TEST(TargetTest, WholeRowsAreLoadedOnlyIntoVectorsOf512BitsOfAmd) {
  EXPECT_TRUE((Target{.cpu = "znver5", .vector_bytes = 64}.loads_whole_rows()));
  EXPECT_FALSE((Target{.cpu = "znver5", .vector_bytes = 32}.loads_whole_rows()));
  EXPECT_FALSE((Target{.cpu = "sapphirerapids", .vector_bytes = 64}.loads_whole_rows()));
}

TEST(TargetTest, RowsAreFetchedByZen4WhateverItsVectorsAre) {
  EXPECT_TRUE((Target{.cpu = "znver4", .vector_bytes = 16}.fetches_rows()));
  EXPECT_FALSE((Target{.cpu = "znver5"}.fetches_rows()));
}

TEST(TargetTest, DotsOfBFloatsAreFastOnAmdWhereTheyAreEnabled) {
  EXPECT_TRUE((Target{.cpu = "znver4", .features = {"avx512bf16"}}.has_fast_dots_of_bf16()));
  EXPECT_FALSE((Target{.cpu = "znver4"}.has_fast_dots_of_bf16()));
  EXPECT_FALSE(
      (Target{.cpu = "sapphirerapids", .features = {"avx512bf16"}}.has_fast_dots_of_bf16()));
}

TEST(TargetTest, TheTextSaysWhatDecisionsDependOn) {
  const Target target{.triple = "x86_64-linux",
                      .cpu = "znver4",
                      .vector_bytes = 64,
                      .vector_registers = 32,
                      .cores = 2};
  EXPECT_EQ(target.ToString(),
            "x86_64-linux, znver4: 32 vector registers of 64 bytes, caches of 32, 1024 and 32768 "
            "KiB in lines of 64 bytes, 2 cores");
  EXPECT_THAT(Target{}.ToString(), HasSubstr(", 1 core"));
}

}  // namespace
}  // namespace tenon
