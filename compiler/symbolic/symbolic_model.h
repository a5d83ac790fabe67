// A module of symbolic extents, compiled once for all values of its variables.
//
// Kernels are made when the model is. For new values of the variables, types are inferred again,
// storage is planned and kernels are told their extents; no code is made, except for operators that
// can be computed for numbers only. Where variables are 0, the module without them is a model of
// its own, which is made once. Any number of threads may bind.
//
//   auto model = std::make_shared<SymbolicModel>(fused, strategy, code, threads);
//   Executable exe = model->Bind({{"n", 4}});
#ifndef TENON_COMPILER_SYMBOLIC_SYMBOLIC_MODEL_H_
#define TENON_COMPILER_SYMBOLIC_SYMBOLIC_MODEL_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/jit/kernel.h"
#include "tenon/runtime/working_memory.h"

namespace tenon::compiler {

class SymbolicModel {
 public:
  // `fused` must have checked types. Throws what making kernels throws, and Unimplemented for a
  // value of unknown extents, naming the operator.
  SymbolicModel(ir::Module fused, strategies::StrategyOptions strategy, jit::CompileOptions code,
                int threads);

  // The executable for these values, of all variables. Throws what operators refuse of such
  // extents.
  runtime::Executable Bind(const Dim::Values& values);

  const std::vector<LoweredKernel>& kernels() const { return kernels_.list; }
  // Those that are made, for all extents.
  std::vector<std::shared_ptr<const jit::Callable>> Callables() const;

 private:
  // A kernel that calls of equal fused functions share. Without code it is made for each shape.
  struct Made {
    std::optional<jit::Kernel> code;
    std::vector<std::string> symbols;  // whose values it is called with
  };
  class Kernels;  // what Bind takes kernels from

  void MakeKernels();
  // What makes the constants that a kernel wants prepared, by kernel.
  using PreparingCode = std::vector<jit::Kernel>;
  void PrepareConstants(const std::vector<PreparingCode>& preparing);
  runtime::Executable Build(const Dim::Values& values) const;
  SymbolicModel& WithoutZeros(const Dim::Values& zeros);

  const ir::Module fused_;
  const strategies::StrategyOptions strategy_;
  const jit::CompileOptions code_;
  const int threads_;
  const SymbolicKernels kernels_;
  std::vector<Made> made_;  // of kernels_
  // What kernels want prepared, by kernel, place and the arrays that it is made of.
  std::map<std::pair<int, std::vector<const void*>>, std::vector<NDArray>> prepared_;

  // What is bound, the last used first: a plan each, while all share the memory of runs.
  static constexpr std::size_t kMaxKept = 256;
  struct Bound {
    Dim::Values values;
    runtime::Executable executable;
  };
  // Null where it is not kept.
  const runtime::Executable* FindBound(const Dim::Values& values);
  void Keep(const Dim::Values& values, const runtime::Executable& executable);
  const std::shared_ptr<runtime::WorkingMemory> memory_ =
      std::make_shared<runtime::WorkingMemory>();
  std::mutex mutex_;
  std::list<Bound> bound_;
  std::map<Dim::Values, std::list<Bound>::iterator> index_;

  // Where some variables are 0.
  std::mutex zeros_mutex_;
  std::map<Dim::Values, std::unique_ptr<SymbolicModel>> without_zeros_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_SYMBOLIC_MODEL_H_
