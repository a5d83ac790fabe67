// One way to compile and run a module among the many that must agree: level, library, fusion,
// threads of compile and run, a cache that is empty or warm, and a caller inside a parallel region.
//
//   CompiledRun run = RandomRun(random);
//   for (const std::vector<NDArray>& results : run.Of(module, inputs)) ...  // run.ToString(): how
#ifndef TENON_VERIFY_CHECK_COMPILED_RUN_H_
#define TENON_VERIFY_CHECK_COMPILED_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/exported_run.h"

namespace tenon::verify {

enum class CacheUse {
  kNone,
  kColdAndWarm,  // both give the bits that a compile without a cache gives
};

enum class Caller {
  kAlone,
  kThreads,  // several threads run one executable at once
  kRegion,   // iterations of a parallel region do
  kLimited,  // no team has more than one thread, whatever the kernels were made for
};

struct CompiledRun {
  CompileOptions options;
  int run_threads = 1;  // of the session, or of the callers
  CacheUse cache = CacheUse::kNone;
  // With a cache, a module or options that differ in one place are compiled from it, too, and give
  // the bits that they give without one; this is the seed that says which.
  std::optional<std::uint64_t> relatives;
  Caller caller = Caller::kAlone;
  // Some extents of inputs are variables when the module is compiled (symbolic_module.h); this is
  // the seed that says which. Where there is no such compile, the module is compiled as it is.
  std::optional<std::uint64_t> symbols;
  // Of such a module: by Lower and Link, which make one plan for all values, where they can.
  bool in_steps = false;
  // The module is exported in this form as well, with names that `export_seed` says.
  std::optional<ExportForm> exported;
  std::uint64_t export_seed = 0;

  // The results of runs that may differ by rounding: alone, exported, and by each other caller.
  // Errors: those of Compile and Run; DataLoss if two runs that must give the same bits do not.
  std::vector<std::vector<NDArray>> Of(const ir::Module& module,
                                       const std::vector<NDArray>& inputs) const;
  std::string ToString() const;
  // Leaves out what loses NaN and infinities (docs/numerics.md).
  void KeepAllFloats();

 private:
  void CheckRelatives(const ir::Module& module, const runtime::Inputs& named,
                      const std::string& cache_dir) const;
};

// Kernels check their bounds. The default options are as likely as all others together. One in
// twelve runs is exported, or every one.
CompiledRun RandomRun(Random& random, bool always_exported = false);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_COMPILED_RUN_H_
