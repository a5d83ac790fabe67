#include "tenon/tune/frontier.h"

#include <algorithm>
#include <utility>

#include "tenon/support/strings.h"
#include "tenon/tune/best.h"

namespace tenon::tune {
namespace {

// Choices that are slower than this have no neighbours worth a race.
constexpr double kNear = 1.4;
// How far neighbours are from each other in the list of a choice's values.
constexpr std::ptrdiff_t kSteps[] = {-1, 1, -2, 2};

}  // namespace

Frontier::Frontier(const KernelBrief& kernel, const std::vector<Record>& records,
                   const std::string& versions) {
  known_.insert(kernel.over);
  points_.push_back({1, RowOf(kernel.over), kernel.choices});
  for (const Record& record : Counting(records)) {
    if (record.over != kernel.over || record.versions != versions) continue;
    if (IsWin(record)) {
      const strategies::MeasuredChoice choice = ChoiceOf(record);
      queue_.push_back({choice.row, choice.config});
    } else {
      known_.insert(record.choice);
    }
  }
  for (const std::string& row : kernel.rows) queue_.push_back({row, {}});
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

std::optional<Candidate> Frontier::Next() {
  while (!queue_.empty() || HasUnexpanded()) {
    if (queue_.empty()) Expand();
    if (queue_.empty()) continue;
    const Candidate candidate = std::move(queue_.front());
    queue_.pop_front();
    if (std::ranges::find(fatal_, candidate) != fatal_.end()) continue;
    ++under_way_;
    return candidate;
  }
  return std::nullopt;
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
    fatal_.push_back(candidate);
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
  last_ = StrCat(choice, ": ", EvidenceText(*outcome.record));
  if (!IsWin(*outcome.record) || (best_ && best_->ratio <= outcome.record->ratio)) return;
  best_ = outcome.record;
  fruitless_ = 0;
}

}  // namespace tenon::tune
