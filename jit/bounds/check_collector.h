// Collects the checks of a statement's accesses (jit/bounds/bounds_checks.h). Only files inside
// jit/ include this header.
//
//   CheckCollector collector(body, report, &accesses);
//   std::optional<Stmt> checks = collector.Before(stmt);
#ifndef TENON_JIT_BOUNDS_CHECK_COLLECTOR_H_
#define TENON_JIT_BOUNDS_CHECK_COLLECTOR_H_

#include <optional>
#include <unordered_set>
#include <vector>

#include "tenon/jit/bounds/bounds_checks.h"
#include "tenon/jit/bounds/check_list.h"

namespace tenon::jit {

class CheckCollector {
 public:
  // `accesses` gets the checked ones, all of which are part of `body`.
  CheckCollector(const loop::Stmt& body, const loop::Var& report,
                 std::vector<CheckedAccess>* accesses);

  // Checks that can run before all of the statement, null if there is nothing to check. Nothing if
  // checks depend on what the statement does.
  std::optional<loop::Stmt> Before(const loop::Stmt& stmt);
  loop::Stmt Before(const std::vector<loop::Expr>& exprs);
  // What is asked for from here on is inside that loop, too.
  void EnterLoop(const loop::Var& var) { loops_.push_back(var); }
  void LeaveLoop() { loops_.pop_back(); }

  bool MayRepeat(const loop::Expr& e) { return traits_.MayRepeat(e); }

 private:
  // Lanes are kept there to be compared one by one. Threads have their own.
  struct Scratch {
    loop::Buffer indices, active;
  };

  CheckList NewList() { return {traits_, report_}; }
  bool VisitStmt(const loop::Stmt& stmt, CheckList* checks);
  bool VisitFor(const loop::ForNode& node, CheckList* checks);
  bool VisitIf(const loop::IfNode& node, CheckList* checks);
  bool VisitLet(const loop::LetStmtNode& node, CheckList* checks);
  void Visit(const loop::Expr& e, CheckList* checks);
  void VisitBranch(const loop::Expr& value, const loop::Expr& condition, CheckList* checks);
  void VisitAccess(const loop::Buffer& buffer, const loop::Expr& index, const loop::Expr& predicate,
                   bool writes, CheckList* checks);
  loop::Stmt CompareLanes(Point point, const loop::Expr& predicate);
  loop::Stmt WithScratch(const loop::Stmt& stmt);

  const loop::Var& report_;
  std::vector<CheckedAccess>& accesses_;
  ExprTraits traits_;
  std::int64_t lanes_ = 1;  // of the widest vector
  std::vector<loop::Var> loops_;
  std::optional<Scratch> scratch_;
  // What is checked already on this way of control, innermost scope last.
  std::vector<std::unordered_set<loop::Expr, loop::ExprHash, loop::ExprSame>> scopes_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_BOUNDS_CHECK_COLLECTOR_H_
