// A goal is a pair of a pattern and an expression. Goals are solved in order. A goal that succeeds
// puts the goals of its parts before the rest and continues. At a choice, the first way that solves
// all of the rest wins; bindings are undone between ways. Goals live on the stack as a linked list,
// so each stack frame is one part of the pattern.
#include "tenon/passes/pattern/pattern_match.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"

namespace tenon::passes {

using ir::Expr;

ir::Expr Bindings::Find(const Pattern& pattern) const {
  const auto found = by_pattern_.find(pattern.get());
  return found == by_pattern_.end() ? Expr() : found->second;
}

ir::Expr Bindings::At(const Pattern& pattern) const {
  const Expr found = Find(pattern);
  if (!found) throw NotFound("this pattern took no part in the match");
  return found;
}

UseMap UsesInside(const Expr& scope) {
  UseMap uses;
  ir::VisitPostOrder(scope, [&](const Expr& e) {
    for (const Expr& child : ir::Children(e)) uses[child].push_back(e);
  });
  return uses;
}

struct Matcher::Goals {
  const Pattern& pattern;
  const Expr& expr;
  const Goals* next;
};

// Undoes bindings unless the way succeeded.
struct Matcher::Undo {
  explicit Undo(Matcher* m)
      : matcher(*m),
        bound(m->trail_.size()),
        matched(m->bindings_.matched_.size()),
        comparisons(m->comparisons_.size()) {}
  bool operator()(bool succeeded) const {
    if (!succeeded) {
      matcher.Rewind(bound, matched);
      matcher.comparisons_.resize(comparisons);
    }
    return succeeded;
  }
  Matcher& matcher;
  const std::size_t bound, matched, comparisons;
};

namespace {

bool IsCommutative(const Expr& callee) {
  const auto& known = ops::Known();
  return callee == known.add || callee == known.multiply || callee == known.maximum ||
         callee == known.minimum;
}

}  // namespace

std::optional<Bindings> Matcher::Match(const Pattern& pattern, const Expr& expr) {
  if (!pattern) throw InvalidArgument("a pattern is null; make it by IsOp, Wildcard or others");
  if (!expr) throw InvalidArgument("the expression that a pattern is matched with is null");
  bindings_ = {};
  trail_.clear();
  comparisons_.clear();
  const Goals goal{pattern, expr, nullptr};
  if (!Solve(&goal)) return std::nullopt;
  return std::move(bindings_);
}

void Matcher::Bind(const PatternNode* pattern, const Expr& expr, bool is_matched) {
  bindings_.by_pattern_.emplace(pattern, expr);
  trail_.push_back(pattern);
  if (is_matched) bindings_.matched_.push_back(expr);
}

void Matcher::Rewind(std::size_t bound, std::size_t matched) {
  while (trail_.size() > bound) {
    bindings_.by_pattern_.erase(trail_.back());
    trail_.pop_back();
  }
  bindings_.matched_.resize(matched);
}

const UseMap& Matcher::uses() {
  if (!uses_) uses_ = UsesInside(scope_);
  return *uses_;
}

bool Matcher::MatchesAlone(const Pattern& pattern, const Expr& expr) {
  const Undo undo(this);
  const std::size_t outer = std::exchange(first_comparison_, comparisons_.size());
  const Goals goal{pattern, expr, nullptr};
  const bool matches = Solve(&goal);
  first_comparison_ = outer;
  undo(false);
  return matches;
}

bool Matcher::ShapesAgree() const {
  return std::all_of(comparisons_.begin() + static_cast<std::ptrdiff_t>(first_comparison_),
                     comparisons_.end(), [&](const ShapeComparison& comparison) {
                       const Expr other = bindings_.Find(comparison.other);
                       if (!other) return false;
                       const auto* a = comparison.expr.checked_type().As<ir::TensorTypeNode>();
                       const auto* b = other.checked_type().As<ir::TensorTypeNode>();
                       return a != nullptr && b != nullptr && a->shape == b->shape;
                     });
}

bool Matcher::SolveAll(const std::vector<Pattern>& patterns, const std::vector<Expr>& exprs,
                       const Goals* rest) {
  if (patterns.size() != exprs.size()) return false;
  std::vector<Goals> goals;
  goals.reserve(patterns.size());
  for (std::size_t i = patterns.size(); i-- > 0;) {
    goals.push_back({patterns[i], exprs[i], rest});
    rest = &goals.back();
  }
  return Solve(rest);
}

bool Matcher::SolveCall(const CallPattern& pattern, const Expr& expr, const Goals* rest) {
  const auto* call = expr.As<ir::CallNode>();
  if (call == nullptr) return false;
  if (!pattern.args) {
    const Goals callee{pattern.callee, call->callee, rest};
    return Solve(&callee);
  }
  if (pattern.args->size() != call->args.size()) return false;
  std::vector<Pattern> patterns = {pattern.callee};
  patterns.insert(patterns.end(), pattern.args->begin(), pattern.args->end());
  std::vector<Expr> exprs = {call->callee};
  exprs.insert(exprs.end(), call->args.begin(), call->args.end());
  const Undo undo(this);
  if (undo(SolveAll(patterns, exprs, rest))) return true;
  if (call->args.size() != 2 || !IsCommutative(call->callee)) return false;
  std::swap(exprs[1], exprs[2]);
  return undo(SolveAll(patterns, exprs, rest));
}

// Solves one goal by the kind of its pattern, and the rest.
struct Matcher::KindSolver {
  Matcher& matcher;
  const PatternNode* node;
  const Expr& e;
  const Goals* rest;

  void Bind(bool is_matched = false) const { matcher.Bind(node, e, is_matched); }
  bool Leaf(bool matches) const {
    if (!matches) return false;
    Bind();
    return matcher.Solve(rest);
  }
  bool operator()(const WildcardPattern&) const { return Leaf(true); }
  bool operator()(const IsOpPattern& p) const { return Leaf(e == p.op); }
  bool operator()(const IsVarPattern& p) const {
    return Leaf(e.kind() == ir::ExprKind::kVar && (p.name.empty() || ir::Var(e).name() == p.name));
  }
  bool operator()(const IsConstantPattern&) const {
    return Leaf(e.kind() == ir::ExprKind::kConstant);
  }
  bool operator()(const IsExprPattern& p) const { return Leaf(ir::StructuralEqual(e, p.expr)); }
  bool operator()(const CallPattern& p) const {
    Bind(true);
    return matcher.SolveCall(p, e, rest);
  }
  bool operator()(const TuplePattern& p) const {
    const auto* tuple = e.As<ir::TupleNode>();
    if (tuple == nullptr) return false;
    Bind(true);
    return p.fields ? matcher.SolveAll(*p.fields, tuple->fields, rest) : matcher.Solve(rest);
  }
  bool operator()(const TupleGetItemPattern& p) const {
    const auto* item = e.As<ir::TupleGetItemNode>();
    if (item == nullptr || (p.index && *p.index != item->index)) return false;
    Bind(true);
    const Goals tuple{p.tuple, item->tuple, rest};
    return matcher.Solve(&tuple);
  }
  bool operator()(const OrPattern& p) const {
    Bind();
    const Undo way(&matcher);
    const Goals first{p.first, e, rest};
    if (way(matcher.Solve(&first))) return true;
    const Goals second{p.second, e, rest};
    return matcher.Solve(&second);
  }
  bool operator()(const AndPattern& p) const {
    Bind();
    const Goals second{p.second, e, rest};
    const Goals first{p.first, e, &second};
    return matcher.Solve(&first);
  }
  bool operator()(const NotPattern& p) const { return Leaf(!matcher.MatchesAlone(p.inner, e)); }
  bool operator()(const ConstrainedPattern& p) const {
    if (!p.condition(e)) return false;
    Bind();
    const Goals inner{p.inner, e, rest};
    return matcher.Solve(&inner);
  }
  bool operator()(const SameShapePattern& p) const {
    Bind();
    matcher.comparisons_.push_back({e, p.other});
    const Goals inner{p.inner, e, rest};
    return matcher.Solve(&inner);
  }
  bool operator()(const UsedByPattern& p) const {
    Bind();
    return matcher.SolveUsedBy(p, e, rest);
  }
  bool operator()(const LetPattern& p) const {
    const auto* let = e.As<ir::LetNode>();
    if (let == nullptr) return false;
    Bind(true);
    return matcher.SolveAll({p.var, p.value, p.body}, {let->var, let->value, let->body}, rest);
  }
  bool operator()(const IfPattern& p) const {
    const auto* node = e.As<ir::IfNode>();
    if (node == nullptr) return false;
    Bind(true);
    return matcher.SolveAll({p.condition, p.then_branch, p.else_branch},
                            {node->condition, node->then_branch, node->else_branch}, rest);
  }
  bool operator()(const DominatesPattern& p) const {
    Bind();
    return matcher.SolveDominates(p, e, rest);
  }
};

bool Matcher::Solve(const Goals* goals) {
  if (goals == nullptr) return ShapesAgree();
  const PatternNode* node = goals->pattern.get();
  const Expr& e = goals->expr;
  const Goals* rest = goals->next;
  const auto bound = bindings_.by_pattern_.find(node);
  if (bound != bindings_.by_pattern_.end()) return bound->second == e && Solve(rest);
  const Undo undo(this);
  return undo(std::visit(KindSolver{*this, node, e, rest}, node->content));
}

bool Matcher::SolveUsedBy(const UsedByPattern& pattern, const Expr& user, const Goals* rest) {
  std::vector<Expr> inputs = ir::Children(user);
  if (user.kind() == ir::ExprKind::kCall) inputs.erase(inputs.begin());
  for (const Expr& input : inputs) {
    if (pattern.only) {
      const auto users = uses().find(input);
      if (users == uses().end() || !std::all_of(users->second.begin(), users->second.end(),
                                                [&](const Expr& other) { return other == user; }))
        continue;
    }
    const Undo undo(this);
    const Goals producer{pattern.producer, input, rest};
    const Goals goal{pattern.user, user, &producer};
    if (undo(Solve(&goal))) return true;
  }
  return false;
}

bool Matcher::SolveDominates(const DominatesPattern& pattern, const Expr& child,
                             const Goals* rest) {
  if (!MatchesAlone(pattern.child, child)) return false;
  const auto way = WalkToParent(pattern, child);
  if (!way) return false;
  bindings_.matched_.insert(bindings_.matched_.end(), way->begin(), way->end() - 1);
  const Goals parent{pattern.parent, way->back(), rest};
  const Goals goal{pattern.child, child, &parent};
  return Solve(&goal);
}

}  // namespace tenon::passes
