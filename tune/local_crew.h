// The calling thread as the worker of a search, in Wait.
//
// It measures one candidate after the other. The next ones are compiled meanwhile, by threads on
// the cores that measuring leaves free; where it takes all cores, several are compiled together
// before they are measured (tasks_ahead.h). So it takes several jobs at once. Limits of time are
// not kept, and what ends the process ends all of it.
#ifndef TENON_TUNE_LOCAL_CREW_H_
#define TENON_TUNE_LOCAL_CREW_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tenon/tune/crew.h"
#include "tenon/tune/tasks_ahead.h"
#include "tenon/tune/worker.h"

namespace tenon::tune {

class LocalCrew : public Crew {
 public:
  enum class Compiles : std::uint8_t { kAhead, kBeforeEachRace };
  LocalCrew(Worker worker, Introduction introduction, Worker::Stopped stopped,
            Compiles compiles = Compiles::kAhead);
  ~LocalCrew() override;

  int size() const override { return size_; }
  int measuring() const override { return 1; }
  void Give(int worker, const Job& job, double limit_s) override;
  std::optional<Event> Wait(double seconds) override;
  void CutShort() override {}  // `stopped` does

 private:
  struct Given {
    int worker = 0;
    Job job;
    // Of a TryJob: what another thread compiles, which nobody else touches until it is done. Null
    // where the calling thread does all.
    std::shared_ptr<std::optional<absl::StatusOr<Contender>>> contender = nullptr;
  };
  // Whether the calling thread keeps to the CPUs for measuring.
  void Pin(bool pins);

  Worker worker_;
  Introduction introduction_;
  Worker::Stopped stopped_;
  int size_ = 1, introduced_ = 0;
  std::vector<int> all_cpus_, measuring_cpus_;  // none to measure on: wherever the system likes
  bool is_pinned_ = false;
  std::deque<Given> given_;
  std::optional<TasksAhead> ahead_;  // last, as its tasks use the worker
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_LOCAL_CREW_H_
