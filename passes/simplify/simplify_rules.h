// The families of rules that SimplifyExpr tries. A rule gets a typed call of an operator. It
// returns a typed expression of the same type and value, or null when it does not apply.
#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_RULES_H_
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_RULES_H_

#include <functional>

#include "tenon/ir/expr.h"

namespace tenon::passes {

struct SimplifyContext {
  // Whether only the call at hand reads the value.
  std::function<bool(const ir::Expr& e)> has_one_reader;
};
using SimplifyRule = ir::Expr (*)(const ir::CallNode& call, const SimplifyContext& context);

ir::Expr SimplifyArithmetic(const ir::CallNode& call, const SimplifyContext& context);
ir::Expr SimplifyCasts(const ir::CallNode& call, const SimplifyContext& context);
ir::Expr SimplifyPads(const ir::CallNode& call, const SimplifyContext& context);
ir::Expr SimplifyShapes(const ir::CallNode& call, const SimplifyContext& context);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_SIMPLIFY_RULES_H_
