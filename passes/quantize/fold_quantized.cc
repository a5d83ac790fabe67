#include "tenon/passes/quantize/fold_quantized.h"

#include <algorithm>

#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/quantize/canonicalize_qnn.h"

namespace tenon::passes {
namespace {

using ir::Expr;

bool IsConstant(const Expr& e) {
  const auto* tuple = e.As<ir::TupleNode>();
  return tuple == nullptr ? e.kind() == ir::ExprKind::kConstant
                          : std::all_of(tuple->fields.begin(), tuple->fields.end(), IsConstant);
}

// The value of a quantised call over constants. It is `e` itself if that is no such call, or if the
// value is too costly.
Expr Folded(const Expr& e, const ConstantEvaluator& evaluate, const Target& target) {
  const auto* call = e.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr || !call->op()->name.starts_with("qnn.") ||
      !std::all_of(call->args.begin(), call->args.end(), IsConstant))
    return e;
  const ir::Module written = CanonicalizeQnn(InferType(ir::Module::FromExpr(e)), target);
  const Expr value = FoldConstant(written.Main().body, evaluate);
  return IsConstant(value) ? value : e;
}

}  // namespace

ir::Module FoldQuantized(const ir::Module& module, const ConstantEvaluator& evaluate,
                         const Target& target) {
  ir::Module folded = FoldConstant(module, evaluate);
  while (true) {
    const ir::Module next = folded.Map([&](const Expr& function) {
      return ir::RewritePostOrder(
          function,
          [&](const Expr& original, const Expr& rebuilt) {
            return ir::KeepType(original, Folded(rebuilt, evaluate, target));
          },
          [](const Expr& e) {
            const auto* inner = e.As<ir::FunctionNode>();
            return inner == nullptr || !inner->is_primitive();
          });
    });
    if (next == folded) return folded;
    // A value may let ordinary calls fold, and these quantised ones.
    folded = FoldConstant(InferType(next), evaluate);
  }
}

}  // namespace tenon::passes
