// Integers are put into a linear normal form over atoms (variables and whatever is not linear). For
// a constant c > 0 and a sum split as c * q + r, where q takes the terms that c divides, floor((c *
// q + r) / c) = q + floor(r / c) and (c * q + r) mod c = r mod c, and both vanish when r lies in
// [0, c). A quotient and a remainder of the same x by the same c join again: c * (x / c) + x mod c
// = x.
#include "tenon/loop/simplify.h"

#include <algorithm>

#include "tenon/support/error.h"

namespace tenon::loop {
namespace {

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  if (a == Interval::kLowest || b == Interval::kLowest) return Interval::kLowest;
  if (a == Interval::kHighest || b == Interval::kHighest) return Interval::kHighest;
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? Interval::kHighest : Interval::kLowest;
  return sum;
}

std::int64_t SaturatingMul(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  const bool unbounded = a == Interval::kLowest || a == Interval::kHighest;
  std::int64_t product = 0;
  if (unbounded || __builtin_mul_overflow(a, b, &product)) {
    return (a > 0) == (b > 0) ? Interval::kHighest : Interval::kLowest;
  }
  return product;
}

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
  if (a == Interval::kLowest || a == Interval::kHighest) return a;
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Interval Scale(Interval r, std::int64_t k) {
  const std::int64_t x = SaturatingMul(r.low, k), y = SaturatingMul(r.high, k);
  return {std::min(x, y), std::max(x, y)};
}
Interval Sum(Interval a, Interval b) {
  return {SaturatingAdd(a.low, b.low), SaturatingAdd(a.high, b.high)};
}

bool IsIndex(const Expr& e) { return e.dtype() == Int64; }

void AddTerm(Linear* l, const Expr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  for (auto it = l->terms.begin(); it != l->terms.end(); ++it) {
    if (!StructuralEqual(it->first, atom)) continue;
    it->second += coefficient;
    if (it->second == 0) l->terms.erase(it);
    return;
  }
  l->terms.emplace_back(atom, coefficient);
}

void AddScaled(Linear* l, const Linear& other, std::int64_t k) {
  l->constant += other.constant * k;
  for (const auto& [atom, coefficient] : other.terms) AddTerm(l, atom, coefficient * k);
}

class Simplifier : public StmtMutator {
 public:
  explicit Simplifier(const Bounds& bounds) : bounds_(bounds) {}

  Linear LinearOf(const Expr& e) {
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
          RejoinQuotients(&l);
          return l;
        case BinaryOp::kMul: {
          const Linear a = LinearOf(n->a), b = LinearOf(n->b);
          if (b.terms.empty()) {
            AddScaled(&l, a, b.constant);
            return l;
          }
          if (a.terms.empty()) {
            AddScaled(&l, b, a.constant);
            return l;
          }
          AddTerm(&l, Binary(BinaryOp::kMul, a.ToExpr(), b.ToExpr()), 1);
          return l;
        }
        case BinaryOp::kDiv:
        case BinaryOp::kMod:
        case BinaryOp::kFloorDiv:
        case BinaryOp::kFloorMod:
          return LinearOfQuotient(*n);
        case BinaryOp::kMin:
        case BinaryOp::kMax:
          return LinearOfMinMax(*n);
        default:
          break;
      }
    }
    AddTerm(&l, e.kind() == ExprKind::kVar ? e : MutateChildren(e), 1);
    return l;
  }

  Interval Range(const Linear& l) {
    Interval range{l.constant, l.constant};
    for (const auto& [atom, coefficient] : l.terms)
      range = Sum(range, Scale(AtomRange(atom), coefficient));
    return range;
  }

 protected:
  Expr Mutate(const Expr& e) override {
    if (IsIndex(e) && (e.kind() == ExprKind::kBinary)) return LinearOf(e).ToExpr();
    if (const auto* n = e.As<BinaryNode>(); n != nullptr && IsComparison(n->op) && IsIndex(n->a)) {
      return Compare(n->op, n->a, n->b);
    }
    return MutateChildren(e);
  }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (const auto* n = stmt.As<ForNode>()) {
      const Expr min = (*this)(n->min), extent = (*this)(n->extent);
      if (const auto* imm = extent.As<IntImmNode>()) {
        if (imm->value <= 0) return Seq({});
        if (imm->value == 1) {
          // Runs once: its variable is its first value.
          return MutateStmt(Substitute(n->body, {{n->var, min}}));
        }
      }
      const Interval first = Range(LinearOf(min)), count = Range(LinearOf(extent));
      bounds_.Bind(n->var, {first.low, SaturatingAdd(SaturatingAdd(first.high, count.high), -1)});
      const Stmt body = MutateStmt(n->body);
      if (IsEmpty(body)) return body;
      if (min.same_as(n->min) && extent.same_as(n->extent) && body == n->body) return stmt;
      return For(n->var, min, extent, n->for_kind, body);
    }
    if (const auto* n = stmt.As<LetStmtNode>(); n != nullptr && IsIndex(n->var)) {
      bounds_.Bind(n->var, Range(LinearOf(n->value)));
    }
    const Stmt result = MutateStmtChildren(stmt);
    if (const auto* n = result.As<IfNode>(); n != nullptr && !n->else_case && IsEmpty(n->then_case))
      return Seq({});
    return result;
  }

 private:
  static bool IsEmpty(const Stmt& s) {
    const auto* seq = s.As<SeqNode>();
    return seq != nullptr && seq->stmts.empty();
  }

  Linear LinearOfQuotient(const BinaryNode& n) {
    const Linear a = LinearOf(n.a), b = LinearOf(n.b);
    bool is_division = n.op == BinaryOp::kDiv || n.op == BinaryOp::kFloorDiv;
    BinaryOp op = n.op;
    const bool truncates = op == BinaryOp::kDiv || op == BinaryOp::kMod;
    if (truncates && Range(a).low >= 0)
      op = is_division ? BinaryOp::kFloorDiv : BinaryOp::kFloorMod;
    Linear result;
    const std::int64_t c = b.constant;
    if (!b.terms.empty() || c <= 0 || op == BinaryOp::kDiv || op == BinaryOp::kMod) {
      // A symbolic divisor: only x / x multiples could be told, and they do not occur.
      AddTerm(&result, Binary(op, a.ToExpr(), b.ToExpr()), 1);
      return result;
    }
    Linear quotient, rest;
    quotient.constant = FloorDivide(a.constant, c);
    rest.constant = a.constant - quotient.constant * c;
    for (const auto& [atom, coefficient] : a.terms) {
      if (coefficient % c == 0) {
        AddTerm(&quotient, atom, coefficient / c);
      } else {
        AddTerm(&rest, atom, coefficient);
      }
    }
    const Interval range = Range(rest);
    const bool inside = range.low >= 0 && range.high < c;
    if (is_division) {
      result = quotient;
      if (!inside) AddTerm(&result, Binary(BinaryOp::kFloorDiv, rest.ToExpr(), c), 1);
      return result;
    }
    if (inside) return rest;
    AddTerm(&result, Binary(BinaryOp::kFloorMod, rest.ToExpr(), c), 1);
    return result;
  }

  Linear LinearOfMinMax(const BinaryNode& n) {
    const Linear a = LinearOf(n.a), b = LinearOf(n.b);
    Linear difference = a;
    AddScaled(&difference, b, -1);
    const Interval range = Range(difference);
    const bool is_min = n.op == BinaryOp::kMin;
    if (range.high <= 0) return is_min ? a : b;
    if (range.low >= 0) return is_min ? b : a;
    Linear result;
    AddTerm(&result, Binary(n.op, a.ToExpr(), b.ToExpr()), 1);
    return result;
  }

  Expr Compare(BinaryOp op, const Expr& left, const Expr& right) {
    const Linear a = LinearOf(left), b = LinearOf(right);
    Linear d = a;
    AddScaled(&d, b, -1);
    RejoinQuotients(&d);
    const Interval r = Range(d);
    const auto decide = [&](bool holds, bool fails) -> std::optional<bool> {
      if (holds) return true;
      if (fails) return false;
      return std::nullopt;
    };
    std::optional<bool> known;
    switch (op) {
      case BinaryOp::kLT:
        known = decide(r.high < 0, r.low >= 0);
        break;
      case BinaryOp::kLE:
        known = decide(r.high <= 0, r.low > 0);
        break;
      case BinaryOp::kGT:
        known = decide(r.low > 0, r.high <= 0);
        break;
      case BinaryOp::kGE:
        known = decide(r.low >= 0, r.high < 0);
        break;
      case BinaryOp::kEQ:
        known = decide(r.low == 0 && r.high == 0, r.low > 0 || r.high < 0);
        break;
      case BinaryOp::kNE:
        known = decide(r.low > 0 || r.high < 0, r.low == 0 && r.high == 0);
        break;
      default:
        break;
    }
    if (known) return *known ? True() : False();
    return Binary(op, a.ToExpr(), b.ToExpr());
  }

  // k * c * (x / c) + k * (x mod c) = k * x
  void RejoinQuotients(Linear* l) {
    for (std::size_t i = 0; i < l->terms.size(); ++i) {
      const auto* mod = l->terms[i].first.As<BinaryNode>();
      if (mod == nullptr || mod->op != BinaryOp::kFloorMod) continue;
      const auto* c = mod->b.As<IntImmNode>();
      if (c == nullptr) continue;
      for (std::size_t j = 0; j < l->terms.size(); ++j) {
        const auto* div = l->terms[j].first.As<BinaryNode>();
        if (div == nullptr || div->op != BinaryOp::kFloorDiv || !IsConstInt(div->b, c->value))
          continue;
        if (!StructuralEqual(div->a, mod->a) || l->terms[j].second != l->terms[i].second * c->value)
          continue;
        const std::int64_t k = l->terms[i].second;
        const Expr x = mod->a;
        l->terms.erase(l->terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        l->terms.erase(l->terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        AddScaled(l, LinearOf(x), k);
        return RejoinQuotients(l);
      }
    }
  }

  Interval AtomRange(const Expr& atom) {
    if (atom.kind() == ExprKind::kVar) return bounds_.Of(atom);
    const auto* n = atom.As<BinaryNode>();
    if (n == nullptr) return {};
    const auto* c = n->b.As<IntImmNode>();
    switch (n->op) {
      case BinaryOp::kFloorDiv: {
        if (c == nullptr || c->value <= 0) return {};
        const Interval a = Range(LinearOf(n->a));
        return {FloorDivide(a.low, c->value), FloorDivide(a.high, c->value)};
      }
      case BinaryOp::kFloorMod:
        return c != nullptr && c->value > 0 ? Interval{0, c->value - 1} : Interval{};
      case BinaryOp::kMin: {
        const Interval a = Range(LinearOf(n->a)), b = Range(LinearOf(n->b));
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
      }
      case BinaryOp::kMax: {
        const Interval a = Range(LinearOf(n->a)), b = Range(LinearOf(n->b));
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
      }
      case BinaryOp::kMul: {
        const Interval a = Range(LinearOf(n->a)), b = Range(LinearOf(n->b));
        if (a.low >= 0 && b.low >= 0)
          return {SaturatingMul(a.low, b.low), SaturatingMul(a.high, b.high)};
        return {};
      }
      default:
        return {};
    }
  }

  Bounds bounds_;
};

}  // namespace

std::int64_t Linear::CoefficientOf(const Expr& atom) const {
  for (const auto& [other, coefficient] : terms) {
    if (other.same_as(atom)) return coefficient;
  }
  return 0;
}

Expr Linear::ToExpr() const {
  Expr sum;
  // "10 - i" reads better than "i * -1 + 10".
  const bool constant_first = !terms.empty() && terms[0].second < 0 && constant != 0;
  if (constant_first) sum = constant;
  for (const auto& [atom, coefficient] : terms) {
    if (!sum.defined()) {
      sum = atom * coefficient;
    } else if (coefficient < 0) {
      sum = sum - atom * -coefficient;
    } else {
      sum = sum + atom * coefficient;
    }
  }
  if (!sum.defined()) return constant;
  if (constant_first) return sum;
  return constant < 0 ? sum - (-constant) : sum + constant;
}

Linear ToLinear(const Expr& expr, const Bounds& bounds) {
  return Simplifier(bounds).LinearOf(expr);
}
Interval RangeOf(const Expr& expr, const Bounds& bounds) {
  Simplifier simplifier(bounds);
  return simplifier.Range(simplifier.LinearOf(expr));
}
Expr Simplify(const Expr& expr, const Bounds& bounds) { return Simplifier(bounds)(expr); }
Stmt Simplify(const Stmt& stmt, const Bounds& bounds) {
  Simplifier simplifier(bounds);
  return simplifier(stmt);
}
bool CanProve(const Expr& condition, const Bounds& bounds) {
  return IsConstInt(Simplify(condition, bounds), 1);
}

}  // namespace tenon::loop
