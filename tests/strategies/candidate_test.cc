#include "tenon/strategies/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::strategies {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(CandidateTest, TheHighestPriorityIsChosenWhereverItStands) {
  EXPECT_THAT(BestOf({{.name = "a"}, {.name = "b", .priority = kLibrary}, {.name = "c"}}),
              Optional(Eq(1U)));
}

TEST(CandidateTest, WhatIsRefusedIsNotChosen) {
  EXPECT_THAT(BestOf({{.name = "a", .priority = kLibrary, .refusal = "no"}, {.name = "b"}}),
              Optional(Eq(1U)));
  EXPECT_EQ(BestOf({{.name = "a", .refusal = "no"}}), std::nullopt);
  EXPECT_EQ(BestOf({}), std::nullopt);
}

TEST(CandidateTest, AmongEqualsTheFirstIsChosenUnlessALaterOneIsEstimatedToBeFaster) {
  EXPECT_THAT(BestOf({{.name = "a"}, {.name = "b"}}), Optional(Eq(0U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b", .cycles = 10}}), Optional(Eq(1U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b", .cycles = 20}}), Optional(Eq(0U)));
  // A row without an estimate says by its condition that it is better.
  EXPECT_THAT(BestOf({{.name = "a"}, {.name = "b", .cycles = 10}}), Optional(Eq(0U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b"}}), Optional(Eq(0U)));
}

TEST(CandidateTest, EstimatesDoNotOutweighPriorities) {
  EXPECT_THAT(
      BestOf({{.name = "a", .priority = kLibrary, .cycles = 20}, {.name = "b", .cycles = 10}}),
      Optional(Eq(0U)));
}

TEST(CandidateTest, TheTextHasALineForEveryRow) {
  EXPECT_EQ(ToText({{.name = "a", .priority = kLibrary, .refusal = "it is a Tuesday"},
                    {.name = "b", .cycles = 1234.5},
                    {.name = "c"}},
                   1),
            "  a (priority 10): no, it is a Tuesday\n"
            "  b (priority 0, 1234 cycles): chosen, the best whose condition holds\n"
            "  c (priority 0): not needed\n");
}

}  // namespace
}  // namespace tenon::strategies
