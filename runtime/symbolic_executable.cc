#include "tenon/runtime/symbolic_executable.h"

#include <optional>
#include <utility>

#include "tenon/runtime/input_symbols.h"

namespace tenon::runtime {

std::vector<InputInfo> InputsOf(const Plan& plan) {
  std::vector<InputInfo> inputs;
  for (const Node& node : plan.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    inputs.push_back({node.name, node.outputs[0].dtype, node.outputs[0].dims()});
  }
  return inputs;
}

Executable PlanBinder::At(const Dim::Values& values) {
  if (std::optional<Executable> found = bound_.Find(values)) return *std::move(found);
  PlanAtValues at = plan_.At(values);
  if (parts_.check) parts_.check(at);
  return bound_.Keep(values, ExecutableAt(std::move(at), parts_.kernel_for, parts_.constants,
                                          parts_.threads, bound_.memory()));
}

Executable ExecutableAt(PlanAtValues at, const KernelFor& kernel_for,
                        std::vector<NDArray> constants, int threads,
                        std::shared_ptr<WorkingMemory> memory) {
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  for (KernelUse& use : at.kernels)
    kernels.push_back(kernel_for(use.kernel, std::move(use.extents)));
  return Executable({.plan = std::move(at.plan),
                     .kernels = std::move(kernels),
                     .constants = std::move(constants),
                     .threads = threads,
                     .memory = std::move(memory)});
}

Executable MakeSymbolicExecutable(SymbolicParts parts) {
  Executable::Parts whole{.plan = parts.plan,
                          .kernels = std::move(parts.kernels),
                          .constants = parts.constants,
                          .threads = parts.threads};
  const auto symbols =
      std::make_shared<const InputSymbols>(InputsOf(parts.plan), parts.plan.conditions);
  const auto binder = std::make_shared<PlanBinder>(std::move(parts));
  whole.bind = [symbols, binder](const Inputs& inputs) {
    return binder->At(symbols->Solve(inputs));
  };
  whole.inputs = symbols->inputs();
  return Executable(std::move(whole));
}

}  // namespace tenon::runtime
