#include "tenon/compiler/plan/link.h"

#include <utility>

#include "tenon/compiler/plan/joined_kernel.h"
#include "tenon/runtime/origins_text.h"
#include "tenon/runtime/symbolic_executable.h"
#include "tenon/support/error.h"

namespace tenon::compiler {
namespace {

using Callable = std::shared_ptr<const jit::Callable>;
using Ready = std::vector<Callable>;

bool IsReady(const Ready& ready, std::size_t i) { return i < ready.size() && ready[i] != nullptr; }

void CheckArrays(const Lowered& lowered, const Ready& ready) {
  for (const runtime::Node& node : lowered.plan.nodes) {
    const auto index = static_cast<std::size_t>(node.kernel);
    if (node.kind != runtime::NodeKind::kKernel || IsReady(ready, index)) continue;
    const auto* function = std::get_if<loop::Function>(&lowered.kernels[index].choice.built.kernel);
    CheckInvariant(
        function == nullptr || node.inputs.size() + node.outputs.size() == function->buffers.size(),
        "a kernel is called with all of its arrays");
  }
}

void AddFunctions(const Lowered& lowered, const Ready& ready,
                  std::vector<loop::Function>* functions) {
  CheckArrays(lowered, ready);
  std::vector<std::string> places;
  for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
    if (IsReady(ready, i)) continue;
    if (places.empty()) places = PlacesByKernel(lowered.plan.nodes, lowered.kernels.size());
    for (loop::Function& function :
         strategies::GeneratedFunctions(lowered.kernels[i].choice.built)) {
      function.places = places[i];
      functions->push_back(std::move(function));
    }
  }
}

// `next` gives the code of one function after the other, as AddFunctions added them.
template <typename Next>
runtime::Executable Linked(const Lowered& lowered, const Ready& ready, int threads,
                           const Next& next,
                           std::shared_ptr<runtime::WorkingMemory> memory = nullptr) {
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
    const strategies::Built& built = lowered.kernels[i].choice.built;
    if (IsReady(ready, i)) {
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
                              .bind = nullptr,
                              .memory = std::move(memory)});
}

// Links a plan for all values. All kernels are generated code, which takes the extents when it is
// called.
runtime::Executable LinkedForAll(const Lowered& lowered, const jit::CompileOptions& code,
                                 int threads) {
  std::vector<jit::Kernel> kernels = ValueOrThrow(jit::CompileAll(FunctionsOf(lowered), code));
  std::vector<Callable> shown;
  for (const jit::Kernel& kernel : kernels)
    shown.push_back(
        kernel.AsCallable(std::vector<std::int64_t>(kernel.function().scalars.size(), 1)));
  return runtime::MakeSymbolicExecutable(
      {.plan = lowered.plan,
       .constants = lowered.constants,
       .kernel_for =
           [kernels = std::move(kernels)](int kernel, std::vector<std::int64_t> extents) {
             return kernels[static_cast<std::size_t>(kernel)].AsCallable(std::move(extents));
           },
       .kernels = std::move(shown),
       .threads = threads});
}

}  // namespace

std::vector<std::string> PlacesByKernel(const std::vector<runtime::Node>& nodes,
                                        std::size_t kernels) {
  std::vector<std::vector<std::string>> origins(kernels);
  for (const runtime::Node& node : nodes) {
    if (node.kernel < 0) continue;
    std::vector<std::string>& all = origins[static_cast<std::size_t>(node.kernel)];
    all.insert(all.end(), node.origins.begin(), node.origins.end());
  }
  std::vector<std::string> places;
  for (const std::vector<std::string>& all : origins) places.push_back(runtime::OriginsText(all));
  return places;
}

std::vector<loop::Function> FunctionsOf(const Lowered& lowered) {
  std::vector<loop::Function> functions;
  AddFunctions(lowered, {}, &functions);
  return functions;
}

runtime::Executable Linked(const Lowered& lowered, const Ready& ready,
                           const jit::CompileOptions& code, int threads,
                           std::shared_ptr<runtime::WorkingMemory> memory) {
  if (!lowered.plan.symbols.empty()) return LinkedForAll(lowered, code, threads);
  std::vector<loop::Function> functions;
  AddFunctions(lowered, ready, &functions);
  const std::vector<jit::Kernel> compiled = ValueOrThrow(jit::CompileAll(functions, code));
  auto kernel_code = compiled.begin();
  return Linked(
      lowered, ready, threads, [&] { return kernel_code++->AsCallable(); }, std::move(memory));
}

std::vector<runtime::Executable> AllLinked(const std::vector<Lowered>& all,
                                           const jit::CompileOptions& code, int threads) {
  std::vector<loop::Function> functions;
  for (const Lowered& lowered : all) AddFunctions(lowered, {}, &functions);
  const std::vector<jit::Kernel> compiled = ValueOrThrow(jit::CompileAll(functions, code));
  auto kernel_code = compiled.begin();
  std::vector<runtime::Executable> executables;
  for (const Lowered& lowered : all)
    executables.push_back(
        Linked(lowered, {}, threads, [&] { return kernel_code++->AsCallable(); }));
  return executables;
}

}  // namespace tenon::compiler
