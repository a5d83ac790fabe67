#include "tenon/jit/llvm/target_compiler.h"

#include <algorithm>
#include <mutex>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "tenon/jit/host_target.h"
#include "tenon/jit/llvm/kernel_passes.h"
#include "tenon/jit/llvm/llvm_versions.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

// If LLVM cannot go on, for instance because it cannot select an instruction, it ends the process
// unless a handler leaves. What its frames hold then leaks, which is better than the end of a host.
[[noreturn]] void ThrowFatalError(void*, const char* reason, bool) {
  throw Error(absl::StatusCode::kInternal,
              StrCat("internal error, please report: LLVM cannot compile a kernel: ", reason));
}

void InitializeHostTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(ThrowFatalError);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

// Of functions whose loops are worth strength reduction.
constexpr unsigned kMaxInstructions = 400;

// Leaves out passes of LLVM's back end that take long and gain next to nothing.
class UsefulPasses : public PassGate {
 public:
  explicit UsefulPasses(const llvm::Module& module) {
    for (const llvm::Function& function : module)
      instructions_ = std::max(instructions_, function.getInstructionCount());
  }
  bool Runs(llvm::StringRef pass) const override {
    // It compares all groups of computations of masks with each other, which takes a minute for one
    // long block (seed 800003730 of the schedule fuzzer).
    if (pass == "X86 Domain Reassignment Pass") return false;
    // In large kernels it takes a third of the back end's time. Their addresses are a base and
    // constant offsets from it, which the modes of x86 hold. In small ones it is quick, and a
    // resized image of 26 x 26 takes 0.93 of its time.
    if (pass == "Loop Strength Reduction") return instructions_ <= kMaxInstructions;
    return true;
  }
  bool isEnabled() const override { return true; }

 private:
  unsigned instructions_ = 0;  // of the longest function
};

}  // namespace

TargetCompiler::TargetCompiler(const Target& target)
    : features_(LlvmFeatures(target)), vector_bits_(8 * target.vector_bytes) {
  InitializeHostTarget();
  std::string error;
  const llvm::Triple triple(target.triple);
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(AsArgument(triple), error);
  if (back_end == nullptr) {
    throw Unimplemented(
        StrCat("LLVM has no back end for this machine (", target.triple, "): ", error));
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // The CPU name would switch on features that the operating system may hold back; "generic" adds
  // none of its own.
  machine_.reset(back_end->createTargetMachine(AsArgument(triple), "generic", features_, options,
                                               llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                               llvm::CodeGenOptLevel::Aggressive, /*JIT=*/true));
  CheckInvariant(machine_ != nullptr, "LLVM makes a target machine for the host");
}

void TargetCompiler::Prepare(llvm::Module& module) const {
  module.setTargetTriple(AsArgument(machine_->getTargetTriple()));
  module.setDataLayout(machine_->createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", "generic");
    function.addFnAttr("target-features", features_);
    function.addFnAttr("prefer-vector-width", std::to_string(vector_bits_));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

void TargetCompiler::Optimize(llvm::Module& module, Effort effort) {
  const bool is_full = effort == Effort::kFull;
  machine_->setOptLevel(is_full ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) {
    Unreachable(StrCat("generated LLVM IR is well-formed: ", stream.str()));
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(is_full ? KernelPasses() : QuickPasses()));
  passes.run(module, modules);
}

std::string TargetCompiler::Emit(llvm::Module& module, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw Unimplemented("LLVM cannot write this kind of file for this machine");
  }
  UsefulPasses gate(module);
  llvm::LLVMContext& context = module.getContext();
  llvm::OptPassGate& before = context.getOptPassGate();
  context.setOptPassGate(gate);
  passes.run(module);
  context.setOptPassGate(before);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace tenon::jit
