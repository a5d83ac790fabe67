// What a module with control flow needs of the variables of its inputs. Only files of compiler/
// include this header.
#ifndef TENON_COMPILER_CONTROL_PROGRAM_NEEDS_H_
#define TENON_COMPILER_CONTROL_PROGRAM_NEEDS_H_

#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/extent_condition.h"

namespace tenon::compiler {

// Of what @main computes in every run: neither of the branches of its ifs nor of functions that it
// calls. `fused` is what the passes have made of the module; conditions on variables that its
// inputs do not have are left to the parts.
std::vector<ExtentCondition> NeedsOfProgram(const ir::Module& module, const ir::Module& fused);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_PROGRAM_NEEDS_H_
