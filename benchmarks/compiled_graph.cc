#include "tenon/benchmarks/compiled_graph.h"

#include <algorithm>
#include <cstring>

#include "tenon/benchmarks/baselines.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"

namespace tenon::benchmarks {

ir::Module Parse(const std::string& text) {
  return ValueOrThrow(ir::ParseModule(text, ops::OpRegistry::Global().Resolver()));
}

ir::Var Input(const std::string& name, const Shape& shape, DataType type) {
  return ir::Var::Make(name, ir::TensorType({shape.begin(), shape.end()}, type));
}

runtime::Inputs RandomInputs(const ir::Module& module) {
  runtime::Inputs inputs;
  int seed = 1;
  for (const ir::Expr& param : module.Main().params) {
    const ir::Var var(param);
    inputs[var.name()] = RandomArray(ir::StaticShape(var.type_annotation(), var.name()), seed++);
  }
  return inputs;
}

CompiledGraph::CompiledGraph(const ir::Module& module, const runtime::Inputs& inputs,
                             const CompileOptions& options)
    : executable_(ValueOrThrow(Compile(module, options))) {
  // Checks the names, shapes and types of the inputs.
  ValueOrThrow(executable_.Run(inputs));
  const runtime::Plan& plan = executable_.plan();
  memory_.resize(plan.storage_bytes.size());
  std::size_t workspace_bytes = 64;
  for (const runtime::Node& node : plan.nodes) {
    if (node.kind == runtime::NodeKind::kInput) {
      memory_[node.outputs[0].storage_id] = inputs.find(node.name)->second;
    } else if (node.kind == runtime::NodeKind::kConstant) {
      memory_[node.outputs[0].storage_id] = executable_.constants()[node.constant];
    } else if (node.kind == runtime::NodeKind::kKernel) {
      for (const runtime::Entry& output : node.outputs) {
        Tensor& memory = memory_[output.storage_id];
        const std::size_t bytes = std::max<std::size_t>(plan.storage_bytes[output.storage_id], 64);
        // Zeros, so that the pages are there before the clock runs.
        if (!memory.defined()) memory = Tensor::Zeros({static_cast<std::int64_t>(bytes)}, UInt8);
      }
      workspace_bytes =
          std::max(workspace_bytes, executable_.kernels()[node.kernel]->workspace_bytes());
    }
  }
  workspace_ = Tensor::Zeros({static_cast<std::int64_t>(workspace_bytes)}, UInt8);
  for (const runtime::Node& node : plan.nodes) {
    if (node.kind != runtime::NodeKind::kKernel) continue;
    Step step{executable_.kernels()[node.kernel].get(), {}};
    for (const runtime::EntryRef input : node.inputs)
      step.buffers.push_back(AddressOf(plan.entry(input)));
    for (const runtime::Entry& output : node.outputs) step.buffers.push_back(AddressOf(output));
    steps_.push_back(std::move(step));
  }
  const runtime::Entry& head = plan.entry(plan.heads[0]);
  const Tensor& storage = memory_[head.storage_id];
  result_ =
      Tensor::View(head.shape, head.dtype, AddressOf(head), std::make_shared<Tensor>(storage));
}

void* CompiledGraph::AddressOf(const runtime::Entry& entry) const {
  return static_cast<char*>(memory_[entry.storage_id].raw()) + entry.offset;
}

void CompiledGraph::Call() const {
  for (const Step& step : steps_) step.kernel->Call(step.buffers.data(), workspace_.raw());
}

std::vector<Tensor> CompiledGraph::Run(const runtime::Inputs& inputs) const {
  return ValueOrThrow(executable_.Run(inputs));
}

Contestants AgainstMemcpy(const std::shared_ptr<CompiledGraph>& graph, std::int64_t bytes,
                          int threads) {
  Require(graph->num_kernels() == 1, "not one kernel");
  const int floor_threads = FloorThreads(2.0 * static_cast<double>(bytes), threads);
  const Tensor from = Tensor::Zeros({bytes}, UInt8), to = Tensor::Zeros({bytes}, UInt8);
  // Pages that nobody has written are one in memory.
  std::memset(from.raw(), 1, from.bytes());
  return {{Role::kTenon, "one kernel", [graph] { graph->Call(); }},
          {Role::kFloor, "memcpy", [=] { CopyBytes(to.raw(), from.raw(), bytes, floor_threads); }}};
}

}  // namespace tenon::benchmarks
