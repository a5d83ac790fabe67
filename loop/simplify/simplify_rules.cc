// Matching is by structure: a placeholder that occurs twice matches equal expressions only.
#include "tenon/loop/simplify/simplify_rules.h"

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"

namespace tenon::loop {
namespace {

class Matcher {
 public:
  bool Match(const Expr& pattern, const Expr& expr) {
    if (pattern.kind() == ExprKind::kVar) return Bind(pattern, expr);
    if (pattern.kind() != expr.kind()) return false;
    switch (pattern.kind()) {
      case ExprKind::kIntImm:
        return pattern.dtype() == expr.dtype() &&
               pattern.As<IntImmNode>()->value == expr.As<IntImmNode>()->value;
      case ExprKind::kBinary: {
        const auto &p = *pattern.As<BinaryNode>(), &e = *expr.As<BinaryNode>();
        return p.op == e.op && Match(p.a, e.a) && Match(p.b, e.b);
      }
      case ExprKind::kNot:
        return Match(pattern.As<NotNode>()->a, expr.As<NotNode>()->a);
      case ExprKind::kSelect: {
        const auto &p = *pattern.As<SelectNode>(), &e = *expr.As<SelectNode>();
        return p.lazy == e.lazy && Match(p.condition, e.condition) && Match(p.on_true, e.on_true) &&
               Match(p.on_false, e.on_false);
      }
      default:
        return false;
    }
  }

  const ExprMap& bindings() const { return bindings_; }

 private:
  bool Bind(const Expr& placeholder, const Expr& expr) {
    const Placeholders& all = RulePlaceholders();
    const bool is_constant = placeholder.same_as(all.c) || placeholder.same_as(all.d);
    if (is_constant && (expr.kind() != ExprKind::kIntImm || expr.dtype() != Int64)) return false;
    const bool is_bool = placeholder.same_as(all.p) || placeholder.same_as(all.q);
    if (is_bool && !expr.dtype().is_bool()) return false;
    const auto [bound, is_new] = bindings_.emplace(placeholder, expr);
    return is_new || StructuralEqual(bound->second, expr);
  }

  ExprMap bindings_;
};

bool IsInDomain(RuleDomain domain, DataType type, bool is_index) {
  switch (domain) {
    case RuleDomain::kIndex:
      return is_index && type == Int64;
    case RuleDomain::kInt64:
      return type == Int64;
    case RuleDomain::kInteger:
      return type.is_integral() && !type.is_bool();
    case RuleDomain::kAny:
      return true;
    case RuleDomain::kBool:
      return type.is_bool();
  }
  return false;
}

// Computes a condition; bools are 0 and 1.
class Condition {
 public:
  Condition(std::int64_t c, std::int64_t d) : c_(c), d_(d) {}

  __int128 operator()(const Expr& e) const {
    if (const auto* imm = e.As<IntImmNode>()) return imm->value;
    if (e.kind() == ExprKind::kVar) return e.same_as(RulePlaceholders().c) ? c_ : d_;
    CheckInvariant(e.kind() == ExprKind::kBinary, "conditions are of two operands");
    const auto& node = *e.As<BinaryNode>();
    const __int128 a = (*this)(node.a), b = (*this)(node.b);
    switch (node.op) {
      case BinaryOp::kAnd:
        return a & b;
      case BinaryOp::kAdd:
        return a + b;
      case BinaryOp::kMul:
        return a * b;
      case BinaryOp::kFloorMod:
        return b == 0 ? 0 : a % b;  // asked for a = 0 alone, where every way to round agrees
      case BinaryOp::kNE:
        return a != b;
      case BinaryOp::kEQ:
        return a == b;
      case BinaryOp::kLT:
        return a < b;
      case BinaryOp::kLE:
        return a <= b;
      case BinaryOp::kGT:
        return a > b;
      case BinaryOp::kGE:
        return a >= b;
      default:
        Unreachable("conditions are comparisons of sums, products and remainders");
    }
  }

 private:
  std::int64_t c_, d_;
};

}  // namespace

bool Meets(const Expr& condition, std::int64_t c, std::int64_t d) {
  return !condition.defined() || Condition(c, d)(condition) != 0;
}

const Placeholders& RulePlaceholders() {
  static const Placeholders placeholders{Var("x"),       Var("y"), Var("z"), Var("p", Bool),
                                         Var("q", Bool), Var("c"), Var("d")};
  return placeholders;
}

const std::vector<Rule>& SimplifyRules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const auto& group :
         {QuotientRules(), MinMaxRules(), ComparisonRules(), LogicRules(), SelectRules()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return rules;
}

std::optional<Expr> ApplyRules(const std::vector<Rule>& rules, const Expr& expr, bool is_index) {
  const Placeholders& all = RulePlaceholders();
  for (const Rule& rule : rules) {
    Matcher matcher;
    if (!matcher.Match(rule.pattern, expr)) continue;
    const ExprMap& bound = matcher.bindings();
    const auto x = bound.find(all.x);
    const DataType type = x != bound.end() ? x->second.dtype() : Bool;
    if (!IsInDomain(rule.domain, type, is_index)) continue;
    const auto constant = [&](const Expr& placeholder) {
      const auto found = bound.find(placeholder);
      return found == bound.end() ? 0 : found->second.As<IntImmNode>()->value;
    };
    if (!Meets(rule.condition, constant(all.c), constant(all.d))) continue;
    return Substitute(rule.replacement, bound);
  }
  return std::nullopt;
}

}  // namespace tenon::loop
