// How many bytes a kernel reads and writes, as C.
#ifndef TENON_COMPILER_EXPORT_C_BUFFER_BYTES_H_
#define TENON_COMPILER_EXPORT_C_BUFFER_BYTES_H_

#include <string>

#include "tenon/loop/function.h"

namespace tenon::compiler {

// static void NAME(const int64_t* extents, int64_t* bytes): writes the bytes of each of the
// function's buffers, for the values of its symbolic extents.
std::string CBufferBytes(const loop::Function& function, const std::string& name);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_BUFFER_BYTES_H_
