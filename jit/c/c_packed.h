// The packed calling convention in C: checks of tensors, and the function that makes them. Only
// files inside jit/ include this header.
#ifndef TENON_JIT_C_C_PACKED_H_
#define TENON_JIT_C_C_PACKED_H_

#include <string>

#include "tenon/jit/c/c_helpers.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// The tensor struct and the checks that every packed function calls.
const char* PackedSupport();

// Whether the tensors' shapes give all that the function needs: each symbolic extent must be that
// of a parameter.
bool HasPacked(const loop::Function& function);
// "int32_t vadd(void* args, ...)"
std::string PackedPrototype(const std::string& name);
// The body of the packed function, which calls `direct`, with braces. The functions of the file
// that it needs are added to `helpers`.
std::string PackedBody(const loop::Function& function, const std::string& direct,
                       CHelpers& helpers);

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_PACKED_H_
