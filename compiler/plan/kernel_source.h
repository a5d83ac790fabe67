// Where the kernels of a plan come from.
//
//   Lowered lowered = BuildPlan(module, source);
#ifndef TENON_COMPILER_PLAN_KERNEL_SOURCE_H_
#define TENON_COMPILER_PLAN_KERNEL_SOURCE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/plan/function_labels.h"
#include "tenon/compiler/plan/kernel_table.h"
#include "tenon/compiler/plan/prepared_constants.h"

namespace tenon::compiler {

class KernelSource {
 public:
  using AddConstant = std::function<runtime::EntryRef(const NDArray&)>;

  virtual ~KernelSource() = default;
  // The labels of a function whose kernel it has, whatever the extents, so that it need not be made
  // ahead. Null for other functions.
  virtual const FunctionLabels* LabelsOf(const ir::Expr& /*function*/) const { return nullptr; }
  // Kernels that will be asked for.
  virtual void MakeAhead(const std::vector<KernelTable::Request>& requests) = 0;
  // As KernelTable::For, for a list to which the source adds.
  virtual int For(const ir::Expr& function, const std::string& name,
                  const std::vector<NDArray>& constants, std::uint64_t hash) = 0;
  // If there are variables, the extents that the kernel of `function` is called with.
  virtual std::vector<Dim> ArgumentsOf(const ir::Expr& /*function*/) const { return {}; }
  // As PreparedConstants.
  virtual std::vector<runtime::EntryRef> Prepared(int kernel, const std::vector<NDArray>& constants,
                                                  const AddConstant& add) = 0;
  virtual void ForEachPrepared(const std::function<void(runtime::EntryRef&)>& visit) = 0;
  virtual void Compute(const Lowered& lowered) = 0;
  // Says that no more kernels are asked for. Constants that only comparisons need are freed.
  virtual void ForgetConstants() {}
  // The list of kernels.
  virtual std::vector<LoweredKernel>& kernels() = 0;
};

// Makes kernels of the functions that it is asked for.
class FreshKernels : public KernelSource {
 public:
  FreshKernels(const strategies::StrategyOptions& options, const jit::CompileOptions& preparing)
      : table_(options, &kernels_), prepared_(preparing) {}

  void MakeAhead(const std::vector<KernelTable::Request>& requests) override {
    table_.MakeAhead(requests);
  }
  int For(const ir::Expr& function, const std::string& name, const std::vector<NDArray>& constants,
          std::uint64_t hash) override {
    return table_.For(function, name, constants, hash);
  }
  std::vector<runtime::EntryRef> Prepared(int kernel, const std::vector<NDArray>& constants,
                                          const AddConstant& add) override {
    return prepared_.For(kernels_[static_cast<std::size_t>(kernel)], kernel, constants, add);
  }
  void ForEachPrepared(const std::function<void(runtime::EntryRef&)>& visit) override {
    prepared_.ForEach(visit);
  }
  void Compute(const Lowered& lowered) override { prepared_.Compute(lowered); }
  void ForgetConstants() override { table_.Forget(); }
  std::vector<LoweredKernel>& kernels() override { return kernels_; }

 private:
  std::vector<LoweredKernel> kernels_;
  KernelTable table_;
  PreparedConstants prepared_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_KERNEL_SOURCE_H_
