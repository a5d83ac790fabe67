// A model whose input shapes are known only when it runs: it is compiled at the first run of each
// combination of shapes, and the least recently used ones are forgotten.
//
// Any number of threads may run it: threads that bring the same new shapes wait for one compile,
// others go on. With CompileOptions::cache_dir kernels that two shapes have in common compile once,
// also in later processes. What is forgotten lives on until the runs that use it have ended.
//
//   OnnxModel onnx = OnnxModel::Load("recogniser.onnx").value();
//   DynamicModel model(onnx.inputs(), [&](const auto& shapes) { return onnx.Import({shapes}); },
//                      {.cache = 16});
//   std::vector<Tensor> y = model.Run({{"x", x}}).value();  // whatever x's shape
#ifndef TENON_COMPILER_DYNAMIC_MODEL_H_
#define TENON_COMPILER_DYNAMIC_MODEL_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/input_spec.h"

namespace tenon {

using ShapesByName = std::map<std::string, Shape>;

class DynamicModel {
 public:
  // The module for these shapes, one for each input. Called by several threads at once. It may run
  // the model for other shapes, but not for these: that is FailedPrecondition.
  using Importer = std::function<absl::StatusOr<ir::Module>(const ShapesByName& shapes)>;
  // The module with variables for the extents that the model leaves open.
  using SymbolicImporter = std::function<absl::StatusOr<ir::Module>()>;
  struct Options {
    std::size_t cache = 16;  // compiled shapes that are kept, at least 1
    CompileOptions compile;  // without reports: compiles run at the same time
    // Where it is given, one compile serves all shapes (docs/shapes.md). It is made at the first
    // run, and takes longer than one for a shape. Models and inputs that it does not take are
    // compiled for their shapes.
    SymbolicImporter symbolic = nullptr;
    // A shape that the compile for all shapes has served this often is compiled for itself, in the
    // background, and this is kept if runs are faster by it (compiler/symbolic/hot_shapes.h). At
    // most `cache` shapes have one. Results may differ as between any two compiles
    // (docs/numerics.md). 0: never.
    std::size_t hot_after = 0;
  };
  struct Statistics {
    std::size_t compiled = 0;   // successful compiles for a shape
    std::size_t forgotten = 0;  // compiled, then dropped for newer ones
    std::size_t symbolic = 0;   // runs that the compile for all shapes served
    // Why the last run that it did not serve was compiled for its shape; empty where there was none
    // or no importer for all shapes is given.
    std::string symbolic_refusal;
    std::size_t hot_compiled = 0;  // hot shapes that were compiled
    std::size_t hot_kept = 0;      // those that are faster
    std::size_t hot_dropped = 0;   // those that are not, or gave way to newer ones
  };

  // Throws InvalidArgument for options out of range and inputs of the same name.
  DynamicModel(std::vector<ir::InputSpec> inputs, Importer importer, Options options);

  const std::vector<ir::InputSpec>& inputs() const;
  // Errors: InvalidArgument naming the input that is missing, unknown, of another element type or
  // of a shape that the model does not take, with what is allowed; those of the importer and of
  // Compile. A shape that cannot be compiled is not remembered.
  absl::StatusOr<std::vector<NDArray>> Run(const runtime::Inputs& inputs) const;
  // What Run uses for inputs of these shapes.
  absl::StatusOr<Executable> Specialize(const ShapesByName& shapes) const;
  Statistics statistics() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon

#endif  // TENON_COMPILER_DYNAMIC_MODEL_H_
