// Races: what counts of the times of two works that take turns.
#include "tenon/tune/race.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

void Busy(std::chrono::microseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

TEST(RaceTest, TheMedianIgnoresOutliers) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 100}), 3);
  const MedianRatio ratio = MedianOf({0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 50});
  EXPECT_EQ(ratio.ratio, 0.9);
}

TEST(RaceTest, NoiseIsTheReachOfTheMiddleRatios) {
  // Of 16 values the 4.08th from the middle, outwards: places 4 and 12.
  std::vector<double> ratios;
  for (int i = 0; i < 16; ++i) ratios.push_back(1 + 0.01 * i);
  const MedianRatio ratio = MedianOf(ratios);
  EXPECT_NEAR(ratio.ratio, 1.075, 1e-12);
  EXPECT_NEAR(ratio.noise, 0.045, 1e-12);
}

TEST(RaceTest, WorksTakeTurnsAndEachIsFirstAsOften) {
  std::string order;
  Race race([&] { order += 'c'; }, [&] { order += 's'; });
  race.Run({.min_rounds = 2, .max_rounds = 2, .sample_s = 0});
  EXPECT_EQ(order.substr(order.size() - 12), "cssccssccssc");
  EXPECT_EQ(race.rounds(), 2);
}

TEST(RaceTest, TheFasterOneIsFound) {
  Race race([] { Busy(std::chrono::microseconds(100)); },
            [] { Busy(std::chrono::microseconds(300)); });
  race.Run({.max_rounds = 16});
  EXPECT_LT(race.Outcome().ratio, 0.7);
  EXPECT_EQ(race.candidate_s().size(), race.standard_s().size());
}

TEST(RaceTest, AHopelessOneEndsEarly) {
  Race race([] { Busy(std::chrono::microseconds(900)); },
            [] { Busy(std::chrono::microseconds(100)); });
  race.Run({.min_rounds = 8, .max_rounds = 1000, .seconds = 100, .hopeless = 0.99});
  EXPECT_LT(race.rounds(), 100);
}

TEST(RaceTest, ACertainWinEndsEarly) {
  Race race([] { Busy(std::chrono::microseconds(100)); },
            [] { Busy(std::chrono::microseconds(900)); });
  race.Run({.min_rounds = 8, .max_rounds = 1000, .seconds = 100, .certain = 0.8});
  EXPECT_LT(race.rounds(), 100);
}

TEST(RaceTest, StopsWhenItIsTold) {
  int rounds = 0;
  Race race([] {}, [] {});
  race.Run({.max_rounds = 1000}, [&] { return ++rounds > 3; });
  EXPECT_EQ(race.rounds(), 3);
}

}  // namespace
}  // namespace tenon::tune
