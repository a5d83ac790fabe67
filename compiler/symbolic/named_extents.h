// The variables in the extents of a module's inputs.
//
//   if (HasSymbols(module)) module = NameExtents(module);
#ifndef TENON_COMPILER_SYMBOLIC_NAMED_EXTENTS_H_
#define TENON_COMPILER_SYMBOLIC_NAMED_EXTENTS_H_

#include "tenon/ir/module.h"

namespace tenon::compiler {

// Whether an extent of an input of @main is an expression of variables, or not known.
bool HasSymbols(const ir::Module& module);
// The module with a variable of its own for each "?" of its inputs: "x_0" for axis 0 of x.
ir::Module NameExtents(const ir::Module& module);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_NAMED_EXTENTS_H_
