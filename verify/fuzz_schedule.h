// Fuzzing of schedules: random calls on a computation, whose results te::Interpret checks.
//
// A primitive or the lowering may refuse what it is asked for, in words; that is no finding. An
// internal error, a record that does not rebuild the loops, an access outside an array, code that
// does not compile and a wrong element are. All of a case comes of its seed. Thread-safe.
//
//   FuzzStatistics statistics;
//   if (auto finding = FuzzRandomGraph(7, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_SCHEDULE_H_
#define TENON_VERIFY_FUZZ_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenon/verify/random_graph.h"
#include "tenon/verify/random_schedule.h"

namespace tenon::verify {

struct FuzzStatistics {
  std::int64_t cases = 0;
  std::int64_t calls = 0;      // of primitives that were accepted
  std::int64_t refusals = 0;   // calls that were refused, at once or by the lowering
  std::int64_t too_large = 0;  // cases whose loops are not worth compiling
  std::int64_t undefined = 0;  // cases whose inputs the computation is not defined for
  std::int64_t uncalled = 0;   // cases that found no call of their operator
  void Add(const FuzzStatistics& other);
  std::string ToString() const;
};

// Whether the tensor's own elements are integers made of floats: roundings may decide which of two
// they are.
bool TruncatesFloats(const te::Tensor& tensor);

// The finding of the case as text, or nothing: what is wrong, the smallest graph and schedule that
// the case could be reduced to, and the seed.
std::optional<std::string> FuzzRandomGraph(std::uint64_t seed, FuzzStatistics* statistics);
// The same for a given computation, which keeps its stages: what the automatic schedule and a
// random one give.
std::optional<std::string> FuzzSchedule(const RandomGraph& graph, std::uint64_t seed,
                                        FuzzStatistics* statistics);
// Checks one schedule of the graph, without random calls.
std::optional<std::string> CheckSchedule(const RandomGraph& graph,
                                         const schedule::Schedule& schedule, std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_SCHEDULE_H_
