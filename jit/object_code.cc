#include "tenon/jit/object_code.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "tenon/jit/function_codegen.h"
#include "tenon/jit/target_compiler.h"
#include "tenon/loop/verify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

CpuFeatures FeaturesFor(const CompileOptions& options) {
  CpuFeatures features = CpuFeatures::Host();
  features.Apply(options.cpu_features);
  return features;
}

std::string EmitKernel(const loop::Function& function, const std::string& symbol,
                       const ObjectOptions& options, const CpuFeatures& features,
                       TargetCompiler& compiler) {
  loop::Verify(function);
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module =
      GenerateModule(context, function,
                     {.vector_bits = features.vector_bits(),
                      .reassociate_reductions = options.compile.reassociate_reductions});
  llvm::Function* entry = module->getFunction(EntrySymbol(function.name));
  entry->setName(symbol);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  for (const char* name : {"parallel_for", "take_memory", "give_memory"}) {
    if (llvm::Function* runtime = module->getFunction(StrCat("tenon_", name)))
      runtime->setName(StrCat(options.runtime_prefix, "_", name));
  }
  compiler.Prepare(*module);
  compiler.Optimize(*module);
  return compiler.EmitObject(*module);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> EmitObjects(std::span<const loop::Function> functions,
                                                     std::span<const std::string> symbols,
                                                     const ObjectOptions& options) {
  return CatchErrors([&] {
    CheckInvariant(functions.size() == symbols.size(), "every function has a symbol");
    const CpuFeatures features = FeaturesFor(options.compile);
    std::vector<std::string> objects(functions.size());
    std::vector<std::exception_ptr> errors(functions.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      std::unique_ptr<TargetCompiler> compiler;
      for (std::size_t i = next++; i < functions.size(); i = next++) {
        try {
          if (compiler == nullptr) compiler = std::make_unique<TargetCompiler>(features);
          objects[i] = EmitKernel(functions[i], symbols[i], options, features, *compiler);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      }
    };
    const std::size_t workers =
        std::min<std::size_t>(functions.size(), std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors) {
      if (error != nullptr) std::rethrow_exception(error);
    }
    return objects;
  });
}

absl::StatusOr<std::string> EmitDataObject(std::string_view bytes, const std::string& symbol) {
  return CatchErrors([&] {
    llvm::LLVMContext context;
    llvm::Module module(symbol, context);
    llvm::Constant* data = llvm::ConstantDataArray::getString(
        context, llvm::StringRef(bytes.data(), bytes.size()), /*AddNull=*/false);
    auto* variable = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::ExternalLinkage, data, symbol);
    variable->setAlignment(llvm::Align(64));
    variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
    TargetCompiler compiler(CpuFeatures::Host());
    compiler.Prepare(module);
    return compiler.EmitObject(module);
  });
}

absl::StatusOr<std::vector<std::string>> RequiredCpuFeatures(const CompileOptions& options) {
  return CatchErrors([&] {
    const CpuFeatures features = FeaturesFor(options);
    std::vector<std::string> required;
    for (const char* name : {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "fma",
                             "bmi", "bmi2", "avx512f", "avx512bw", "avx512cd", "avx512dq",
                             "avx512vl", "avx512vbmi", "avx512vnni", "avx512bf16"}) {
      if (features.Has(name)) required.emplace_back(name);
    }
    return required;
  });
}

}  // namespace tenon::jit
