// The inputs of a model as executables know them.
//
//   InputsOf(module.Main());  // {{"x", Float32, {1, 3, h, w}}}
#ifndef TENON_COMPILER_PLAN_MODEL_INPUTS_H_
#define TENON_COMPILER_PLAN_MODEL_INPUTS_H_

#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/runtime/executable.h"

namespace tenon::compiler {

// One for each parameter of a typed @main, in order. If parameters have the same name, the later
// ones get numbers. Throws Unimplemented for a parameter that is not a tensor.
std::vector<runtime::InputInfo> InputsOf(const ir::FunctionNode& main);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_MODEL_INPUTS_H_
