#include "tenon/tune/course.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/size_class.h"

namespace tenon::tune {
namespace {

// A floor is what nothing reaches; so a kernel at its floor still has a little to win.
constexpr double kMinPart = 0.02;

// A kernel without another row and without choices has nothing to search.
bool HasCandidates(const KernelBrief& kernel) {
  return !kernel.rows.empty() || !kernel.choices.empty();
}

}  // namespace

Course::Course(ModelBrief brief, const Records& records) : brief_(std::move(brief)) {
  std::ranges::stable_sort(brief_.kernels, std::greater(), &KernelBrief::model_s);
  for (const KernelBrief& kernel : brief_.kernels) {
    if (!HasCandidates(kernel) || frontiers_.contains(kernel.content)) continue;
    std::vector<Record> known = ValueOrThrow(records.Find(
        {.content = kernel.content, .target = brief_.target, .threads = brief_.threads}));
    // What lost over other sizes may win over these.
    std::erase_if(known, [&](const Record& record) {
      return SizeClassOf(record.shapes) != SizeClassOf(kernel.shapes);
    });
    frontiers_.emplace(kernel.content, Frontier(kernel, known, brief_.versions));
  }
}

double Course::GainOf(const std::string& content) const {
  double gain = 0;
  for (const KernelBrief& kernel : brief_.kernels) {
    if (kernel.content == content)
      gain += std::max(kernel.model_s - kernel.floor_s, kernel.model_s * kMinPart);
  }
  return gain;
}

std::optional<TryJob> Course::Next() {
  std::set<std::string> passed;  // that wait for what is under way
  while (true) {
    std::pair<const std::string, Frontier>* best = nullptr;
    double most = 0;
    for (auto& entry : frontiers_) {
      if (entry.second.done() || passed.contains(entry.first)) continue;
      const double gain = GainOf(entry.first) / (1 + entry.second.fruitless());
      if (best != nullptr && gain <= most) continue;
      best = &entry;
      most = gain;
    }
    if (best == nullptr) return std::nullopt;
    auto& [content, frontier] = *best;
    if (std::optional<Candidate> candidate = frontier.Next())
      return TryJob{
          content, *std::move(candidate), {frontier.known().begin(), frontier.known().end()}};
    passed.insert(content);
  }
}

void Course::Take(const TryJob& job, const Outcome& outcome, int worker, double seconds) {
  frontiers_.at(job.content).Take(job.candidate, outcome);
  TryReport& entry = tries_.emplace_back();
  entry.seconds = seconds;
  entry.worker = worker;
  entry.content = job.content;
  entry.choice =
      outcome.choice.empty() ? ChoiceText(job.candidate.row, job.candidate.config) : outcome.choice;
  if (outcome.record) entry.outcome = MedianRatio{outcome.record->ratio, outcome.record->noise};
  entry.words = StrCat(outcome.refused, outcome.wrong, outcome.crashed, outcome.unmeasured);
}

void Course::PutBack(const TryJob& job) { frontiers_.at(job.content).PutBack(job.candidate); }

bool Course::done() const {
  return std::ranges::all_of(frontiers_, [](const auto& entry) { return entry.second.done(); });
}

int Course::raced() const {
  int raced = 0;
  for (const auto& [content, frontier] : frontiers_) raced += frontier.raced();
  return raced;
}

int Course::wins() const {
  return static_cast<int>(std::ranges::count_if(
      frontiers_, [](const auto& entry) { return entry.second.best().has_value(); }));
}

double Course::model_s() const {
  double seconds = 0;
  for (const KernelBrief& kernel : brief_.kernels) seconds += kernel.model_s;
  return seconds;
}

double Course::CallSeconds(const std::string& content) const {
  const KernelBrief& kernel = KernelOf(content);
  return kernel.model_s / std::max(1, kernel.calls);
}

const KernelBrief& Course::KernelOf(const std::string& content) const {
  return *std::ranges::find(brief_.kernels, content, &KernelBrief::content);
}

DecideJob Course::Decide(const Records& records, double seconds) const {
  DecideJob job{.wins = {}, .seconds = seconds};
  std::set<std::string> contents;
  for (const KernelBrief& kernel : brief_.kernels) contents.insert(kernel.content);
  const std::vector<Record> all =
      ValueOrThrow(records.Find({.target = brief_.target, .threads = brief_.threads}));
  for (Record& record : Counting(all)) {
    if (contents.contains(record.content) && IsWin(record)) job.wins.push_back(std::move(record));
  }
  return job;
}

TuneReport Course::Report(const std::optional<Decision>& decision) const {
  TuneReport report{
      .target = brief_.target, .threads = brief_.threads, .raced = raced(), .tries = tries_};
  std::set<std::string> told;  // contents
  for (const KernelBrief& brief : brief_.kernels) {
    KernelReport& kernel = report.kernels.emplace_back();
    kernel.name = brief.name;
    kernel.content = brief.content;
    kernel.calls = brief.calls;
    kernel.model_s = brief.model_s;
    kernel.floor_s = brief.floor_s;
    kernel.over = brief.over;
    if (const auto frontier = frontiers_.find(brief.content); frontier != frontiers_.end()) {
      kernel.alone = frontier->second.best();
      if (told.insert(brief.content).second) {
        kernel.raced = frontier->second.raced();
        kernel.wrong = frontier->second.wrong();
        kernel.crashed = frontier->second.crashed();
        kernel.unmeasured = frontier->second.unmeasured();
      }
    }
    if (!decision) continue;
    for (const Record& record : decision->records) {
      if (record.content == brief.content && record.scope == Scope::kModel)
        kernel.in_model = record;
    }
  }
  if (decision) {
    report.model = decision->model;
    report.default_model_s = decision->default_model_s;
    report.model_s = decision->model_s;
    report.kept = decision->kept;
  }
  return report;
}

}  // namespace tenon::tune
