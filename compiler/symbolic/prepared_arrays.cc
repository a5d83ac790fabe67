#include "tenon/compiler/symbolic/prepared_arrays.h"

#include <algorithm>

#include "tenon/compiler/plan/build_plan.h"
#include "tenon/ir/visit.h"
#include "tenon/support/error.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

// For each kernel, the arguments from which constants are prepared.
std::vector<std::vector<int>> ArgumentsRead(const SymbolicKernels& kernels) {
  std::vector<std::vector<int>> read;
  for (const LoweredKernel& kernel : kernels.list) {
    std::vector<int>& arguments = read.emplace_back();
    for (const strategies::PreparedConstant& constant : kernel.choice.built.prepared)
      arguments.insert(arguments.end(), constant.arguments.begin(), constant.arguments.end());
  }
  return read;
}

// For each kernel, the code that makes the constants that it wants.
std::vector<std::vector<jit::Kernel>> PreparingCode(const SymbolicKernels& kernels,
                                                    const jit::CompileOptions& code) {
  // Compiled together, so that all threads have work until the end.
  std::vector<loop::Function> functions;
  for (const LoweredKernel& kernel : kernels.list) {
    for (const strategies::PreparedConstant& constant : kernel.choice.built.prepared)
      functions.push_back(constant.function);
  }
  const std::vector<jit::Kernel> made = ValueOrThrow(jit::CompileAll(functions, ForOneRun(code)));
  auto next = made.begin();
  std::vector<std::vector<jit::Kernel>> preparing;
  for (const LoweredKernel& kernel : kernels.list) {
    const auto begin = next;
    next += static_cast<std::ptrdiff_t>(kernel.choice.built.prepared.size());
    preparing.emplace_back(begin, next);
  }
  return preparing;
}

NDArray Prepared(const strategies::PreparedConstant& wanted, const std::vector<NDArray>& constants,
                 const jit::Kernel& code) {
  std::vector<NDArray> arrays;
  for (const int argument : wanted.arguments)
    arrays.push_back(constants[static_cast<std::size_t>(argument)]);
  const loop::Buffer& buffer = wanted.function.buffers.back();
  arrays.push_back(NDArray::Empty(StaticShape(buffer), buffer->dtype));
  if (const absl::Status status = code.Run(arrays); !status.ok()) throw FromStatus(status);
  return arrays.back();
}

}  // namespace

PreparedArrays::PreparedArrays(const ir::Module& fused, const SymbolicKernels& kernels,
                               const jit::CompileOptions& code)
    : read_(ArgumentsRead(kernels)) {
  const std::vector<std::vector<jit::Kernel>> preparing = PreparingCode(kernels, code);
  ir::VisitPostOrder(
      fused.Main().body,
      [&](const Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        if (call == nullptr || !kernels.uses.contains(call->callee)) return;
        const int index = kernels.uses.at(call->callee).kernel;
        const LoweredKernel& kernel = kernels.list[static_cast<std::size_t>(index)];
        if (kernel.choice.built.prepared.empty()) return;
        const std::vector<NDArray> constants = RequestOf(*call).constants;
        std::vector<NDArray>& prepared = arrays_[KeyOf(index, constants)];
        if (!prepared.empty()) return;
        for (std::size_t i = 0; i < kernel.choice.built.prepared.size(); ++i)
          prepared.push_back(Prepared(kernel.choice.built.prepared[i], constants,
                                      preparing[static_cast<std::size_t>(index)][i]));
      },
      [](const Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
}

PreparedArrays::Key PreparedArrays::KeyOf(int kernel, const std::vector<NDArray>& constants) const {
  Key key{kernel, {}};
  for (const int argument : read_[static_cast<std::size_t>(kernel)])
    key.second.push_back(constants[static_cast<std::size_t>(argument)].raw());
  return key;
}

const std::vector<NDArray>* PreparedArrays::Find(int kernel,
                                                 const std::vector<NDArray>& constants) const {
  if (read_[static_cast<std::size_t>(kernel)].empty()) return nullptr;
  const auto found = arrays_.find(KeyOf(kernel, constants));
  CheckInvariant(found != arrays_.end(), "the constants that a kernel reads are prepared");
  return &found->second;
}

std::vector<runtime::EntryRef> PreparedEntries::For(const std::vector<NDArray>* prepared,
                                                    const KernelSource::AddConstant& add) {
  if (prepared == nullptr) return {};
  std::vector<runtime::EntryRef>& entries = entries_[prepared];
  if (entries.empty()) {
    for (const NDArray& array : *prepared) entries.push_back(add(array));
  }
  return entries;
}

void PreparedEntries::ForEach(const std::function<void(runtime::EntryRef&)>& visit) {
  for (auto& [prepared, entries] : entries_) std::for_each(entries.begin(), entries.end(), visit);
}

}  // namespace tenon::compiler
