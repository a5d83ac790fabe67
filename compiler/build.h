// jit::Build: from a schedule to a kernel in one step.
//
//   jit::Kernel vadd = jit::Build(schedule, {A, B, C}, "vadd").value();
#ifndef TENON_COMPILER_BUILD_H_
#define TENON_COMPILER_BUILD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"

namespace tenon::jit {

// `args` are in the order of the kernel's parameters. Errors: those of schedule::Lower and Compile.
inline absl::StatusOr<Kernel> Build(const schedule::Schedule& schedule,
                                    const std::vector<te::Tensor>& args, const std::string& name,
                                    const CompileOptions& options = {}) {
  return CatchErrors([&] {
    const schedule::LowerOptions lowering = {.row_loads = loop::RowLoadsFor(options.target),
                                             .pipeline = options.pipeline};
    return ValueOrThrow(Compile(schedule::Lower(schedule, args, name, lowering), options));
  });
}

}  // namespace tenon::jit

#endif  // TENON_COMPILER_BUILD_H_
