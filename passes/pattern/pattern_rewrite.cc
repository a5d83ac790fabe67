#include "tenon/passes/pattern/pattern_rewrite.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

bool IsPrimitive(const Expr& e) {
  const auto* function = e.As<ir::FunctionNode>();
  return function != nullptr && function->is_primitive();
}

bool HasTypes(const Bindings& bindings) {
  return std::all_of(bindings.matched().begin(), bindings.matched().end(),
                     [](const Expr& e) { return static_cast<bool>(e.checked_type()); });
}

// One round. Uses are those of the expression before it.
Expr RewriteOnce(const Expr& expr, const std::vector<RewriteRule>& rules) {
  for (const RewriteRule& rule : rules)
    if (rule.callback == nullptr) throw InvalidArgument("a rewrite rule has no callback");
  return ir::RewritePostOrder(
      expr,
      [&, matcher = Matcher(expr)](const Expr& original, const Expr& rebuilt) mutable {
        const Expr e = ir::KeepType(original, rebuilt);
        for (const RewriteRule& rule : rules) {
          const auto bindings = matcher.Match(rule.pattern, e);
          if (!bindings || (rule.require_type && !HasTypes(*bindings))) continue;
          const Expr result = rule.callback(e, *bindings);
          if (!result) throw InvalidArgument("the callback of a rewrite rule returned null");
          if (!(result == e)) return result;
        }
        return e;
      },
      [&](const Expr& e) { return !IsPrimitive(e); });
}

// Whether types can be checked without the rest of the module.
bool StandsAlone(const Expr& expr) {
  bool alone = true;
  ir::VisitPostOrder(expr,
                     [&](const Expr& e) { alone = alone && e.kind() != ir::ExprKind::kGlobalVar; });
  for (const ir::Var& var : ir::FreeVars(expr))
    alone = alone && (var.checked_type() || var.type_annotation());
  return alone;
}

// Applies `round` until nothing changes.
template <typename Value, typename Round>
Value FixedPoint(Value value, const RewriteOptions& options, const Round& round) {
  for (int i = 0; i < options.max_rounds; ++i) {
    Value next = round(value);
    if (options.once || next == value) return next;
    value = std::move(next);
  }
  throw FailedPrecondition(StrCat("rewriting still changes the graph in round ", options.max_rounds,
                                  "; a rule matches what it makes, so ask for one round only"));
}

}  // namespace

Expr Rewrite(const Expr& expr, const std::vector<RewriteRule>& rules,
             const RewriteOptions& options) {
  return FixedPoint(expr, options, [&](const Expr& e) {
    const Expr typed = StandsAlone(e) ? InferType(e) : e;
    const Expr next = RewriteOnce(typed, rules);
    // Adding missing types does not count as a change.
    return next == typed ? e : next;
  });
}

ir::Module Rewrite(const ir::Module& module, const std::vector<RewriteRule>& rules,
                   const RewriteOptions& options) {
  return FixedPoint(module, options, [&](const ir::Module& m) {
    const ir::Module typed = InferType(m);
    const ir::Module next =
        typed.Map([&](const Expr& function) { return RewriteOnce(function, rules); });
    return next == typed ? m : next;
  });
}

Expr Partition(const Expr& expr, const Pattern& pattern, const ir::FunctionAttrs& attrs,
               const std::function<bool(const Expr& match)>& check) {
  std::vector<Expr> order;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> position;
  ir::VisitPostOrder(
      expr,
      [&](const Expr& e) {
        position.emplace(e, order.size());
        order.push_back(e);
      },
      ir::OutsideLiterals(expr));
  const UseMap uses = UsesInside(expr);
  Matcher matcher(expr);
  OutlineRequest request;
  std::unordered_set<Expr, ir::ExprHash> taken;
  for (auto root = order.rbegin(); root != order.rend(); ++root) {
    const auto bindings = matcher.Match(pattern, *root);
    if (!bindings || bindings->matched().empty()) continue;
    std::vector<Expr> members = bindings->matched();
    const std::unordered_set<Expr, ir::ExprHash> group(members.begin(), members.end());
    const auto fits = [&](const Expr& member) {
      if (taken.contains(member) || !position.contains(member)) return false;
      if (member == *root) return true;
      const auto& users = uses.at(member);
      return std::all_of(users.begin(), users.end(),
                         [&](const Expr& user) { return group.contains(user); });
    };
    if (!group.contains(*root) || !std::all_of(group.begin(), group.end(), fits)) continue;
    if (check && !check(*root)) continue;
    taken.insert(group.begin(), group.end());
    std::vector<Expr>& made = request.groups.emplace_back(group.begin(), group.end());
    std::sort(made.begin(), made.end(),
              [&](const Expr& a, const Expr& b) { return position.at(a) < position.at(b); });
  }
  if (request.groups.empty()) return expr;
  request.callee = [&](std::size_t, const Expr& function) {
    ir::FunctionAttrs all = attrs;
    all["PartitionedFromPattern"] =
        attrs::Value(StrJoin(OperatorsOf(function.As<ir::FunctionNode>()->body), "_"));
    return WithAttrs(function, std::move(all));
  };
  return OutlineGroups(expr, request);
}

}  // namespace tenon::passes
