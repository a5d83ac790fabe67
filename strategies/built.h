// What a strategy makes of a fused function: a kernel, or the reason why there is none.
//
//   BuildResult Build(const Group& group) {
//     if (IsTooLarge(group)) return Refused{"there is no room"};
//     return Built{.kernel = ..., .arguments = {0, 1}};
//   }
#ifndef TENON_STRATEGIES_BUILT_H_
#define TENON_STRATEGIES_BUILT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/jit/callable.h"
#include "tenon/loop/function.h"
#include "tenon/support/error.h"

namespace tenon::strategies {

struct Group;  // strategy.h

// A constant in the form that a kernel reads: what `function` makes of constant parameters.
struct PreparedConstant {
  loop::Function function;     // the parameters, then the result
  std::vector<int> arguments;  // which parameters
};

// Generated code before or after a library's kernel, for another order of axes or for operators
// that the library lacks. Its buffers are arguments, what lies between both kernels, and results.
struct Side {
  loop::Function function;
  std::size_t arguments = 0;
  std::size_t bytes = 0;  // of what lies between
};

// A kernel before code generation, or a finished one of a library. `arguments` are the parameters
// (tuples flattened) that it is called with, in order, before the `prepared` ones; others are
// already part of it or of what is prepared.
struct Built {
  std::variant<loop::Function, std::shared_ptr<const jit::Callable>> kernel;
  std::vector<int> arguments;
  std::vector<PreparedConstant> prepared;
  // What runs around a library's kernel. `before` makes the kernel's first argument from the first
  // of `arguments`. `after` makes the results from the last of `arguments` and the kernel's
  // result.
  std::optional<Side> before;
  std::optional<Side> after;
};

// Throws InvalidArgument, in words, for a kernel that cannot be called with the group's arguments
// and results: a missing kernel, parameters that the function does not have, or a number or type of
// buffers that differs from the arguments, the prepared constants and the results.
void RequireBuilt(const Group& group, const Built& built);

// The kernel, or the generated code before and after a library's.
std::vector<loop::Function> GeneratedFunctions(const Built& built);

// Why nothing is built, in words.
struct Refused {
  std::string why;
};
template <typename T>
using OrRefused = std::variant<T, Refused>;
using BuildResult = OrRefused<Built>;

// What `build` gives. If it throws Unimplemented, that is a refusal, too: computes throw it where
// an extent must be a number (TeCall::shape), and authors of rows may.
template <typename Build>
auto RefusedIfUnimplemented(const Build& build) -> decltype(build()) {
  try {
    return build();
  } catch (const Error& error) {
    if (error.code() != absl::StatusCode::kUnimplemented) throw;
    return Refused{error.message()};
  }
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_BUILT_H_
