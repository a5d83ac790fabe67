// A part of a program with variables as a C function:
//   static int32_t NAME(const tenon_value* in, const int64_t* given, tenon_value* made);
// `given` are the values of the part's variables, in order. It takes memory for its results, and
// gives 0, 1 when memory is out, or 2 for values that no case takes.
#ifndef TENON_COMPILER_EXPORT_C_PARTS_H_
#define TENON_COMPILER_EXPORT_C_PARTS_H_

#include <string>
#include <vector>

#include "tenon/runtime/planned_program.h"

namespace tenon::compiler {

// `constants` are addresses, `kernels` functions, both by number. The text calls what
// ExtentHelpersFor (c_extents.h) and MachineFor (c_machine.h) give.
std::string WritePart(const runtime::PlannedPart& part, const std::string& name,
                      const std::vector<std::string>& constants,
                      const std::vector<std::string>& kernels);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_PARTS_H_
