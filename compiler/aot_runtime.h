// The C source of the runtime that exported machine code is linked with (compiler/aot_runtime.c),
// as the program carries it.
#ifndef TENON_COMPILER_AOT_RUNTIME_H_
#define TENON_COMPILER_AOT_RUNTIME_H_

namespace tenon::compiler {

const char* AotRuntimeSource();

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_AOT_RUNTIME_H_
