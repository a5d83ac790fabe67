// Fuzzing of schedules: makes random calls on a computation and checks the results with
// te::Interpret.
//
// A primitive or the lowering may refuse a request with a user error; that is not a finding.
// Findings are an internal error, a record that does not rebuild the loops, an access outside an
// array, code that does not compile, and a wrong element. A case depends only on its seed.
// Thread-safe.
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

#include "tenon/verify/draw/random_graph.h"
#include "tenon/verify/draw/random_schedule.h"

namespace tenon::verify {

struct FuzzStatistics {
  std::int64_t cases = 0;
  std::int64_t calls = 0;      // of primitives that were accepted
  std::int64_t refusals = 0;   // calls that were refused, at once or by the lowering
  std::int64_t too_large = 0;  // cases whose loops are not worth compiling
  std::int64_t undefined = 0;  // cases whose computation is not defined for the inputs
  std::int64_t uncalled = 0;   // cases that found no call of their operator
  std::int64_t near = 0;       // calls with one change that ran
  std::int64_t misfits = 0;    // calls with one change that were refused or only compiled
  void Add(const FuzzStatistics& other);
  std::string ToString() const;
};

// Whether the tensor's elements are integers made from floats, so that rounding may decide between
// two values.
bool TruncatesFloats(const te::Tensor& tensor);

// The finding of the case as text, or nothing: what is wrong, the smallest graph and schedule to
// which the case could be reduced, and the seed.
std::optional<std::string> FuzzRandomGraph(std::uint64_t seed, FuzzStatistics* statistics);
// The same for a given computation, whose stages are kept: checks the automatic schedule and a
// random one.
std::optional<std::string> FuzzSchedule(const RandomGraph& graph, std::uint64_t seed,
                                        FuzzStatistics* statistics);
// Checks one schedule of the graph, without random calls.
std::optional<std::string> CheckSchedule(const RandomGraph& graph,
                                         const schedule::Schedule& schedule, std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_SCHEDULE_H_
