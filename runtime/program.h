// What runs a model whose values decide more than values: which code runs, or how large arrays are.
// It is functions of steps over registers (runtime/program_steps.h). A call that is the last step
// of its function replaces it: recursion in that place is a loop, which takes no memory for each
// turn.
//
// Parts may have variables in their extents. Inputs and cuts give these their values, which hold
// in a function and in those that it calls.
//
// A register holds an array. It is let go after the last step that reads it, so its memory serves
// later steps. A program is immutable; any number of threads may run it.
#ifndef TENON_RUNTIME_PROGRAM_H_
#define TENON_RUNTIME_PROGRAM_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tenon/runtime/executable.h"
#include "tenon/runtime/plan.h"
#include "tenon/runtime/program_steps.h"

namespace tenon::runtime {

// The most calls that wait for others to end. A call in the last place of its function ends it, and
// does not count.
inline constexpr std::size_t kMaxCallDepth = 10000;

struct ProgramPart {
  // Where it has variables, of no use by itself.
  Executable executable;
  std::vector<std::string> symbols = {};
  // The executable for values of `symbols`; null where there are none.
  std::function<Executable(const Dim::Values& values)> bind = nullptr;
};

struct Program {
  std::vector<ProgramFunction> functions;  // the first is @main
  std::vector<ProgramPart> parts;
  std::vector<NDArray> constants;
  std::vector<RunTimeExtent> extents;  // of results of @main
  // The values of the variables of inputs, which it checks; null where there are none.
  std::function<Dim::Values(const Inputs& inputs)> solve = nullptr;
};

// Throws InvalidArgument for inputs that do not fit, OutOfRange for calls deeper than
// kMaxCallDepth and for recursion that no condition can end, naming the function. `times`, unless
// null, gets one entry for each kernel of each part that ran, with the time of all its runs.
std::vector<NDArray> RunProgram(const Program& program, const std::vector<InputInfo>& wanted,
                                const Inputs& inputs, std::vector<NodeTime>* times);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_PROGRAM_H_
