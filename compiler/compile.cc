#include "tenon/compiler/compile.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/control/build_program.h"
#include "tenon/compiler/control/control_flow.h"
#include "tenon/compiler/control/lower_program.h"
#include "tenon/compiler/control/program_needs.h"
#include "tenon/compiler/control/program_outline.h"
#include "tenon/compiler/lower_program.h"
#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/link.h"
#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/plan/run_time_extents.h"
#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/compiler/symbolic/solved_conditions.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/compiler/symbolic/symbolic_model.h"
#include "tenon/compiler/symbolic/symbolic_plan.h"
#include "tenon/ir/result_names.h"
#include "tenon/ir/verify.h"
#include "tenon/jit/kernel.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/expand_run_time_ops.h"
#include "tenon/passes/pipeline.h"
#include "tenon/runtime/input_symbols.h"
#include "tenon/strategies/author/pending_patterns.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

// The layouts for convolutions where oneDNN sums by matrix instructions, which take images with
// channels last. Other layouts would be transposed before and after each convolution.
passes::DesiredLayouts LayoutsFor(const CompileOptions& options) {
  const bool by_matrices = options.mixed_precision == BFloat16 && !options.reproducible &&
                           options.library != LibraryChoice::kTe && options.target.Has("amx-bf16");
  if (!by_matrices) return {};
  return passes::ImagesOf("NHWC", "OIHW");
}

loop::PipelineOptions LoopPipeline(const CompileOptions& options) {
  return {.verify = options.verify || loop::IsDebugBuild(), .observer = options.loop_observer};
}

// The target of code. Reproducible code has no instructions that round in ways of their own.
Target CodeTargetOf(const CompileOptions& options) {
  Target target = options.target;
  if (options.reproducible) {
    for (const char* feature : {"amx-bf16", "avx512bf16"}) target.features.erase(feature);
  }
  return target;
}

// The same with the cores that runs may use.
Target TargetOf(const CompileOptions& options) {
  Target target = CodeTargetOf(options);
  if (options.threads > 0) target.cores = std::min(target.cores, options.threads);
  return target;
}

strategies::StrategyOptions StrategyOf(const CompileOptions& options, bool defer) {
  const bool is_free = !options.reproducible;
  return {.library = is_free ? options.library : LibraryChoice::kTe,
          .winograd = is_free && options.winograd,
          .keep_nan = options.keep_nan,
          .lowering = {.target = TargetOf(options),
                       .defer = defer,
                       .reassociate_sums = is_free && options.reassociate_reductions,
                       .generic = options.generic,
                       .pipeline = LoopPipeline(options)},
          .makers = CodeGeneratorRegistry::Global().Makers(),
          .measured = is_free ? options.measured : nullptr};
}

jit::CompileOptions CodeOf(const CompileOptions& options) {
  return {.target = CodeTargetOf(options),
          .reassociate_reductions = options.reassociate_reductions,
          .reproducible = options.reproducible,
          .check_bounds = options.check_bounds,
          .cache_dir = options.cache_dir,
          .pipeline = LoopPipeline(options)};
}

void RequireReproducible(const CompileOptions& options) {
  if (!options.target.Has("avx2") || !options.target.Has("fma"))
    throw InvalidArgument(
        StrCat("reproducible code needs AVX2 and FMA; the target is ", options.target.ToString()));
  if (options.library == LibraryChoice::kLibrary)
    throw InvalidArgument("reproducible code is generated; it cannot ask for the library");
}

void Prepare(const ir::Module& module, const CompileOptions& options) {
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  strategies::FinishPatterns();
  registry.ThrowStartupErrors();
  strategies::RegisterStrategies(registry);
  if (options.opt_level < 0)
    throw InvalidArgument(StrCat("opt_level is ", options.opt_level, "; it must be at least 0"));
  if (options.threads < 0 || options.threads > jit::kMaxThreads)
    throw InvalidArgument(StrCat("threads is ", options.threads, "; it must be 1 to ",
                                 jit::kMaxThreads, ", or 0 for all cores"));
  options.target.RequireVectors();
  if (options.reproducible) RequireReproducible(options);
  ir::VerifyModule(module);
}

ir::Module Fused(ir::Module module, const CompileOptions& options) {
  const FusionMode mode =
      options.fusion.value_or(options.opt_level >= 3 ? FusionMode::kExtended : FusionMode::kRelay);
  passes::FuseOptions fuse = {.mode = mode, .report = options.fusion_report};
  // The same bits on every CPU need the same kernels.
  if (!options.reproducible) fuse.row_bytes = options.target.l2_bytes;
  return passes::RunPasses(passes::DefaultPipeline(strategies::EvaluateCall, options.opt_level,
                                                   {.fuse = fuse,
                                                    .folding = options.folding_report,
                                                    .mixed_precision = options.mixed_precision,
                                                    .layouts = LayoutsFor(options),
                                                    .target = CodeTargetOf(options)}),
                           std::move(module),
                           {.opt_level = options.opt_level,
                            .required = options.required_passes,
                            .disabled = options.disabled_passes,
                            .verify = options.verify,
                            .report = options.pass_report});
}

Executable Named(Executable executable, std::vector<std::string> names) {
  return names.empty() ? executable : executable.WithResultNames(std::move(names));
}

struct Lowering {
  // Kernels whose code is in the cache are not lowered.
  bool defers = false;
  bool keeps_module = true;
};

Lowered DoLower(ir::Module module, const CompileOptions& options, const Lowering& lowering) {
  Prepare(module, options);
  // A library's kernels are made for so many threads.
  const jit::ScopedThreads threads(options.threads);
  compiler::RunTimeExtents split = compiler::SplitRunTimeExtents(module);
  module = {};
  Lowered lowered = compiler::BuildPlan(Fused(std::move(split.module), options),
                                        StrategyOf(options, lowering.defers), CodeOf(options),
                                        lowering.keeps_module);
  lowered.plan.extents = std::move(split.extents);
  return lowered;
}

Executable DoLink(const Lowered& lowered, const CompileOptions& options) {
  return Named(compiler::Linked(lowered, {}, CodeOf(options), options.threads),
               ir::ResultNamesOf(lowered.module));
}

struct FusedForAll {
  ir::Module fused;
  compiler::SymbolicKernels kernels;  // with what the module needs before it is fused
};

struct FusedModule {
  ir::Module fused;
  // What the module needs, before it is fused, of those variables that it then has.
  std::vector<ExtentCondition> needs;
};

// Weights that nobody else holds are freed as passes replace them.
FusedModule FuseForAll(ir::Module module, const CompileOptions& options) {
  Prepare(module, options);
  module = compiler::NameExtents(module);
  const std::vector<ExtentCondition> conditions = compiler::NeedsOfModule(module);
  FusedModule made{.fused = Fused(std::move(module), options), .needs = {}};
  made.needs = compiler::SolvedFor(conditions, compiler::SymbolsOfPart(made.fused.Get("main")));
  return made;
}

FusedForAll LowerForAll(const ir::Module& module, const CompileOptions& options) {
  auto [fused, needs] = FuseForAll(module, options);
  FusedForAll made{.fused = std::move(fused), .kernels = {}};
  made.kernels = compiler::LowerSymbolicKernels(made.fused, StrategyOf(options, false));
  compiler::AddConditions(needs, &made.kernels.conditions);
  return made;
}

// The plan for all values of the variables, and its kernels.
Lowered PlanSymbolic(FusedForAll made, const CompileOptions& options) {
  auto& [fused, kernels] = made;
  (void)runtime::InputSymbols(compiler::InputsOf(fused.Main()));  // refuses what no input shows
  const compiler::PreparedArrays prepared(fused, kernels, CodeOf(options));
  Lowered lowered = compiler::PlanForAll({.module = fused, .functions = {}}, {}, kernels, prepared);
  lowered.kernels = std::move(kernels.list);
  return lowered;
}

Executable CompileSymbolic(ir::Module module, const CompileOptions& options) {
  const jit::ScopedThreads threads(options.threads);
  const bool defer = !options.cache_dir.empty();
  auto [fused, needs] = FuseForAll(std::move(module), options);
  std::vector<ExtentCondition> limits;
  // Values beyond these are refused. Others that do not suit the plan for all get their own
  // kernels.
  std::ranges::copy_if(needs, std::back_inserter(limits), [](const ExtentCondition& need) {
    return need.needed_by == passes::kLimitsOwner;
  });
  const auto symbols = std::make_shared<const runtime::InputSymbols>(
      compiler::InputsOf(fused.Main()), std::move(limits));
  const auto model = std::make_shared<compiler::SymbolicModel>(
      fused, StrategyOf(options, defer), CodeOf(options), options.threads, std::move(needs));
  return Executable(
      {.plan = {},
       .kernels = model->Callables(),
       .constants = {},
       .threads = options.threads,
       .bind = [symbols, model](
                   const runtime::Inputs& inputs) { return model->Bind(symbols->Solve(inputs)); },
       .inputs = symbols->inputs()});
}

struct FusedProgram {
  ir::Module fused;
  std::vector<runtime::RunTimeExtent> extents;
  std::vector<ExtentCondition> needs;  // of the module before it is fused
};

FusedProgram FuseProgram(const ir::Module& module, const CompileOptions& options) {
  Prepare(module, options);
  const ir::Module named = compiler::NameExtents(module);
  auto [plain, extents] = compiler::HasInnerCut(named)
                              ? compiler::RunTimeExtents{.module = named, .extents = {}}
                              : compiler::SplitRunTimeExtents(named);
  // For users who leave the pass out.
  const ir::Module fused =
      passes::OutlineBranches(Fused(compiler::WithNeedsInside(plain), options));
  return {fused, std::move(extents), compiler::NeedsOfProgram(named, fused)};
}

Executable CompileProgram(const ir::Module& module, const CompileOptions& options) {
  const jit::ScopedThreads threads(options.threads);
  const auto [fused, extents, needs] = FuseProgram(module, options);
  const bool defer = !options.cache_dir.empty();
  return compiler::BuildProgram(fused, StrategyOf(options, defer), CodeOf(options), options.threads,
                                extents, needs);
}

// Throws Unimplemented for a program.
void RequireOnePlan(const ir::Module& module) {
  if (const auto flow = compiler::ControlFlow(module))
    throw Unimplemented(
        StrCat(*flow,
               ": a module with control flow has no single plan that could be shown "
               "or tuned; it can be explained, compiled, saved, run and, where its "
               "extents are numbers, exported (LowerProgram)"));
  const ir::Expr cut = compiler::InnerCut(module);
  if (!cut) return;
  // Calls of an imported model have the name of its node, others a place in a text.
  const Span span = cut.span();
  const bool is_node = span.line == 0 && !span.source.empty();
  const std::string who = is_node ? "the node " + span.source : cut.As<ir::CallNode>()->op()->name;
  Error refusal = Unimplemented(
      StrCat(who, ": values of a run decide an extent here, and what reads it comes after, so the ",
             is_node ? "model" : "module",
             " has no single plan that could be exported or tuned; it can be explained, compiled, "
             "saved and run. To have a plan, end the ",
             is_node ? "model" : "module",
             " here: an array of such an extent may be a result that nothing reads"));
  if (!is_node) refusal.At(span);
  throw refusal;
}

// Of a module whose operators of run-time extents are written out.
bool BecomesProgram(const ir::Module& module) {
  return compiler::ControlFlow(module).has_value() || compiler::HasInnerCut(module) ||
         (compiler::HasSymbols(module) && compiler::HasCut(module));
}

Executable DoCompile(ir::Module module, const CompileOptions& options) {
  module = passes::ExpandRunTimeOps(module);
  std::vector<std::string> names = ir::ResultNamesOf(module);
  if (module.Find("main")) {
    if (BecomesProgram(module)) return Named(CompileProgram(module, options), std::move(names));
    if (compiler::HasSymbols(module))
      return Named(CompileSymbolic(std::move(module), options), std::move(names));
  }
  const Lowering lowering = {.defers = !options.cache_dir.empty(), .keeps_module = false};
  return Named(DoLink(DoLower(std::move(module), options, lowering), options), std::move(names));
}

}  // namespace

// If inputs have variables, a program cuts results whose extents values decide, too.
bool IsProgram(const ir::Module& module) {
  return BecomesProgram(passes::ExpandRunTimeOps(module));
}

absl::StatusOr<LoweredProgram> LowerProgram(const ir::Module& given,
                                            const CompileOptions& options) {
  return CatchErrors([&] {
    const ir::Module module = passes::ExpandRunTimeOps(given);
    const jit::ScopedThreads threads(options.threads);
    const auto [fused, extents, needs] = FuseProgram(module, options);
    return compiler::LowerParts(fused, StrategyOf(options, false), CodeOf(options), extents, needs);
  });
}

absl::StatusOr<Lowered> Lower(const ir::Module& given, const CompileOptions& options) {
  return CatchErrors([&] {
    const ir::Module module = passes::ExpandRunTimeOps(given);
    RequireOnePlan(module);
    if (!compiler::HasSymbols(module)) return DoLower(module, options, {});
    const jit::ScopedThreads threads(options.threads);
    return PlanSymbolic(LowerForAll(module, options), options);
  });
}
absl::StatusOr<Lowered> LowerKernels(const ir::Module& given, const CompileOptions& options) {
  return CatchErrors([&] {
    const ir::Module module = passes::ExpandRunTimeOps(given);
    const jit::ScopedThreads threads(options.threads);
    if (BecomesProgram(module)) {
      const auto [fused, extents, needs] = FuseProgram(module, options);
      return compiler::LowerKernelsOfParts(fused, StrategyOf(options, false), CodeOf(options),
                                           needs);
    }
    if (!compiler::HasSymbols(module)) return DoLower(module, options, {});
    auto [fused, kernels] = LowerForAll(module, options);
    Lowered lowered = compiler::ListedKernels(std::move(kernels));
    lowered.module = std::move(fused);
    return lowered;
  });
}
absl::StatusOr<Lowered> LowerFused(const ir::Module& fused, const CompileOptions& options) {
  return CatchErrors([&] {
    Prepare(fused, options);
    const jit::ScopedThreads threads(options.threads);
    const strategies::StrategyOptions strategy = StrategyOf(options, false);
    if (!compiler::HasSymbols(fused))
      return compiler::BuildPlan(fused, strategy, CodeOf(options), true);
    return PlanSymbolic(
        {.fused = fused, .kernels = compiler::LowerSymbolicKernels(fused, strategy)}, options);
  });
}
absl::StatusOr<Executable> Link(const Lowered& lowered, const CompileOptions& options) {
  return CatchErrors([&] { return DoLink(lowered, options); });
}
absl::StatusOr<int> FillCache(const Lowered& lowered, const CompileOptions& options, int part,
                              int parts) {
  return CatchErrors([&] {
    if (options.cache_dir.empty()) throw InvalidArgument("no folder for compiled code is named");
    return ValueOrThrow(
        jit::FillCache(compiler::FunctionsOf(lowered), CodeOf(options), part, parts));
  });
}
absl::StatusOr<Executable> Compile(const ir::Module& module, const CompileOptions& options) {
  return CatchErrors([&] { return DoCompile(module, options); });
}
absl::StatusOr<Executable> Compile(ir::Module&& module, const CompileOptions& options) {
  return CatchErrors([&] { return DoCompile(std::move(module), options); });
}

}  // namespace tenon
