#include "tenon/tools/lowered_model.h"

#include <optional>
#include <utility>

#include "tenon/compiler/export.h"
#include "tenon/support/error.h"

namespace tenon::tools {
namespace {

LoweredModel AsPlan(Lowered plan) { return {.program = {.whole = std::move(plan), .program = {}}}; }

// Both branches of its ifs are computed and its loops are unrolled. Nothing where that cannot be.
std::optional<ir::Module> WithoutControlFlow(ModelArguments model,
                                             const CompileArguments& compile) {
  model.control_flow = false;
  try {
    ir::Module module = compile.Partitioned(LoadModel(model).module);
    if (!IsProgram(module)) return module;
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
  }
  return std::nullopt;
}

}  // namespace

LoweredModel LowerModel(const ir::Module& module, LoweringOf goal, const CompileOptions& options,
                        const ModelArguments& model, const CompileArguments& compile) {
  if (goal == LoweringOf::kKernels) return AsPlan(ValueOrThrow(LowerKernels(module, options)));
  if (goal == LoweringOf::kPlan || !IsProgram(module))
    return AsPlan(ValueOrThrow(Lower(module, options)));
  LoweredModel made{.program = ValueOrThrow(LowerProgram(module, options)), .is_program = true};
  const absl::Status status =
      goal == LoweringOf::kExported ? CheckExport(made.program) : absl::OkStatus();
  if (status.ok()) return made;
  const std::optional<ir::Module> plain = WithoutControlFlow(model, compile);
  if (!plain) throw FromStatus(status);
  // What is said of passes is said of what is exported.
  if (options.fusion_report != nullptr) *options.fusion_report = {};
  if (options.folding_report != nullptr) *options.folding_report = {};
  return AsPlan(ValueOrThrow(Lower(*plain, options)));
}

}  // namespace tenon::tools
