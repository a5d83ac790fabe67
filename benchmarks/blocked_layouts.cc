// The blocked contestant is what the default pipeline makes before it fuses, with its layouts
// changed; compiling that again changes nothing but the fusion.
#include "tenon/benchmarks/blocked_layouts.h"

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/models/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/alter_op_layout.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

constexpr double kNoise = 0.95;
constexpr double kTolerance = 1e-3;

ir::Module InBlocks(const ir::Module& module) {
  passes::Pipeline before_fusion = passes::DefaultPipeline(strategies::EvaluateCall, 3);
  std::erase_if(before_fusion, [](const passes::Pass& pass) {
    return pass.name == "PlanDevices" || pass.name == "FuseOps";
  });
  return passes::InferType(
      passes::AlterOpLayout(passes::RunPasses(before_fusion, module, {.opt_level = 3})));
}

Contestants Prepare(const std::string& name) {
  const ir::Module module = passes::InferType(models::Build(name));
  const runtime::Inputs inputs = RandomInputs(module);
  const auto plain = std::make_shared<CompiledGraph>(module, inputs, CompileOptions{});
  const auto blocked = std::make_shared<CompiledGraph>(InBlocks(module), inputs, CompileOptions{});
  RequireClose(plain->Run(inputs)[0], blocked->Run(inputs)[0], kTolerance);
  return {{Role::kTenon, StrCat("NCHW, ", plain->num_kernels(), " kernels"),
           [plain] { plain->Call(); }},
          {Role::kPeer, StrCat("blocked, ", blocked->num_kernels(), " kernels"),
           [blocked] { blocked->Call(); }}};
}

}  // namespace

void AddBlockedLayouts(std::vector<Race>& races) {
  for (const char* name : {"resnet18", "resnet50", "mobilenet_v2", "squeezenet1_1", "googlenet"})
    AddOnOneAndTwoThreads(
        races, {.table = "blocked", .name = name, .aim = {.of_peer = kNoise}, .prepare = [name] {
                  return Prepare(name);
                }});
}

}  // namespace tenon::benchmarks
