// A compiled graph with all its memory laid out once: Call runs the kernels and nothing else, no
// allocation and no binding of inputs.
//
//   CompiledGraph graph(Parse("fn (%x: Tensor[(16), float32]) { exp(%x) }"), {{"x", x}});
//   graph.Call();
//   graph.result().data<float>();
#ifndef TENON_BENCHMARKS_COMPILED_GRAPH_H_
#define TENON_BENCHMARKS_COMPILED_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "tenon/benchmarks/race.h"
#include "tenon/tenon.h"

namespace tenon::benchmarks {

ir::Module Parse(const std::string& text);
// An input of a graph.
ir::Var Input(const std::string& name, const Shape& shape, DataType type = Float32);
// For the parameters of @main, which are annotated with static shapes.
runtime::Inputs RandomInputs(const ir::Module& module);

class CompiledGraph {
 public:
  // Throws what compiling or the inputs have to say against it.
  CompiledGraph(const ir::Module& module, const runtime::Inputs& inputs,
                LibraryChoice library = LibraryChoice::kTe)
      : CompiledGraph(module, inputs, CompileOptions{.library = library}) {}
  CompiledGraph(const ir::Module& module, const runtime::Inputs& inputs,
                const CompileOptions& options);

  void Call() const;
  // All results of a run of its own.
  std::vector<Tensor> Run(const runtime::Inputs& inputs) const;
  // The first result, of the last call.
  const Tensor& result() const { return result_; }
  int num_kernels() const { return executable_.num_kernel_calls(); }

 private:
  struct Step {
    const jit::Callable* kernel;
    std::vector<void*> buffers;
  };
  void* AddressOf(const runtime::Entry& entry) const;

  Executable executable_;
  std::vector<Tensor> memory_;  // by storage id
  Tensor workspace_;
  std::vector<Step> steps_;
  Tensor result_;
};

// The graph, which must be one kernel, and a copy of so many bytes as its floor.
Contestants AgainstMemcpy(const std::shared_ptr<CompiledGraph>& graph, std::int64_t bytes,
                          int threads);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_COMPILED_GRAPH_H_
