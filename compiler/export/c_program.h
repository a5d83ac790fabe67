// A program as a C source and a header, as c_model.h makes them of a plan. Parts are functions, and
// steps are cases of a switch in NAME_run, so the depth of calls is never depth of the stack.
#ifndef TENON_COMPILER_EXPORT_C_PROGRAM_H_
#define TENON_COMPILER_EXPORT_C_PROGRAM_H_

#include "tenon/compiler/export/c_model.h"
#include "tenon/compiler/lower_program.h"

namespace tenon::compiler {

// Throws Unimplemented, naming what, for a program with variables or cuts: its arrays have other
// sizes in each run.
void RequireNumbers(const LoweredProgram& program);

// Throws as above.
CModel WriteProgram(const LoweredProgram& program, const CModelOptions& options);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_PROGRAM_H_
