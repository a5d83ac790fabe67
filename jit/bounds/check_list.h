// The checks of a statement, as a list (jit/bounds/bounds_checks.h). Only files inside jit/ include
// this header.
//
// A comparison is in the list as a point as long as it may move out of what is around it. All else
// is statements. What reads memory runs only where the accesses before it fit.
//
//   CheckList inner(traits, report);
//   inner.Add(point);
//   checks.AddUnder(condition, std::move(inner));
#ifndef TENON_JIT_BOUNDS_CHECK_LIST_H_
#define TENON_JIT_BOUNDS_CHECK_LIST_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/jit/bounds/bounds_points.h"
#include "tenon/loop/stmt.h"

namespace tenon::jit {

// Traits of expressions, kept for each of them.
class ExprTraits {
 public:
  // Whether it reads from a buffer, or passes one on.
  bool Reads(const loop::Expr& e) { return Of(e).reads; }
  // Whether it has no effects.
  bool MayRepeat(const loop::Expr& e) { return Of(e).may_repeat; }

 private:
  struct Traits {
    bool reads = false, may_repeat = true;
  };
  Traits Of(const loop::Expr& e);

  std::unordered_map<loop::Expr, Traits, loop::ExprHash, loop::ExprSame> known_;
};

// `stmt`, if no access before it is reported.
loop::Stmt IfAllFit(const loop::Var& report, const loop::Stmt& stmt);

class CheckList {
 public:
  CheckList(ExprTraits& traits, const loop::Var& report) : traits_(traits), report_(report) {}

  void Add(const Point& point);
  void AddReading(const loop::Stmt& stmt);  // one that reads memory
  // Add what is checked inside an if, a let and a loop. `finish` gets what runs in the loop's body.
  void AddUnder(const loop::Expr& condition, CheckList inner);
  void AddWithLet(const loop::Var& var, const loop::Expr& value, CheckList inner);
  void AddInLoop(const loop::ForNode& node, CheckList inner,
                 const std::function<loop::Stmt(const loop::Stmt&)>& finish);

  // Null if there is nothing to check.
  loop::Stmt ToStmt() const;

 private:
  struct Item {
    std::optional<Point> point;
    loop::Stmt stmt;  // where there is no point
  };
  CheckList Empty() const { return {traits_, report_}; }
  void Add(const loop::Stmt& stmt, bool reads);

  ExprTraits& traits_;
  const loop::Var& report_;
  std::vector<Item> items_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_BOUNDS_CHECK_LIST_H_
