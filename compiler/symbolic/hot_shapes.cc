#include "tenon/compiler/symbolic/hot_shapes.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "tenon/support/error.h"

namespace tenon::compiler {
namespace {

// Runs of each kind that are compared. The first one with the shape's own compile allocates its
// memory, and does not count.
constexpr std::size_t kRaceRuns = 5;
// The part of the time for all shapes below which a compile of its own must stay.
constexpr double kWorth = 0.95;
// How many shapes' runs are counted, for each shape that may have a compile of its own.
constexpr std::size_t kCounted = 8;

double MedianOf(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

HotShapes::HotShapes(Options options, Specialise specialise)
    : options_(options), specialise_(std::move(specialise)) {}

HotShapes::~HotShapes() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  work_.notify_all();
  if (worker_.joinable()) worker_.join();
}

HotShapes::Candidate* HotShapes::Find(const Shapes& shapes) {
  const auto found = index_.find(shapes);
  return found == index_.end() ? nullptr : &*found->second;
}

HotShapes::Candidate& HotShapes::Use(const Shapes& shapes) {
  if (const auto found = index_.find(shapes); found != index_.end()) {
    candidates_.splice(candidates_.begin(), candidates_, found->second);
    return candidates_.front();
  }
  candidates_.push_front({.shapes = shapes});
  index_.emplace(shapes, candidates_.begin());
  if (candidates_.size() > options_.most * kCounted) {
    Candidate& last = candidates_.back();
    if (last.executable) ++statistics_.dropped;
    index_.erase(last.shapes);
    candidates_.pop_back();
  }
  return candidates_.front();
}

// Runs need no worker, so they go on where the system gives no more threads.
bool HotShapes::HasWorker() {
  if (worker_.joinable()) return true;
  try {
    worker_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

HotShapes::Turn HotShapes::Next(const Shapes& shapes) {
  if (options_.after == 0) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  Candidate& candidate = Use(shapes);
  switch (candidate.phase) {
    case Phase::kCounting:
      if (++candidate.runs < options_.after) return {};
      if (!HasWorker()) {
        candidate.runs = 0;  // it is tried again
        return {};
      }
      candidate.phase = Phase::kCompiling;
      wanted_.push_back(shapes);
      work_.notify_one();
      return {};
    case Phase::kCompiling:
    case Phase::kDropped:
      return {};
    case Phase::kRacing:
      ++candidate.runs;
      return candidate.runs % 2 == 0 ? Turn{candidate.executable, true} : Turn{nullptr, true};
    case Phase::kKept:
      return {candidate.executable, false};
  }
  return {};
}

void HotShapes::Report(const Shapes& shapes, const Turn& turn, double seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Candidate* candidate = Find(shapes);
  if (candidate == nullptr || candidate->phase != Phase::kRacing) return;
  (turn.executable ? candidate->own_times : candidate->common_times).push_back(seconds);
  if (candidate->own_times.size() > kRaceRuns && candidate->common_times.size() >= kRaceRuns)
    Decide(candidate);
}

void HotShapes::Decide(Candidate* candidate) {
  candidate->own_times.erase(candidate->own_times.begin());
  if (MedianOf(candidate->own_times) >= kWorth * MedianOf(candidate->common_times)) {
    Drop(candidate);
    return;
  }
  candidate->phase = Phase::kKept;
  ++statistics_.kept;
}

void HotShapes::Drop(Candidate* candidate) {
  candidate->phase = Phase::kDropped;
  candidate->executable = nullptr;
  ++statistics_.dropped;
}

// The least recently used ones are dropped. They may become hot again.
void HotShapes::LimitOwn() {
  std::size_t own = 0;
  for (Candidate& candidate : candidates_) {
    if (candidate.executable == nullptr || ++own <= options_.most) continue;
    Drop(&candidate);
    candidate = {.shapes = candidate.shapes};
  }
}

void HotShapes::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return ends_ || !wanted_.empty(); });
    if (ends_) return;
    const Shapes shapes = std::move(wanted_.front());
    wanted_.pop_front();
    lock.unlock();
    absl::StatusOr<runtime::Executable> made =
        CatchErrors([&] { return ValueOrThrow(specialise_(shapes)); });
    lock.lock();
    Candidate* candidate = Find(shapes);
    if (made.ok()) ++statistics_.compiled;
    if (candidate == nullptr || candidate->phase != Phase::kCompiling) continue;  // forgotten
    if (!made.ok()) {
      Drop(candidate);
      continue;
    }
    candidate->executable = std::make_shared<const runtime::Executable>(*std::move(made));
    candidate->phase = Phase::kRacing;
    candidate->runs = 0;
    LimitOwn();
  }
}

HotShapes::Statistics HotShapes::statistics() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return statistics_;
}

}  // namespace tenon::compiler
