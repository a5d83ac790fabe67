#include "tenon/jit/runtime/wait_balance.h"

#include <gtest/gtest.h>

namespace tenon::jit {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class WaitBalanceTest : public ::testing::Test {
 protected:
  // Loops of a millisecond's share, without a wait.
  void Work(int loops) {
    for (int i = 0; i < loops; ++i) {
      now_ += milliseconds(1);
      balance_.Note(now_, milliseconds(1), microseconds(0));
    }
  }
  // A short loop with a long wait.
  void Wait(milliseconds wait) {
    now_ += wait;
    balance_.Note(now_, microseconds(10), wait);
  }
  bool WorksAloneAfter(WaitBalance::Clock::duration time) const {
    return balance_.WorksAlone(now_ + time);
  }

  WaitBalance balance_;
  WaitBalance::Clock::time_point now_{seconds(1000)};
};

TEST_F(WaitBalanceTest, AWaitThatNothingPaysForIsFollowedByWorkAloneForAsLong) {
  EXPECT_FALSE(WorksAloneAfter(seconds(0)));
  Wait(milliseconds(5));
  EXPECT_TRUE(WorksAloneAfter(microseconds(4999)));
  EXPECT_FALSE(WorksAloneAfter(milliseconds(5)));
}

TEST_F(WaitBalanceTest, SharesOfDifferentWorkAndWakingUpAreNoLongWaits) {
  balance_.Note(now_, milliseconds(3), milliseconds(6));
  balance_.Note(now_, microseconds(0), microseconds(500));
  EXPECT_FALSE(WorksAloneAfter(seconds(0)));
}

TEST_F(WaitBalanceTest, WaitsThatLoopsHavePaidForAreBorne) {
  for (int i = 0; i < 10; ++i) {
    Work(8);
    Wait(milliseconds(7));
    EXPECT_FALSE(WorksAloneAfter(seconds(0))) << i;
  }
  Wait(milliseconds(11));
  EXPECT_TRUE(WorksAloneAfter(milliseconds(10)));
}

TEST_F(WaitBalanceTest, LoopsLongAgoPayForTwentyMillisecondsAtMost) {
  Work(1000);
  Wait(milliseconds(20));
  EXPECT_FALSE(WorksAloneAfter(seconds(0)));
  Wait(milliseconds(1));
  EXPECT_TRUE(WorksAloneAfter(seconds(0)));
}

TEST_F(WaitBalanceTest, TheTimeAloneGrowsWhileWaitsComeSoonAndNotOtherwise) {
  for (const int alone : {4, 16, 64, 256, 1000, 1000}) {
    Wait(milliseconds(4));
    EXPECT_TRUE(WorksAloneAfter(microseconds(1000 * alone - 1))) << alone;
    EXPECT_FALSE(WorksAloneAfter(milliseconds(alone))) << alone;
    now_ += milliseconds(alone);
  }
  now_ += seconds(2);
  Wait(milliseconds(4));
  EXPECT_FALSE(WorksAloneAfter(milliseconds(4)));
}

}  // namespace
}  // namespace tenon::jit
