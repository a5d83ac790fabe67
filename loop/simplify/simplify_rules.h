// Rules of simplification as data: what matches the pattern equals the replacement.
//
// Patterns are expressions over placeholders: x, y, z and p stand for any expression, c and d for
// integer constants, for which `condition` must hold. A rule says for which values it holds, and
// the tests prove it for all of them (tests/loop/simplify_proofs_test.cc). So a rule is its name
// and expressions, and nothing else.
//
//   for (const Rule& rule : SimplifyRules()) ...
//   std::optional<Expr> simpler = ApplyRules(SimplifyRules(), expr, /*is_index=*/true);
#ifndef TENON_LOOP_SIMPLIFY_SIMPLIFY_RULES_H_
#define TENON_LOOP_SIMPLIFY_SIMPLIFY_RULES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// What the rule's x (or, without one, its p) may be.
enum class RuleDomain {
  kIndex,    // int64 arithmetic that is proved not to wrap around
  kInt64,    // any int64
  kInteger,  // signed and unsigned integers of any width
  kAny,      // of any type, NaN and -0 included
  kBool,
};

struct Rule {
  std::string_view name;
  RuleDomain domain;
  Expr pattern, replacement;
  // A condition on the constants c and d, over integers without bound. Null: any constants.
  Expr condition = {};
};

// Whether the constants meet a rule's condition. What it computes must fit 128 bits.
bool Meets(const Expr& condition, std::int64_t c, std::int64_t d);

// The placeholders of all rules. They have the type int64, except p, which has bool. An expression
// of any type of the rule's domain may stand for x, y and z.
struct Placeholders {
  Var x, y, z, p, q, c, d;
};
const Placeholders& RulePlaceholders();

// The rules, grouped by what they rewrite.
std::vector<Rule> QuotientRules();
std::vector<Rule> MinMaxRules();
std::vector<Rule> ComparisonRules();
std::vector<Rule> LogicRules();
std::vector<Rule> SelectRules();

// All rules.
const std::vector<Rule>& SimplifyRules();

// What the first rule that matches makes of `expr` itself (not of its operands). Nothing if no rule
// matches. `is_index` says that nothing that `expr` compares or divides wraps around.
std::optional<Expr> ApplyRules(const std::vector<Rule>& rules, const Expr& expr, bool is_index);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SIMPLIFY_RULES_H_
