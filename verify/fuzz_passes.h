// Fuzzing of passes: random modules through every pass, random pairs of passes and the whole
// pipeline, whose results Interpret checks against those of the module as it was.
//
// An internal error, a module that is not well formed, another type of the result and another value
// are findings, and so is a pass that throws. Values may differ by rounding: by as much as small
// changes of all values make in the module itself, so that what jumps (a comparison, floor) is no
// finding where it is about to jump. All of a case comes of its seed. Thread-safe.
//
//   PassFuzzStatistics statistics;
//   if (auto finding = FuzzPasses(7, {}, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_PASSES_H_
#define TENON_VERIFY_FUZZ_PASSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/verify/random_module.h"

namespace tenon::verify {

struct PassFuzzOptions {
  // To check; empty: all that keep values. One that computes in 16 bits (ToMixedPrecision) is
  // checked when it is named, to the accuracy of these. ConvertLayout runs to a random layout, too,
  // and PartitionGraph on regions of random operators.
  std::vector<std::string> passes;
  int pairs = 4;         // of passes a module, besides each alone
  bool compile = false;  // and the compiled module
};

struct PassFuzzStatistics {
  std::int64_t modules = 0;
  std::int64_t calls = 0;            // of operators in them
  std::int64_t runs = 0;             // of one or two passes
  std::int64_t changes = 0;          // runs that changed the module
  std::int64_t ill_conditioned = 0;  // differences that small changes of values make, too
  void Add(const PassFuzzStatistics& other);
  std::string ToString() const;
};

// The finding of the case as text, or nothing: the passes, what is wrong, the smallest module that
// the case could be reduced to, and the seed.
std::optional<std::string> FuzzPasses(std::uint64_t seed, const PassFuzzOptions& options,
                                      PassFuzzStatistics* statistics);
// The same for a given module: what these passes, one after the other, do to it.
std::optional<std::string> CheckPasses(const RandomModule& module,
                                       const std::vector<std::string>& passes, std::uint64_t seed,
                                       PassFuzzStatistics* statistics);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_PASSES_H_
