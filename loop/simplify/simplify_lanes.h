// Conditions of vectors that are the same in all lanes.
#ifndef TENON_LOOP_SIMPLIFY_SIMPLIFY_LANES_H_
#define TENON_LOOP_SIMPLIFY_SIMPLIFY_LANES_H_

#include <optional>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// A choice, conjunction, disjunction or negation of vectors whose condition, or one of whose
// operands, is one constant in all lanes, without it; nothing when `e` is another expression.
std::optional<Expr> SimplifyLanes(const Expr& e);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SIMPLIFY_LANES_H_
