// A program as a C source and a header, as c_model.h makes them of a plan. Parts are functions, and
// steps are cases of a switch in NAME_run, so the depth of calls is never depth of the stack. Where
// arrays have other sizes in each run, NAME_run takes memory for its results.
#ifndef TENON_COMPILER_EXPORT_C_PROGRAM_H_
#define TENON_COMPILER_EXPORT_C_PROGRAM_H_

#include "tenon/compiler/export/c_model.h"
#include "tenon/compiler/lower_program.h"

namespace tenon::compiler {

// Throws InvalidArgument naming a kernel that a library runs.
CModel WriteProgram(const LoweredProgram& program, const CModelOptions& options);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_PROGRAM_H_
