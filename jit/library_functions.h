// Functions in C that kernels call for what loops cannot say, such as sorting. In this process they
// are called by their address. Exported C holds their source, and exported machine code is linked
// with it, so that a kernel that calls them works everywhere. jit/library_functions.c has their
// contracts.
//
//   te::ExternCall(jit::ArgsortFunction(), {keys, indices, scratch, rows, n, limit, is_float,
//   descends});
#ifndef TENON_JIT_LIBRARY_FUNCTIONS_H_
#define TENON_JIT_LIBRARY_FUNCTIONS_H_

#include <string>
#include <vector>

#include "tenon/loop/extern_function.h"

namespace tenon::jit {

const loop::ExternFunction& ArgsortFunction();
const loop::ExternFunction& ArgsortSlicesFunction();
const loop::ExternFunction& DeterminantFunction();
const loop::ExternFunction& ScatterFunction();
const loop::ExternFunction& RoiAlignFunction();
const loop::ExternFunction& RoiPoolFunction();
const loop::ExternFunction& SuppressFunction();
const loop::ExternFunction& SparseRowsFunction();
const loop::ExternFunction& SparseTransposeFunction();
const loop::ExternFunction& SparseMultiplyFunction();

// Their symbols, which all begin with "tenon_lib_".
const std::vector<std::string>& LibrarySymbols();
// The symbol under which an export of that name has the function: "model_lib_argsort".
std::string ExportedLibrarySymbol(const std::string& symbol, const std::string& name);
bool IsLibraryFunction(const loop::ExternFunction& callee);
// The C source of all of them. Macros that a compiler is given may rename their symbols; with
// TENON_LIBRARY defined as static they stay inside a file.
const char* LibrarySource();

}  // namespace tenon::jit

#endif  // TENON_JIT_LIBRARY_FUNCTIONS_H_
