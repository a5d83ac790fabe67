#include "tenon/tune/tune.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "tenon/compiler/symbolic/input_symbols.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/inputs.h"
#include "tenon/tune/kernel.h"
#include "tenon/tune/model_race.h"
#include "tenon/tune/search.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

// Of the budget; the rest is for the search.
constexpr double kPartOfModelRace = 0.15;
constexpr double kMinModelRaceS = 2, kMaxModelRaceS = 60;
// By so much the whole model may seem slower, if its noise is not less.
constexpr double kMaxLoss = 0.005;
constexpr RaceLimits kOfModel = {
    .min_rounds = 16, .max_rounds = 400, .sample_s = 0, .hopeless = 1e9};

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::string NewRun() {
  std::random_device device;
  return HashText((std::uint64_t{device()} << 32) | device());
}

// A model on its way: what it is by default, and what the search has found.
class Tuning {
 public:
  Tuning(const ir::Module& module, const TuneOptions& options, Records* records)
      : options_(options), records_(records), run_(NewRun()), end_(Clock::now() + Budget()) {
    if (module.Find("main") && compiler::HasSymbols(module))
      throw Unimplemented("only models of extents that are numbers can be tuned");
    compile_ = options.compile;
    compile_.measured = nullptr;
    lowered_ = ValueOrThrow(Lower(module, compile_));
    compile_.cache_dir.clear();  // candidates are not kept
    standard_.emplace(ValueOrThrow(Link(lowered_, options.compile)));
    kernels_ = KernelsOf(lowered_);
  }

  TuneReport Run() {
    TakeTimes();
    Search();
    Decide();
    return std::move(report_);
  }

 private:
  Clock::duration Budget() const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(options_.seconds));
  }
  double ModelRaceSeconds() const {
    if (IsStopped()) return kMinModelRaceS;
    return std::clamp(options_.seconds * kPartOfModelRace, kMinModelRaceS, kMaxModelRaceS);
  }
  double SecondsLeft() const {
    return std::chrono::duration<double>(end_ - Clock::now()).count() - ModelRaceSeconds();
  }
  bool IsStopped() const { return options_.stopped != nullptr && options_.stopped(); }

  // Of every kernel in a run of the default model.
  void TakeTimes() {
    ModelRace race(*standard_, *standard_);
    race.RunProfiled({.min_rounds = 3, .max_rounds = 10, .seconds = 1});
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < kernels_.size(); ++i)
      order.emplace_back(-Median(race.StandardTimes(kernels_[i].nodes)), i);
    std::sort(order.begin(), order.end());
    std::vector<ModelKernel> sorted;
    for (const auto& [time, i] : order) {
      KernelReport& kernel = report_.kernels.emplace_back();
      kernel.name = kernels_[i].name;
      kernel.content = kernels_[i].content;
      kernel.calls = static_cast<int>(kernels_[i].nodes.size());
      kernel.model_s = -time;
      kernel.over =
          ChoiceText(kernels_[i].chosen.implementation, kernels_[i].chosen.config.Values());
      sorted.push_back(std::move(kernels_[i]));
    }
    kernels_ = std::move(sorted);
    searches_.resize(kernels_.size());
    finished_.resize(kernels_.size(), false);
  }

  // The kernel to spend the next candidate on, if any is left. Kernels of one content, as equal
  // layers of other weights, share one search.
  std::optional<std::size_t> Next() const {
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (finished_[i]) continue;
      const int fruitless = searches_[i] == nullptr ? 0 : searches_[i]->fruitless();
      const double gain = TimeOfContent(kernels_[i].content) / (1 + fruitless);
      if (best && gain <= most) continue;
      best = i;
      most = gain;
    }
    return best;
  }

  double TimeOfContent(const std::string& content) const {
    double time = 0;
    for (const KernelReport& kernel : report_.kernels) {
      if (kernel.content == content) time += kernel.model_s;
    }
    return time;
  }

  // A kernel without another row and without choices has nothing to search.
  static bool HasCandidates(const strategies::Choice& choice) {
    const auto rows = std::ranges::count_if(
        choice.candidates, [](const strategies::Candidate& row) { return !row.refusal; });
    return rows > 1 || !choice.config.choices().empty();
  }

  void Search() {
    std::set<std::string> contents;
    for (std::size_t i = 0; i < kernels_.size(); ++i)
      finished_[i] =
          !HasCandidates(kernels_[i].chosen) || !contents.insert(kernels_[i].content).second;
    while (!IsStopped() && SecondsLeft() > 0) {
      const std::optional<std::size_t> next = Next();
      if (!next) break;
      if (searches_[*next] == nullptr && !Begin(*next)) continue;
      KernelSearch& search = *searches_[*next];
      const int before = search.raced();
      search.Step([this] { return IsStopped(); });
      report_.raced += search.raced() - before;
      if (search.done()) finished_[*next] = true;
      Tell(*next);
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (searches_[i] == nullptr) continue;
      report_.kernels[i].raced = searches_[i]->raced();
      report_.kernels[i].alone = searches_[i]->best();
      report_.kernels[i].wrong = searches_[i]->wrong();
    }
  }

  // Answers false where the kernel cannot run alone on random inputs.
  bool Begin(std::size_t kernel) {
    try {
      searches_[kernel] =
          std::make_unique<KernelSearch>(kernels_[kernel], compile_, records_, run_);
      return true;
    } catch (const Error& error) {
      finished_[kernel] = true;
      report_.kernels[kernel].unmeasured = error.message();
      return false;
    }
  }

  void Tell(std::size_t kernel) const {
    if (options_.progress == nullptr) return;
    const auto wins = std::ranges::count_if(
        searches_, [](const auto& search) { return search != nullptr && search->best(); });
    options_.progress({.seconds_left = std::max(0.0, SecondsLeft()),
                       .kernel = kernels_[kernel].name,
                       .last = searches_[kernel]->last(),
                       .raced = report_.raced,
                       .wins = static_cast<int>(wins)});
  }

  Lowered ByRecords() const {
    CompileOptions options = compile_;
    options.measured = ValueOrThrow(ChoicesFor(*records_, options.target, options.threads));
    return ValueOrThrow(LowerFused(lowered_.module, options));
  }

  void Add(const Record& record, const std::string& text) {
    const absl::Status added = records_->Add(record, text);
    if (!added.ok()) throw FromStatus(added);
  }

  // The kernels that records decide, with the records' choices.
  struct Measured {
    std::size_t kernel;
    std::string choice;
  };
  std::vector<Measured> MeasuredOf(const Lowered& lowered) const {
    std::vector<Measured> measured;
    for (const LoweredKernel& kernel : lowered.kernels) {
      if (!kernel.choice.candidates[kernel.choice.chosen].measured) continue;
      const auto same = std::ranges::find(kernels_, kernel.name, &ModelKernel::name);
      if (same == kernels_.end()) continue;
      measured.push_back({static_cast<std::size_t>(same - kernels_.begin()),
                          ChoiceText(kernel.choice.implementation, kernel.choice.config.Values())});
    }
    return measured;
  }

  // Inside the model: first each kernel that records decide, then the whole by those that win.
  // Where one wins nothing there, the next best choice for it has its turn.
  void Decide() {
    searches_.clear();  // and their memory
    constexpr int kTurns = 4;
    const double seconds = ModelRaceSeconds() / 2;
    std::set<std::pair<std::string, std::string>> raced;  // content and choice
    Lowered by_records = ByRecords();
    for (int turn = 0; turn < kTurns; ++turn) {
      std::map<std::string, std::vector<Measured>> by_content;
      bool has_new = false;
      for (const Measured& measured : MeasuredOf(by_records)) {
        const std::string& content = kernels_[measured.kernel].content;
        by_content[content].push_back(measured);
        has_new = raced.emplace(content, measured.choice).second || has_new;
      }
      if (!has_new) break;
      ModelRace race(ValueOrThrow(Link(by_records, compile_)), *standard_);
      RaceLimits limits = kOfModel;
      limits.seconds = seconds / (1 << turn);
      race.RunProfiled(limits);
      for (const auto& [content, same] : by_content) RaceInside(race, same);
      by_records = ByRecords();
    }
    const std::vector<Measured> kept = MeasuredOf(by_records);
    if (kept.empty()) return;
    ModelRace race(ValueOrThrow(Link(by_records, compile_)), *standard_);
    RaceLimits limits = kOfModel;
    limits.seconds = seconds;
    race.whole().Run(limits);
    report_.model = race.whole().Outcome();
    report_.model_s = Median(race.whole().candidate_s());
    report_.default_model_s = Median(race.whole().standard_s());
    report_.kept = report_.model->ratio <= 1 + std::min(report_.model->noise, kMaxLoss);
    if (report_.kept) return;
    for (const Measured& measured : kept) {
      Record record = RecordOf(measured, Scope::kWhole);
      SetTimes(race.whole().candidate_s(), race.whole().standard_s(), &record);
      Add(record, kernels_[measured.kernel].text);
    }
  }

  Record RecordOf(const Measured& measured, Scope scope) const {
    Record record = MakeRecord(kernels_[measured.kernel], compile_, run_);
    record.choice = measured.choice;
    record.over = report_.kernels[measured.kernel].over;
    record.scope = scope;
    return record;
  }

  void RaceInside(const ModelRace& race, const std::vector<Measured>& same) {
    std::vector<std::string> nodes;
    for (const Measured& measured : same) {
      const auto& more = kernels_[measured.kernel].nodes;
      nodes.insert(nodes.end(), more.begin(), more.end());
    }
    const std::vector<double> standard = race.StandardTimes(nodes);
    const std::vector<double> candidate = race.CandidateTimes(nodes);
    if (Sum(standard) <= 0 || Sum(candidate) <= 0) return;  // named differently, so unknown
    Record record = RecordOf(same[0], Scope::kModel);
    SetTimes(candidate, standard, &record);
    Add(record, kernels_[same[0].kernel].text);
    for (const Measured& measured : same) report_.kernels[measured.kernel].in_model = record;
  }

  const TuneOptions& options_;
  Records* records_;
  std::string run_;
  Clock::time_point end_;
  CompileOptions compile_;
  Lowered lowered_;
  std::optional<Executable> standard_;
  std::vector<ModelKernel> kernels_;                     // those of the most time first
  std::vector<std::unique_ptr<KernelSearch>> searches_;  // null where none has begun
  std::vector<bool> finished_;
  TuneReport report_;
};

}  // namespace

absl::StatusOr<TuneReport> Tune(const ir::Module& module, const TuneOptions& options,
                                Records* records) {
  return CatchErrors([&] { return Tuning(module, options, records).Run(); });
}

}  // namespace tenon::tune
