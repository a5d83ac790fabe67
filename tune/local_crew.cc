#include "tenon/tune/local_crew.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/tune/cores.h"

namespace tenon::tune {
namespace {

// Candidates that are compiled while one is measured. Each is chosen before the results of those
// before it are known; so more would be chosen less well.
constexpr int kAhead = 2;
// Candidates that all cores compile together, at most.
constexpr int kMaxTogether = 8;

}  // namespace

LocalCrew::LocalCrew(Worker worker, Introduction introduction, Worker::Stopped stopped,
                     Compiles compiles)
    : worker_(std::move(worker)),
      introduction_(std::move(introduction)),
      stopped_(std::move(stopped)) {
  const std::vector<std::vector<int>> cores = CoresOfThisProcess();
  if (compiles == Compiles::kBeforeEachRace || cores.size() < 2) return;
  for (const std::vector<int>& core : cores)
    all_cpus_.insert(all_cpus_.end(), core.begin(), core.end());
  const std::vector<int> seats = Seating().Take("", cores, introduction_.threads);
  std::vector<int> free;
  for (const std::vector<int>& core : cores) {
    const bool is_free = std::ranges::none_of(
        core, [&](int cpu) { return std::ranges::find(seats, cpu) != seats.end(); });
    if (is_free && std::ssize(free) < kAhead) free.push_back(core.front());
  }
  if (seats.empty()) free.clear();  // more threads than CPUs
  if (!free.empty()) measuring_cpus_ = seats;
  size_ = free.empty() ? std::min<int>(static_cast<int>(cores.size()), kMaxTogether) : 1 + kAhead;
  ahead_.emplace(free);
}

LocalCrew::~LocalCrew() {
  ahead_.reset();
  (void)CatchErrors([&] { Pin(false); });
}

void LocalCrew::Pin(bool pins) {
  if (pins == is_pinned_ || measuring_cpus_.empty()) return;
  PinTo(pins ? measuring_cpus_ : all_cpus_);
  is_pinned_ = pins;
}

void LocalCrew::Give(int worker, const Job& job, double /*limit_s*/) {
  Given& given = given_.emplace_back(Given{.worker = worker, .job = job});
  const auto* candidate = std::get_if<TryJob>(&job);
  if (candidate == nullptr || !ahead_ || !worker_.is_ready()) return;
  given.contender = std::make_shared<std::optional<absl::StatusOr<Contender>>>();
  ahead_->Add(
      [this, job = *candidate, contender = given.contender] { *contender = worker_.Compile(job); });
}

std::optional<Event> LocalCrew::Wait(double /*seconds*/) {
  if (introduced_ < size_) return Event{introduced_++, introduction_};
  if (given_.empty()) return std::nullopt;
  const Given given = std::move(given_.front());
  given_.pop_front();
  Pin(given.contender != nullptr);
  if (given.contender == nullptr) return Event{given.worker, worker_.Do(given.job, stopped_)};
  ahead_->WaitForFirst();
  return Event{given.worker,
               worker_.Race(std::get<TryJob>(given.job), std::move(**given.contender), stopped_)};
}

}  // namespace tenon::tune
