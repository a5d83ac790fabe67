// Which CPUs each of several workers gets.
#include "tenon/tune/cores.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "tenon/support/error.h"

namespace tenon::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CoresTest, ReadsTheSystemsLists) {
  EXPECT_THAT(ParseCpuList("0-2,7,9-9"), ElementsAre(0, 1, 2, 7, 9));
  EXPECT_THAT(ParseCpuList("5"), ElementsAre(5));
  for (const char* text : {"", "-", "a", "1-", "0-99999999", "-3", "3,,4"})
    EXPECT_THAT(ParseCpuList(text), IsEmpty()) << text;
}

TEST(CoresTest, EachWorkerHasCoresOfItsOwn) {
  const std::vector<std::vector<int>> cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  Seating seating;
  EXPECT_THAT(seating.Take("a", cores, 2), ElementsAre(0, 1));
  EXPECT_THAT(seating.Take("a", cores, 1), ElementsAre(2));
  EXPECT_THAT(seating.Take("a", cores, 3), IsEmpty());  // one core is left
  EXPECT_THAT(seating.Take("a", cores, 2), ElementsAre(3, 7));
  EXPECT_THAT(seating.Take("a", cores, 1), IsEmpty());
  EXPECT_THAT(seating.Take("b", cores, 8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(CoresTest, WhatAWorkerMayUseIsAllThatItGets) {
  Seating seating;
  EXPECT_THAT(seating.Take("a", {{2}}, 1), ElementsAre(2));  // bound by whoever started it
  EXPECT_THAT(seating.Take("a", {{2}, {3}}, 1), ElementsAre(3));
  EXPECT_THAT(seating.Take("a", {{2}, {3}}, 1), IsEmpty());
}

TEST(CoresTest, AThreadIsPinned) {
  const std::vector<std::vector<int>> cores = CoresOfThisProcess();
  ASSERT_FALSE(cores.empty());
  const int cpu = cores.back().back();
  std::thread([&] {
    PinTo({});
    EXPECT_EQ(CoresOfThisProcess(), cores);
    PinTo({cpu});
    EXPECT_THAT(CoresOfThisProcess(), ElementsAre(ElementsAre(cpu)));
    EXPECT_EQ(sched_getcpu(), cpu);
    EXPECT_THROW(PinTo({8000}), Error);
  }).join();
}

}  // namespace
}  // namespace tenon::tune
