// Legalize: replaces calls of operators by what a target has for them.
//
// An operator may have a column that rewrites its calls: by an operator that a code generator
// knows, or by several simpler ones. A plug-in fills the column; built-in operators leave it empty.
// Calls that a column makes are not looked at again. Requires checked types and leaves them.
//
//   registry.Definition("nn.dense").SetColumn(Legalization{
//       [](const ir::CallNode& call, const std::vector<ir::Expr>& args, const Target& target) {
//         return target.Has("avx512vnni") ? MyDense(call, args) : ir::Expr();
//       }});
#ifndef TENON_PASSES_LEGALIZE_H_
#define TENON_PASSES_LEGALIZE_H_

#include <functional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/target.h"

namespace tenon::passes {

// `call` has types, and `args` stand for its arguments. The result has the call's type; null leaves
// the call.
using LegalizeCall = std::function<ir::Expr(
    const ir::CallNode& call, const std::vector<ir::Expr>& args, const Target& target)>;

// The column.
struct Legalization {
  static constexpr const char* kName = "Legalization";
  LegalizeCall legalize;
};
// The column of quantised operators, which CanonicalizeQnn asks before its own rules. The result
// may hold other quantised operators.
struct QnnLegalization {
  static constexpr const char* kName = "QnnLegalization";
  LegalizeCall legalize;
};

// Both functions throw what InferType throws for results of other types, with a note that names the
// operators.
ir::Module Legalize(const ir::Module& module, const Target& target);
ir::Module LegalizeQnn(const ir::Module& module, const Target& target);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LEGALIZE_H_
