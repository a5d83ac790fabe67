// The C side of an export: a whole graph or a set of kernels as a C source and a header.
//
// In the text for NAME the graph is
//   int32_t NAME_run(const void* const* inputs, void* const* outputs, void* workspace);
// with one function per kernel (jit/c/c_source.h). With `native` the kernels' loops and the
// constants are machine code and data of other objects, under the names that NativeSymbol and
// ConstantsSymbol give.
#ifndef TENON_COMPILER_EXPORT_C_MODEL_H_
#define TENON_COMPILER_EXPORT_C_MODEL_H_

#include <span>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/jit/c/c_source.h"

namespace tenon::compiler {

struct CModelOptions {
  std::string name;  // a C identifier
  bool native = false;
  std::vector<std::string> cpu_features;  // that native code needs
};

struct CModel {
  std::string source, header;
  std::string constants;  // the bytes of ConstantsSymbol when native
};

CModel WriteModel(const Lowered& lowered, const CModelOptions& options);
CModel WriteKernels(std::span<const loop::Function> functions, const CModelOptions& options);

// The functions of a graph's kernels under the names that they have in the export `name`:
// "tvmgen_NAME_fused_add", so that several graphs fit into one program. Throws InvalidArgument
// naming a kernel that a library runs.
std::vector<loop::Function> FunctionsOf(const Lowered& lowered, const std::string& name);

// "tvmgen_default_fused_add" as "tvmgen_NAME_fused_add"; other names stay.
std::string NameInExport(const std::string& kernel, const std::string& name);

// Kernels that are added later refuse to run, with 3, on a CPU that lacks one of the features.
void GuardCpu(jit::CFile* file, const std::vector<std::string>& features);

std::string NativeSymbol(const std::string& name, const std::string& kernel);
std::string ConstantsSymbol(const std::string& name);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_MODEL_H_
