#include "tenon/benchmarks/compile_times.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "tenon/jit/kernel.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

// Compilations of each kernel that say which is the median one.
constexpr int kTrials = 3;

std::vector<LoweredKernel> GeneratedKernels(const ir::Module& module) {
  std::vector<LoweredKernel> kernels;
  for (LoweredKernel& kernel : ValueOrThrow(Lower(module)).kernels) {
    if (std::holds_alternative<loop::Function>(kernel.choice.built.kernel))
      kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// From the fused function to linked code.
void LowerAndCompile(const LoweredKernel& kernel) {
  const auto* function = kernel.function.As<ir::FunctionNode>();
  strategies::Group group{function, kernel.name, {}};
  group.constants.resize(function->params.size());
  const strategies::Choice choice = strategies::Choose(group, {.library = LibraryChoice::kTe});
  ValueOrThrow(jit::Compile(std::get<loop::Function>(choice.built.kernel)));
}

double BestSeconds(const LoweredKernel& kernel) {
  double best = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto start = std::chrono::steady_clock::now();
    LowerAndCompile(kernel);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

// The kernel that stands at `part` (0 to 1) of the way from the quickest to the slowest.
Contestants PrepareOne(const std::vector<LoweredKernel>& kernels, double part) {
  std::multimap<double, const LoweredKernel*> by_time;
  for (const LoweredKernel& kernel : kernels) by_time.emplace(BestSeconds(kernel), &kernel);
  auto chosen = by_time.begin();
  std::advance(chosen, static_cast<std::ptrdiff_t>(part * static_cast<double>(kernels.size() - 1)));
  const LoweredKernel kernel = *chosen->second;
  return {{Role::kTenon, kernel.name, [=] { LowerAndCompile(kernel); }}};
}

Contestants PrepareAll(const std::vector<LoweredKernel>& kernels) {
  std::vector<loop::Function> functions;
  for (const LoweredKernel& kernel : kernels)
    functions.push_back(std::get<loop::Function>(kernel.choice.built.kernel));
  return {
      {Role::kTenon, "CompileAll on two cores", [=] { ValueOrThrow(jit::CompileAll(functions)); }},
      {Role::kPeer, "one after the other", [=] {
         for (const loop::Function& function : functions) ValueOrThrow(jit::Compile(function));
       }}};
}

// The level that users get by default.
constexpr int kLevel = 3;

}  // namespace

void AddPassTimes(const std::string& model, const ir::Module& module, double seconds,
                  std::vector<Race>& races) {
  races.push_back({.table = "compile",
                   .name = StrCat("passes over ", model),
                   .aim = {.seconds = seconds},
                   .prepare = [=]() -> Contestants {
                     const passes::Pipeline pipeline =
                         passes::DefaultPipeline(strategies::EvaluateCall, kLevel,
                                                 {.fuse = {.mode = passes::FusionMode::kExtended}});
                     return {{Role::kTenon, StrCat(pipeline.size(), " passes"), [=] {
                                (void)passes::RunPasses(pipeline, module, {.opt_level = kLevel});
                              }}};
                   }});
}

namespace {

// Blocks of four calls: a matrix product, its bias, an activation and the sum with the block's
// input.
ir::Module ResidualBlocks(int calls) {
  constexpr std::int64_t kWidth = 16;
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({1, kWidth}, Float32));
  const ir::Expr weight = ir::Var::Make("weight", ir::TensorType({kWidth, kWidth}, Float32));
  const ir::Expr bias = ir::Var::Make("bias", ir::TensorType({kWidth}, Float32));
  ir::Expr y = x;
  for (int i = 0; i < calls / 4; ++i)
    y = ops::Add(ops::Relu(ops::Add(ops::Dense(y, weight), bias)), y);
  return ir::Module::FromExpr(y);
}

// Such blocks in which each product is a region, of which the pipeline makes a function.
ir::Module MarkedProducts(int regions) {
  const passes::CodeGenerator products{"products", [](const ir::Expr& call) {
                                         return call.As<ir::CallNode>()->op()->name == "nn.dense";
                                       }};
  return passes::AnnotateTarget(passes::InferType(ResidualBlocks(4 * regions)), {products});
}

}  // namespace

void AddGraphSizes(std::vector<Race>& races) {
  for (const int calls : {1'000, 10'000, 100'000})
    AddPassTimes(StrCat(calls, " calls in residual blocks"), ResidualBlocks(calls), 0, races);
  for (const int regions : {1'000, 10'000})
    AddPassTimes(StrCat(regions, " functions of a code generator"), MarkedProducts(regions), 0,
                 races);
}

void AddCompileTimes(const std::string& model, const ir::Module& module, std::vector<Race>& races) {
  const std::vector<LoweredKernel> kernels = GeneratedKernels(module);
  Require(!kernels.empty(), "the model has no generated kernel");
  const std::string of = StrCat(" of ", kernels.size(), " kernels of the ", model);
  races.push_back(
      {.table = "compile", .name = StrCat("median", of), .aim = {.seconds = 15e-3}, .prepare = [=] {
         return PrepareOne(kernels, 0.5);
       }});
  races.push_back({.table = "compile", .name = StrCat("slowest", of), .prepare = [=] {
                     return PrepareOne(kernels, 1);
                   }});
  races.push_back({.table = "compile",
                   .name = StrCat("all ", kernels.size(), " kernels of the ", model),
                   .threads = 2,
                   .aim = {.of_peer = 1.6},
                   .prepare = [=] { return PrepareAll(kernels); }});
}

}  // namespace tenon::benchmarks
