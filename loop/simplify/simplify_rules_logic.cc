// Comparisons, conditions and selections.
#include "tenon/loop/simplify/simplify_rules.h"

namespace tenon::loop {

std::vector<Rule> ComparisonRules() {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  // The new right side must be a number of 64 bits, too.
  const Expr fits = c > 0 && c * d >= INT64_MIN && c * d + c <= INT64_MAX;
  const Expr has_opposite = c > 0 && d != INT64_MIN && d != INT64_MAX;
  return {
      // A guard of a fused axis becomes a bound of it.
      {"quotient below", RuleDomain::kInt64, FloorDiv(x, c) < d, x < c * d, fits},
      {"quotient at least", RuleDomain::kInt64, FloorDiv(x, c) >= d, x >= c * d, fits},
      {"quotient at most", RuleDomain::kInt64, FloorDiv(x, c) <= d, x < c * d + c, fits},
      {"quotient above", RuleDomain::kInt64, FloorDiv(x, c) > d, x >= c * d + c, fits},
      {"multiple below", RuleDomain::kIndex, x * c < d, x < 0 - FloorDiv(0 - d, c), has_opposite},
      {"multiple at least", RuleDomain::kIndex, x * c >= d, x >= 0 - FloorDiv(0 - d, c),
       has_opposite},
      {"multiple at most", RuleDomain::kIndex, x * c <= d, x <= FloorDiv(d, c), c > 0},
      {"multiple above", RuleDomain::kIndex, x * c > d, x > FloorDiv(d, c), c > 0},
  };
}

std::vector<Rule> LogicRules() {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  return {
      {"double negation", RuleDomain::kBool, Not(Not(p)), p},
      {"both of the same", RuleDomain::kBool, p && p, p},
      {"either of the same", RuleDomain::kBool, p || p, p},
      {"both of opposites", RuleDomain::kBool, p && Not(p), p && False()},
      {"either of opposites", RuleDomain::kBool, p || Not(p), p || True()},
      {"both with a repeated condition", RuleDomain::kBool, (p && q) && q, p && q},
      {"both with a condition repeated before", RuleDomain::kBool, (p && q) && p, p && q},
      // NaN is neither below nor above, so only integers turn a comparison around.
      {"not below", RuleDomain::kInteger, Not(x < y), x >= y},
      {"not at most", RuleDomain::kInteger, Not(x <= y), x > y},
      {"not above", RuleDomain::kInteger, Not(x > y), x <= y},
      {"not at least", RuleDomain::kInteger, Not(x >= y), x < y},
      {"not equal", RuleDomain::kAny, Not(x == y), x != y},
      {"not different", RuleDomain::kAny, Not(x != y), x == y},
      {"below two constants", RuleDomain::kInt64, x < c && x < d, x < Min(c, d)},
      {"at least two constants", RuleDomain::kInt64, x >= c && x >= d, x >= Max(c, d)},
  };
}

std::vector<Rule> SelectRules() {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  return {
      {"selection of the same", RuleDomain::kAny, Select(p, x, x), x},
      {"selection by a negation", RuleDomain::kAny, Select(Not(p), x, y), Select(p, y, x)},
      {"selection inside the chosen side", RuleDomain::kAny, Select(p, Select(p, x, y), z),
       Select(p, x, z)},
      {"selection inside the other side", RuleDomain::kAny, Select(p, x, Select(p, y, z)),
       Select(p, x, z)},
      {"branches of the same", RuleDomain::kAny, IfThenElse(p, x, x), x},
      {"branches by a negation", RuleDomain::kAny, IfThenElse(Not(p), x, y), IfThenElse(p, y, x)},
      {"branches inside the taken branch", RuleDomain::kAny, IfThenElse(p, IfThenElse(p, x, y), z),
       IfThenElse(p, x, z)},
      {"branches inside the other branch", RuleDomain::kAny, IfThenElse(p, x, IfThenElse(p, y, z)),
       IfThenElse(p, x, z)},
  };
}

}  // namespace tenon::loop
