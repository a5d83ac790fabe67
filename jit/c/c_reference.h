// Kernels as C in the form of the reference system: one function per kernel, in the packed calling
// convention, whose first lines take the tensors apart.
//
// The text includes DLPack's header and a runtime header, which PackedRuntimeHeader() gives. It is
// for the target "c": no threads, no vectors, no flushing of denormals. Tensors must be compact;
// what is passed is not checked.
//
//   std::string text = ReferenceC({function});   // writes what CSource computes
//   // cc -std=c99 -I. file.c   with tenon_packed_runtime.h in the folder
#ifndef TENON_JIT_C_C_REFERENCE_H_
#define TENON_JIT_C_C_REFERENCE_H_

#include <span>
#include <string>

#include "tenon/loop/function.h"

namespace tenon::jit {

inline constexpr const char* kPackedRuntimeHeader = "tenon_packed_runtime.h";
std::string PackedRuntimeHeader();

// Buffers and loops keep their names as far as C allows. Throws Unimplemented for a kernel that
// calls functions outside of it, and for symbolic extents.
std::string ReferenceC(std::span<const loop::Function> functions);

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_REFERENCE_H_
