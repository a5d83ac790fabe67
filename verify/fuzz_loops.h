// Fuzzing of loops: makes random loops, and compares machine code with RunLoops.
//
// They are compiled as code generation takes them, or after the whole pipeline of a schedule's
// loops; a few as C. A transform may refuse loops with a user error; that is not a finding.
// Findings are an internal error, loops that break a rule after a step, an access outside a buffer,
// C at which the compiler warns, and a wrong element. A case depends only on its seed. Thread-safe.
//
//   LoopFuzzStatistics statistics;
//   if (auto finding = FuzzLoops(7, {}, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_LOOPS_H_
#define TENON_VERIFY_FUZZ_LOOPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/loop/pipeline_options.h"

namespace tenon::verify {

struct LoopFuzzStatistics {
  std::int64_t cases = 0;
  std::int64_t refusals = 0;  // loops that a transform does not take
  void Add(const LoopFuzzStatistics& other);
  std::string ToString() const;
};

// The finding of the case as text, or nothing: what is wrong, the smallest loops to which the case
// could be reduced, and the seed. `transforms` are a user's, which run among those of the pipeline.
std::optional<std::string> FuzzLoops(std::uint64_t seed,
                                     const std::vector<loop::UserTransform>& transforms,
                                     LoopFuzzStatistics* statistics);

// The loops of the case, as text, and how they are compiled.
std::string LoopsOfCase(std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_LOOPS_H_
