// The kernels of a graph as the reference system writes them for its target "c": under its names,
// by its default schedules, in its calling convention (jit/c/c_reference.h).
//
// Inputs are called placeholder, placeholder1 and so on. The result of the operator add is T_add,
// that of a reduction after it T_add_red, and any other result has the operator's name.
//
//   std::string text = compiler::WriteReferenceC(lowered, "default");
#ifndef TENON_COMPILER_EXPORT_REFERENCE_C_H_
#define TENON_COMPILER_EXPORT_REFERENCE_C_H_

#include <string>

#include "tenon/compiler/compile.h"

namespace tenon::compiler {

// `name` stands in the names of functions: "tvmgen_NAME_fused_add". Throws what GenericLoops and
// jit::ReferenceC throw.
std::string WriteReferenceC(const Lowered& lowered, const std::string& name);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_REFERENCE_C_H_
