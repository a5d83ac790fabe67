#include "tenon/jit/bounds/check_list.h"

#include <algorithm>
#include <utility>

#include "tenon/jit/bounds/bounds_report.h"
#include "tenon/loop/visit.h"

namespace tenon::jit {

using loop::Expr;
using loop::Stmt;
using loop::Var;

ExprTraits::Traits ExprTraits::Of(const Expr& e) {
  if (const auto known = known_.find(e); known != known_.end()) return known->second;
  Traits traits;
  traits.reads = loop::BufferOf(e) != nullptr;
  if (const auto* call = e.As<loop::ExternCallNode>())
    traits.may_repeat = call->callee->effect == loop::Effect::kPure;
  for (const Expr& child : loop::Children(e)) {
    const Traits other = Of(child);
    traits.reads = traits.reads || other.reads;
    traits.may_repeat = traits.may_repeat && other.may_repeat;
  }
  known_.emplace(e, traits);
  return traits;
}

Stmt IfAllFit(const Var& report, const Stmt& stmt) {
  return loop::If(loop::ExternCall(AllFitFunction(), {report}), stmt);
}

void CheckList::Add(const Point& point) {
  if (traits_.Reads(point.index) || traits_.Reads(point.elements)) {
    if (const Stmt compared = Compare(point, report_)) AddReading(compared);
  } else {
    items_.push_back({.point = point, .stmt = Stmt()});
  }
}

void CheckList::AddReading(const Stmt& stmt) { Add(stmt, true); }

void CheckList::Add(const Stmt& stmt, bool reads) {
  items_.push_back({.point = std::nullopt, .stmt = reads ? IfAllFit(report_, stmt) : stmt});
}

void CheckList::AddUnder(const Expr& condition, CheckList inner) {
  const bool reads = traits_.Reads(condition);
  CheckList rest = Empty();
  for (Item& item : inner.items_) {
    if (item.point && !reads) {
      item.point->when.insert(item.point->when.begin(), condition);
      items_.push_back(std::move(item));
    } else {
      rest.items_.push_back(std::move(item));
    }
  }
  if (const Stmt body = rest.ToStmt()) Add(loop::If(condition, body), reads);
}

void CheckList::AddWithLet(const Var& var, const Expr& value, CheckList inner) {
  const bool reads = traits_.Reads(value);
  const loop::ExprMap values = {{var, value}};
  const auto replace = [&](Expr& e) { e = loop::Substitute(e, values); };
  const auto uses = [&](const Expr& e) { return loop::UsesVar(e, var); };
  CheckList rest = Empty();
  for (Item& item : inner.items_) {
    const auto any_uses = [&](const std::vector<Expr>& exprs) {
      return std::any_of(exprs.begin(), exprs.end(), uses);
    };
    const bool depends = !item.point || uses(item.point->index) || uses(item.point->elements) ||
                         any_uses(item.point->when) || any_uses(item.point->iteration);
    if (depends && (!item.point || reads)) {
      rest.items_.push_back(std::move(item));
      continue;
    }
    if (depends) {
      replace(item.point->index);
      replace(item.point->elements);
      std::for_each(item.point->when.begin(), item.point->when.end(), replace);
      std::for_each(item.point->iteration.begin(), item.point->iteration.end(), replace);
    }
    items_.push_back(std::move(item));
  }
  if (const Stmt body = rest.ToStmt()) Add(loop::LetStmt(var, value, body), reads);
}

void CheckList::AddInLoop(const loop::ForNode& node, CheckList inner,
                          const std::function<Stmt(const Stmt&)>& finish) {
  const bool reads = traits_.Reads(node.min) || traits_.Reads(node.extent);
  CheckList rest = Empty();
  for (Item& item : inner.items_) {
    const std::vector<Point> points =
        item.point && !reads ? AtEnds(node, *item.point) : std::vector<Point>();
    if (points.empty()) rest.items_.push_back(std::move(item));
    for (const Point& point : points) items_.push_back({.point = point, .stmt = Stmt()});
  }
  const Stmt body = finish(rest.ToStmt());
  if (!body) return;
  const auto kind =
      node.for_kind == loop::ForKind::kParallel ? loop::ForKind::kParallel : loop::ForKind::kSerial;
  Add(loop::For(node.var, node.min, node.extent, kind, body), reads);
}

Stmt CheckList::ToStmt() const {
  std::vector<Stmt> stmts;
  for (const Item& item : items_) {
    if (const Stmt stmt = item.point ? Compare(*item.point, report_) : item.stmt)
      stmts.push_back(stmt);
  }
  return stmts.empty() ? Stmt() : loop::Seq(std::move(stmts));
}

}  // namespace tenon::jit
