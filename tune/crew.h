// The workers of a search: who measures, wherever that is.
//
// Each takes one job at a time. One that ends or hangs is started again where that is possible, and
// lost where it is not.
//
//   crew.Give(0, BriefJob(), 60);
//   while (!crew.Wait(1)) {}
#ifndef TENON_TUNE_CREW_H_
#define TENON_TUNE_CREW_H_

#include <optional>

#include "tenon/tune/jobs.h"

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

  // Jobs that it takes at once.
  virtual int size() const = 0;
  // Of which so many are measured at once.
  virtual int measuring() const { return size(); }
  // To one that has introduced itself and has no job. It is ended if it takes longer than this.
  virtual void Give(int worker, const Job& job, double limit_s) = 0;
  // The next event, or nothing after so many seconds.
  virtual std::optional<Event> Wait(double seconds) = 0;
  // Cuts the races that run short; their answers come without records.
  virtual void CutShort() = 0;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_CREW_H_
