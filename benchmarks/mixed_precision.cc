// The floor to beat is the same model in float32, as it compiles by default.
#include "tenon/benchmarks/mixed_precision.h"

#include <memory>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/models/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"

namespace tenon::benchmarks {
namespace {

// Of the largest element: roundings to 8 bits of as many layers as the models have.
constexpr double kTolerance = 0.08;

Contestants Prepare(const std::string& name) {
  const ir::Module module = passes::InferType(models::Build(name));
  const runtime::Inputs inputs = RandomInputs(module);
  const auto exact = std::make_shared<CompiledGraph>(module, inputs, CompileOptions{});
  const auto mixed =
      std::make_shared<CompiledGraph>(module, inputs, CompileOptions{.mixed_precision = BFloat16});
  const Tensor expected = exact->Run(inputs)[0];
  const auto difference = verify::FirstDifference(mixed->Run(inputs)[0], expected,
                                                  kTolerance * verify::LargestMagnitude(expected));
  Require(!difference, StrCat(name, ": an element differs by more than rounding"));
  return {{Role::kTenon, StrCat("kernels: ", mixed->num_kernels()), [mixed] { mixed->Call(); }},
          {Role::kFloor, "the same in float32", [exact] { exact->Call(); }}};
}

}  // namespace

void AddMixedPrecision(std::vector<Race>& races) {
  for (const char* name : {"resnet18", "resnet50", "mobilenet_v2", "squeezenet1_1", "densenet121",
                           "googlenet", "transformer"})
    AddOnOneAndTwoThreads(
        races, {.table = "mixed", .name = name, .aim = {.of_floor = 1.0}, .prepare = [name] {
                  return Prepare(name);
                }});
}

}  // namespace tenon::benchmarks
