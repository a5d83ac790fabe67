// C sources that exported machine code is compiled with, as the program carries them.
#ifndef TENON_COMPILER_AOT_RUNTIME_H_
#define TENON_COMPILER_AOT_RUNTIME_H_

namespace tenon::compiler {

// The runtime of exports that stand alone: compiler/aot_runtime.c.
const char* AotRuntimeSource();
// What saved kernels and the runtime that loads them agree on: runtime/saved_library.h.
const char* SavedLibraryHeader();

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_AOT_RUNTIME_H_
