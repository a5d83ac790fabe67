#include "tenon/tune/frontier.h"

#include <algorithm>
#include <random>
#include <utility>

#include "tenon/support/strings.h"
#include "tenon/tune/best.h"

namespace tenon::tune {
namespace {

// Choices that are slower than this have no neighbours worth a race.
constexpr double kNear = 1.4;
// How far neighbours are from each other in the list of a choice's values.
constexpr std::ptrdiff_t kSteps[] = {-1, 1, -2, 2};
// A prediction below this part of the best time so far is tried at once.
constexpr double kWorthAJump = 0.97;
// Of larger spaces so many are predicted.
constexpr std::size_t kMaxPredicted = 4096;

strategies::ConfigValues ValuesOf(const std::vector<strategies::Config::Choice>& choices) {
  strategies::ConfigValues values;
  for (const auto& choice : choices) values[choice.name] = choice.value;
  return values;
}

// All combinations of values, or some of them, the same ones each time.
std::vector<strategies::ConfigValues> SpaceOf(
    const std::vector<strategies::Config::Choice>& choices) {
  std::size_t size = 1;
  for (const auto& choice : choices)
    size = std::min(size * std::max<std::size_t>(1, choice.values.size()), 2 * kMaxPredicted);
  const bool draws = size > kMaxPredicted;
  std::mt19937 random(36);
  std::vector<strategies::ConfigValues> space;
  for (std::size_t i = 0; i < std::min(size, kMaxPredicted); ++i) {
    strategies::ConfigValues& config = space.emplace_back();
    std::size_t rest = i;
    for (const auto& choice : choices) {
      const std::size_t n = choice.values.size();
      config[choice.name] = choice.values[draws ? random() % n : rest % n];
      rest /= n;
    }
  }
  return space;
}

}  // namespace

Frontier::Frontier(const KernelBrief& kernel, const std::vector<Record>& records,
                   const std::string& versions) {
  known_.insert(kernel.over);
  points_.push_back({1, RowOf(kernel.over), kernel.choices});
  Learn(points_.back());
  for (const Record& record : Counting(records)) {
    if (record.over != kernel.over || record.versions != versions) continue;
    if (IsWin(record)) {
      const strategies::MeasuredChoice choice = ChoiceOf(record);
      Queue({choice.row, choice.config});
    } else {
      known_.insert(record.choice);
    }
  }
  for (const std::string& row : kernel.rows) Queue({row, {}});
}

void Frontier::Queue(Candidate candidate) {
  if (queued_.insert(candidate).second) queue_.push_back(std::move(candidate));
}

void Frontier::Learn(const Point& point) {
  const strategies::ConfigValues values = ValuesOf(point.choices);
  usual_.try_emplace(point.row, values);
  models_[point.row].Learn(values, point.ratio);
}

std::optional<double> Frontier::Predict(const Candidate& candidate) const {
  const auto model = models_.find(candidate.row);
  if (model == models_.end()) return std::nullopt;
  strategies::ConfigValues config = candidate.config;
  for (const auto& [name, value] : usual_.at(candidate.row)) config.try_emplace(name, value);
  return model->second.Predict(config);
}

std::optional<Candidate> Frontier::Jump() const {
  const Point* best = nullptr;
  for (const Point& point : points_) {
    if (!point.choices.empty() && (best == nullptr || point.ratio < best->ratio)) best = &point;
  }
  if (best == nullptr) return std::nullopt;
  std::optional<Candidate> predicted;
  double least = best->ratio * kWorthAJump;
  for (strategies::ConfigValues& config : SpaceOf(best->choices)) {
    Candidate candidate{best->row, std::move(config)};
    const std::optional<double> ratio = Predict(candidate);
    if (!ratio) return std::nullopt;
    if (*ratio >= least || queued_.contains(candidate) ||
        known_.contains(ChoiceText(candidate.row, candidate.config)))
      continue;
    least = *ratio;
    predicted = std::move(candidate);
  }
  return predicted;
}

bool Frontier::HasUnexpanded() const {
  return std::ranges::any_of(points_, [](const Point& point) {
    return !point.expanded && point.ratio < kNear && !point.choices.empty();
  });
}

// Earlier choices stay, as later ones may depend on them; these stay in one candidate, and have
// their defaults in another.
void Frontier::Expand() {
  Point* center = nullptr;
  for (Point& point : points_) {
    if (!point.expanded && point.ratio < kNear &&
        (center == nullptr || point.ratio < center->ratio))
      center = &point;
  }
  if (center == nullptr) return;
  center->expanded = true;
  for (const std::ptrdiff_t step : kSteps) {
    const strategies::ConfigValues all = ValuesOf(center->choices);
    strategies::ConfigValues earlier;
    for (const auto& choice : center->choices) {
      const auto at = std::ranges::find(choice.values, choice.value) - choice.values.begin() + step;
      if (at >= 0 && at < std::ssize(choice.values)) {
        const std::int64_t value = choice.values[static_cast<std::size_t>(at)];
        for (strategies::ConfigValues neighbour : {all, earlier}) {
          neighbour[choice.name] = value;
          Queue({center->row, std::move(neighbour)});
        }
      }
      earlier[choice.name] = choice.value;
    }
  }
}

// By turns with the others: a prediction may be wrong again and again.
std::optional<Candidate> Frontier::Next() {
  has_jumped_ = !has_jumped_;
  std::optional<Candidate> next = has_jumped_ ? Jump() : std::nullopt;
  if (next) {
    queued_.insert(*next);
  } else {
    next = FromQueue();
  }
  if (next) ++under_way_;
  return next;
}

std::optional<Candidate> Frontier::FromQueue() {
  while (queue_.empty() && HasUnexpanded()) Expand();
  if (queue_.empty()) return std::nullopt;
  auto next = queue_.begin();
  std::optional<double> least = Predict(*next);  // what cannot be predicted has its turn
  for (auto at = queue_.begin(); least && at != queue_.end(); ++at) {
    const std::optional<double> ratio = Predict(*at);
    if (!ratio || *ratio >= *least) continue;
    next = at;
    least = ratio;
  }
  Candidate candidate = std::move(*next);
  queue_.erase(next);
  return candidate;
}

void Frontier::PutBack(const Candidate& candidate) {
  --under_way_;
  queue_.push_front(candidate);
}

void Frontier::Take(const Candidate& candidate, const Outcome& outcome) {
  --under_way_;
  const std::string choice =
      outcome.choice.empty() ? ChoiceText(candidate.row, candidate.config) : outcome.choice;
  if (!outcome.unmeasured.empty()) {
    unmeasured_ = last_ = outcome.unmeasured;
    queue_.clear();
    points_.clear();
    return;
  }
  if (!outcome.refused.empty()) {
    last_ = StrCat(choice, ": ", outcome.refused);
    return;
  }
  if (!outcome.crashed.empty()) {
    last_ = StrCat(choice, ": ", outcome.crashed);
    crashed_.push_back(last_);
    return;
  }
  known_.insert(choice);
  ++raced_;
  ++fruitless_;
  if (!outcome.wrong.empty()) {
    last_ = StrCat(choice, ": ", outcome.wrong);
    wrong_.push_back(last_);
    return;
  }
  if (!outcome.record) return;  // stopped
  points_.push_back({outcome.record->ratio, candidate.row, outcome.choices});
  Learn(points_.back());
  last_ = StrCat(choice, ": ", EvidenceText(*outcome.record));
  if (!IsWin(*outcome.record) || (best_ && best_->ratio <= outcome.record->ratio)) return;
  best_ = outcome.record;
  fruitless_ = 0;
}

}  // namespace tenon::tune
