// What runs a model whose values decide more than values: which code runs, or how large arrays are.
// It is functions of steps over registers. A step runs a part, which is straight-line code compiled
// as an executable, or cuts an array to its count, or calls a function, or one of two by a
// condition. A call that is the last step of its function replaces it: recursion in that place is a
// loop, which takes no memory for each turn.
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
#include <utility>
#include <vector>

#include "tenon/runtime/executable.h"
#include "tenon/runtime/plan.h"

namespace tenon::runtime {

// The most calls that wait for others to end. A call in the last place of its function ends it, and
// does not count.
inline constexpr std::size_t kMaxCallDepth = 10000;

using Register = std::size_t;

enum class StepKind {
  kPart,    // a part of the program, over `inputs`
  kCall,    // `target`, a function, over `inputs`
  kBranch,  // `target` over `inputs` if `condition` holds, else `otherwise` over `other_inputs`
  kWrite,   // inputs[0] with inputs[2] in place of its element inputs[1] along the first axis
  kCut,  // the first inputs[1] elements of inputs[0] along `axis`; they are `extent` from then on
};

struct Step {
  StepKind kind;
  std::size_t target = 0, otherwise = 0;  // of parts for kPart, else of functions
  Register condition = 0;
  std::vector<Register> inputs, other_inputs;
  std::vector<Register> outputs;
  std::vector<Register> last_reads;  // registers that no later step and no result reads
  std::size_t axis = 0;
  std::string extent = {};
};

struct ProgramPart {
  // Where it has variables, of no use by itself.
  Executable executable;
  std::vector<std::string> symbols = {};
  // The executable for values of `symbols`; null where there are none.
  std::function<Executable(const Dim::Values& values)> bind = nullptr;
};

struct ProgramFunction {
  std::string name;
  std::size_t parameters = 0;  // the first registers
  std::size_t registers = 0;
  std::vector<std::pair<Register, NDArray>> constants;
  std::vector<Step> steps;
  std::vector<Register> results;
  // Whether the results are those of the last step, which is a call or a branch.
  bool ends_in_call = false;
  // The function that calls itself without a condition on every way through this one, whose call
  // is an error; empty: some way ends.
  std::string endless = {};
  // The variables of its own cuts: a call does not have those of an earlier one.
  std::vector<std::string> own_extents = {};
};

struct Program {
  std::vector<ProgramFunction> functions;  // the first is @main
  std::vector<ProgramPart> parts;
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
