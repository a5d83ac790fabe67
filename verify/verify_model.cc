#include "tenon/verify/verify_model.h"

#include <algorithm>

#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/control/references_to_values.h"
#include "tenon/passes/expand_run_time_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/inline.h"
#include "tenon/passes/name_run_time_extents.h"
#include "tenon/passes/precision/widen_half_floats.h"
#include "tenon/runtime/input_symbols.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/interpret.h"

namespace tenon {
namespace {

using Arrays = std::vector<NDArray>;

Arrays RunCompiled(const ir::Module& module, const runtime::Inputs& inputs,
                   const CompileOptions& options) {
  return ValueOrThrow(ValueOrThrow(Compile(module, options)).Run(inputs));
}

// Whether a function is called that is a value, which the interpreter does not know.
bool CallsFunctionValues(const ir::Module& module) {
  bool found = false;
  for (const auto& [name, function] : module.functions()) {
    ir::VisitPostOrder(function, [&](const ir::Expr& e) {
      const auto* call = e.As<ir::CallNode>();
      if (call == nullptr) return;
      const ir::ExprKind callee = call->callee.kind();
      found = found || (callee != ir::ExprKind::kOp && callee != ir::ExprKind::kGlobalVar &&
                        callee != ir::ExprKind::kFunction);
    });
  }
  return found;
}

// With such functions where they are called.
ir::Module WithoutFunctionValues(const ir::Module& module) {
  if (!CallsFunctionValues(module)) return module;
  return passes::Inline(passes::ReferencesToValues(module), passes::InlineRule::kAll);
}

Arrays RunInterpreted(const ir::Module& module, const runtime::Inputs& inputs) {
  const ir::Module typed = passes::InferType(passes::NameRunTimeExtents(
      compiler::NameExtents(passes::ExpandRunTimeOps(WithoutFunctionValues(module)))));
  // Checks the inputs.
  if (compiler::HasSymbols(typed))
    (void)runtime::InputSymbols(compiler::InputsOf(typed.Main())).Solve(inputs);
  Arrays by_parameter;
  for (const ir::Expr& param : typed.Main().params) {
    const std::string& name = param.As<ir::VarNode>()->name;
    const auto found = inputs.find(name);
    if (found == inputs.end()) throw InvalidArgument(StrCat("input '", name, "' is missing"));
    by_parameter.push_back(found->second);
  }
  // Sums of halves are defined in float32 (docs/numerics.md).
  return verify::Interpret(passes::WidenHalfFloats(typed), by_parameter);
}

// Fused values are rounded less often, which moves a result by a few units in its last place.
constexpr double kUnits = 4;

double ToleranceFor(DataType type, double tolerance) {
  if (type == Float16) return std::max(tolerance, kUnits * 0x1p-10);
  if (type == BFloat16) return std::max(tolerance, kUnits * 0x1p-7);
  return tolerance;
}

double Compare(const Arrays& model, const Arrays& other, const char* what, double tolerance) {
  CheckInvariant(model.size() == other.size(), "every way to run a model gives all its results");
  double largest = 0;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const double scale = verify::LargestMagnitude(other[i]);
    const double allowed = ToleranceFor(other[i].dtype(), tolerance);
    if (const auto difference = verify::FirstDifference(model[i], other[i], allowed * scale))
      throw DataLoss(StrCat("verify: result ", i, " at ", ShapeToString(difference->index), " is ",
                            difference->actual, ", but ", difference->expected, " ", what,
                            "; results may differ by ", allowed, " of their largest element, ",
                            scale));
    if (scale > 0)
      largest = std::max(largest, verify::LargestDifference(model[i], other[i]) / scale);
  }
  return largest;
}

}  // namespace

std::string ModelVerification::ToString() const {
  return StrCat("verified: the largest difference from the model without fusion is ", unfused,
                ", from the interpreter ", interpreted, " (of a result's largest element)");
}

absl::StatusOr<ModelVerification> VerifyModel(const ir::Module& module,
                                              const runtime::Inputs& inputs,
                                              const CompileOptions& options, double tolerance) {
  return CatchErrors([&] {
    // The interpreter runs first: it reports a compute that reads outside its inputs, where kernels
    // read on.
    const Arrays interpreted = RunInterpreted(module, inputs);
    const Arrays model = RunCompiled(module, inputs, options);
    CompileOptions unfused = options;
    unfused.opt_level = 0;
    unfused.library = LibraryChoice::kTe;
    ModelVerification verification;
    verification.unfused =
        Compare(model, RunCompiled(module, inputs, unfused), "without fusion", tolerance);
    verification.interpreted = Compare(model, interpreted, "by the interpreter", tolerance);
    return verification;
  });
}

}  // namespace tenon
