#include "tenon/ir/visit.h"

#include <unordered_set>

namespace tenon::ir {
namespace {

struct Frame {
  Expr expr;
  std::vector<Expr> children;
  std::size_t next = 0;
};

bool IsLeaf(const Expr& e) {
  return e.kind() == ExprKind::kVar || e.kind() == ExprKind::kOp ||
         e.kind() == ExprKind::kConstant || e.kind() == ExprKind::kGlobalVar;
}

}  // namespace

void VisitPostOrder(const Expr& root, const std::function<void(const Expr&)>& visit,
                    const std::function<bool(const Expr&)>& enter) {
  std::unordered_set<Expr, ExprHash> seen;
  std::vector<Frame> stack;
  const auto push = [&](const Expr& e) {
    if (!seen.insert(e).second) return;
    if (IsLeaf(e)) {
      visit(e);
    } else {
      stack.push_back({e, enter == nullptr || enter(e) ? Children(e) : std::vector<Expr>(), 0});
    }
  };
  push(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.children.size()) {
      push(Expr(top.children[top.next++]));
    } else {
      const Expr done = top.expr;
      stack.pop_back();
      visit(done);
    }
  }
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
  ExprMap memo;
  VisitPostOrder(
      root,
      [&](const Expr& e) {
        Expr rebuilt = e;
        if (!IsLeaf(e) && (enter == nullptr || enter(e))) {
          std::vector<Expr> children = Children(e);
          bool changed = false;
          for (Expr& child : children) {
            const Expr& mapped = memo.at(child);
            changed = changed || !(mapped == child);
            child = mapped;
          }
          if (changed) rebuilt = WithChildren(e, std::move(children), Type());
        }
        memo.emplace(e, rewrite(e, rebuilt));
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
