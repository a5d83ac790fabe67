#include "tenon/tools/kernel_texts.h"

#include <memory>
#include <variant>

#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"

namespace tenon::tools {

std::string TensorExpressions(const LoweredKernel& kernel) {
  return te::Print(strategies::LowerFunction(*kernel.function.As<ir::FunctionNode>()).outputs);
}

std::vector<jit::Kernel> GeneratedCode(const LoweredKernel& kernel,
                                       const jit::CompileOptions& options) {
  std::vector<jit::Kernel> code;
  for (const loop::Function& loops : strategies::GeneratedFunctions(kernel.choice.built))
    code.push_back(ValueOrThrow(jit::Compile(loops, options)));
  return code;
}

std::vector<loop::Function> GeneratedLoops(const LoweredKernel& kernel,
                                           const jit::CompileOptions& options) {
  std::vector<loop::Function> finals;
  for (const loop::Function& loops : strategies::GeneratedFunctions(kernel.choice.built))
    finals.push_back(ValueOrThrow(jit::FinalLoops(loops, options)));
  return finals;
}

std::string LibraryCode(const LoweredKernel& kernel) {
  const auto* callable =
      std::get_if<std::shared_ptr<const jit::Callable>>(&kernel.choice.built.kernel);
  return callable == nullptr ? "" : (*callable)->implementation();
}

}  // namespace tenon::tools
