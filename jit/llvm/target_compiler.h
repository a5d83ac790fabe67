// LLVM's optimiser and back end for the host, set up once and used for any number of modules.
//
// It is not thread-safe: use one compiler per thread. It knows nothing of loops, of kernels or of
// ORC. Only files inside jit/ include this header.
//
//   TargetCompiler compiler(HostTarget());
//   compiler.Optimize(module, Effort::kFull);
//   std::string object = compiler.EmitObject(module);
#ifndef TENON_JIT_LLVM_TARGET_COMPILER_H_
#define TENON_JIT_LLVM_TARGET_COMPILER_H_

#include <memory>
#include <string>

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "tenon/support/target.h"

namespace tenon::jit {

// The effort that a kernel is worth: all that LLVM can do, or little for one that runs once.
enum class Effort { kFull, kQuick };

class TargetCompiler {
 public:
  explicit TargetCompiler(const Target& target);

  // Gives the module its triple and data layout, its functions the CPU attributes and the vector
  // width.
  void Prepare(llvm::Module& module) const;
  // Optimises (jit/llvm/kernel_passes.h). Code that is emitted next is made with the same effort.
  // Throws Error (kInternal) when the module is malformed.
  void Optimize(llvm::Module& module, Effort effort);
  // Both consume the module: code generation rewrites it.
  std::string EmitObject(llvm::Module& module) {
    return Emit(module, llvm::CodeGenFileType::ObjectFile);
  }
  std::string EmitAssembly(llvm::Module& module) {
    return Emit(module, llvm::CodeGenFileType::AssemblyFile);
  }

 private:
  std::string Emit(llvm::Module& module, llvm::CodeGenFileType type);

  std::string features_;
  std::int64_t vector_bits_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_TARGET_COMPILER_H_
