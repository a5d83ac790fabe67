// Conditions of vectors that are the same in all lanes.
#ifndef TENON_LOOP_SIMPLIFY_SIMPLIFY_LANES_H_
#define TENON_LOOP_SIMPLIFY_SIMPLIFY_LANES_H_

#include <optional>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// Simplifies a choice, conjunction, disjunction or negation of vectors if its condition or one of
// its operands is the same constant in all lanes, and gives it without that part. Nothing for other
// expressions.
std::optional<Expr> SimplifyLanes(const Expr& e);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SIMPLIFY_LANES_H_
