// The keys by which the object cache knows a kernel's machine code. Only files inside jit/ and
// their tests include this header.
//
// A key is computed from the final loops alone (jit/final_loops.h), without code generation. Equal
// keys mean the same machine code: the key holds everything that code generation reads, and the
// code generator itself. The key of what the function is made from is known before it is lowered.
// Under it the cache holds the other key.
//
//   std::string key = ObjectKey(function, {.cpu_features = LlvmFeatures(target)});
#ifndef TENON_JIT_OBJECT_OBJECT_KEY_H_
#define TENON_JIT_OBJECT_OBJECT_KEY_H_

#include <optional>
#include <span>
#include <string>

#include "tenon/jit/llvm/codegen_options.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// The build IDs of LLVM and of the program or library that holds this code, and with it everything
// between an operator and its loops and between loops and LLVM. Empty if a linker wrote none; then
// nothing is cached.
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

// A BLAKE3 hash of 64 hexadecimal digits. The address of an external function does not count: its
// symbol is in the object, and the address is given to the linker.
std::string ObjectKey(const loop::Function& function, const KeyContext& context);

// The same for a function that this program makes from what its origin says
// (loop::Function::origin), without asking for its body. Nothing if it has no origin.
std::optional<std::string> OriginKey(const loop::Function& function, const KeyContext& context);

// The key of what these stand for, together and in this order.
std::string KeyOfAll(std::span<const std::string> together);

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_OBJECT_KEY_H_
