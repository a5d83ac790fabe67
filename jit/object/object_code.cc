#include "tenon/jit/object/object_code.h"

#include <algorithm>
#include <memory>

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "tenon/jit/compile_functions.h"
#include "tenon/jit/final_loops.h"
#include "tenon/jit/host_target.h"
#include "tenon/jit/library_functions.h"
#include "tenon/jit/llvm/function_codegen.h"
#include "tenon/loop/verify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

// The features that GCC's and Clang's __builtin_cpu_supports know by LLVM's names.
constexpr const char* kGuarded[] = {"sse3",         "ssse3",
                                    "sse4.1",       "sse4.2",
                                    "popcnt",       "avx",
                                    "avx2",         "fma",
                                    "bmi",          "bmi2",
                                    "aes",          "pclmul",
                                    "gfni",         "vpclmulqdq",
                                    "avx512f",      "avx512bw",
                                    "avx512cd",     "avx512dq",
                                    "avx512vl",     "avx512vbmi",
                                    "avx512ifma",   "avx512vbmi2",
                                    "avx512vnni",   "avx512bf16",
                                    "avx512bitalg", "avx512vpopcntdq"};
// The features of x86-64, and those that generated code has no use for, but on which others build.
constexpr const char* kEverywhere[] = {"64bit", "cmov", "crc32", "cx16", "cx8", "evex512", "fxsr",
                                       "mmx",   "sahf", "sse",   "sse2", "x87", "xsave"};
// Those that every CPU with AVX2 has (the psABI's level x86-64-v3), and older ones may lack.
constexpr const char* kWithAvx2[] = {"f16c", "lzcnt", "movbe"};

bool Contains(std::span<const char* const> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string EmitKernel(const loop::Function& function, const std::string& symbol,
                       const ObjectOptions& options, TargetCompiler& compiler) {
  loop::Verify(function);
  llvm::LLVMContext context;
  CodegenOptions codegen = CodegenOptionsFor(options.compile);
  codegen.check_bounds = false;
  const std::unique_ptr<llvm::Module> module = GenerateModule(
      context, AfterPipeline(function, codegen.reassociate_reductions, options.compile.pipeline),
      codegen);
  llvm::Function* entry = module->getFunction(EntrySymbol(function.name));
  entry->setName(symbol);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  for (const char* name : {"parallel_for", "take_memory", "give_memory"}) {
    if (llvm::Function* runtime = module->getFunction(StrCat("tenon_", name)))
      runtime->setName(StrCat(options.runtime_prefix, "_", name));
  }
  for (const std::string& symbol : LibrarySymbols()) {
    if (llvm::Function* library = module->getFunction(symbol + ".extern"))
      library->setName(ExportedLibrarySymbol(symbol, options.runtime_prefix));
  }
  compiler.Prepare(*module);
  compiler.Optimize(*module, EffortFor(options.compile));
  return compiler.EmitObject(*module);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> EmitObjects(std::span<const loop::Function> functions,
                                                     std::span<const std::string> symbols,
                                                     const ObjectOptions& options) {
  return CatchErrors([&] {
    CheckInvariant(functions.size() == symbols.size(), "every function has a symbol");
    ObjectOptions exported = options;
    exported.compile.target = ExportedTarget(options.compile.target);
    std::vector<std::string> objects(functions.size());
    CompileEach(functions.size(), exported.compile.target,
                [&](std::size_t i, LazyCompiler& compiler) {
                  objects[i] = EmitKernel(functions[i], symbols[i], exported, *compiler);
                });
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
    TargetCompiler compiler(HostTarget());
    compiler.Prepare(module);
    return compiler.EmitObject(module);
  });
}

Target ExportedTarget(Target target) {
  const std::set<std::string> features = target.features;
  const bool has_avx2 = target.Has("avx2");
  for (const std::string& name : features) {
    const bool is_there = Contains(kEverywhere, name) || (has_avx2 && Contains(kWithAvx2, name));
    if (!is_there && !Contains(kGuarded, name)) target = Without(std::move(target), name);
  }
  return target;
}

std::vector<std::string> RequiredCpuFeatures(const Target& target) {
  const Target exported = ExportedTarget(target);
  std::vector<std::string> required;
  for (const char* name : kGuarded) {
    if (exported.Has(name)) required.emplace_back(name);
  }
  return required;
}

}  // namespace tenon::jit
