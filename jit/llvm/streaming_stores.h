// Which stores are non-temporal: those that ask for it and write whole lines.
//
// A streaming (non-temporal) store does not read the line that it writes, as others do, and needs
// an address that is a multiple of its size. Whether an array starts with a line is known only when
// the kernel is called. So code generation makes a second body if StreamedResults is not empty.
#ifndef TENON_JIT_LLVM_STREAMING_STORES_H_
#define TENON_JIT_LLVM_STREAMING_STORES_H_

#include <vector>

#include "tenon/loop/function.h"

namespace tenon::jit {

// Whether it is a streaming store that writes whole lines if the buffer starts with one.
bool StoresWholeLines(const loop::StoreNode& store);
// The parameters that such stores write to.
std::vector<loop::Buffer> StreamedResults(const loop::Function& function);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_STREAMING_STORES_H_
