// What the object cache knows a kernel's machine code by. Only files inside jit/ and their tests
// include this header.
//
// A key is computed from the lowered function alone, without code generation. Equal keys mean the
// same machine code: the key holds everything that code generation reads, and the code generator
// itself. A key of what the function is made of is known before it is lowered; under it the cache
// holds the other one.
//
//   std::string key = ObjectKey(function, {.cpu_features = features.ToLlvm()});
#ifndef TENON_JIT_OBJECT_KEY_H_
#define TENON_JIT_OBJECT_KEY_H_

#include <optional>
#include <string>

#include "tenon/jit/codegen_options.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// A hash of the code generator's sources.
const char* CodegenFingerprint();
// "19.1.7".
const char* LlvmVersion();

struct KeyContext {
  std::string generator = CodegenFingerprint();
  std::string llvm_version = LlvmVersion();
  std::string cpu_features;
  CodegenOptions codegen;
};

// 64 hexadecimal digits, a BLAKE3 hash. The address of an external function does not count: its
// symbol stands in the object, and the address is given to the linker.
std::string ObjectKey(const loop::Function& function, const KeyContext& context);

// Likewise, of a function that is made by this program from what it says (loop::Function::origin),
// without asking for its body. Nothing where it says nothing, or where the program has no build ID,
// which stands for the code that lowers.
std::optional<std::string> OriginKey(const loop::Function& function, const KeyContext& context);

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_KEY_H_
