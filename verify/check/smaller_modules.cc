#include "tenon/verify/check/smaller_modules.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;

// The module of this body, without the parameters that nothing reads.
RandomModule WithBody(const RandomModule& given, const std::vector<Expr>& params, const Expr& body,
                      const std::vector<NDArray>& inputs) {
  std::vector<Expr> read;
  std::vector<NDArray> values;
  const std::vector<ir::Var> free = ir::FreeVars(body);
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (std::find(free.begin(), free.end(), params[i]) == free.end()) continue;
    read.push_back(params[i]);
    values.push_back(inputs[i]);
  }
  return {passes::InferType(given.module.With("main", ir::Function::Make(std::move(read), body))),
          std::move(values), given.floats};
}

}  // namespace

std::vector<RandomModule> SmallerModules(const RandomModule& given, int* inputs_made) {
  std::vector<RandomModule> smaller;
  const ir::FunctionNode& main = given.module.Main();
  if (const auto* tuple = main.body.As<ir::TupleNode>()) {
    for (const Expr& field : tuple->fields)
      smaller.push_back(WithBody(given, main.params, field, given.inputs));
  }
  const GraphValues values = InterpretEach(given.module, main, given.inputs);
  std::vector<Expr> calls;
  ir::VisitPostOrder(main.body, [&](const Expr& e) {
    if (e.kind() == ir::ExprKind::kCall && !(e == main.body)) calls.push_back(e);
  });
  for (const Expr& call : calls) {
    // What a branch that did not run computes has no value, and an input has no extent that a
    // value decides.
    if (!ir::IsStaticTensor(call.checked_type()) || !values.contains(call)) continue;
    const Expr var = ir::Var::MakeChecked(StrCat("r", (*inputs_made)++), call.checked_type(), {});
    std::vector<Expr> params = main.params;
    std::vector<NDArray> inputs = given.inputs;
    params.push_back(var);
    inputs.push_back(values.at(call).at(0));
    const Expr body =
        ir::RewritePostOrder(main.body, [&](const Expr& original, const Expr& rewritten) {
          return original == call ? var : ir::KeepType(original, rewritten);
        });
    smaller.push_back(WithBody(given, params, body, inputs));
  }
  return smaller;
}

}  // namespace tenon::verify
