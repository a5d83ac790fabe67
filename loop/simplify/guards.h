// Conditions of loops, taken apart. Shared by the transforms that turn conditions into bounds.
#ifndef TENON_LOOP_SIMPLIFY_GUARDS_H_
#define TENON_LOOP_SIMPLIFY_GUARDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// The operands of nested conjunctions.
void SplitConjunction(const Expr& condition, std::vector<Expr>* parts);
bool LoadsAnything(const Expr& expr);
// Takes `condition` into the range [begin, end) when it is c * v + a < b (or <=, >, >=) for the
// loop's variable v and a constant c.
bool Tighten(const Expr& condition, const Var& var, Expr* begin, Expr* end);

// A comparison of indices as `coefficient * v + rest <= 0` for the loop's variable v, which `rest`
// does not use and which does occur; nothing when it has no such form, or may wrap around.
struct LinearCondition {
  std::int64_t coefficient;
  Expr rest;
};
std::optional<LinearCondition> ToLinearCondition(const Expr& condition, const Var& var);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_GUARDS_H_
