#include "tenon/tune/contest.h"

#include <algorithm>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/race.h"

namespace tenon::tune {
namespace {

// The first race decides whether there is a second one, which decides by how much a choice wins.
constexpr RaceLimits kFirst = {.min_rounds = 8,
                               .max_rounds = 24,
                               .seconds = 1,
                               .hopeless = 1 - kMinGain,
                               .certain = 1 - kMinGain};
constexpr RaceLimits kSecond = {
    .min_rounds = 12, .max_rounds = 40, .seconds = 3, .hopeless = 1 - kMinGain, .certain = 0.8};

double Least(const std::vector<double>& times) { return *std::ranges::min_element(times); }

}  // namespace

Record MakeRecord(const ModelKernel& kernel, const CompileOptions& options,
                  const std::string& run) {
  Record record;
  record.content = kernel.content;
  record.target = TargetText(options.target);
  record.threads = ThreadsOn(options.target, options.threads);
  record.versions = VersionsText();
  record.date = DateText();
  record.run = run;
  record.shapes = RangesText(kernel.RacedShapes());
  return record;
}

void SetTimes(const std::vector<double>& times, const std::vector<double>& default_times,
              Record* record) {
  const MedianRatio outcome = RatioOf(times, default_times);
  record->ratio = outcome.ratio;
  record->noise = outcome.noise;
  record->rounds = static_cast<std::int64_t>(times.size());
  record->least_s = Least(times);
  record->median_s = Median(times);
  record->default_least_s = Least(default_times);
  record->default_median_s = Median(default_times);
}

Contest::Contest(const ModelKernel& kernel, const CompileOptions& options, std::string run)
    : kernel_(&kernel),
      options_(options),
      run_(std::move(run)),
      standard_(ValueOrThrow(MakeContender(kernel, nullptr, options))),
      expected_(standard_.Results()) {}

Outcome Contest::Race(absl::StatusOr<Contender> contender, const std::function<bool()>& stopped) {
  Outcome outcome;
  if (!contender.ok()) {
    outcome.refused = std::string(contender.status().message());
    return outcome;
  }
  outcome.choice = contender->ChoiceText();
  outcome.choices = contender->choice().config.choices();
  RaceWith(*contender, stopped, &outcome);
  return outcome;
}

void Contest::RaceWith(Contender& contender, const std::function<bool()>& stopped,
                       Outcome* outcome) {
  const std::vector<std::vector<NDArray>> results = contender.Results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const auto difference = DifferenceOf(results[i], expected_[i])) {
      outcome->wrong = *difference;
      return;
    }
  }
  const tune::Race::Work by_candidate = [&] { contender.Run(); };
  const tune::Race::Work by_default = [&] { standard_.Run(); };
  tune::Race first(by_candidate, by_default), second(by_candidate, by_default);
  first.Run(kFirst, stopped);
  if (first.rounds() < kFirst.min_rounds) return;  // stopped
  Record record = MakeRecord(*kernel_, options_, run_);
  record.choice = outcome->choice;
  record.over = standard_.ChoiceText();
  SetTimes(first.candidate_s(), first.standard_s(), &record);
  if (IsWin(record)) {
    second.Run(kSecond, stopped);
    if (second.rounds() < kSecond.min_rounds) return;
    SetTimes(second.candidate_s(), second.standard_s(), &record);
  }
  outcome->record = std::move(record);
}

}  // namespace tenon::tune
