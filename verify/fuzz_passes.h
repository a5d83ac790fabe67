// Fuzzing of passes: runs random modules through every pass, random pairs of passes and the whole
// pipeline. Interpret compares the results with those of the original module.
//
// Findings are an internal error, a module that is not well formed or whose text is another module,
// another type or value of the result, and a pass that throws. Values may differ by rounding: by as
// much as small changes of all values make in the module itself. So an operator that jumps (a
// comparison, floor) is not a finding where its value is about to jump. A case depends only on its
// seed. Thread-safe.
//
//   PassFuzzStatistics statistics;
//   if (auto finding = FuzzPasses(7, {}, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_PASSES_H_
#define TENON_VERIFY_FUZZ_PASSES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/verify/draw/random_module.h"

namespace tenon::verify {

struct PassFuzzOptions {
  // The passes to check; empty: all that keep values. A pass that computes in 16 bits
  // (ToMixedPrecision) is checked when it is named, to the accuracy of 16 bits. ConvertLayout also
  // runs to a random layout, PartitionGraph on regions of random operators.
  std::vector<std::string> passes;
  int pairs = 4;  // of passes per module, besides each pass alone
  // Whether to check the compiled module, too, and the one that is compiled with variables for some
  // extents and run for other values of them.
  bool compile = false;
  // Whether every module that is compiled is exported, too (exported_run.h), instead of some.
  bool exports = false;
  // Is given calls that must be refused, each before it is compiled.
  std::function<void(const std::string& text)> before_call;
};

struct PassFuzzStatistics {
  std::int64_t modules = 0;
  std::int64_t calls = 0;            // of operators in the modules
  std::int64_t runs = 0;             // of one or two passes
  std::int64_t changes = 0;          // runs that changed the module
  std::int64_t ill_conditioned = 0;  // differences that small changes of values cause, too
  // Of modules that are compiled with variables for extents (symbolic_module.h).
  std::int64_t symbolic = 0;         // modules
  std::int64_t values = 0;           // sets of values with the interpreter's results
  std::int64_t values_refused = 0;   // sets that the module of these shapes refuses, too
  std::int64_t conditions = 0;       // sets that a condition or a limit refuses
  std::int64_t values_left_out = 0;  // undefined, not finite or large
  void Add(const PassFuzzStatistics& other);
  std::string ToString() const;
};

// The finding of the case as text, or nothing: the passes, what is wrong, the smallest module to
// which the case could be reduced, and the seed.
std::optional<std::string> FuzzPasses(std::uint64_t seed, const PassFuzzOptions& options,
                                      PassFuzzStatistics* statistics);
// The same for a given module and these passes in order.
std::optional<std::string> CheckPasses(const RandomModule& module,
                                       const std::vector<std::string>& passes, std::uint64_t seed,
                                       PassFuzzStatistics* statistics);
// The same of the module that is compiled with variables for some extents and run for several
// values of them.
std::optional<std::string> CheckForAllValues(const RandomModule& module, std::uint64_t seed,
                                             PassFuzzStatistics* statistics);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_PASSES_H_
