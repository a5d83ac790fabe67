// Integers as the simplifier sees them: sums in normal form (Linear), and where their values lie.
//
//   Sums sums(bounds, [](const Expr& atom) { return atom; });
//   sums.RangeOf(sums.LinearOf(i + 1));
#ifndef TENON_LOOP_SIMPLIFY_SUMS_H_
#define TENON_LOOP_SIMPLIFY_SUMS_H_

#include <functional>
#include <optional>
#include <unordered_map>

#include "tenon/loop/index_arithmetic.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/simplify/sum_order.h"

namespace tenon::loop {

class Sums {
 public:
  // `operands` simplifies the operands of what is not linear.
  Sums(const Bounds& bounds, std::function<Expr(const Expr&)> operands)
      : bounds_(bounds), operands_(std::move(operands)) {}
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  // The sum of an expression. It is kept for each node, since quotients and minima ask for their
  // operands again and again.
  const Linear& LinearOf(const Expr& e);
  Interval RangeOf(const Linear& l);
  // Whether the register that holds the sum may hold another number than the sum is.
  bool MayWrap(const Linear& l);
  // Whether no operation of `e` wraps around.
  bool Proves(const Expr& e) { return index_.Proves(e); }
  SumOrder& order() { return order_; }

  // `e` simplified by the rules of simplify_rules.h, or by that of casts. Nothing if none applies
  // to `e` itself.
  std::optional<Expr> ByRules(const Expr& e);
  // Adds a quotient, remainder or extremum that the normal form cannot take apart.
  void AddAtom(Linear* l, const Expr& e);

  Interval BoundsOf(const Expr& var) const { return bounds_.Of(var); }
  // Returns the range that held before. What was found under another range is forgotten.
  Interval Bind(const Var& var, Interval values);
  // Forgets what was found.
  void Forget();
  // Binds a variable that no expression had before.
  void BindNew(const Var& var, Interval values) { bounds_.Bind(var, values); }
  void Define(const Var& var, const Expr& value) { index_.Define(var, value); }

 private:
  Linear NewLinearOf(const Expr& e);
  Linear LinearOfProduct(const BinaryNode& n);
  Linear LinearOfMinMax(const BinaryNode& n);
  Interval AtomRange(const Expr& atom);
  Interval NewAtomRange(const Expr& atom);

  Bounds bounds_;
  const std::function<Expr(const Expr&)> operands_;
  IndexArithmetic index_{bounds_};
  SumOrder order_{*this};
  std::unordered_map<Expr, Linear, ExprHash, ExprSame> linear_;
  std::unordered_map<Expr, Interval, ExprHash, ExprSame> ranges_;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SUMS_H_
