#include "tenon/tune/tune.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/cores.h"
#include "tenon/tune/course.h"
#include "tenon/tune/local_crew.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

// Of the budget; the rest is for the search.
constexpr double kPartOfModelRace = 0.15;
constexpr double kMinModelRaceS = 2, kMaxModelRaceS = 60;
// How often to look whether to stop.
constexpr double kTickS = 0.2;
// Runs of a candidate and its default, of which one may be many times as slow as the other.
constexpr double kCandidateRuns = 2000;
// Compiling a model and running it by default. Whoever takes longer is stuck.
constexpr double kBriefS = 3600;
constexpr double kDecideS = 1800;
constexpr double kSettleS = 60;
// How often the times of a model, or the races inside of it, are tried again after an end.
constexpr int kMaxRetries = 3;

// The workers of one target and number of threads, and their search.
struct Kind {
  enum class Stage { kUnknown, kBriefing, kSearching, kDeciding, kDone };
  Stage stage = Stage::kUnknown;
  int under_way = 0;  // jobs
  std::optional<Course> course;
  std::optional<Decision> decision;
};

struct Hand {  // one worker
  std::string name;
  Kind* kind = nullptr;                  // null: it has not introduced itself
  std::optional<std::vector<int>> cpus;  // its own
  bool is_settled = false;               // on them
  std::optional<Job> job;
  bool lost = false;
};

class Tuning {
 public:
  Tuning(Crew* crew, const TuneOptions& options, Records* records)
      : crew_(crew),
        options_(options),
        records_(records),
        hands_(static_cast<std::size_t>(crew->size())),
        end_(start_ + std::chrono::duration_cast<Clock::duration>(
                          std::chrono::duration<double>(options.seconds))) {
    for (std::size_t i = 0; i < hands_.size(); ++i) hands_[i].name = StrCat("worker ", i);
  }

  CrewReport Run() {
    while (true) {
      for (std::size_t i = 0; i < hands_.size(); ++i) GiveJob(static_cast<int>(i));
      if (!IsAnythingUnderWay()) break;
      if (const std::optional<Event> event = crew_->Wait(kTickS)) Handle(*event);
      if (IsStopped() && !std::exchange(cut_short_, true)) crew_->CutShort();
    }
    CrewReport report{.reports = {}, .remarks = remarks_};
    for (const auto& [what, kind] : kinds_) {
      if (kind.course) report.reports.push_back(kind.course->Report(kind.decision));
    }
    if (report.reports.empty() && failure_)
      throw Error(static_cast<absl::StatusCode>(failure_->code), failure_->message);
    if (report.reports.empty() && !remarks_.empty())
      throw FailedPrecondition(StrJoin(remarks_, "; "));
    return report;
  }

 private:
  bool IsStopped() const { return options_.stopped != nullptr && options_.stopped(); }
  double ModelRaceSeconds() const {
    if (IsStopped()) return kMinModelRaceS;
    return std::clamp(options_.seconds * kPartOfModelRace, kMinModelRaceS, kMaxModelRaceS);
  }
  double SecondsLeft() const {
    return std::chrono::duration<double>(end_ - Clock::now()).count() - ModelRaceSeconds();
  }

  // A worker that has not introduced itself yet may have something to do. One that hangs before it
  // does is not waited for without end.
  bool IsAnythingUnderWay() const {
    const bool may_come =
        !IsStopped() && Clock::now() < end_ + std::chrono::duration<double>(kSettleS);
    return std::ranges::any_of(hands_, [&](const Hand& hand) {
      return hand.job.has_value() || (hand.kind == nullptr && !hand.lost && may_come);
    });
  }

  void GiveJob(int worker) {
    Hand& hand = hands_[static_cast<std::size_t>(worker)];
    if (hand.kind == nullptr || hand.lost || hand.job) return;
    const auto [job, limit_s] =
        hand.is_settled
            ? NextJob(hand.kind)
            : std::pair{std::optional<Job>(SettleJob{hand.cpus.value_or(std::vector<int>())}),
                        kSettleS};
    if (!job) return;
    hand.job = job;
    ++hand.kind->under_way;
    crew_->Give(worker, *job, limit_s);
  }

  // With how long it may take.
  std::pair<std::optional<Job>, double> NextJob(Kind* kind) {
    using Stage = Kind::Stage;
    if (kind->stage == Stage::kUnknown) {
      kind->stage = IsStopped() ? Stage::kDone : Stage::kBriefing;
      if (kind->stage == Stage::kBriefing) return {BriefJob(), kBriefS};
    }
    if (kind->stage != Stage::kSearching) return {};
    const bool searches = !IsStopped() && SecondsLeft() > 0;
    if (searches) {
      if (std::optional<TryJob> job = kind->course->Next()) {
        const double runs_s = kind->course->CallSeconds(job->content) * kCandidateRuns;
        return {*std::move(job), options_.candidate_seconds + runs_s};
      }
    }
    if (kind->under_way > 0) return {};
    DecideJob job = kind->course->Decide(*records_, ModelRaceSeconds());
    kind->stage = job.wins.empty() ? Stage::kDone : Stage::kDeciding;
    if (job.wins.empty()) return {};
    return {std::move(job), kDecideS + options_.seconds};
  }

  void Handle(const Event& event) {
    Hand& hand = hands_[static_cast<std::size_t>(event.worker)];
    std::visit([&](const auto& what) { Take(what, &hand); }, event.what);
  }

  // Ends the job of a worker, which becomes free; nothing where its answer is late.
  template <typename T>
  std::optional<T> EndJob(Hand* hand) {
    if (!hand->job || !std::holds_alternative<T>(*hand->job)) return std::nullopt;
    --hand->kind->under_way;
    return std::get<T>(*std::exchange(hand->job, std::nullopt));
  }

  void Take(const Introduction& introduction, Hand* hand) {
    hand->lost = false;
    hand->is_settled = false;
    hand->name = StrCat("worker ", hand - hands_.data(), " on ", introduction.host);
    hand->kind = &kinds_[{introduction.target, introduction.threads}];
    if (introduction.cores.empty()) {
      hand->is_settled = true;
    } else if (!hand->cpus) {
      hand->cpus = seating_.Take(introduction.host, introduction.cores, introduction.threads);
      if (!hand->cpus->empty()) return;
      const std::string remark =
          StrCat(hand->name, " has no ", introduction.threads, " CPUs of its own");
      if (options_.share_cores) {
        remarks_.push_back(StrCat(remark, "; it shares those of others, and times are noisy"));
      } else {
        Take(Lost{StrCat(remark, "; give fewer workers to that host, or fewer threads to each")},
             hand);
      }
    }
  }

  void Take(const Settled& /*settled*/, Hand* hand) {
    if (EndJob<SettleJob>(hand)) hand->is_settled = true;
  }

  void Take(const ModelBrief& brief, Hand* hand) {
    if (!EndJob<BriefJob>(hand)) return;
    hand->kind->course.emplace(brief, *records_);
    hand->kind->stage = Kind::Stage::kSearching;
  }

  void Take(const Outcome& outcome, Hand* hand) {
    if (const auto job = EndJob<TryJob>(hand)) TakeOutcome(*job, outcome, *hand);
  }

  void Take(const Decision& decision, Hand* hand) {
    if (!EndJob<DecideJob>(hand)) return;
    for (const Record& record : decision.records)
      Add(record, hand->kind->course->KernelOf(record.content));
    hand->kind->decision = decision;
    hand->kind->stage = Kind::Stage::kDone;
  }

  void Take(const Failure& failure, Hand* hand) {
    if (!failure_) failure_ = failure;
    if (EndJob<BriefJob>(hand) || EndJob<DecideJob>(hand)) {
      remarks_.push_back(StrCat(hand->name, ": ", failure.message));
      hand->kind->stage = Kind::Stage::kDone;
    } else {
      Take(Lost{failure.message}, hand);  // with another model than the others of its kind
    }
  }

  void Take(const Crashed& crashed, Hand* hand) {
    if (const auto job = EndJob<TryJob>(hand)) {
      TakeOutcome(*job, Outcome{.crashed = crashed.why}, *hand);
    } else {
      remarks_.push_back(StrCat(hand->name, ": ", crashed.why));
      Release(hand);
    }
    hand->kind = nullptr;  // until it introduces itself again
  }

  void Take(const Lost& lost, Hand* hand) {
    remarks_.push_back(StrCat(hand->name, " is lost: ", lost.why));
    Release(hand);
    hand->lost = true;
  }

  // Its job is for another worker.
  void Release(Hand* hand) {
    if (const auto job = EndJob<TryJob>(hand)) {
      hand->kind->course->PutBack(*job);
    } else if (!EndJob<SettleJob>(hand) && (EndJob<BriefJob>(hand) || EndJob<DecideJob>(hand))) {
      hand->kind->stage = ++retries_ > kMaxRetries ? Kind::Stage::kDone
                          : hand->kind->course     ? Kind::Stage::kSearching
                                                   : Kind::Stage::kUnknown;
    }
  }

  void TakeOutcome(const TryJob& job, const Outcome& outcome, const Hand& hand) {
    Course& course = *hand.kind->course;
    if (outcome.record) Add(*outcome.record, course.KernelOf(job.content));
    const auto worker = static_cast<int>(&hand - hands_.data());
    course.Take(job, outcome, std::min(worker, crew_->measuring() - 1),
                std::chrono::duration<double>(Clock::now() - start_).count());
    Tell(job.content, course);
  }

  void Add(Record record, const KernelBrief& kernel) {
    switch (record.scope) {
      case Scope::kKernel:
        record.floor_s = kernel.race_floor_s;
        break;
      case Scope::kModel:
        record.floor_s = kernel.floor_s;
        break;
      case Scope::kWhole:
        break;  // times are those of all kernels
    }
    const absl::Status added = records_->Add(record, kernel.text);
    if (!added.ok()) throw FromStatus(added);
  }

  void Tell(const std::string& content, const Course& course) const {
    if (options_.progress == nullptr) return;
    TuneProgress progress{.seconds_left = std::max(0.0, SecondsLeft())};
    const KernelBrief& kernel = course.KernelOf(content);
    const Frontier& frontier = course.FrontierOf(content);
    progress.kernel = kernel.name;
    progress.last = frontier.last();
    progress.call_s = course.CallSeconds(content);
    progress.floor_s = kernel.floor_s / std::max(1, kernel.calls);
    if (frontier.best()) progress.best = frontier.best()->ratio;
    for (const auto& [what, kind] : kinds_) {
      if (!kind.course) continue;
      progress.raced += kind.course->raced();
      progress.wins += kind.course->wins();
    }
    const auto workers = static_cast<int>(std::ranges::count_if(
        hands_, [](const Hand& hand) { return hand.kind != nullptr && !hand.lost; }));
    progress.workers = std::min(workers, crew_->measuring());
    options_.progress(progress);
  }

  Crew* crew_;
  const TuneOptions& options_;
  Records* records_;
  std::map<std::pair<std::string, std::int64_t>, Kind> kinds_;  // by target and threads
  std::vector<Hand> hands_;
  Seating seating_;
  const Clock::time_point start_ = Clock::now();
  const Clock::time_point end_;
  std::optional<Failure> failure_;  // the first one
  std::vector<std::string> remarks_;
  int retries_ = 0;
  bool cut_short_ = false;
};

}  // namespace

absl::StatusOr<CrewReport> TuneWith(Crew* crew, const TuneOptions& options, Records* records) {
  return CatchErrors([&] {
    if (options.compile.reproducible)
      throw InvalidArgument("reproducible code takes no measured choices, so there is no search");
    return Tuning(crew, options, records).Run();
  });
}

absl::StatusOr<TuneReport> Tune(const ir::Module& module, const TuneOptions& options,
                                Records* records) {
  return CatchErrors([&] {
    const CompileOptions& compile = options.compile;
    LocalCrew crew(
        Worker(
            [&] {
              return Worker::Model{module, options.shapes};
            },
            compile),
        {.host = "this machine",
         .target = TargetText(compile.target),
         .threads = ThreadsOn(compile.target, compile.threads)},
        options.stopped == nullptr ? [] { return false; } : options.stopped,
        options.compile_ahead ? LocalCrew::Compiles::kAhead : LocalCrew::Compiles::kBeforeEachRace);
    CrewReport report = ValueOrThrow(TuneWith(&crew, options, records));
    if (!report.remarks.empty()) throw FailedPrecondition(StrJoin(report.remarks, "; "));
    return std::move(report.reports.at(0));
  });
}

}  // namespace tenon::tune
