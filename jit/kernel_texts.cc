#include "tenon/jit/kernel_texts.h"

#include "llvm/Support/raw_ostream.h"
#include "tenon/jit/bounds/bounds_checks.h"
#include "tenon/jit/c/c_source.h"
#include "tenon/jit/compile_functions.h"
#include "tenon/jit/final_loops.h"
#include "tenon/jit/llvm/function_codegen.h"
#include "tenon/loop/print.h"
#include "tenon/loop/verify.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

// The loops that code is generated from.
loop::Function WithChecks(const loop::Function& final_loops, const CompileOptions& options) {
  return options.check_bounds ? WithBoundsChecks(final_loops).function : final_loops;
}

// Shows the kernel's own name as that of the function, for people.
void ShowName(llvm::Module& module, const std::string& name) {
  const std::string symbol = EntrySymbol(name);
  if (symbol.starts_with(name)) module.getFunction(symbol)->setName(name);
}

}  // namespace

std::string KernelTexts::Text(KernelText kind) const {
  switch (kind) {
    case KernelText::kTensorExpressions:
      return lowered_.body.source() == nullptr ? "" : lowered_.body.source()->TensorExpressions();
    case KernelText::kSchedule:
      return lowered_.body.source() == nullptr ? "" : lowered_.body.source()->ScheduleCalls();
    case KernelText::kLoops:
      return loop::Print(WithChecks(final_loops_, options_));
    case KernelText::kLlvmIr:
      return LlvmIr(/*optimized=*/true);
    case KernelText::kAssembly:
      return Assembly();
    case KernelText::kC:
      return ValueOrThrow(CSource(lowered_));
  }
  Unreachable("the switch over texts is exhaustive");
}

std::unique_ptr<llvm::Module> KernelTexts::ModuleFor(TargetCompiler* compiler,
                                                     llvm::LLVMContext* context,
                                                     bool optimized) const {
  std::unique_ptr<llvm::Module> module =
      GenerateModule(*context, final_loops_, CodegenOptionsFor(options_));
  compiler->Prepare(*module);
  if (optimized) compiler->Optimize(*module, EffortFor(options_));
  ShowName(*module, final_loops_.name);
  return module;
}

std::string KernelTexts::LlvmIr(bool optimized) const {
  llvm::LLVMContext context;
  TargetCompiler compiler(options_.target);
  std::string text;
  llvm::raw_string_ostream stream(text);
  ModuleFor(&compiler, &context, optimized)->print(stream, nullptr);
  return text;
}

std::string KernelTexts::Assembly() const {
  llvm::LLVMContext context;
  TargetCompiler compiler(options_.target);
  return compiler.EmitAssembly(*ModuleFor(&compiler, &context, /*optimized=*/true));
}

absl::StatusOr<loop::Function> FinalLoops(const loop::Function& function,
                                          const CompileOptions& options) {
  return CatchErrors([&] {
    loop::Verify(function);
    loop::Function final_loops =
        AfterPipeline(function, options.may_reassociate(), options.pipeline);
    final_loops.body = final_loops.body.stmt();  // throws here, not when somebody asks
    return WithChecks(final_loops, options);
  });
}

absl::StatusOr<std::string> TextOf(const loop::Function& function, KernelText kind,
                                   const CompileOptions& options) {
  return CatchErrors([&] {
    loop::Verify(function);
    const loop::Function final_loops =
        AfterPipeline(function, options.may_reassociate(), options.pipeline);
    return KernelTexts(function, final_loops, options).Text(kind);
  });
}

}  // namespace tenon::jit
