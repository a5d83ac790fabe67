// Quotients and remainders of split and fused axes, minima and maxima.
#include "tenon/loop/simplify/simplify_rules.h"

namespace tenon::loop {

std::vector<Rule> QuotientRules() {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  const Expr divides = c > 0 && d > 0 && FloorMod(c, d) == 0;
  return {
      {"quotient of a quotient", RuleDomain::kInt64, FloorDiv(FloorDiv(x, c), d),
       FloorDiv(x, c * d), c > 0 && d > 0 && c * d <= INT64_MAX},
      {"remainder of a remainder", RuleDomain::kInt64, FloorMod(FloorMod(x, c), d), FloorMod(x, d),
       divides},
      // The middle one of three fused axes.
      {"quotient of a remainder", RuleDomain::kInt64, FloorDiv(FloorMod(x, c), d),
       FloorMod(FloorDiv(x, d), FloorDiv(c, d)), divides},
      {"remainder by itself", RuleDomain::kInt64, FloorMod(x, x), 0 * x},
      {"what a remainder takes off divides", RuleDomain::kIndex, FloorMod(x - FloorMod(x, d), d),
       0 * x, d > 0},
      {"remainder of a multiple", RuleDomain::kIndex, FloorMod(x * y, y), 0 * x},
      {"remainder of a multiple, other side", RuleDomain::kIndex, FloorMod(x * y, x), 0 * x},
  };
}

std::vector<Rule> MinMaxRules() {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  return {
      {"min of itself", RuleDomain::kAny, Min(x, x), x},
      {"max of itself", RuleDomain::kAny, Max(x, x), x},
      {"min of min and constants", RuleDomain::kInt64, Min(Min(x, c), d), Min(x, Min(c, d))},
      {"max of max and constants", RuleDomain::kInt64, Max(Max(x, c), d), Max(x, Max(c, d))},
      {"min below a larger max", RuleDomain::kInt64, Min(Max(x, c), d), d, c >= d},
      {"max above a smaller min", RuleDomain::kInt64, Max(Min(x, c), d), d, c <= d},
      {"min absorbs max", RuleDomain::kInteger, Min(x, Max(x, y)), x},
      {"min absorbs max, second", RuleDomain::kInteger, Min(x, Max(y, x)), x},
      {"min absorbs max, other side", RuleDomain::kInteger, Min(Max(x, y), x), x},
      {"min absorbs max, second, other side", RuleDomain::kInteger, Min(Max(y, x), x), x},
      {"max absorbs min", RuleDomain::kInteger, Max(x, Min(x, y)), x},
      {"max absorbs min, second", RuleDomain::kInteger, Max(x, Min(y, x)), x},
      {"max absorbs min, other side", RuleDomain::kInteger, Max(Min(x, y), x), x},
      {"max absorbs min, second, other side", RuleDomain::kInteger, Max(Min(y, x), x), x},
      {"min repeats", RuleDomain::kInteger, Min(Min(x, y), y), Min(x, y)},
      {"min repeats, first", RuleDomain::kInteger, Min(Min(x, y), x), Min(x, y)},
      {"max repeats", RuleDomain::kInteger, Max(Max(x, y), y), Max(x, y)},
      {"max repeats, first", RuleDomain::kInteger, Max(Max(x, y), x), Max(x, y)},
      {"min of quotients", RuleDomain::kInt64, Min(FloorDiv(x, c), FloorDiv(y, c)),
       FloorDiv(Min(x, y), c), c > 0},
      {"max of quotients", RuleDomain::kInt64, Max(FloorDiv(x, c), FloorDiv(y, c)),
       FloorDiv(Max(x, y), c), c > 0},
  };
}

}  // namespace tenon::loop
