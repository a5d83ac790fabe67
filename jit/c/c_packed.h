// The packed calling convention in C: checks of tensors, and the function that makes them. Only
// files inside jit/ include this header.
#ifndef TENON_JIT_C_C_PACKED_H_
#define TENON_JIT_C_C_PACKED_H_

#include <string>

#include "tenon/loop/function.h"

namespace tenon::jit {

// The tensor struct and the checks that every packed function calls.
const char* PackedSupport();

// "int32_t vadd(void* args, ...)"
std::string PackedPrototype(const std::string& name);
// The body of the packed function, which calls `direct`; with braces.
std::string PackedBody(const loop::Function& function, const std::string& direct);

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_PACKED_H_
