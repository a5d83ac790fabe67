// Integers are put into a linear normal form over atoms (variables and whatever is not linear). For
// a constant c > 0 and a sum split as c * q + r, where q takes the terms that c divides, floor((c *
// q + r) / c) = q + floor(r / c) and (c * q + r) mod c = r mod c, and both vanish when r lies in
// [0, c). A quotient and a remainder of the same x by the same c join again: c * (x / c) + x mod c
// = x; and for a divisor g of c and p in [0, g) floor((g * x + p) / c) = floor(x / (c / g)). What
// is not linear goes through the rules of simplify_rules.h, from the operands up.
#include "tenon/loop/simplify/simplify.h"

#include <algorithm>
#include <numeric>

#include "tenon/loop/index_arithmetic.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/simplify_casts.h"
#include "tenon/loop/simplify/simplify_lanes.h"
#include "tenon/loop/simplify/simplify_rules.h"
#include "tenon/loop/simplify/symbolic_ranges.h"
#include "tenon/support/error.h"

namespace tenon::loop {
namespace {

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

bool HasLow(Interval r) { return r.low != Interval::kLowest; }
bool HasHigh(Interval r) { return r.high != Interval::kHighest; }

// Open ends stay open. A result beyond int64 may have wrapped around to any value, so that nothing
// is known of it.
Interval Scale(Interval r, std::int64_t k) {
  if (k == 0) return {0, 0};
  if (k < 0) r = {r.high, r.low};
  const bool has_low = k > 0 ? HasLow(r) : r.low != Interval::kHighest;
  const bool has_high = k > 0 ? HasHigh(r) : r.high != Interval::kLowest;
  Interval scaled;
  if (has_low && __builtin_mul_overflow(r.low, k, &scaled.low)) return {};
  if (has_high && __builtin_mul_overflow(r.high, k, &scaled.high)) return {};
  return scaled;
}

Interval Sum(Interval a, Interval b) {
  Interval sum;
  if (HasLow(a) && HasLow(b) && __builtin_add_overflow(a.low, b.low, &sum.low)) return {};
  if (HasHigh(a) && HasHigh(b) && __builtin_add_overflow(a.high, b.high, &sum.high)) return {};
  return sum;
}

// Of two ranges without negative numbers.
Interval Product(Interval a, Interval b) {
  Interval product;
  if (__builtin_mul_overflow(a.low, b.low, &product.low)) return {};
  if (HasHigh(a) && HasHigh(b) && __builtin_mul_overflow(a.high, b.high, &product.high)) return {};
  return product;
}

Interval Quotient(Interval a, std::int64_t c) {
  return {HasLow(a) ? FloorDivide(a.low, c) : a.low, HasHigh(a) ? FloorDivide(a.high, c) : a.high};
}

bool IsIndex(const Expr& e) { return e.dtype() == Int64; }

bool IsAtom(const Linear& l) {
  return l.constant == 0 && l.terms.size() == 1 && l.terms[0].second == 1;
}

// Terms of two sums of variables whose product is written out.
constexpr std::size_t kMaxProducts = 64;

class Simplifier : public StmtMutator {
 public:
  explicit Simplifier(const Bounds& bounds) : bounds_(bounds) {}

  // Kept for each node: quotients and minima ask for their operands again and again.
  const Linear& LinearOf(const Expr& e) {
    if (const auto found = linear_.find(e); found != linear_.end()) return found->second;
    Linear l = NewLinearOf(e);
    for (const auto& [atom, coefficient] : l.terms) {
      // What became an atom stays one.
      if (!atom.same_as(e)) linear_.try_emplace(atom, Linear{0, {{atom, 1}}});
    }
    return linear_.insert_or_assign(e, std::move(l)).first->second;
  }

  Interval Range(const Linear& l) {
    Interval range{l.constant, l.constant};
    for (const auto& [atom, coefficient] : l.terms)
      range = Sum(range, Scale(AtomRange(atom), coefficient));
    return MayWrap(l) ? Interval() : range;
  }

 protected:
  Expr Mutate(const Expr& e) override {
    if (IsIndex(e) && (e.kind() == ExprKind::kBinary)) return LinearOf(e).ToExpr();
    if (const auto* n = e.As<BinaryNode>(); n != nullptr && IsComparison(n->op) && IsIndex(n->a)) {
      return Compare(n->op, n->a, n->b);
    }
    if (const std::optional<Expr> decided = DecidedInAllLanes(e)) return *decided;
    if (const auto* n = e.As<LetNode>()) index_.Define(n->var, n->value);
    const Expr mutated = MutateChildren(e);
    if (const std::optional<Expr> simpler = SimplifyLanes(mutated)) return *simpler;
    if (IsIndex(mutated) && mutated.kind() == ExprKind::kBinary) return mutated;
    const std::optional<Expr> simpler = ByRules(mutated);
    return simpler ? (*this)(*simpler) : mutated;
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
      const Interval values{first.low, Sum(Sum(first, count), {-1, -1}).high};
      const Stmt body = extent.kind() == ExprKind::kIntImm
                            ? MutateWhere(n->var, values, n->body)
                            : MutateToSymbolic(*n, min, extent, values);
      if (IsEmpty(body)) return body;
      if (min.same_as(n->min) && extent.same_as(n->extent) && body == n->body) return stmt;
      return For(n->var, min, extent, n->for_kind, body);
    }
    if (const auto* n = stmt.As<LetStmtNode>(); n != nullptr && IsIndex(n->var)) {
      const Expr value = (*this)(n->value);
      index_.Define(n->var, value);
      const Stmt body = MutateWhere(n->var, Range(LinearOf(value)), n->body);
      if (value.same_as(n->value) && body == n->body) return stmt;
      return LetStmt(n->var, value, body);
    }
    const Stmt result = MutateStmtChildren(stmt);
    if (const auto* n = result.As<IfNode>(); n != nullptr && !n->else_case && IsEmpty(n->then_case))
      return Seq({});
    return result;
  }

 private:
  std::optional<Expr> ByRules(const Expr& e) {
    if (e.kind() == ExprKind::kCast) return SimplifyCast(e);
    const auto* n = e.As<BinaryNode>();
    const Expr& operand = n != nullptr && IsComparison(n->op) ? n->a : e;
    return ApplyRules(SimplifyRules(), e, IsIndex(operand) && index_.Proves(operand));
  }

  // Adds a quotient, remainder or extremum that the linear form cannot take apart.
  void AddAtom(Linear* l, const Expr& e) {
    if (const std::optional<Expr> simpler = ByRules(e)) {
      AddScaled(l, LinearOf(*simpler), 1);
    } else {
      AddTerm(l, e, 1);
    }
  }

  static bool IsEmpty(const Stmt& s) {
    const auto* seq = s.As<SeqNode>();
    return seq != nullptr && seq->stmts.empty();
  }

  // `body` with `var` in `values`. What was simplified under another range is forgotten.
  Stmt MutateWhere(const Var& var, Interval values, const Stmt& body) {
    const Interval outside = Rebind(var, values);
    const Stmt result = MutateStmt(body);
    Rebind(var, outside);
    return result;
  }

  // What is positive, or has another sign than it usually has, where the extent is: the factors of
  // a product, and those that whole blocks are made of.
  std::vector<Expr> PositiveWith(const Expr& extent) {
    const Linear sum = LinearOf(extent);
    if (sum.terms.size() != 1 || sum.constant != 0) return {};
    std::vector<Expr> positive = FactorsOf(sum.terms[0].first);
    for (std::size_t i = 0; i < positive.size(); ++i) {
      const auto* blocks = positive[i].As<BinaryNode>();
      if (blocks == nullptr || blocks->op != BinaryOp::kFloorDiv) continue;
      const auto* block = blocks->b.As<IntImmNode>();
      const Linear whole = LinearOf(blocks->a);
      if (block == nullptr || whole.terms.size() != 1 || whole.constant >= block->value) continue;
      const std::vector<Expr> factors = FactorsOf(whole.terms[0].first);
      positive.insert(positive.end(), factors.begin(), factors.end());
    }
    return positive;
  }

  // The body of a loop to an extent of variables. As it runs, none of the extent's factors is 0.
  Stmt MutateToSymbolic(const ForNode& loop, const Expr& min, const Expr& extent, Interval values) {
    std::vector<std::pair<Var, Interval>> before;
    for (const Expr& factor : PositiveWith(extent)) {
      const Interval range = bounds_.Of(factor);
      if (factor.kind() == ExprKind::kVar && range.low == 0)
        before.emplace_back(Var(factor), Rebind(Var(factor), {1, range.high}));
    }
    Linear last = LinearOf(min);
    const bool fits = AddScaled(&last, LinearOf(ExtentWhereItRuns(extent)), 1) &&
                      !__builtin_sub_overflow(last.constant, 1, &last.constant);
    if (fits) symbolic_.Enter(loop.var, {LinearOf(min), last});
    const Interval outside = Rebind(loop.var, values);
    const Stmt body = MutateStmt(loop.body);
    Rebind(loop.var, outside);
    symbolic_.Leave(loop.var);
    for (const auto& [var, range] : before) Rebind(var, range);
    return body;
  }

  // Gives the range that held before.
  Interval Rebind(const Var& var, Interval values) {
    const Interval before = bounds_.Of(var);
    if (values == before) return before;
    bounds_.Bind(var, values);
    Forget();
    linear_.clear();
    ranges_.clear();
    index_.Forget();
    return before;
  }

  // Whether the register that holds the sum may hold another number than the sum is.
  bool MayWrap(const Linear& l) { return !IsAtom(l) && !index_.Proves(l); }

  Linear NewLinearOf(const Expr& e) {
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
        case BinaryOp::kMul:
          return LinearOfProduct(*n);
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

  Linear LinearOfProduct(const BinaryNode& n) {
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
      RejoinQuotients(&l);
    } else {
      AddTerm(&l, Binary(BinaryOp::kMul, a.ToExpr(), b.ToExpr()), 1);
    }
    return l;
  }

  Linear LinearOfQuotient(const BinaryNode& n) {
    const Linear &a = LinearOf(n.a), &b = LinearOf(n.b);
    const bool is_division = n.op == BinaryOp::kDiv || n.op == BinaryOp::kFloorDiv;
    BinaryOp op = n.op;
    const bool truncates = op == BinaryOp::kDiv || op == BinaryOp::kMod;
    if (truncates && Range(a).low >= 0 && Range(b).low > 0)
      op = is_division ? BinaryOp::kFloorDiv : BinaryOp::kFloorMod;
    Linear result;
    const std::int64_t c = b.constant;
    if (!b.terms.empty() || c <= 0 || op == BinaryOp::kDiv || op == BinaryOp::kMod || MayWrap(a)) {
      // A symbolic divisor: only x / x multiples could be told, and they do not occur. A sum that
      // wraps around does not divide term by term.
      AddAtom(&result, Binary(op, a.ToExpr(), b.ToExpr()));
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
    if (const auto split = inside ? std::nullopt : SplitGranules(rest, c)) {
      // (g * x + part) / c = x / (c / g), and the remainder is g * (x mod (c / g)) + part.
      const Expr whole = split->whole.ToExpr();
      if (is_division) {
        result = quotient;
        AddScaled(&result, LinearOf(FloorDiv(whole, c / split->g)), 1);
      } else {
        result = split->part;
        AddScaled(&result, LinearOf(FloorMod(whole, c / split->g)), split->g);
      }
      return result;
    }
    if (is_division) {
      result = quotient;
      if (!inside) AddAtom(&result, Binary(BinaryOp::kFloorDiv, rest.ToExpr(), c));
      return result;
    }
    if (inside) return rest;
    AddAtom(&result, Binary(BinaryOp::kFloorMod, rest.ToExpr(), c));
    return result;
  }

  // `sum` as g * whole + part with 0 <= part < g, for a divisor g > 1 of c.
  struct Granules {
    std::int64_t g;
    Linear whole, part;
  };
  std::optional<Granules> SplitGranules(const Linear& sum, std::int64_t c) {
    std::int64_t tried = 1;
    for (const auto& [ignored, candidate] : sum.terms) {
      const std::int64_t g = std::gcd(candidate, c);
      if (g == tried || g <= 1) continue;
      tried = g;
      Granules split{.g = g};
      split.whole.constant = FloorDivide(sum.constant, g);
      split.part.constant = sum.constant - split.whole.constant * g;
      for (const auto& [atom, coefficient] : sum.terms) {
        const bool divides = coefficient % g == 0;
        AddTerm(divides ? &split.whole : &split.part, atom,
                divides ? coefficient / g : coefficient);
      }
      const Interval range = Range(split.part);
      if (range.low >= 0 && range.high < g) return split;
    }
    return std::nullopt;
  }

  Linear LinearOfMinMax(const BinaryNode& n) {
    const Linear &a = LinearOf(n.a), &b = LinearOf(n.b);
    const Interval range = Difference(a, b);
    const bool is_min = n.op == BinaryOp::kMin;
    if (range.high <= 0 || ByLoops(BinaryOp::kLE, a, b)) return is_min ? a : b;
    if (range.low >= 0 || ByLoops(BinaryOp::kGE, a, b)) return is_min ? b : a;
    Linear result;
    AddAtom(&result, Binary(n.op, a.ToExpr(), b.ToExpr()));
    return result;
  }

  // A range that has the sign of a - b: what is left of the difference tells it, and so do the
  // ranges of both sides where they do not overlap.
  Interval Difference(const Linear& a, const Linear& b) {
    Interval sign;
    Linear d = a;
    if (AddScaled(&d, b, -1) && RejoinQuotients(&d) && !CancelsData(a, b, d)) sign = Range(d);
    const Interval left = Range(a), right = Range(b);
    if (left.high <= right.low)
      sign.high = std::min<std::int64_t>(sign.high, left.high < right.low ? -1 : 0);
    if (left.low >= right.high)
      sign.low = std::max<std::int64_t>(sign.low, left.low > right.high ? 1 : 0);
    return sign;
  }

  // Whether `d`, a - b, lost terms that may wrap around: x + 1 may lie below x.
  bool CancelsData(const Linear& a, const Linear& b, const Linear& d) {
    const bool is_zero = d.terms.empty() && d.constant == 0;
    return !is_zero && (MayWrap(a) || MayWrap(b));
  }

  Expr Compare(BinaryOp op, const Expr& left, const Expr& right) {
    const Linear &a = LinearOf(left), &b = LinearOf(right);
    const Interval r = Difference(a, b);
    const auto decide = [&](bool holds, bool fails) -> std::optional<bool> {
      if (holds) return true;
      if (fails) return false;
      return std::nullopt;
    };
    std::optional<bool> known = symbolic_.empty() ? std::nullopt : ByLoops(op, a, b);
    if (known) return *known ? True() : False();
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
    const Expr compared = Binary(op, a.ToExpr(), b.ToExpr());
    const std::optional<Expr> simpler = ByRules(compared);
    return simpler ? (*this)(*simpler) : compared;
  }

  // Whether a comparison holds, by what loops to extents of variables say.
  std::optional<bool> ByLoops(BinaryOp op, const Linear& a, const Linear& b) {
    const auto below = [&](const Linear& x, const Linear& y, std::int64_t most) {
      Linear difference = x;
      if (!AddScaled(&difference, y, -1) || MayWrap(x) || MayWrap(y)) return false;
      const std::optional<std::int64_t> upper = symbolic_.Upper(difference);
      return upper && *upper <= most;
    };
    switch (op) {
      case BinaryOp::kLT:
        return below(a, b, -1) ? std::optional(true) : std::nullopt;
      case BinaryOp::kLE:
        return below(a, b, 0) ? std::optional(true) : std::nullopt;
      case BinaryOp::kGT:
        return below(b, a, -1) ? std::optional(true) : std::nullopt;
      case BinaryOp::kGE:
        return below(b, a, 0) ? std::optional(true) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  // A comparison of vectors of indices that holds in all lanes, or in none.
  std::optional<Expr> DecidedInAllLanes(const Expr& e) {
    const auto* n = e.As<BinaryNode>();
    if (n == nullptr || !IsComparison(n->op) || !e.dtype().is_vector() ||
        n->a.dtype().element() != Int64)
      return std::nullopt;
    const Var lane("lane");
    const Expr a = AtLane(n->a, lane), b = AtLane(n->b, lane);
    if (!a.defined() || !b.defined()) return std::nullopt;
    bounds_.Bind(lane, {0, e.dtype().lanes() - 1});
    const Expr decided = Compare(n->op, a, b);
    if (decided.kind() != ExprKind::kIntImm) return std::nullopt;
    return Broadcast(decided, e.dtype().lanes());
  }

  // k * c * (x / c) + k * (x mod c) = k * x, and
  // k * c * ((x / c + n) mod d) + k * (x mod c) = k * ((x + n * c) mod (c * d)).
  // Tells whether nothing wrapped around.
  bool RejoinQuotients(Linear* l) {
    for (std::size_t i = 0; i < l->terms.size(); ++i) {
      const auto* mod = l->terms[i].first.As<BinaryNode>();
      if (mod == nullptr) continue;
      const auto* c = mod->b.As<IntImmNode>();
      if (mod->op != BinaryOp::kFloorMod || c == nullptr) {
        if (const std::optional<bool> exact = RejoinSymbolic(l, i)) return *exact;
        continue;
      }
      for (std::size_t j = 0; j < l->terms.size(); ++j) {
        const std::int64_t k = l->terms[i].second;
        std::int64_t whole = 0;
        if (__builtin_mul_overflow(k, c->value, &whole) || l->terms[j].second != whole) continue;
        const std::optional<Expr> joined =
            IsQuotient(l->terms[j].first, mod->a, c->value)
                ? mod->a
                : JoinedRemainder(l->terms[j].first, mod->a, c->value);
        if (!joined) continue;
        l->terms.erase(l->terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        l->terms.erase(l->terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        const bool exact = AddScaled(l, LinearOf(*joined), k);
        return RejoinQuotients(l) && exact;
      }
    }
    return true;
  }

  // k * f * d * (x / d) + k * f * (x mod d) = k * f * x, for a divisor or factors of variables.
  // `i` is the place of the remainder. Nothing where there is no such quotient.
  std::optional<bool> RejoinSymbolic(Linear* l, std::size_t i) {
    const auto [term, k] = l->terms[i];
    std::vector<Expr> factors = FactorsOf(term);
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const auto* mod = factors[f].As<BinaryNode>();
      if (mod == nullptr || mod->op != BinaryOp::kFloorMod) continue;
      if (factors.size() == 1 && mod->b.kind() == ExprKind::kIntImm) continue;
      if (Range(LinearOf(mod->b)).low < 1) continue;
      std::vector<Expr> others = factors;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(f));
      const Expr rest = ProductInOrder(std::move(others));
      const auto times_rest = [&](const Expr& e) { return rest.defined() ? rest * e : e; };
      const Linear quotient = LinearOf(times_rest(FloorDiv(mod->a, mod->b) * mod->b));
      if (quotient.constant != 0 || !HasTerms(*l, quotient, k)) continue;
      bool exact = AddScaled(l, quotient, -k);
      exact = AddTerm(l, term, -k) && exact;
      exact = AddScaled(l, LinearOf(times_rest(mod->a)), k) && exact;
      return RejoinQuotients(l) && exact;
    }
    return std::nullopt;
  }

  // Whether `l` has the terms of `part`, k times each.
  static bool HasTerms(const Linear& l, const Linear& part, std::int64_t k) {
    return std::all_of(part.terms.begin(), part.terms.end(), [&](const auto& term) {
      std::int64_t wanted = 0;
      return !__builtin_mul_overflow(term.second, k, &wanted) && wanted != 0 &&
             l.CoefficientOf(term.first) == wanted;
    });
  }

  // (x + n * c) mod (c * d) of `e` = (x / c + n) mod d; nothing of others.
  std::optional<Expr> JoinedRemainder(const Expr& e, const Expr& x, std::int64_t c) {
    const auto* mod = e.As<BinaryNode>();
    if (mod == nullptr || mod->op != BinaryOp::kFloorMod) return std::nullopt;
    const auto* d = mod->b.As<IntImmNode>();
    std::int64_t product = 0;
    if (d == nullptr || d->value <= 0 || c <= 0 || __builtin_mul_overflow(c, d->value, &product))
      return std::nullopt;
    Linear n = LinearOf(mod->a);
    const auto quotient = std::find_if(n.terms.begin(), n.terms.end(), [&](const auto& term) {
      return term.second == 1 && IsQuotient(term.first, x, c);
    });
    if (quotient == n.terms.end()) return std::nullopt;
    n.terms.erase(quotient);
    Linear sum = LinearOf(x);
    if (!AddScaled(&sum, n, c) || MayWrap(sum) || !index_.Proves(mod->a)) return std::nullopt;
    return Binary(BinaryOp::kFloorMod, sum.ToExpr(), product);
  }

  // Whether `e` is x / c; of x = y / d that is y / (d * c).
  bool IsQuotient(const Expr& e, const Expr& x, std::int64_t c) {
    const auto* n = e.As<BinaryNode>();
    if (n == nullptr || n->op != BinaryOp::kFloorDiv) return false;
    if (IsConstInt(n->b, c)) return IsSameSum(n->a, x);
    const auto* inner = x.As<BinaryNode>();
    if (inner == nullptr || inner->op != BinaryOp::kFloorDiv) return false;
    const auto* d = inner->b.As<IntImmNode>();
    std::int64_t product = 0;
    return d != nullptr && !__builtin_mul_overflow(d->value, c, &product) &&
           IsConstInt(n->b, product) && StructuralEqual(n->a, inner->a);
  }

  // Whatever the order of the terms.
  bool IsSameSum(const Expr& a, const Expr& b) {
    if (StructuralEqual(a, b)) return true;
    if (LinearOf(a).terms.size() != LinearOf(b).terms.size()) return false;
    Linear difference = LinearOf(a);
    return AddScaled(&difference, LinearOf(b), -1) && difference.terms.empty() &&
           difference.constant == 0;
  }

  Interval AtomRange(const Expr& atom) {
    if (atom.kind() == ExprKind::kVar) return bounds_.Of(atom);
    if (const auto found = ranges_.find(atom); found != ranges_.end()) return found->second;
    const Interval range = NewAtomRange(atom);
    ranges_.emplace(atom, range);
    return range;
  }

  Interval NewAtomRange(const Expr& atom) {
    const auto* n = atom.As<BinaryNode>();
    if (n == nullptr) return index_.RangeOf(atom);
    const auto range_of = [&](const Expr& e) { return Range(LinearOf(e)); };
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

  Bounds bounds_;
  IndexArithmetic index_{bounds_};
  SymbolicRanges symbolic_{[this](const Expr& e) { return LinearOf(e); },
                           [this](const Linear& l) { return Range(l); }};
  // Forgotten together with the rewritten expressions.
  std::unordered_map<Expr, Linear, ExprHash, ExprSame> linear_;
  std::unordered_map<Expr, Interval, ExprHash, ExprSame> ranges_;
};

}  // namespace

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
