#include "tenon/compiler/run_time_extents.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/index_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"

namespace tenon::compiler {

using ir::Expr;

RunTimeExtents SplitRunTimeExtents(const ir::Module& module) {
  const Expr take_first = ops::OpRegistry::Global().Get("take_first");
  const auto call_of = [&](const Expr& e) -> const ir::CallNode* {
    const auto* call = e.As<ir::CallNode>();
    return call != nullptr && call->callee == take_first ? call : nullptr;
  };
  const ir::FunctionNode& main = module.Main();
  const auto* tuple = main.body.As<ir::TupleNode>();
  std::vector<Expr> results = tuple != nullptr ? tuple->fields : std::vector<Expr>{main.body};
  RunTimeExtents split{.module = module, .extents = {}};
  std::vector<Expr> counts;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto* call = call_of(results[i]);
    if (call == nullptr) continue;
    const auto axis = static_cast<std::size_t>(call->attrs.As<ops::TakeFirstAttrs>().axis);
    split.extents.push_back({.result = i, .axis = axis, .count = results.size() + counts.size()});
    counts.push_back(call->args[1]);
    results[i] = call->args[0];
  }
  results.insert(results.end(), counts.begin(), counts.end());
  const Expr body = counts.empty() ? main.body : ir::Tuple::Make(std::move(results));
  ir::VisitPostOrder(body, [&](const Expr& e) {
    if (call_of(e) == nullptr) return;
    throw Unimplemented(
        "take_first: the extent is known at run time only, so that it can be a result of the model "
        "and nothing else; other operators need shapes that are known before")
        .At(e.span());
  });
  if (counts.empty()) return split;
  split.module = module.With("main", ir::Function::Make(main.params, body, ir::Type(), main.attrs));
  return split;
}

}  // namespace tenon::compiler
