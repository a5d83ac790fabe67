// Makes one file of machine code from kernels and C text, by LLVM and the system's C compiler.
#ifndef TENON_COMPILER_EXPORT_NATIVE_LINK_H_
#define TENON_COMPILER_EXPORT_NATIVE_LINK_H_

#include <string>
#include <utility>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/support/target.h"

namespace tenon::compiler {

// What is linked.
struct NativeParts {
  std::string name;                     // prefix of the names that are local to it
  std::vector<loop::Function> kernels;  // one object each
  std::vector<std::string> symbols;     // of their code (jit/object/object_code.h)
  std::string constants;                // bytes of ConstantsSymbol(name); empty: none
  std::vector<std::pair<std::string, std::string>> sources;  // C texts by name
};

// As in ExportOptions.
struct NativeOptions {
  Target target;
  bool reassociate_reductions = true;
  bool reproducible = false;
  std::string c_compiler = "cc";
};

// What the C compiler is told when it links.
struct LinkFlags {
  std::vector<std::string> before;  // the objects
  std::vector<std::string> after;
};

// The bytes of the linked file. The sources are compiled with the runtime's functions named after
// the parts: tenon_parallel_for is NAME_parallel_for. Throws what makes ExportSharedLibrary fail.
std::string LinkNative(const NativeParts& parts, const NativeOptions& options,
                       const LinkFlags& flags);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_NATIVE_LINK_H_
