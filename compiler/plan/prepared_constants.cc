#include "tenon/compiler/plan/prepared_constants.h"

#include <algorithm>

#include "tenon/compiler/plan/kernel_table.h"
#include "tenon/support/error.h"

namespace tenon::compiler {

using runtime::EntryRef;

jit::CompileOptions ForOneRun(jit::CompileOptions code) {
  code.runs_once = true;
  return code;
}

Shape StaticShape(const loop::Buffer& buffer) {
  Shape shape;
  for (const loop::Expr& extent : buffer->shape)
    shape.push_back(extent.As<loop::IntImmNode>()->value);
  return shape;
}

std::vector<EntryRef> PreparedConstants::For(const LoweredKernel& kernel, int index,
                                             const std::vector<NDArray>& constants,
                                             const std::function<EntryRef(const NDArray&)>& add) {
  std::vector<EntryRef> entries;
  const auto& prepared = kernel.choice.built.prepared;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    Preparation preparation;
    for (const int argument : prepared[i].arguments)
      preparation.sources.push_back(constants[static_cast<std::size_t>(argument)]);
    std::vector<Preparation>& made = preparations_[{index, i}];
    const auto known = std::find_if(made.begin(), made.end(), [&](const Preparation& other) {
      return SameArrays(other.sources, preparation.sources);
    });
    if (known != made.end()) {
      entries.push_back(known->constant);
      continue;
    }
    const loop::Buffer& buffer = prepared[i].function.buffers.back();
    preparation.constant = add(NDArray::Empty(StaticShape(buffer), buffer->dtype));
    entries.push_back(preparation.constant);
    made.push_back(std::move(preparation));
  }
  return entries;
}

void PreparedConstants::ForEach(const std::function<void(EntryRef&)>& visit) {
  for (auto& [wanted, made] : preparations_) {
    for (Preparation& preparation : made) visit(preparation.constant);
  }
}

void PreparedConstants::Compute(const Lowered& lowered) {
  if (preparations_.empty()) return;  // nothing runs, so that the target may be another machine
  std::vector<loop::Function> functions;
  for (const auto& [wanted, made] : preparations_)
    functions.push_back(lowered.kernels[static_cast<std::size_t>(wanted.first)]
                            .choice.built.prepared[wanted.second]
                            .function);
  const std::vector<jit::Kernel> kernels =
      ValueOrThrow(jit::CompileAll(functions, ForOneRun(code_)));
  auto kernel = kernels.begin();
  for (auto& [wanted, made] : preparations_) {
    for (Preparation& preparation : made) {
      std::vector<NDArray> arrays = std::exchange(preparation.sources, {});
      const auto node = static_cast<std::size_t>(preparation.constant.node);
      arrays.push_back(
          lowered.constants[static_cast<std::size_t>(lowered.plan.nodes[node].constant)]);
      if (const absl::Status status = kernel->Run(arrays); !status.ok()) throw FromStatus(status);
    }
    ++kernel;
  }
}

}  // namespace tenon::compiler
