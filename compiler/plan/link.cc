#include "tenon/compiler/plan/link.h"

#include <utility>

#include "tenon/compiler/plan/joined_kernel.h"
#include "tenon/support/error.h"

namespace tenon::compiler {

runtime::Executable Linked(const Lowered& lowered,
                           const std::vector<std::shared_ptr<const jit::Callable>>& ready,
                           const jit::CompileOptions& code, int threads) {
  const auto is_ready = [&](std::size_t i) { return i < ready.size() && ready[i] != nullptr; };
  std::vector<loop::Function> functions;
  for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
    if (is_ready(i)) continue;
    for (loop::Function& function : strategies::GeneratedFunctions(lowered.kernels[i].choice.built))
      functions.push_back(std::move(function));
  }
  const std::vector<jit::Kernel> compiled = ValueOrThrow(jit::CompileAll(functions, code));
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  auto kernel_code = compiled.begin();
  const auto next = [&] { return kernel_code++->AsCallable(); };
  for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
    const strategies::Built& built = lowered.kernels[i].choice.built;
    if (is_ready(i)) {
      kernels.push_back(ready[i]);
    } else {
      kernels.push_back(std::holds_alternative<loop::Function>(built.kernel) ? next()
                                                                             : Join(built, next));
    }
  }
  return runtime::Executable({.plan = lowered.plan,
                              .kernels = std::move(kernels),
                              .constants = lowered.constants,
                              .threads = threads,
                              .bind = nullptr});
}

}  // namespace tenon::compiler
