#include "tenon/passes/quantize/require_integers.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

bool IsCallOf(const Expr& e, const char* op) {
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->op() != nullptr && call->op()->name == op;
}

// The first call whose value comes from a qnn.dequantize and goes into a qnn.quantize. Null if
// there is none.
const ir::CallNode* FirstBetween(const Expr& function) {
  std::vector<Expr> order;
  std::unordered_set<Expr, ir::ExprHash> real;  // values that come from integers
  ir::VisitPostOrder(function, [&](const Expr& e) {
    order.push_back(e);
    const std::vector<Expr> children = ir::Children(e);
    const bool is_real = IsCallOf(e, "qnn.dequantize") ||
                         std::any_of(children.begin(), children.end(),
                                     [&](const Expr& child) { return real.contains(child); });
    if (is_real && !IsCallOf(e, "qnn.quantize")) real.insert(e);
  });
  std::unordered_set<Expr, ir::ExprHash> quantized;  // values that go into integers
  for (auto e = order.rbegin(); e != order.rend(); ++e) {
    if (!IsCallOf(*e, "qnn.quantize") && !quantized.contains(*e)) continue;
    if (IsCallOf(*e, "qnn.dequantize")) continue;
    for (const Expr& child : ir::Children(*e)) quantized.insert(child);
  }
  for (const Expr& e : order) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr && real.contains(e) && quantized.contains(e) &&
        !call->op()->name.starts_with("qnn."))
      return call;
  }
  return nullptr;
}

}  // namespace

ir::Module RequireIntegers(const ir::Module& module) {
  for (const auto& [name, function] : module.functions()) {
    const ir::CallNode* call = FirstBetween(function);
    if (call == nullptr) continue;
    throw Unimplemented(StrCat(call->op()->name, " in @", name,
                               " stays in floating point between qnn.dequantize and qnn.quantize"))
        .At(call->span);
  }
  return module;
}

}  // namespace tenon::passes
