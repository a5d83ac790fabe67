// What a program does, as steps over registers: the functions of runtime/program.h and of programs
// whose parts are still plans (runtime/planned_program.h).
//
// A step runs a part, which is straight-line code, or cuts an array to its count, or calls a
// function, or one of two by a condition. A register is written once in a call: by the caller, as
// a constant, or by a step.
//
//   std::vector<ProgramFunction> functions = ...;  // names, types, constants, steps, results
//   FindFacts(&functions);                         // the rest follows from these
#ifndef TENON_RUNTIME_PROGRAM_STEPS_H_
#define TENON_RUNTIME_PROGRAM_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/support/data_type.h"
#include "tenon/support/dim.h"
#include "tenon/support/extent_condition.h"

namespace tenon::runtime {

using Register = std::size_t;

enum class StepKind {
  kPart,    // a part of the program, over `inputs`
  kCall,    // `target`, a function, over `inputs`
  kBranch,  // `target` over `inputs` if `condition` holds, else `otherwise` over `other_inputs`
  kWrite,   // inputs[0] with inputs[2] in place of its element inputs[1] along the first axis
  // The first inputs[1] elements of inputs[0] along `axis`, or, with one input, the numbers below
  // it (runtime/count_up.h); they are `extent` from then on.
  kCut,
};

// An extent of an array of a list, along an axis: the value of a variable or, where that has no
// name, a number that it must be.
struct ExtentPlace {
  std::string extent;
  std::size_t array = 0, axis = 0;
  std::int64_t number = 0;
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
  // Of a cut with one input.
  bool is_clamped = false;
  std::string needed_by = {};
  // Of a call or a branch: variables to which its outputs give values, and numbers that the results
  // of what is called need not be. Of a cut: the number that its extent must be, if its type says
  // one.
  std::vector<ExtentPlace> output_extents = {};
};

// What an array in a register must be. An extent that is not a number is known at run time.
struct ArrayType {
  DataType dtype;
  std::vector<Dim> extents;
};

struct ProgramFunction {
  std::string name;
  std::vector<ArrayType> parameters;  // in the first registers
  // Variables to which the parameters give values. Others have those that they have in the caller.
  std::vector<ExtentPlace> extents;
  std::size_t registers = 0;
  std::vector<std::pair<Register, std::size_t>> constants;  // of the program's constants
  std::vector<Step> steps;
  std::vector<Register> results;
  std::vector<ArrayType> result_types;
  // A call is refused where one does not hold. Those on variables without a value there are
  // nobody's.
  std::vector<ExtentCondition> needs = {};

  // Facts, which FindFacts finds.
  // Whether the results are those of the last step, which is a call or a branch after which nothing
  // is to be compared.
  bool ends_in_call = false;
  // The function that calls itself without a condition on every way through this one, whose call
  // is an error; empty: some way ends.
  std::string endless = {};
  // The variables of `extents`, of its cuts and of outputs of its calls: a call does not have those
  // of an earlier one.
  std::vector<std::string> own_extents = {};
};

// The variables to which an entered function's parameters, or a step's outputs, give values.
std::vector<std::string> VariablesOf(const std::vector<ExtentPlace>& places);
// The same of a step of any kind.
std::vector<std::string> VariablesGivenBy(const Step& step);
// Those of the parameters and of all steps: ProgramFunction::own_extents.
std::vector<std::string> OwnVariables(const ProgramFunction& function);

// Finds the last reads of steps and the facts of functions. Registers and functions that steps name
// must be there.
void FindFacts(std::vector<ProgramFunction>* functions);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_PROGRAM_STEPS_H_
