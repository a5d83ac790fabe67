// The workers of a search: who measures, wherever that is.
//
// Each takes one job at a time. One that ends or hangs is started again where that is possible, and
// lost where it is not.
//
//   crew.Give(0, BriefJob(), 60);
//   while (!crew.Wait(1)) {}
#ifndef TENON_TUNE_CREW_H_
#define TENON_TUNE_CREW_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "tenon/tune/jobs.h"
#include "tenon/tune/worker.h"

namespace tenon::tune {

struct Event {
  int worker = 0;
  Answer what;  // an Introduction first
};

class Crew {
 public:
  Crew() = default;
  virtual ~Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  virtual int size() const = 0;
  // To one that has introduced itself and has no job. It is ended if it takes longer than this.
  virtual void Give(int worker, const Job& job, double limit_s) = 0;
  // The next event, or nothing after so many seconds.
  virtual std::optional<Event> Wait(double seconds) = 0;
  // Cuts the races that run short; their answers come without records.
  virtual void CutShort() = 0;
};

// The calling thread itself, in Wait. Limits of time are not kept, and what ends the process ends
// all of it.
class LocalCrew : public Crew {
 public:
  LocalCrew(Worker worker, Introduction introduction, Worker::Stopped stopped);

  int size() const override { return 1; }
  void Give(int worker, const Job& job, double limit_s) override;
  std::optional<Event> Wait(double seconds) override;
  void CutShort() override {}  // `stopped` does

 private:
  Worker worker_;
  std::optional<Introduction> introduction_;
  Worker::Stopped stopped_;
  std::optional<Job> job_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_CREW_H_
