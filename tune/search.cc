#include "tenon/tune/search.h"

#include <algorithm>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"

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
// Choices that are slower than this have no neighbours worth a race.
constexpr double kNear = 1.4;
// How far neighbours are from each other in the list of a choice's values.
constexpr std::ptrdiff_t kSteps[] = {-1, 1, -2, 2};

double Least(const std::vector<double>& times) { return *std::ranges::min_element(times); }

}  // namespace

Record MakeRecord(const ModelKernel& kernel, const CompileOptions& options,
                  const std::string& run) {
  Record record;
  record.content = kernel.content;
  record.target = TargetText(options.target);
  record.threads = options.threads == 0 ? options.target.cores : options.threads;
  record.versions = VersionsText();
  record.date = DateText();
  record.run = run;
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

KernelSearch::KernelSearch(const ModelKernel& kernel, const CompileOptions& options,
                           Records* records, std::string run)
    : kernel_(&kernel),
      options_(options),
      records_(records),
      run_(std::move(run)),
      standard_(ValueOrThrow(MakeContender(kernel, nullptr, options))),
      expected_(standard_.Results()) {
  const strategies::Choice& choice = standard_.choice();
  known_.insert(default_choice());
  points_.push_back({1, choice.implementation, choice.config.choices()});
  TakeKnown();
  for (const strategies::Candidate& row : choice.candidates) {
    if (!row.refusal && row.name != choice.implementation) queue_.push_back({row.name, {}});
  }
}

// Wins of earlier runs race again, first; what lost against the same default need not.
void KernelSearch::TakeKnown() {
  const Record now = MakeRecord(*kernel_, options_, run_);
  const std::vector<Record> records = ValueOrThrow(
      records_->Find({.content = now.content, .target = now.target, .threads = now.threads}));
  for (const Record& record : Counting(records)) {
    if (record.over != default_choice() || record.versions != now.versions) continue;
    if (IsWin(record)) {
      const strategies::MeasuredChoice choice = ChoiceOf(record);
      queue_.push_back({choice.row, choice.config});
    } else {
      known_.insert(record.choice);
    }
  }
}

bool KernelSearch::HasUnexpanded() const {
  return std::ranges::any_of(points_, [](const Point& point) {
    return !point.expanded && point.ratio < kNear && !point.choices.empty();
  });
}

// Earlier choices stay, as later ones may depend on them; these stay in one candidate, and have
// their defaults in another.
void KernelSearch::Expand() {
  Point* center = nullptr;
  for (Point& point : points_) {
    if (!point.expanded && point.ratio < kNear &&
        (center == nullptr || point.ratio < center->ratio))
      center = &point;
  }
  if (center == nullptr) return;
  center->expanded = true;
  for (const std::ptrdiff_t step : kSteps) {
    strategies::ConfigValues all, earlier;
    for (const auto& choice : center->choices) all[choice.name] = choice.value;
    for (const auto& choice : center->choices) {
      const auto at = std::ranges::find(choice.values, choice.value) - choice.values.begin() + step;
      if (at >= 0 && at < std::ssize(choice.values)) {
        const std::int64_t value = choice.values[static_cast<std::size_t>(at)];
        for (strategies::ConfigValues neighbour : {all, earlier}) {
          neighbour[choice.name] = value;
          queue_.push_back({center->row, std::move(neighbour)});
        }
      }
      earlier[choice.name] = choice.value;
    }
  }
}

void KernelSearch::Step(const std::function<bool()>& stopped) {
  if (queue_.empty()) Expand();
  while (!queue_.empty()) {
    const Candidate candidate = std::move(queue_.front());
    queue_.pop_front();
    absl::StatusOr<Contender> contender =
        MakeContender(*kernel_, Always(candidate.row, candidate.config), options_, known_);
    if (!contender.ok()) {
      last_ = StrCat(ChoiceText(candidate.row, candidate.config), ": ",
                     std::string(contender.status().message()));
      continue;  // no code was made
    }
    known_.insert(contender->ChoiceText());
    RaceWith(*contender, stopped);
    return;
  }
}

void KernelSearch::RaceWith(Contender& contender, const std::function<bool()>& stopped) {
  const std::string choice = contender.ChoiceText();
  ++raced_;
  ++fruitless_;
  if (const auto difference = DifferenceOf(contender.Results(), expected_)) {
    last_ = StrCat(choice, ": ", *difference);
    wrong_.push_back(last_);
    return;
  }
  const Race::Work by_candidate = [&] { contender.Run(); };
  const Race::Work by_default = [&] { standard_.Run(); };
  Race first(by_candidate, by_default), second(by_candidate, by_default);
  first.Run(kFirst, stopped);
  if (first.rounds() < kFirst.min_rounds) return;  // stopped
  Record record = MakeRecord(*kernel_, options_, run_);
  record.choice = choice;
  record.over = default_choice();
  SetTimes(first.candidate_s(), first.standard_s(), &record);
  if (IsWin(record)) {
    second.Run(kSecond, stopped);
    if (second.rounds() < kSecond.min_rounds) return;
    SetTimes(second.candidate_s(), second.standard_s(), &record);
  }
  if (const absl::Status added = records_->Add(record, kernel_->text); !added.ok())
    throw FromStatus(added);
  points_.push_back(
      {record.ratio, contender.choice().implementation, contender.choice().config.choices()});
  last_ = StrCat(choice, ": ", EvidenceText(record));
  if (!IsWin(record) || (best_ && best_->ratio <= record.ratio)) return;
  best_ = record;
  fruitless_ = 0;
}

}  // namespace tenon::tune
