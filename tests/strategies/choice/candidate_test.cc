#include "tenon/strategies/choice/candidate.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::strategies {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(CandidateTest, TheHighestPriorityIsChosenWhereverItStands) {
  EXPECT_THAT(BestOf({{.name = "a"}, {.name = "b", .priority = 10}, {.name = "c"}}),
              Optional(Eq(1U)));
}

TEST(CandidateTest, WhatIsRefusedIsNotChosen) {
  EXPECT_THAT(BestOf({{.name = "a", .priority = 10, .refusal = "no"}, {.name = "b"}}),
              Optional(Eq(1U)));
  EXPECT_EQ(BestOf({{.name = "a", .refusal = "no"}}), std::nullopt);
  EXPECT_EQ(BestOf({}), std::nullopt);
}

TEST(CandidateTest, TheLeastEstimateIsChosenAndTheFirstAmongEquals) {
  EXPECT_THAT(BestOf({{.name = "a"}, {.name = "b"}}), Optional(Eq(0U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b", .cycles = 10}}), Optional(Eq(1U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b", .cycles = 20}}), Optional(Eq(0U)));
}

TEST(CandidateTest, ARowWithoutAnEstimateIsBetterThanThoseAfterIt) {
  EXPECT_THAT(BestOf({{.name = "a"}, {.name = "b", .cycles = 10}}), Optional(Eq(0U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b"}}), Optional(Eq(0U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20}, {.name = "b"}, {.name = "c", .cycles = 10}}),
              Optional(Eq(0U)));
  EXPECT_THAT(BestOf({{.name = "a", .cycles = 20},
                      {.name = "b", .refusal = "no"},
                      {.name = "c", .cycles = 10}}),
              Optional(Eq(2U)));
}

TEST(CandidateTest, EstimatesDoNotOutweighPriorities) {
  EXPECT_THAT(BestOf({{.name = "a", .priority = 10, .cycles = 20}, {.name = "b", .cycles = 10}}),
              Optional(Eq(0U)));
}

TEST(CandidateTest, TheTextHasALineForEveryRow) {
  EXPECT_EQ(ToText({{.name = "a", .priority = 10, .refusal = "it is a Tuesday"},
                    {.name = "b", .cycles = 1234.5},
                    {.name = "c"},
                    {.name = "d", .cycles = 1e300},
                    {.name = "e", .cycles = std::numeric_limits<double>::infinity()}},
                   1),
            "  a (priority 10): no, it is a Tuesday\n"
            "  b (1234 cycles): chosen, the best whose condition holds\n"
            "  c: not needed\n"
            "  d (1e+300 cycles): not needed\n"
            "  e (inf cycles): not needed\n");
}

}  // namespace
}  // namespace tenon::strategies
