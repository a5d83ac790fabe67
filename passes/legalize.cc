#include "tenon/passes/legalize.h"

#include <set>
#include <string>

#include "tenon/ir/visit.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

template <typename Column>
Expr Legalized(const Expr& original, const Expr& rebuilt, const Target& target,
               std::set<std::string>* legalized) {
  const auto* call = rebuilt.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr) return rebuilt;
  const auto* column = ops::OpOf(*call)->template Column<Column>();
  if (column == nullptr) return rebuilt;
  const Expr legal = column->legalize(*original.As<ir::CallNode>(), call->args, target);
  if (!legal) return rebuilt;
  legalized->insert(call->op()->name);
  return legal;
}

template <typename Column>
ir::Module LegalizeBy(const ir::Module& module, const Target& target) {
  std::set<std::string> legalized;
  const ir::Module result = module.Map([&](const Expr& function) {
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
      return Legalized<Column>(original, rebuilt, target, &legalized);
    });
  });
  if (result == module) return result;
  try {
    return InferType(result);
  } catch (const Error& error) {
    throw Error(error).AddNote(
        StrCat("in what ", Column::kName, " made of ", StrJoin(legalized, ", ")));
  }
}

}  // namespace

ir::Module Legalize(const ir::Module& module, const Target& target) {
  return LegalizeBy<Legalization>(module, target);
}
ir::Module LegalizeQnn(const ir::Module& module, const Target& target) {
  return LegalizeBy<QnnLegalization>(module, target);
}

}  // namespace tenon::passes
