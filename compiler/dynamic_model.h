// A model for inputs of any shape: one compile of a module whose extents are variables
// (docs/shapes.md). Shapes that come again and again may get a compile of their own.
//
//   ir::Module module = onnx.Import({.symbolic = true, .evaluate = EvaluateCall}).value();
//   DynamicModel model = DynamicModel::Make(std::move(module), {.hot_after = 100}).value();
//   std::vector<Tensor> y = model.Run({{"x", x}}).value();  // whatever x's shape
//
// Any number of threads may run it. The destructor of the last copy waits for a compile in the
// background that has begun.
#ifndef TENON_COMPILER_DYNAMIC_MODEL_H_
#define TENON_COMPILER_DYNAMIC_MODEL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"

namespace tenon {

class DynamicModel {
 public:
  struct Options {
    CompileOptions compile;
    // A shape that has been run this often gets a compile of its own, in the background. The
    // compile is kept if it makes runs faster (compiler/symbolic/hot_shapes.h). Results may differ
    // as between any two compiles (docs/numerics.md). A model without variables or with control
    // flow has no such compiles. 0: never.
    std::size_t hot_after = 0;
    std::size_t hot_shapes = 16;  // that have a compile of their own, at least 1
  };
  struct Statistics {
    std::size_t common = 0;        // runs that the compile for all shapes served
    std::size_t hot_compiled = 0;  // hot shapes that were compiled
    std::size_t hot_kept = 0;      // those that are faster
    std::size_t hot_dropped = 0;   // those that are not, or gave way to newer ones
  };

  // Errors: InvalidArgument for options out of range, and for reports if shapes may be hot, since
  // their compiles run beside others; those of Compile. The module is kept only for hot shapes.
  static absl::StatusOr<DynamicModel> Make(ir::Module module, const Options& options);
  static absl::StatusOr<DynamicModel> Make(ir::Module module) {
    return Make(std::move(module), Options());
  }

  // What serves all shapes.
  const Executable& executable() const;
  // Errors: those of Executable::Run.
  absl::StatusOr<std::vector<NDArray>> Run(const runtime::Inputs& inputs) const;
  Statistics statistics() const;

 private:
  struct State;
  explicit DynamicModel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tenon

#endif  // TENON_COMPILER_DYNAMIC_MODEL_H_
