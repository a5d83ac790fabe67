// What a module needs of the variables of its inputs, before passes rewrite its operators. Only
// files of compiler/ include this header.
#ifndef TENON_COMPILER_CONTROL_PROGRAM_NEEDS_H_
#define TENON_COMPILER_CONTROL_PROGRAM_NEEDS_H_

#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/extent_condition.h"

namespace tenon::compiler {

// Of a module without control flow, and of the functions that it calls.
std::vector<ExtentCondition> NeedsOfModule(const ir::Module& module);

// Of what @main computes in every run: neither of the branches of its ifs nor of functions whose
// calls stay. `fused` is what the passes have made of the module; conditions on variables that its
// inputs do not have are left to the parts.
std::vector<ExtentCondition> NeedsOfProgram(const ir::Module& module, const ir::Module& fused);

// The module whose functions but @main say what their calls need, neither in branches nor in
// functions that they call (passes::kNeeds), where their own calls stay.
ir::Module WithNeedsInside(const ir::Module& module);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_PROGRAM_NEEDS_H_
