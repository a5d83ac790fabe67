// A module with control flow as steps, before its parts are compiled. Only files of compiler/
// include this header.
//
//   ProgramOutline outline = OutlineProgram(fused);
//   outline.functions[0].steps;  // of @main; outline.parts are still functions of the IR
#ifndef TENON_COMPILER_CONTROL_PROGRAM_OUTLINE_H_
#define TENON_COMPILER_CONTROL_PROGRAM_OUTLINE_H_

#include <set>
#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/runtime/program_steps.h"
#include "tenon/support/ndarray.h"

namespace tenon::compiler {

struct ProgramOutline {
  std::vector<runtime::ProgramFunction> functions;  // that @main, the first, reaches
  std::vector<ir::Expr> parts;  // fused functions of tensors, each for all equal ones
  std::vector<NDArray> constants;
};

// `fused` must have checked types and be fused, with the branches of its ifs as functions
// (OutlineBranches). Throws Unimplemented for values that are not tensors, and for results whose
// extents are decided by values inside a function.
ProgramOutline OutlineProgram(const ir::Module& fused);

// The variables in what a part takes. They include those in what it makes.
std::set<std::string> SymbolsOfPart(const ir::Expr& part);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_PROGRAM_OUTLINE_H_
