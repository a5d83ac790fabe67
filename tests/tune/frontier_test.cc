// The order of candidates, without any measuring.
#include "tenon/tune/frontier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/best.h"

namespace tenon::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

KernelBrief Kernel() {
  return {.name = "k",
          .content = "c",
          .over = "tiled rows=4 unroll=0",
          .choices = {{"rows", {1, 2, 4, 8}, 4}, {"unroll", {0, 1}, 0}},
          .rows = {"plain", "library"}};
}

std::string Text(const std::optional<Candidate>& candidate) {
  return candidate ? ChoiceText(candidate->row, candidate->config) : "none";
}

Outcome Raced(const std::string& choice, double ratio,
              std::vector<strategies::Config::Choice> choices = {}) {
  Record record = SampleRecord("c", ratio);
  record.choice = choice;
  return {.choice = choice, .choices = std::move(choices), .record = record};
}

// Takes what is next, with this outcome for each.
std::vector<std::string> Rest(Frontier* frontier, double ratio) {
  std::vector<std::string> rest;
  while (const auto candidate = frontier->Next()) {
    rest.push_back(Text(candidate));
    frontier->Take(*candidate, Raced(rest.back(), ratio));
  }
  return rest;
}

TEST(FrontierTest, RowsComeFirstThenTheNeighboursOfTheBest) {
  Frontier frontier(Kernel(), {}, "v");
  EXPECT_EQ(Text(frontier.Next()), "plain");
  EXPECT_EQ(Text(frontier.Next()), "library");
  frontier.Take({"plain", {}}, Raced("plain", 3));
  frontier.Take({"library", {}}, Raced("library", 1.2));
  EXPECT_THAT(
      Rest(&frontier, 2),
      ElementsAre("tiled rows=2 unroll=0", "tiled rows=2", "tiled rows=8 unroll=0", "tiled rows=8",
                  "tiled rows=4 unroll=1", "tiled rows=1 unroll=0", "tiled rows=1"));
  EXPECT_TRUE(frontier.done());
}

TEST(FrontierTest, WhatIsUnderWayMayLeadToMore) {
  KernelBrief kernel = Kernel();
  kernel.choices.clear();
  kernel.rows = {"plain"};
  Frontier frontier(kernel, {}, "v");
  const Candidate candidate = frontier.Next().value();
  EXPECT_EQ(Text(frontier.Next()), "none");
  EXPECT_FALSE(frontier.done());
  frontier.Take(candidate, Raced("plain x=2", 0.5, {{"x", {1, 2}, 2}}));
  EXPECT_FALSE(frontier.done());
  EXPECT_THAT(Rest(&frontier, 2), ElementsAre("plain x=1"));
  EXPECT_TRUE(frontier.done());
  EXPECT_EQ(frontier.best()->choice, "plain x=2");
}

TEST(FrontierTest, ACandidateThatWasNotTriedIsTheNextOne) {
  Frontier frontier(Kernel(), {}, "v");
  const Candidate first = frontier.Next().value();
  frontier.PutBack(first);
  EXPECT_EQ(frontier.Next(), first);
}

TEST(FrontierTest, ACandidateThatEndedItsProcessIsNotTriedAgain) {
  KernelBrief kernel = Kernel();
  kernel.rows = {"plain", "plain"};
  kernel.choices.clear();
  Frontier frontier(kernel, {}, "v");
  frontier.Take(frontier.Next().value(), {.crashed = "the process was ended by signal 11"});
  EXPECT_EQ(Text(frontier.Next()), "none");
  EXPECT_TRUE(frontier.done());
  EXPECT_THAT(frontier.crashed(), ElementsAre("plain: the process was ended by signal 11"));
  EXPECT_EQ(frontier.raced(), 0);
}

TEST(FrontierTest, AKernelThatCannotRunAloneHasNoMoreCandidates) {
  Frontier frontier(Kernel(), {}, "v");
  frontier.Take(frontier.Next().value(), {.unmeasured = "an index is out of bounds"});
  EXPECT_EQ(Text(frontier.Next()), "none");
  EXPECT_TRUE(frontier.done());
  EXPECT_EQ(frontier.unmeasured(), "an index is out of bounds");
}

TEST(FrontierTest, EarlierWinsComeFirstAndEarlierLossesNotAtAll) {
  const KernelBrief kernel = Kernel();
  Record win = SampleRecord("c", 0.7), loss = SampleRecord("c", 1.3), other = win, older = win;
  for (Record* record : {&win, &loss, &other, &older}) {
    record->over = kernel.over;
    record->versions = "v";
  }
  win.choice = "tiled rows=8 unroll=1";
  loss.choice = "plain";
  other.choice = "tiled rows=1 unroll=1";
  other.over = "another default";
  older.choice = "tiled rows=2 unroll=1";
  older.versions = "older";
  Frontier frontier(kernel, {win, loss, other, older}, "v");
  EXPECT_EQ(Text(frontier.Next()), "tiled rows=8 unroll=1");
  EXPECT_THAT(frontier.known(), ElementsAre("plain", "tiled rows=4 unroll=0"));
}

TEST(FrontierTest, AStoppedRaceSaysNothing) {
  Frontier frontier(Kernel(), {}, "v");
  frontier.Take(frontier.Next().value(), {.choice = "plain"});
  EXPECT_FALSE(frontier.best());
  EXPECT_THAT(frontier.wrong(), IsEmpty());
}

}  // namespace
}  // namespace tenon::tune
