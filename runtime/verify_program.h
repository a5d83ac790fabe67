// Whether a program from outside can be run: that every step reads what is there before it.
//
//   VerifyProgram(program, inputs);  // throws, or a run reads nothing that is not there
#ifndef TENON_RUNTIME_VERIFY_PROGRAM_H_
#define TENON_RUNTIME_VERIFY_PROGRAM_H_

#include "tenon/runtime/plan.h"
#include "tenon/runtime/planned_program.h"

namespace tenon::runtime {

// Throws DataLoss naming the function, the step and the rule that it breaks. What it cannot know
// before a run, the sizes of arrays with extents that are not numbers, a run compares. `inputs` is
// a plan of inputs alone. The plans of parts must be verified (VerifyPlan).
void VerifyProgram(const PlannedProgram& program, const Plan& inputs);

// Of a program whose steps are verified: that each variable of a part has a value when it runs.
// VerifyProgram does it at its end.
void VerifyVariables(const PlannedProgram& program, const Plan& inputs);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_VERIFY_PROGRAM_H_
