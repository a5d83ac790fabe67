// Workers on many machines: each process that mpirun has started has one, in a process of its own.
//
// Rank 0 searches. The others pass jobs on to their workers and answers back. So what ends a worker
// never ends a rank. A rank that is not heard of for a while is lost, and its candidate is for
// another one; when it is heard of again, it starts again.
//
//   if (ranks.rank() > 0) return ServeRank(&ranks, arguments);
//   RankCrew crew(&ranks, arguments);
#ifndef TENON_TUNE_RANK_CREW_H_
#define TENON_TUNE_RANK_CREW_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tenon/tune/crew.h"
#include "tenon/tune/process_crew.h"
#include "tenon/tune/ranks.h"

namespace tenon::tune {

class RankCrew : public Crew {
 public:
  // Of rank 0. `arguments` are those of the ProcessCrew of its own.
  RankCrew(Ranks* ranks, std::vector<std::string> arguments);
  // Ends the others.
  ~RankCrew() override;

  int size() const override { return ranks_->size(); }
  void Give(int worker, const Job& job, double limit_s) override;
  std::optional<Event> Wait(double seconds) override;
  void CutShort() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Other {
    Clock::time_point heard;
    bool lost = false;
  };

  std::optional<Event> TakeMessage();
  std::optional<Event> FindSilent();
  void SayAlive();

  Ranks* ranks_;
  ProcessCrew own_;
  std::vector<Other> others_;  // by rank; the first is nobody
  Clock::time_point spoken_;   // to all
};

// What every other rank does, until rank 0 ends it or is not heard of any more.
void ServeRank(Ranks* ranks, const std::vector<std::string>& arguments);

}  // namespace tenon::tune

#endif  // TENON_TUNE_RANK_CREW_H_
