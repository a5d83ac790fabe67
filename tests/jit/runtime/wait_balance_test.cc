#include "tenon/jit/runtime/wait_balance.h"

#include <gtest/gtest.h>

namespace tenon::jit {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class WaitBalanceTest : public ::testing::Test {
 protected:
  // Loops that save a millisecond each.
  void Save(int loops) {
    for (int i = 0; i < loops; ++i) Note(milliseconds(2), milliseconds(1));
  }
  void Lose(WaitBalance::Clock::duration time) { Note(microseconds(10), microseconds(10) + time); }
  void Note(WaitBalance::Clock::duration alone, WaitBalance::Clock::duration taken) {
    now_ += taken;
    balance_.Note(now_, alone, taken);
  }
  bool WorksAloneAfter(WaitBalance::Clock::duration time) const {
    return balance_.WorksAlone(now_ + time);
  }

  WaitBalance balance_;
  WaitBalance::Clock::time_point now_{seconds(1000)};
};

TEST_F(WaitBalanceTest, ALossThatNothingMakesUpForIsFollowedByWorkAloneForAsLong) {
  EXPECT_FALSE(WorksAloneAfter(seconds(0)));
  Lose(milliseconds(5));
  EXPECT_TRUE(WorksAloneAfter(microseconds(4999)));
  EXPECT_FALSE(WorksAloneAfter(milliseconds(5)));
}

TEST_F(WaitBalanceTest, ATrialMayLoseHalfAMillisecond) {
  for (int i = 0; i < 100; ++i) Lose(microseconds(5));
  EXPECT_FALSE(WorksAloneAfter(seconds(0)));
  Lose(microseconds(1));
  EXPECT_TRUE(WorksAloneAfter(microseconds(500)));
}

TEST_F(WaitBalanceTest, LossesThatLoopsMakeUpForAreBorne) {
  for (int i = 0; i < 10; ++i) {
    Save(8);
    Lose(milliseconds(7));
    EXPECT_FALSE(WorksAloneAfter(seconds(0))) << i;
  }
  Lose(milliseconds(11));
  EXPECT_TRUE(WorksAloneAfter(microseconds(999)));
  EXPECT_FALSE(WorksAloneAfter(milliseconds(1)));
}

TEST_F(WaitBalanceTest, LoopsLongAgoMakeUpForTwentyMillisecondsAtMost) {
  Save(1000);
  Lose(microseconds(20'500));
  EXPECT_FALSE(WorksAloneAfter(seconds(0)));
  Lose(microseconds(1));
  EXPECT_TRUE(WorksAloneAfter(seconds(0)));
}

TEST_F(WaitBalanceTest, TheTimeAloneGrowsWhileLossesComeSoonAndNotOtherwise) {
  for (const int alone : {4, 16, 64, 256, 1000, 1000}) {
    Lose(milliseconds(4));
    EXPECT_TRUE(WorksAloneAfter(microseconds(1000 * alone - 1))) << alone;
    EXPECT_FALSE(WorksAloneAfter(milliseconds(alone))) << alone;
    now_ += milliseconds(alone);
  }
  now_ += seconds(2);
  Lose(milliseconds(4));
  EXPECT_FALSE(WorksAloneAfter(milliseconds(4)));
}

}  // namespace
}  // namespace tenon::jit
