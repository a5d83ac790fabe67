// A compiled model, and what became of the shapes that it ran: tenon run and tenon bench with
// --hot-after.
#ifndef TENON_TOOLS_COMPILED_MODEL_H_
#define TENON_TOOLS_COMPILED_MODEL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/dynamic_model.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tenon::tools {

struct ShapeStatistics {
  std::size_t remade = 0;                       // kernels that runs made (RemadeKernels)
  std::optional<DynamicModel::Statistics> hot;  // where shapes may be hot
};

// "runs made 0 kernels again; 1 hot shape compiled, 1 kept, 0 dropped; 9 runs of the compile
// for all shapes"
std::string ToText(const ShapeStatistics& statistics);

// --hot-after N: how many runs of a shape make it hot; 0: none is.
CLI::Option* AddHotAfter(CLI::App* command, std::size_t* hot_after);

class CompiledModel {
 public:
  // Throws InvalidArgument where shapes shall be hot and the module has one shape, or control flow.
  CompiledModel(ir::Module module, const CompileOptions& options, std::size_t hot_after);
  explicit CompiledModel(Executable saved) : executable_(std::move(saved)) {}

  // What runs all shapes.
  const Executable& executable() const { return executable_; }
  // By the session, which is one of the executable, or by the compile for a hot shape.
  std::vector<NDArray> Run(Session* session, const runtime::Inputs& inputs) const;
  // Nothing for a model of one shape.
  std::optional<ShapeStatistics> statistics() const;

 private:
  std::optional<DynamicModel> hot_;
  Executable executable_;
  std::size_t remade_before_ = 0;
};

}  // namespace tenon::tools

#endif  // TENON_TOOLS_COMPILED_MODEL_H_
