// Parts whose extents are numbers are planned first, and the code of all of them is made at the
// same time. Each part with variables is a model of its own.
#include "tenon/compiler/control/build_program.h"

#include <memory>
#include <set>
#include <utility>

#include "tenon/compiler/control/program_outline.h"
#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/link.h"
#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/symbolic/symbolic_model.h"
#include "tenon/runtime/input_symbols.h"
#include "tenon/runtime/program.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

runtime::ProgramPart SymbolicPart(const Expr& function, const std::set<std::string>& symbols,
                                  const strategies::StrategyOptions& strategy,
                                  const jit::CompileOptions& code, int threads) {
  const auto model =
      std::make_shared<SymbolicModel>(ir::Module().With("main", function), strategy, code, threads);
  return {.executable = Executable(
              {.plan = {}, .kernels = model->Callables(), .constants = {}, .threads = threads}),
          .symbols = {symbols.begin(), symbols.end()},
          .bind = [model](const Dim::Values& values) { return model->Bind(values); }};
}

std::vector<runtime::ProgramPart> MakeParts(const std::vector<Expr>& functions,
                                            const strategies::StrategyOptions& strategy,
                                            const jit::CompileOptions& code, int threads) {
  std::vector<Lowered> lowered;
  std::vector<std::set<std::string>> symbols;  // by function
  for (const Expr& function : functions) {
    symbols.push_back(SymbolsOfPart(function));
    if (symbols.back().empty())
      lowered.push_back(BuildPlan(ir::Module().With("main", function), strategy, code, false));
  }
  const std::vector<Executable> linked = AllLinked(lowered, code, threads);
  auto next = linked.begin();
  std::vector<runtime::ProgramPart> parts;
  for (std::size_t i = 0; i < functions.size(); ++i)
    parts.push_back(symbols[i].empty()
                        ? runtime::ProgramPart{*next++}
                        : SymbolicPart(functions[i], symbols[i], strategy, code, threads));
  return parts;
}

}  // namespace

Executable BuildProgram(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                        const jit::CompileOptions& code, int threads,
                        const std::vector<runtime::RunTimeExtent>& extents,
                        const std::vector<ExtentCondition>& needs) {
  ProgramOutline outline = OutlineProgram(fused);
  const auto program = std::make_shared<runtime::Program>();
  program->functions = std::move(outline.functions);
  program->constants = std::move(outline.constants);
  program->parts = MakeParts(outline.parts, strategy, code, threads);
  program->extents = extents;
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  for (const runtime::ProgramPart& part : program->parts)
    kernels.insert(kernels.end(), part.executable.kernels().begin(),
                   part.executable.kernels().end());
  const auto symbols = std::make_shared<const runtime::InputSymbols>(InputsOf(fused.Main()), needs);
  if (!symbols->names().empty())
    program->solve = [symbols](const runtime::Inputs& given) { return symbols->Solve(given); };
  return Executable({.plan = {},
                     .kernels = std::move(kernels),
                     .constants = {},
                     .threads = threads,
                     .bind = nullptr,
                     .inputs = symbols->inputs(),
                     .program = program});
}

}  // namespace tenon::compiler
