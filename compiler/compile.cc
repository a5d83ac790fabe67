#include "tenon/compiler/compile.h"

#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/joined_kernel.h"
#include "tenon/compiler/plan/run_time_extents.h"
#include "tenon/ir/verify.h"
#include "tenon/jit/kernel.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/pending_patterns.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

// Where oneDNN sums by matrix instructions, which take images with channels last. Others would be
// transposed before and behind each convolution.
passes::DesiredLayouts LayoutsFor(const CompileOptions& options) {
  const bool by_matrices = options.mixed_precision == BFloat16 &&
                           options.library != LibraryChoice::kTe && options.target.Has("amx-bf16");
  if (!by_matrices) return {};
  return {{"nn.conv2d", {"NHWC", "OIHW"}}};
}

loop::PipelineOptions LoopPipeline(const CompileOptions& options) {
  return {.verify = options.verify || loop::IsDebugBuild(), .observer = options.loop_observer};
}

Lowered DoLower(const ir::Module& module, const CompileOptions& options, bool defer = false) {
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  strategies::FinishPatterns();
  registry.ThrowStartupErrors();
  strategies::RegisterStrategies(registry);
  if (options.opt_level < 0)
    throw InvalidArgument(StrCat("opt_level is ", options.opt_level, "; it must be at least 0"));
  options.target.RequireVectors();
  ir::VerifyModule(module);
  // A library's kernels are made for so many.
  const jit::ScopedThreads threads(options.threads);
  const auto [plain, extents] = compiler::SplitRunTimeExtents(module);
  const FusionMode mode =
      options.fusion.value_or(options.opt_level >= 3 ? FusionMode::kExtended : FusionMode::kRelay);
  const ir::Module fused = passes::RunPasses(
      passes::DefaultPipeline(strategies::EvaluateCall, options.opt_level,
                              {.fuse = {.mode = mode, .report = options.fusion_report},
                               .folding = options.folding_report,
                               .mixed_precision = options.mixed_precision,
                               .layouts = LayoutsFor(options),
                               .target = options.target}),
      plain,
      {.opt_level = options.opt_level,
       .required = options.required_passes,
       .disabled = options.disabled_passes,
       .verify = options.verify,
       .report = options.pass_report});
  Lowered lowered =
      compiler::BuildPlan(fused,
                          {.library = options.library,
                           .winograd = options.winograd,
                           .keep_nan = options.keep_nan,
                           .lowering = {.target = options.target,
                                        .defer = defer,
                                        .reassociate_sums = options.reassociate_reductions,
                                        .generic = options.generic,
                                        .pipeline = LoopPipeline(options)},
                           .makers = CodeGeneratorRegistry::Global().Makers()},
                          {.check_bounds = options.check_bounds,
                           .cache_dir = options.cache_dir,
                           .pipeline = LoopPipeline(options)});
  lowered.plan.extents = extents;
  return lowered;
}

Executable DoLink(const Lowered& lowered, const CompileOptions& options) {
  std::vector<loop::Function> functions;
  for (const LoweredKernel& kernel : lowered.kernels) {
    for (loop::Function& function : strategies::GeneratedFunctions(kernel.choice.built))
      functions.push_back(std::move(function));
  }
  const std::vector<jit::Kernel> compiled = ValueOrThrow(
      jit::CompileAll(functions, {.target = options.target,
                                  .reassociate_reductions = options.reassociate_reductions,
                                  .check_bounds = options.check_bounds,
                                  .cache_dir = options.cache_dir,
                                  .pipeline = LoopPipeline(options)}));
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  auto kernel_code = compiled.begin();
  const auto next = [&] { return kernel_code++->AsCallable(); };
  for (const LoweredKernel& kernel : lowered.kernels) {
    const strategies::Built& built = kernel.choice.built;
    kernels.push_back(std::holds_alternative<loop::Function>(built.kernel)
                          ? next()
                          : compiler::Join(built, next));
  }
  return Executable({.plan = lowered.plan,
                     .kernels = std::move(kernels),
                     .constants = lowered.constants,
                     .threads = options.threads});
}

}  // namespace

absl::StatusOr<Lowered> Lower(const ir::Module& module, const CompileOptions& options) {
  return CatchErrors([&] { return DoLower(module, options); });
}
absl::StatusOr<Executable> Link(const Lowered& lowered, const CompileOptions& options) {
  return CatchErrors([&] { return DoLink(lowered, options); });
}
absl::StatusOr<Executable> Compile(const ir::Module& module, const CompileOptions& options) {
  // Kernels whose code is in the cache are not lowered.
  const bool defer = !options.cache_dir.empty();
  return CatchErrors([&] { return DoLink(DoLower(module, options, defer), options); });
}

}  // namespace tenon
