// What the object cache knows a kernel's machine code by. Only files inside jit/ and their tests
// include this header.
//
// A key is computed from the final loops alone (jit/final_loops.h), without code generation. Equal
// keys mean the same machine code: the key holds everything that code generation reads, and the
// code generator itself. A key of what the function is made of is known before it is lowered; under
// it the cache holds the other one.
//
//   std::string key = ObjectKey(function, {.cpu_features = LlvmFeatures(target)});
#ifndef TENON_JIT_OBJECT_OBJECT_KEY_H_
#define TENON_JIT_OBJECT_OBJECT_KEY_H_

#include <optional>
#include <string>

#include "tenon/jit/llvm/codegen_options.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// The build IDs of the program or library that holds this code, and with it everything between an
// operator and its loops and between loops and LLVM, and of LLVM. Empty where a linker wrote none:
// nothing is cached then.
const std::string& GeneratorId();
// "19.1.7".
const char* LlvmVersion();

struct KeyContext {
  std::string generator = GeneratorId();
  std::string llvm_version = LlvmVersion();
  std::string machine;  // what schedules depend on beside the features
  std::string cpu_features;
  CodegenOptions codegen;
};

// 64 hexadecimal digits, a BLAKE3 hash. The address of an external function does not count: its
// symbol stands in the object, and the address is given to the linker.
std::string ObjectKey(const loop::Function& function, const KeyContext& context);

// Likewise, of a function that is made by this program from what it says (loop::Function::origin),
// without asking for its body. Nothing where it says nothing.
std::optional<std::string> OriginKey(const loop::Function& function, const KeyContext& context);

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_OBJECT_KEY_H_
