// jit::Verify: whether a schedule computes what its tensors say.
//
// The scheduled program runs on random inputs. Its results are compared with te::Interpret or,
// where that takes too long, with the same tensors compiled without a schedule.
//
//   absl::Status status = jit::Verify(schedule, {A, B, C});
//   // "verify: C(3, 17) is 2.5; it must be 2.25 ..."
#ifndef TENON_VERIFY_VERIFY_SCHEDULE_H_
#define TENON_VERIFY_VERIFY_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/schedule.h"

namespace tenon::jit {

struct VerifyOptions {
  std::uint64_t seed = 1;
  // For floats, relative to the largest magnitude of the output (at least 1). If undefined: 64
  // roundings of the coarsest type of the computation, plus one for each term of its longest chain
  // of reductions. Integers must be equal.
  std::optional<double> tolerance;
  // Values of symbolic extents; 17 where none is given.
  std::vector<std::pair<loop::Var, std::int64_t>> sizes;
  CompileOptions compile;
};

// Errors: DataLoss, naming the first element that differs, its index and both values; those of
// Build and of running, among them OutOfRange for an access outside an array; InvalidArgument for a
// size that is negative or belongs to a variable that is not an extent of an argument.
absl::Status Verify(const schedule::Schedule& schedule, const std::vector<te::Tensor>& args,
                    const VerifyOptions& options = {});
// The same for loops with parameters `args` that should compute `outputs`.
absl::Status VerifyLoops(const loop::Function& function, const std::vector<te::Tensor>& outputs,
                         const std::vector<te::Tensor>& args, const VerifyOptions& options = {});

// The tolerance for an undefined VerifyOptions::tolerance, with these values of symbolic extents.
double DefaultTolerance(const std::vector<te::Tensor>& outputs, const loop::ExprMap& sizes);

}  // namespace tenon::jit

#endif  // TENON_VERIFY_VERIFY_SCHEDULE_H_
