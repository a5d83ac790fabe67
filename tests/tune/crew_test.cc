// A search by several workers, each of which does what its script says.
#include "tenon/tune/crew.h"

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/best.h"
#include "tenon/tune/tune.h"

namespace tenon::tune {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Answers jobs in the order in which they were given.
class ScriptedCrew : public Crew {
 public:
  struct Member {
    Introduction introduction = {.host = "h", .target = "t", .threads = 1};
    std::function<Answer(const TryJob& job)> does;
    std::vector<std::string> tried = {};
  };
  explicit ScriptedCrew(std::vector<Member> members) : members_(std::move(members)) {
    for (int i = 0; i < size(); ++i) events_.push_back({i, members_[Index(i)].introduction});
  }

  int size() const override { return static_cast<int>(members_.size()); }
  void Give(int worker, const Job& job, double limit_s) override {
    EXPECT_GT(limit_s, 0);
    EXPECT_TRUE(busy_.insert(worker).second) << "one job at a time";
    events_.push_back({worker, AnswerOf(&members_[Index(worker)], job)});
  }
  std::optional<Event> Wait(double /*seconds*/) override {
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    if (!std::holds_alternative<Introduction>(event.what)) busy_.erase(event.worker);
    // Whoever crashed is started again.
    if (std::holds_alternative<Crashed>(event.what))
      events_.push_back({event.worker, members_[Index(event.worker)].introduction});
    return event;
  }
  void CutShort() override { ++cut_short; }

  const Member& member(int worker) const { return members_[Index(worker)]; }
  std::map<std::string, std::vector<Record>> decided;  // wins, by target
  int cut_short = 0;

 private:
  static std::size_t Index(int worker) { return static_cast<std::size_t>(worker); }

  Answer AnswerOf(Member* member, const Job& job) {
    const Introduction& self = member->introduction;
    if (std::holds_alternative<SettleJob>(job)) return Settled();
    if (std::holds_alternative<BriefJob>(job)) {
      return ModelBrief{.target = self.target,
                        .versions = "v",
                        .threads = self.threads,
                        .kernels = {{.name = "k",
                                     .content = "c",
                                     .text = "the text",
                                     .calls = 1,
                                     .model_s = 1,
                                     .over = "row",
                                     .rows = {"a", "b", "c", "d", "e", "f"}}}};
    }
    if (const auto* decide = std::get_if<DecideJob>(&job)) {
      decided[self.target] = decide->wins;
      return Decision{.model = MedianRatio{0.9, 0.01}, .kept = true};
    }
    const auto& candidate = std::get<TryJob>(job);
    member->tried.push_back(candidate.candidate.row);
    return member->does(candidate);
  }

  std::vector<Member> members_;
  std::deque<Event> events_;
  std::set<int> busy_;
};

// A race of a candidate on a target, whose ratio depends on the row.
std::function<Answer(const TryJob&)> Racing(const std::string& target) {
  return [target](const TryJob& job) -> Answer {
    Record record = SampleRecord(job.content, job.candidate.row == "d" ? 0.5 : 1.5);
    record.choice = job.candidate.row;
    record.target = target;
    record.threads = 1;
    record.over = "row";
    record.versions = "v";
    return Outcome{.choice = record.choice, .record = record};
  };
}

ScriptedCrew::Member Member(const std::string& target = "t") {
  return {.introduction = {.host = "h", .target = target, .threads = 1}, .does = Racing(target)};
}

class CrewTest : public RecordsTest {
 protected:
  CrewReport Tuned(ScriptedCrew* crew, TuneOptions options = {}) {
    Records records = Open("r.sqlite");
    return ValueOrThrow(TuneWith(crew, options, &records));
  }
  std::vector<std::string> Kept(const std::string& target) {
    std::vector<std::string> choices;
    const Records records = Open("r.sqlite");
    for (const Record& record : ValueOrThrow(records.Find({.target = target})))
      choices.push_back(record.choice);
    return choices;
  }
};

TEST_F(CrewTest, WorkIsDividedAndTheRecordsAreTheUnion) {
  ScriptedCrew crew({Member(), Member(), Member()});
  const CrewReport report = Tuned(&crew);
  ASSERT_THAT(report.reports, SizeIs(1));
  EXPECT_EQ(report.reports[0].raced, 6);
  EXPECT_TRUE(report.reports[0].kept);
  EXPECT_THAT(report.remarks, IsEmpty());
  for (int worker = 0; worker < 3; ++worker) EXPECT_THAT(crew.member(worker).tried, SizeIs(2));
  EXPECT_THAT(Kept("t"), ElementsAre("a", "b", "c", "d", "e", "f"));
  ASSERT_THAT(crew.decided["t"], SizeIs(1));
  EXPECT_EQ(crew.decided["t"][0].choice, "d");
}

TEST_F(CrewTest, MachinesOfOtherKindsFillTheirOwnRecords) {
  ScriptedCrew crew({Member("zen"), Member("lake"), Member("zen")});
  const CrewReport report = Tuned(&crew);
  ASSERT_THAT(report.reports, SizeIs(2));
  EXPECT_THAT(Kept("zen"), SizeIs(6));
  EXPECT_THAT(Kept("lake"), SizeIs(6));
  EXPECT_THAT(crew.member(1).tried, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(crew.decided["lake"], SizeIs(1));
}

TEST_F(CrewTest, ACandidateThatEndsItsWorkerCostsItselfAndNoMore) {
  ScriptedCrew::Member clumsy = Member();
  clumsy.does = [](const TryJob& job) -> Answer {
    if (job.candidate.row == "b" || job.candidate.row == "c") return Crashed{"signal 11"};
    return Racing("t")(job);
  };
  ScriptedCrew crew({clumsy});
  const CrewReport report = Tuned(&crew);
  EXPECT_THAT(Kept("t"), ElementsAre("a", "d", "e", "f"));
  EXPECT_THAT(report.reports.at(0).kernels.at(0).crashed,
              ElementsAre("b: signal 11", "c: signal 11"));
  EXPECT_THAT(ToText(report.reports[0]), HasSubstr("k: given up: b: signal 11"));
}

TEST_F(CrewTest, TheCandidateOfALostWorkerIsForAnother) {
  ScriptedCrew::Member mortal = Member();
  mortal.does = [](const TryJob&) -> Answer { return Lost{"silent"}; };
  ScriptedCrew crew({mortal, Member()});
  const CrewReport report = Tuned(&crew);
  EXPECT_THAT(Kept("t"), ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(crew.member(0).tried, SizeIs(1));
  EXPECT_THAT(report.remarks, ElementsAre("worker 0 on h is lost: silent"));
}

TEST_F(CrewTest, WhereAllAreLostWhatWasFoundIsKept) {
  ScriptedCrew::Member mortal = Member();
  mortal.does = [](const TryJob& job) -> Answer {
    if (job.candidate.row == "c") return Lost{"silent"};
    return Racing("t")(job);
  };
  ScriptedCrew crew({mortal});
  const CrewReport report = Tuned(&crew);
  EXPECT_THAT(Kept("t"), ElementsAre("a", "b"));
  EXPECT_FALSE(report.reports.at(0).model);
}

TEST_F(CrewTest, AWorkerWithAnotherModelIsLostAndNamed) {
  ScriptedCrew::Member stranger = Member();
  stranger.does = [](const TryJob&) -> Answer {
    return Failure{5, "the model has no kernel c on this machine"};
  };
  ScriptedCrew crew({Member(), stranger});
  EXPECT_THAT(Tuned(&crew).remarks, Contains(HasSubstr("worker 1 on h is lost: the model has no")));
  EXPECT_THAT(Kept("t"), ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST_F(CrewTest, WorkersBeyondTheCoresOfAHostAreRefusedUnlessTheyMayShare) {
  ScriptedCrew::Member seated = Member();
  seated.introduction.cores = {{0}};
  ScriptedCrew refusing({seated, seated});
  EXPECT_THAT(Tuned(&refusing).remarks,
              ElementsAre(AllOf(HasSubstr("worker 1 on h is lost: "),
                                HasSubstr("has no 1 CPUs of its own; give fewer workers"))));
  EXPECT_THAT(refusing.member(1).tried, IsEmpty());
  std::filesystem::remove(Path("r.sqlite"));
  ScriptedCrew sharing({seated, seated});
  EXPECT_THAT(Tuned(&sharing, {.share_cores = true}).remarks,
              ElementsAre(HasSubstr("times are noisy")));
  EXPECT_THAT(sharing.member(1).tried, Not(IsEmpty()));
}

TEST_F(CrewTest, AStopCutsRacesShortAndStillDecides) {
  ScriptedCrew crew({Member()});
  bool stopped = false;
  TuneOptions options{.seconds = 1000};
  options.progress = [&](const TuneProgress& progress) { stopped = progress.raced == 4; };
  options.stopped = [&] { return stopped; };
  const CrewReport report = Tuned(&crew, options);
  EXPECT_EQ(report.reports.at(0).raced, 4);
  EXPECT_EQ(crew.cut_short, 1);
  EXPECT_TRUE(report.reports[0].kept);
}

TEST_F(CrewTest, WithNobodyToDoAnythingTheFirstFailureIsTheError) {
  ScriptedCrew::Member seatless = Member();
  seatless.introduction.cores = {{0}};
  seatless.introduction.threads = 2;
  ScriptedCrew crew({seatless});
  Records records = Open("r.sqlite");
  EXPECT_THAT(std::string(TuneWith(&crew, {}, &records).status().message()),
              HasSubstr("has no 2 CPUs of its own"));
}

}  // namespace
}  // namespace tenon::tune
