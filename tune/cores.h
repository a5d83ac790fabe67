// The CPUs of a machine that several workers share: each gets cores of its own.
//
//   Seating seating;
//   std::vector<int> cpus = seating.Take("host", CoresOfThisProcess(), 2);  // empty: not enough
//   PinTo(cpus);
#ifndef TENON_TUNE_CORES_H_
#define TENON_TUNE_CORES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon::tune {

// The CPUs that this process may run on, by physical core.
std::vector<std::vector<int>> CoresOfThisProcess();

// The calling thread, and those that it starts from now on, run on these alone; none: no change.
// Throws FailedPrecondition where the system refuses.
void PinTo(const std::vector<int>& cpus);

// "/sys" may say "0-1,4": 0, 1, 4.
std::vector<int> ParseCpuList(const std::string& text);

// Who sits where, on any number of hosts.
class Seating {
 public:
  // CPUs for so many threads, on cores of which nobody else has one: one CPU of each core, and the
  // others of these cores where there are more threads than cores. Empty where there are not
  // enough.
  std::vector<int> Take(const std::string& host, const std::vector<std::vector<int>>& cores,
                        std::int64_t threads);

 private:
  std::map<std::string, std::set<int>> taken_;  // CPUs by host, of whole cores
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_CORES_H_
