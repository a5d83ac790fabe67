// The states of a kernel as text. Only files inside jit/ include this header.
#ifndef TENON_JIT_KERNEL_TEXTS_H_
#define TENON_JIT_KERNEL_TEXTS_H_

#include <memory>
#include <string>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tenon/jit/callable.h"
#include "tenon/jit/kernel.h"
#include "tenon/jit/llvm/target_compiler.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// It refers to what it is made from, which must outlive it.
class KernelTexts {
 public:
  // `final_loops` are those of `lowered` after the pipeline (jit/final_loops.h).
  KernelTexts(const loop::Function& lowered, const loop::Function& final_loops,
              const CompileOptions& options)
      : lowered_(lowered), final_loops_(final_loops), options_(options) {}

  std::string Text(KernelText kind) const;
  std::string LlvmIr(bool optimized) const;

 private:
  std::string Assembly() const;
  std::unique_ptr<llvm::Module> ModuleFor(TargetCompiler* compiler, llvm::LLVMContext* context,
                                          bool optimized) const;

  const loop::Function& lowered_;
  const loop::Function& final_loops_;
  const CompileOptions& options_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_KERNEL_TEXTS_H_
