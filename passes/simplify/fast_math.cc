#include "tenon/passes/simplify/fast_math.h"

#include <array>
#include <string_view>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/registry.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

constexpr std::array<std::pair<std::string_view, const char*>, 4> kFastNames = {{
    {"exp", "fast_exp"},
    {"erf", "fast_erf"},
    {"tanh", "fast_tanh"},
    {"nn.softmax", "nn.fast_softmax"},
}};

Expr Fast(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr || call->op() == nullptr) return e;
  for (const auto& [exact, fast] : kFastNames) {
    if (call->op()->name == exact)
      return ir::Call::Make(ops::OpRegistry::Global().Get(fast), call->args, call->attrs, e.span());
  }
  return e;
}

}  // namespace

ir::Module FastMath(const ir::Module& module) {
  return module.Map([](const Expr& function) {
    return ir::RewritePostOrder(function, [](const Expr& original, const Expr& rebuilt) {
      return ir::KeepType(original, Fast(rebuilt));
    });
  });
}

}  // namespace tenon::passes
