// What the makers of kernels and of object files share: they go from functions and options to LLVM
// modules, on all cores. Only files inside jit/ include this header.
#ifndef TENON_JIT_COMPILE_FUNCTIONS_H_
#define TENON_JIT_COMPILE_FUNCTIONS_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "tenon/jit/kernel.h"
#include "tenon/jit/llvm/codegen_options.h"
#include "tenon/jit/llvm/target_compiler.h"

namespace tenon::jit {

CodegenOptions CodegenOptionsFor(const CompileOptions& options);
Effort EffortFor(const CompileOptions& options);

// A thread's compiler, made when the first function needs one.
class LazyCompiler {
 public:
  explicit LazyCompiler(const Target& target) : target_(target) {}
  TargetCompiler& operator*() {
    if (compiler_ == nullptr) compiler_ = std::make_unique<TargetCompiler>(target_);
    return *compiler_;
  }

 private:
  const Target& target_;
  std::unique_ptr<TargetCompiler> compiler_;
};

// Calls work(i, compiler) once for every i below `count`, on all cores, each with a compiler of its
// own. When calls throw, the error of the first of them is rethrown, after all have ended.
void CompileEach(std::size_t count, const Target& target,
                 const std::function<void(std::size_t, LazyCompiler&)>& work);

}  // namespace tenon::jit

#endif  // TENON_JIT_COMPILE_FUNCTIONS_H_
