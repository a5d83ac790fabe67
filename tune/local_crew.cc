#include <utility>

#include "tenon/tune/crew.h"

namespace tenon::tune {

LocalCrew::LocalCrew(Worker worker, Introduction introduction, Worker::Stopped stopped)
    : worker_(std::move(worker)),
      introduction_(std::move(introduction)),
      stopped_(std::move(stopped)) {}

void LocalCrew::Give(int /*worker*/, const Job& job, double /*limit_s*/) { job_ = job; }

std::optional<Event> LocalCrew::Wait(double /*seconds*/) {
  if (introduction_) return Event{0, *std::exchange(introduction_, std::nullopt)};
  if (!job_) return std::nullopt;
  const Job job = *std::move(job_);
  job_.reset();
  return Event{0, worker_.Do(job, stopped_)};
}

}  // namespace tenon::tune
