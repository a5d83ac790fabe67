// A program before its parts are executables: its functions, and the plans of its parts. It is what
// is saved of a program (runtime/saved_plan.h).
//
//   PlannedProgram program = ...;  VerifyProgram(program, inputs);  // runtime/verify_program.h
#ifndef TENON_RUNTIME_PLANNED_PROGRAM_H_
#define TENON_RUNTIME_PLANNED_PROGRAM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tenon/runtime/plan.h"
#include "tenon/runtime/program_steps.h"

namespace tenon::runtime {

// A part where the variables in `known` have these values. Its plan has the other variables.
struct PartCase {
  Dim::Values known;
  Plan plan;  // storage assigned
};

struct PlannedPart {
  std::vector<std::string> symbols;
  std::vector<PartCase> cases;  // the first for all values that its plan takes
};

// A constant in a register.
struct PlannedConstant {
  Entry type;                // of numbers
  std::size_t constant = 0;  // among all constants, those of plans included
};

struct PlannedProgram {
  std::vector<ProgramFunction> functions;  // the first is @main
  std::vector<PlannedPart> parts;          // kernels and constants counted over all parts
  std::vector<PlannedConstant> constants;  // of functions
  std::vector<RunTimeExtent> extents;      // of results of @main
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_PLANNED_PROGRAM_H_
