// Which expressions of a function may do more than give a value.
//
//   const std::unordered_set<ir::Expr, ir::ExprHash> effects = WithEffects(function);
//   if (!effects.contains(tuple)) ...  // its fields may stand alone
#ifndef TENON_PASSES_EFFECTS_H_
#define TENON_PASSES_EFFECTS_H_

#include <unordered_set>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// The expressions of a typed function that may write references, or have another effect: calls of
// operators with state, calls that are handed references, and what reads these. Empty for nearly
// all functions.
std::unordered_set<ir::Expr, ir::ExprHash> WithEffects(const ir::Expr& function);

}  // namespace tenon::passes

#endif  // TENON_PASSES_EFFECTS_H_
