#include "tenon/verify/check/smaller_loops.h"

#include <functional>

#include "tenon/loop/visit.h"

namespace tenon::verify {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;
using Statements = std::vector<Stmt>;

// Adds each smaller form of `part` as `with` puts it into its place.
void AddParts(const Stmt& part, const std::function<Stmt(const Stmt&)>& with, Statements* all) {
  for (const Stmt& smaller : SmallerLoops(part)) all->push_back(with(smaller));
}

void AddSequence(const loop::SeqNode& node, Statements* all) {
  for (std::size_t i = 0; i < node.stmts.size(); ++i) {
    Statements rest = node.stmts;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    all->push_back(loop::Seq(std::move(rest)));
  }
  for (std::size_t i = 0; i < node.stmts.size(); ++i) {
    AddParts(
        node.stmts[i],
        [&](const Stmt& smaller) {
          Statements stmts = node.stmts;
          stmts[i] = smaller;
          return loop::Seq(std::move(stmts));
        },
        all);
  }
}

void AddLoop(const loop::ForNode& node, Statements* all) {
  if (node.for_kind != loop::ForKind::kSerial)
    all->push_back(loop::For(node.var, node.min, node.extent, loop::ForKind::kSerial, node.body));
  AddParts(
      node.body, [&](const Stmt& body) { return loop::Around(node, body); }, all);
}

void AddBranches(const loop::IfNode& node, Statements* all) {
  all->push_back(node.then_case);
  if (node.else_case) {
    all->push_back(node.else_case);
    all->push_back(loop::If(node.condition, node.then_case));
  }
  AddParts(
      node.then_case,
      [&](const Stmt& side) { return loop::If(node.condition, side, node.else_case); }, all);
  if (node.else_case)
    AddParts(
        node.else_case,
        [&](const Stmt& side) { return loop::If(node.condition, node.then_case, side); }, all);
}

bool Uses(const Stmt& stmt, const loop::Buffer& buffer) {
  bool uses = false;
  const auto is_it = [&](const loop::Buffer* other) {
    return other != nullptr && *other == buffer;
  };
  loop::VisitStmts(stmt, [&](const Stmt& part) { uses = uses || is_it(loop::BufferOf(part)); });
  loop::VisitExprs(stmt, [&](const Expr& part) { uses = uses || is_it(loop::BufferOf(part)); });
  return uses;
}

void AddStore(const loop::StoreNode& node, Statements* all) {
  const auto add = [&](const Expr& value) {
    if (value.dtype() == node.value.dtype())
      all->push_back(
          loop::Store(node.buffer, value, node.indices, node.store_kind, node.predicate));
  };
  if (node.store_kind != loop::StoreKind::kPlain) return;
  const Expr& value = node.value;
  if (const auto* binary = value.As<loop::BinaryNode>()) {
    add(binary->a);
    add(binary->b);
  } else if (const auto* select = value.As<loop::SelectNode>()) {
    add(select->on_true);
    add(select->on_false);
  } else if (const auto* call = value.As<loop::CallNode>()) {
    for (const Expr& argument : call->args) add(argument);
  }
}

}  // namespace

std::vector<Stmt> SmallerLoops(const Stmt& stmt) {
  Statements all;
  switch (stmt.kind()) {
    case StmtKind::kSeq:
      AddSequence(*stmt.As<loop::SeqNode>(), &all);
      break;
    case StmtKind::kFor:
      AddLoop(*stmt.As<loop::ForNode>(), &all);
      break;
    case StmtKind::kIf:
      AddBranches(*stmt.As<loop::IfNode>(), &all);
      break;
    case StmtKind::kLet: {
      const auto& node = *stmt.As<loop::LetStmtNode>();
      all.push_back(loop::Substitute(node.body, {{node.var, node.value}}));
      AddParts(
          node.body, [&](const Stmt& body) { return loop::LetStmt(node.var, node.value, body); },
          &all);
      break;
    }
    case StmtKind::kAllocate: {
      const auto& node = *stmt.As<loop::AllocateNode>();
      if (!Uses(node.body, node.buffer)) all.push_back(node.body);
      AddParts(
          node.body, [&](const Stmt& body) { return loop::Allocate(node.buffer, body); }, &all);
      break;
    }
    case StmtKind::kStore:
      AddStore(*stmt.As<loop::StoreNode>(), &all);
      break;
    case StmtKind::kEvaluate:
      break;
  }
  return all;
}

}  // namespace tenon::verify
