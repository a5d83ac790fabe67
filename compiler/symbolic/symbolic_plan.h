// The plan of a symbolic model for all values of its variables (runtime/symbolic_plan.h).
//
// Nodes, views, joins and the sharing of storage are decided for all values. So what is a view only
// for some values is a kernel here. If a variable is 1, more nodes are views, and such values may
// have a plan of their own.
//
//   Lowered lowered = PlanForAll({.module = fused, .functions = {}}, {}, kernels, prepared);
#ifndef TENON_COMPILER_SYMBOLIC_SYMBOLIC_PLAN_H_
#define TENON_COMPILER_SYMBOLIC_SYMBOLIC_PLAN_H_

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/compiler/symbolic/prepared_arrays.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"

namespace tenon::compiler {

// `part` is the model from which `kernels` were made, with the numbers `known` for some variables.
// Kernels keep their positions, and the result has only their names and arguments. Throws
// Unimplemented naming what the plan cannot be made for: a fused function whose kernel needs
// numbers, or an operator whose type relation does not say what it needs of variables.
Lowered PlanForAll(const ConcreteModule& part, const Dim::Values& known,
                   const SymbolicKernels& kernels, const PreparedArrays& prepared);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_SYMBOLIC_PLAN_H_
