#include "tenon/tune/decide.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/tune/best.h"
#include "tenon/tune/contest.h"
#include "tenon/tune/model_race.h"
#include "tenon/tune/records.h"

namespace tenon::tune {
namespace {

// By so much the whole model may seem slower, if its noise is not less.
constexpr double kMaxLoss = 0.005;
// Of other choices for kernels whose first one wins nothing.
constexpr int kTurns = 4;

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

class Deciding {
 public:
  Deciding(const DecideJob& job, const DefaultModel& model, const CompileOptions& options,
           std::string run)
      : seconds_(job.seconds / 2),
        model_(model),
        options_(options),
        run_(std::move(run)),
        records_(ValueOrThrow(Records::Open(":memory:", Access::kWrite))) {
    for (const Record& record : job.wins) Keep(record);
  }

  Decision Run() {
    Lowered by_records = ByRecords(Wins::kUnconfirmed);
    std::set<std::pair<std::string, std::string>> raced;  // content and choice
    for (int turn = 0; turn < kTurns; ++turn) {
      std::map<std::string, std::vector<Measured>> by_content;
      bool has_new = false;
      for (const Measured& measured : MeasuredOf(by_records, Wins::kUnconfirmed)) {
        const std::string& content = measured.kernel->content;
        by_content[content].push_back(measured);
        has_new = raced.emplace(content, measured.choice).second || has_new;
      }
      if (!has_new) break;
      ModelRace race(ValueOrThrow(Link(by_records, options_)), model_.executable, model_.shapes);
      RaceLimits limits = kModelRaceLimits;
      limits.seconds = seconds_ / (1 << turn);
      race.RunProfiled(limits);
      for (const auto& [content, same] : by_content) RaceInside(race, same);
      by_records = ByRecords(Wins::kUnconfirmed);
    }
    RaceWhole(ByRecords(Wins::kConfirmed));
    return std::move(decision_);
  }

 private:
  // A kernel that records decide, with their choice.
  struct Measured {
    const ModelKernel* kernel;
    std::string choice;
  };

  Lowered ByRecords(Wins wins) const {
    CompileOptions options = options_;
    options.measured = ValueOrThrow(ChoicesFor(records_, options.target, options.threads, wins));
    return ValueOrThrow(LowerFused(model_.lowered.module, options));
  }

  std::vector<Measured> MeasuredOf(const Lowered& lowered, Wins wins) const {
    // By the record's own words: a later version may have more choices than it names.
    const std::map<std::string, Record> best = BestOf(ValueOrThrow(records_.Find()), wins);
    std::vector<Measured> measured;
    for (const LoweredKernel& kernel : lowered.kernels) {
      if (!kernel.choice.candidates[kernel.choice.chosen].measured) continue;
      const auto same = std::ranges::find(model_.kernels, kernel.name, &ModelKernel::name);
      if (same != model_.kernels.end()) measured.push_back({&*same, best.at(same->content).choice});
    }
    return measured;
  }

  Record RecordOf(const Measured& measured, Scope scope) const {
    Record record = MakeRecord(*measured.kernel, options_, run_);
    const strategies::Choice& over = measured.kernel->chosen;
    record.choice = measured.choice;
    record.over = ChoiceText(over.implementation, over.config.Values());
    record.scope = scope;
    return record;
  }

  void Keep(const Record& record) {
    const absl::Status added = records_.Add(record, "");
    if (!added.ok()) throw FromStatus(added);
  }
  void Add(const Record& record) {
    Keep(record);
    decision_.records.push_back(record);
  }

  void RaceInside(const ModelRace& race, const std::vector<Measured>& same) {
    std::vector<std::string> nodes;
    for (const Measured& measured : same)
      nodes.insert(nodes.end(), measured.kernel->nodes.begin(), measured.kernel->nodes.end());
    const std::vector<double> standard = race.StandardTimes(nodes);
    const std::vector<double> candidate = race.CandidateTimes(nodes);
    if (Sum(standard) <= 0 || Sum(candidate) <= 0) return;  // named differently, so unknown
    Record record = RecordOf(same[0], Scope::kModel);
    SetTimes(candidate, standard, &record);
    Add(record);
  }

  void RaceWhole(const Lowered& by_records) {
    const std::vector<Measured> kept = MeasuredOf(by_records, Wins::kConfirmed);
    if (kept.empty()) return;
    ModelRace race(ValueOrThrow(Link(by_records, options_)), model_.executable, model_.shapes);
    RaceLimits limits = kModelRaceLimits;
    limits.seconds = seconds_;
    race.whole().Run(limits);
    decision_.model = race.whole().Outcome();
    decision_.model_s = Median(race.whole().candidate_s());
    decision_.default_model_s = Median(race.whole().standard_s());
    decision_.kept = decision_.model->ratio <= 1 + std::min(decision_.model->noise, kMaxLoss);
    if (decision_.kept) return;
    for (const Measured& measured : kept) {
      Record record = RecordOf(measured, Scope::kWhole);
      SetTimes(race.whole().candidate_s(), race.whole().standard_s(), &record);
      Add(record);
    }
  }

  double seconds_;
  const DefaultModel& model_;
  const CompileOptions& options_;
  std::string run_;
  Records records_;  // those of the job, and what becomes of them
  Decision decision_;
};

}  // namespace

Decision Decide(const DecideJob& job, const DefaultModel& model, const CompileOptions& options,
                const std::string& run) {
  return Deciding(job, model, options, run).Run();
}

}  // namespace tenon::tune
