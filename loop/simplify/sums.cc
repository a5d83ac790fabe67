// What is not linear is an atom: a variable, or an expression with simplified operands.
#include "tenon/loop/simplify/sums.h"

#include <algorithm>

#include "tenon/loop/simplify/divide_sums.h"
#include "tenon/loop/simplify/intervals.h"
#include "tenon/loop/simplify/join_quotients.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/narrow_casts.h"
#include "tenon/loop/simplify/simplify_casts.h"
#include "tenon/loop/simplify/simplify_rules.h"

namespace tenon::loop {
namespace {

// The product of two sums of variables is written out if it has at most so many terms.
constexpr std::size_t kMaxProducts = 64;

bool IsAtom(const Linear& l) {
  return l.constant == 0 && l.terms.size() == 1 && l.terms[0].second == 1;
}

}  // namespace

const Linear& Sums::LinearOf(const Expr& e) {
  if (const auto found = linear_.find(e); found != linear_.end()) return found->second;
  Linear l = NewLinearOf(e);
  for (const auto& [atom, coefficient] : l.terms) {
    // What became an atom stays one.
    if (!atom.same_as(e)) linear_.try_emplace(atom, Linear{0, {{atom, 1}}});
  }
  return linear_.insert_or_assign(e, std::move(l)).first->second;
}

Linear Sums::NewLinearOf(const Expr& e) {
  Linear l;
  if (const auto* imm = e.As<IntImmNode>()) {
    l.constant = imm->value;
    return l;
  }
  if (const auto* n = e.As<BinaryNode>()) {
    switch (n->op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
        l = LinearOf(n->a);
        AddScaled(&l, LinearOf(n->b), n->op == BinaryOp::kAdd ? 1 : -1);
        JoinQuotients(*this, &l);
        return l;
      case BinaryOp::kMul:
        return LinearOfProduct(*n);
      case BinaryOp::kDiv:
      case BinaryOp::kMod:
      case BinaryOp::kFloorDiv:
      case BinaryOp::kFloorMod:
        return LinearOfQuotient(*this, *n);
      case BinaryOp::kMin:
      case BinaryOp::kMax:
        return LinearOfMinMax(*n);
      default:
        break;
    }
  }
  AddTerm(&l, e.kind() == ExprKind::kVar ? e : operands_(e), 1);
  return l;
}

Linear Sums::LinearOfProduct(const BinaryNode& n) {
  const Linear &a = LinearOf(n.a), &b = LinearOf(n.b);
  Linear l;
  if (b.terms.empty()) {
    AddScaled(&l, a, b.constant);
  } else if (a.terms.empty()) {
    AddScaled(&l, b, a.constant);
  } else if (IsMonomial(a) && IsMonomial(b)) {
    AddProducts(&l, a, b);
  } else if (a.terms.size() * b.terms.size() <= kMaxProducts &&
             (HasSymbolicQuotient(a) || HasSymbolicQuotient(b))) {
    // A remainder may join it.
    AddProducts(&l, a, b);
    JoinQuotients(*this, &l);
  } else {
    AddTerm(&l, Binary(BinaryOp::kMul, a.ToExpr(), b.ToExpr()), 1);
  }
  return l;
}

Linear Sums::LinearOfMinMax(const BinaryNode& n) {
  const Linear &a = LinearOf(n.a), &b = LinearOf(n.b);
  if (const Linear* lesser = order_.Lesser(a, b))
    return (lesser == &a) == (n.op == BinaryOp::kMin) ? a : b;
  Linear result;
  AddAtom(&result, Binary(n.op, a.ToExpr(), b.ToExpr()));
  return result;
}

void Sums::AddAtom(Linear* l, const Expr& e) {
  if (const std::optional<Expr> simpler = ByRules(e)) {
    AddScaled(l, LinearOf(*simpler), 1);
  } else {
    AddTerm(l, e, 1);
  }
}

std::optional<Expr> Sums::ByRules(const Expr& e) {
  if (e.kind() == ExprKind::kCast) {
    const std::optional<Expr> simpler = SimplifyCast(e);
    return simpler ? simpler : NarrowCast(e);
  }
  const auto* n = e.As<BinaryNode>();
  const Expr& operand = n != nullptr && IsComparison(n->op) ? n->a : e;
  return ApplyRules(SimplifyRules(), e, operand.dtype() == Int64 && index_.Proves(operand));
}

Interval Sums::RangeOf(const Linear& l) {
  Interval range{l.constant, l.constant};
  for (const auto& [atom, coefficient] : l.terms)
    range = Sum(range, Scale(AtomRange(atom), coefficient));
  return MayWrap(l) ? Interval() : range;
}

bool Sums::MayWrap(const Linear& l) { return !IsAtom(l) && !index_.Proves(l); }

Interval Sums::AtomRange(const Expr& atom) {
  if (atom.kind() == ExprKind::kVar) return bounds_.Of(atom);
  if (const auto found = ranges_.find(atom); found != ranges_.end()) return found->second;
  const Interval range = NewAtomRange(atom);
  ranges_.emplace(atom, range);
  return range;
}

Interval Sums::NewAtomRange(const Expr& atom) {
  const auto* n = atom.As<BinaryNode>();
  if (n == nullptr) return index_.RangeOf(atom);
  const auto range_of = [&](const Expr& e) { return RangeOf(LinearOf(e)); };
  const auto* c = n->b.As<IntImmNode>();
  switch (n->op) {
    case BinaryOp::kFloorDiv:
      return c != nullptr && c->value > 0 ? Quotient(range_of(n->a), c->value) : Interval{};
    case BinaryOp::kFloorMod:
      return c != nullptr && c->value > 0 ? Interval{0, c->value - 1} : Interval{};
    case BinaryOp::kMin: {
      const Interval a = range_of(n->a), b = range_of(n->b);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case BinaryOp::kMax: {
      const Interval a = range_of(n->a), b = range_of(n->b);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case BinaryOp::kMul: {
      const Interval a = range_of(n->a), b = range_of(n->b);
      if (a.low < 0 || b.low < 0) return {};
      const Interval product = Product(a, b);
      return HasHigh(product) || index_.Proves(atom) ? product : Interval{};
    }
    default:
      return {};
  }
}

Interval Sums::Bind(const Var& var, Interval values) {
  const Interval before = bounds_.Of(var);
  if (values == before) return before;
  bounds_.Bind(var, values);
  Forget();
  return before;
}

void Sums::Forget() {
  linear_.clear();
  ranges_.clear();
  index_.Forget();
}

}  // namespace tenon::loop
