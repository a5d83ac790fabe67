// Which records count.
#include "tenon/tune/best.h"

#include <algorithm>

#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/size_class.h"

namespace tenon::tune {
namespace {

using ::testing::IsEmpty;

Record With(double ratio, const std::string& choice, Scope scope = Scope::kKernel,
            const std::string& date = "2026-11-25T10:00:00Z") {
  Record record = SampleRecord("c", ratio);
  record.choice = choice;
  record.scope = scope;
  record.date = date;
  return record;
}

TEST(BestTest, OnlyAWinBeyondNoiseCounts) {
  EXPECT_TRUE(IsWin(SampleRecord("c", 0.97)));
  EXPECT_FALSE(IsWin(SampleRecord("c", 0.985)));  // 0.995 with its noise: less than a hundredth
  Record noisy = SampleRecord("c", 0.8);
  noisy.noise = 0.3;
  EXPECT_FALSE(IsWin(noisy));
  EXPECT_THAT(BestOf({With(1.2, "a"), With(0.999, "b")}), IsEmpty());
}

TEST(BestTest, TheLeastRatioIsBest) {
  EXPECT_EQ(BestOf({With(0.9, "a"), With(0.7, "b"), With(0.8, "c")}).at("c").choice, "b");
}

TEST(BestTest, ARaceInsideAModelCountsMoreThanOneOfTheKernelAlone) {
  const Record alone = With(0.7, "a", Scope::kKernel, "2026-11-26T10:00:00Z");
  const Record inside = With(1.0, "a", Scope::kModel, "2026-11-25T10:00:00Z");
  EXPECT_THAT(BestOf({alone, inside}), IsEmpty());
  EXPECT_EQ(BestOf({alone, inside, With(0.8, "b", Scope::kModel)}).at("c").choice, "b");
}

TEST(BestTest, AfterARaceInsideAModelOnlyChoicesRacedThereCount) {
  const std::vector<Record> records = {With(1.0, "a", Scope::kModel), With(0.8, "b"),
                                       With(0.9, "d", Scope::kModel)};
  EXPECT_EQ(BestOf(records).at("c").choice, "d");
  EXPECT_EQ(BestOf(records, Wins::kUnconfirmed).at("c").choice, "b");
  EXPECT_THAT(BestOf({records[0], records[1]}), IsEmpty());
}

TEST(BestTest, TheLatestOfAScopeCounts) {
  const Record old = With(0.7, "a", Scope::kModel, "2026-11-25T10:00:00Z");
  const Record fresh = With(1.1, "a", Scope::kWhole, "2026-11-26T10:00:00Z");
  EXPECT_THAT(BestOf({old, fresh}), IsEmpty());
}

TEST(BestTest, RacesOverOtherSizesThanTheLatestDoNotCount) {
  const auto over = [](const std::string& shapes, double ratio, const std::string& choice,
                       int day) {
    Record record = With(ratio, choice, Scope::kKernel, StrCat("2026-11-", day, "T10:00:00Z"));
    record.shapes = shapes;
    return record;
  };
  const Record small = over("d0=1..8", 0.5, "a", 20), large = over("d0=512..1000", 0.9, "b", 21);
  const Record similar = over("d0=600..900", 0.8, "c", 19);
  EXPECT_EQ(BestOf({small, large}).at("c").choice, "b");
  EXPECT_EQ(BestOf({similar, large, small}).at("c").choice, "c");
  EXPECT_EQ(BestOf({small, over("d0=512..1000", 0.9, "b", 18)}).at("c").choice, "a");
}

TEST(BestTest, SizesOfAClassLieBetweenTheSamePowersOfTwo) {
  EXPECT_EQ(SizeClassOf(""), "");
  EXPECT_EQ(SizeClassOf("d0=4..127, d1=64"), SizeClassOf("d0=7..64, d1=127"));
  EXPECT_NE(SizeClassOf("d0=4..127"), SizeClassOf("d0=4..128"));
  EXPECT_NE(SizeClassOf("d0=4"), SizeClassOf("d0=3"));
  EXPECT_NE(SizeClassOf("d0=4"), SizeClassOf("d1=4"));
  EXPECT_NE(SizeClassOf("d0=4"), SizeClassOf("d0=4..4"));
  EXPECT_EQ(SizeClassOf("d0=0"), "d0=0");
  EXPECT_EQ(SizeClassOf("d0=99999999999999999999"), "d0=64");
}

TEST(BestTest, WhereNothingWonTheDefaultIsTheBestThatIsKnown) {
  const KnownBest lost = KnownBestOf({With(1.2, "a"), With(0.999, "b")}).at("c");
  EXPECT_EQ(lost.choice, SampleRecord("c", 1).over);
  EXPECT_EQ(lost.ratio, 1);
  EXPECT_EQ(lost.raced, 2U);
  const KnownBest won = KnownBestOf({With(1.2, "a"), With(0.8, "b"), With(0.7, "b")}).at("c");
  EXPECT_EQ(won.choice, "b");
  EXPECT_EQ(won.raced, 2U);
}

TEST(BestTest, TheOrderOfRecordsPlaysNoPart) {
  std::vector<Record> records = {With(0.9, "a"), With(0.7, "b"), With(0.95, "b", Scope::kModel),
                                 With(0.85, "c", Scope::kModel)};
  std::ranges::sort(records, {}, &Record::ratio);
  const Record best = BestOf(records).at("c");
  do {
    EXPECT_EQ(BestOf(records).at("c"), best);
  } while (std::ranges::next_permutation(records, {}, &Record::ratio).found);
  EXPECT_EQ(best.choice, "c");
}

TEST(BestTest, AChoiceIsARowAndItsValues) {
  const strategies::MeasuredChoice choice = ChoiceOf(SampleRecord("c", 0.934));
  EXPECT_EQ(choice.row, "te.dense.tiled");
  EXPECT_EQ(choice.config, (strategies::ConfigValues{{"rows", 6}, {"vectors", 3}}));
  EXPECT_EQ(choice.over, "onednn");
  EXPECT_EQ(choice.evidence, "0.93 x of default, 24 rounds, 2026-11-25, this CPU");
  EXPECT_EQ(ChoiceText(choice.row, choice.config), "te.dense.tiled rows=6 vectors=3");
}

class ChoicesTest : public RecordsTest {};

TEST_F(ChoicesTest, AreThoseOfTheTargetAndTheNumberOfThreads) {
  const Target here = Target::Host(), masked = Target::Host("-avx512f");
  Target other = here;
  other.cores += 1;
  Records records = Open("r.sqlite");
  Record record = SampleRecord("c", 0.9);
  record.target = TargetText(here);
  ASSERT_TRUE(records.Add(record, "text").ok());
  EXPECT_TRUE(ChoicesFor(records, here, 2).value()("c"));
  EXPECT_FALSE(ChoicesFor(records, here, 2).value()("d"));
  EXPECT_FALSE(ChoicesFor(records, here, 1).value()("c"));
  EXPECT_FALSE(ChoicesFor(records, other, 2).value()("c"));
  // Everywhere a feature less makes another target, be it one that has no part in ToString.
  Target lacking = here;
  ASSERT_FALSE(lacking.features.empty());
  lacking.features.erase(lacking.features.begin());
  EXPECT_FALSE(ChoicesFor(records, lacking, 2).value()("c"));
  EXPECT_EQ(ChoicesFor(records, masked, 2).value()("c").has_value(), masked == here);
}

TEST_F(ChoicesTest, ADamagedChoiceIsNamedWithItsFile) {
  Records records = Open("r.sqlite");
  Record record = SampleRecord("c", 0.9);
  record.target = TargetText(Target::Host());
  record.choice = "";
  ASSERT_TRUE(records.Add(record, "text").ok());
  const auto choices = ChoicesFor(records, Target::Host(), 2).value();
  EXPECT_THAT([&] { (void)choices("c"); },
              ::testing::ThrowsMessage<Error>(
                  ::testing::AllOf(::testing::HasSubstr("r.sqlite: the record c has the choice ''"),
                                   ::testing::HasSubstr("names no row"))));
}

}  // namespace
}  // namespace tenon::tune
