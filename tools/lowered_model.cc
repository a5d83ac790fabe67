#include "tenon/tools/lowered_model.h"

#include <utility>

#include "tenon/support/error.h"

namespace tenon::tools {
namespace {

LoweredModel AsPlan(Lowered plan) { return {.program = {.whole = std::move(plan), .program = {}}}; }

}  // namespace

LoweredModel LowerModel(const ir::Module& module, LoweringOf goal, const CompileOptions& options) {
  if (goal == LoweringOf::kKernels) return AsPlan(ValueOrThrow(LowerKernels(module, options)));
  if (goal == LoweringOf::kPlan || !IsProgram(module))
    return AsPlan(ValueOrThrow(Lower(module, options)));
  return {.program = ValueOrThrow(LowerProgram(module, options)), .is_program = true};
}

}  // namespace tenon::tools
