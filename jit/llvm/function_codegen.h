// Loop functions to LLVM modules. Only files inside jit/ include this header.
//
// The made function is `int32_t EntrySymbol(name)(void** buffers, int64_t* extents)`: data pointers
// in parameter order, then the values of the symbolic extents. Parallel loops become functions of
// their own, called through tenon_parallel_for. Requires a verified function that has been through
// the loop pipeline (jit/final_loops.h).
#ifndef TENON_JIT_LLVM_FUNCTION_CODEGEN_H_
#define TENON_JIT_LLVM_FUNCTION_CODEGEN_H_

#include <memory>
#include <string>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tenon/jit/llvm/codegen_options.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// What a made function returns if there is no memory for an intermediate result.
inline constexpr int kOutOfMemory = 1;

// "vadd.kernel": a symbol that no function of C, of the runtime or of LLVM has, whatever the name.
std::string EntrySymbol(const std::string& name);

// Code that checks its bounds takes the address of a BoundsReport after the extents.
std::unique_ptr<llvm::Module> GenerateModule(llvm::LLVMContext& context,
                                             const loop::Function& function,
                                             const CodegenOptions& options);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_FUNCTION_CODEGEN_H_
