#include "tenon/ir/visit.h"

#include <limits>
#include <unordered_set>

#include "tenon/ir/node_table.h"

namespace tenon::ir {
namespace {

constexpr std::size_t kNotEntered = std::numeric_limits<std::size_t>::max();

// Children()[i] without a copy, or null past the last.
const Expr* ChildAt(const Expr& e, std::size_t i) {
  const auto field = [&](const std::vector<Expr>& fields, std::size_t at) {
    return at < fields.size() ? &fields[at] : nullptr;
  };
  switch (e.kind()) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstant:
      return nullptr;
    case ExprKind::kCall:
      return i == 0 ? &e.As<CallNode>()->callee : field(e.As<CallNode>()->args, i - 1);
    case ExprKind::kTuple:
      return field(e.As<TupleNode>()->fields, i);
    case ExprKind::kTupleGetItem:
      return i == 0 ? &e.As<TupleGetItemNode>()->tuple : nullptr;
    case ExprKind::kLet: {
      const auto& let = *e.As<LetNode>();
      return i == 0 ? &let.var : i == 1 ? &let.value : i == 2 ? &let.body : nullptr;
    }
    case ExprKind::kFunction: {
      const auto& function = *e.As<FunctionNode>();
      return i == function.params.size() ? &function.body : field(function.params, i);
    }
    case ExprKind::kIf: {
      const auto& n = *e.As<IfNode>();
      return i == 0 ? &n.condition : i == 1 ? &n.then_branch : i == 2 ? &n.else_branch : nullptr;
    }
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

bool IsLeaf(const Expr& e) {
  return e.kind() == ExprKind::kVar || e.kind() == ExprKind::kOp ||
         e.kind() == ExprKind::kConstant || e.kind() == ExprKind::kGlobalVar;
}

}  // namespace

void VisitPostOrder(const Expr& expr, const std::function<void(const Expr&)>& visit,
                    const std::function<bool(const Expr&)>& enter) {
  struct Frame {
    const Expr* expr;  // lies inside its reader, which the root keeps
    std::size_t next;
  };
  const Expr root = expr;
  NodeTable<bool> seen;
  std::vector<Frame> stack;
  const auto push = [&](const Expr& e) {
    if (!seen.TryEmplace(e, true).second) return;
    if (IsLeaf(e)) {
      visit(e);
    } else {
      stack.push_back({&e, enter == nullptr || enter(e) ? 0 : kNotEntered});
    }
  };
  push(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    const Expr* child = top.next == kNotEntered ? nullptr : ChildAt(*top.expr, top.next++);
    if (child != nullptr) {
      push(*child);
    } else {
      const Expr& done = *top.expr;
      stack.pop_back();
      visit(done);
    }
  }
}

std::function<bool(const Expr&)> OutsideLiterals(const Expr& root) {
  return [root](const Expr& e) { return e == root || e.kind() != ExprKind::kFunction; };
}

ReaderCounts CountReaders(const Expr& expr) {
  ReaderCounts readers;
  VisitPostOrder(expr, [&](const Expr& e) {
    for (const Expr& child : Children(e)) ++readers[child];
  });
  return readers;
}

Expr RewritePostOrder(const Expr& root,
                      const std::function<Expr(const Expr&, const Expr&)>& rewrite,
                      const std::function<bool(const Expr&)>& enter) {
  NodeTable<Expr> memo;
  VisitPostOrder(
      root,
      [&](const Expr& e) {
        Expr rebuilt = e;
        if (!IsLeaf(e) && (enter == nullptr || enter(e))) {
          bool changed = false;
          for (std::size_t i = 0; !changed; ++i) {
            const Expr* child = ChildAt(e, i);
            if (child == nullptr) break;
            changed = !(memo.at(*child) == *child);
          }
          if (changed) {
            std::vector<Expr> children = Children(e);
            for (Expr& child : children) child = memo.at(child);
            rebuilt = WithChildren(e, std::move(children), Type());
          }
        }
        memo.TryEmplace(e, rewrite(e, rebuilt));
      },
      enter);
  return memo.at(root);
}

Expr KeepType(const Expr& original, const Expr& rewritten) {
  if (rewritten.checked_type() || !original.checked_type() || rewritten.kind() == ExprKind::kOp)
    return rewritten;
  return WithChildren(rewritten, Children(rewritten), original.checked_type());
}

std::vector<Var> FreeVars(const Expr& expr) {
  std::unordered_set<Expr, ExprHash> bound;
  std::vector<Expr> used;
  VisitPostOrder(expr, [&](const Expr& e) {
    if (e.kind() == ExprKind::kVar) used.push_back(e);
    if (const auto* let = e.As<LetNode>()) bound.insert(let->var);
    if (const auto* function = e.As<FunctionNode>())
      bound.insert(function->params.begin(), function->params.end());
  });
  std::vector<Var> free;
  for (const Expr& var : used) {
    if (!bound.contains(var)) free.emplace_back(var);
  }
  return free;
}

Expr Substitute(const Expr& expr, const ExprMap& values) {
  return RewritePostOrder(expr, [&](const Expr& original, const Expr& rewritten) {
    const auto found = values.find(original);
    return found == values.end() ? rewritten : found->second;
  });
}

}  // namespace tenon::ir
