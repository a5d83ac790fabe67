// Proofs of the simplifier's rules, for all values, by Z3: that the pattern and the replacement
// differ is shown to be impossible.
//
// What stands for a placeholder:
// - data (kInt64, kInteger) is bit vectors that wrap around; integers of any width are proved at
//   8, 16, 32 and 64 bits, signed and unsigned;
// - indices (kIndex) are integers without bound: the domain promises that nothing wraps around;
// - numbers of any type (kAny) are bit vectors and, as floats, float16 with NaN, both zeros,
//   infinities and denormals; equal means the same bits, except that all NaN are one.
// Where a rule divides 64 bits by a constant that is not known, bit vectors are out of reach. Such
// rules are proved with all values as integers from -2^63 to 2^63 - 1, and with a proof that no
// result leaves that range. Quotient and remainder are then what defines them, and two lemmas about
// products, which are proved by themselves, are given where they are needed.
#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <z3++.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify_rules.h"
#include "tenon/loop/visit.h"
#include "tenon/tests/testing/z3_outcome.h"

namespace tenon::loop {
namespace {

using Term = z3::expr;

// What numbers are, and what operators make of them.
class Theory {
 public:
  explicit Theory(z3::context& context) : context_(context) {}
  virtual ~Theory() = default;

  virtual Term Number(const std::string& name) = 0;
  virtual Term Constant(std::int64_t value) = 0;
  virtual Term Arithmetic(BinaryOp op, const Term& a, const Term& b) = 0;
  virtual Term Less(const Term& a, const Term& b) = 0;
  virtual Term LessOrEqual(const Term& a, const Term& b) = 0;
  virtual Term Equal(const Term& a, const Term& b) { return a == b; }
  virtual Term Least(const Term& a, const Term& b) { return z3::ite(Less(a, b), a, b); }
  virtual Term Greatest(const Term& a, const Term& b) { return z3::ite(Less(a, b), b, a); }

 protected:
  z3::context& context_;
};

class BitVectors : public Theory {
 public:
  BitVectors(z3::context& context, unsigned bits, bool is_signed)
      : Theory(context), bits_(bits), is_signed_(is_signed) {}

  Term Number(const std::string& name) override { return context_.bv_const(name.c_str(), bits_); }
  Term Constant(std::int64_t value) override { return context_.bv_val(value, bits_); }
  Term Less(const Term& a, const Term& b) override {
    return is_signed_ ? z3::slt(a, b) : z3::ult(a, b);
  }
  Term LessOrEqual(const Term& a, const Term& b) override {
    return is_signed_ ? z3::sle(a, b) : z3::ule(a, b);
  }
  Term Arithmetic(BinaryOp op, const Term& a, const Term& b) override {
    if (op == BinaryOp::kAdd) return a + b;
    if (op == BinaryOp::kSub) return a - b;
    if (op == BinaryOp::kMul) return a * b;
    // Floor division, which is 0 by 0.
    const Term zero = Constant(0);
    const Term quotient = is_signed_ ? a / b : z3::udiv(a, b);
    const Term remainder = is_signed_ ? z3::srem(a, b) : z3::urem(a, b);
    const Term moves = is_signed_ ? remainder != zero && (Less(remainder, zero) != Less(b, zero))
                                  : context_.bool_val(false);
    const Term value = op == BinaryOp::kFloorDiv ? z3::ite(moves, quotient - Constant(1), quotient)
                                                 : z3::ite(moves, remainder + b, remainder);
    return z3::ite(b == zero, zero, value);
  }

 private:
  unsigned bits_;
  bool is_signed_;
};

// Minima and maxima are NaN when an operand is, as kernels have it. No rule calculates.
class Halves : public Theory {
 public:
  explicit Halves(z3::context& context) : Theory(context) {}

  Term Number(const std::string& name) override {
    return context_.constant(name.c_str(), context_.fpa_sort<16>());
  }
  Term Constant(std::int64_t value) override { return context_.fpa_val(static_cast<float>(value)); }
  Term Arithmetic(BinaryOp, const Term& a, const Term&) override {
    ADD_FAILURE() << "rules do no arithmetic on floats";
    return a;
  }
  Term Less(const Term& a, const Term& b) override { return a < b; }
  Term LessOrEqual(const Term& a, const Term& b) override { return a <= b; }
  Term Equal(const Term& a, const Term& b) override {
    return Term(context_, Z3_mk_fpa_eq(context_, a, b));
  }
  Term Least(const Term& a, const Term& b) override { return WithNan(a, b, a < b, a, b); }
  Term Greatest(const Term& a, const Term& b) override { return WithNan(a, b, a < b, b, a); }

 private:
  Term IsNan(const Term& a) { return Term(context_, Z3_mk_fpa_is_nan(context_, a)); }
  Term WithNan(const Term& a, const Term& b, const Term& chooses, const Term& one,
               const Term& other) {
    return z3::ite(IsNan(a), a, z3::ite(IsNan(b), b, z3::ite(chooses, one, other)));
  }
};

// A division a = divisor * quotient + remainder.
struct Division {
  Term a, divisor, quotient, remainder;
};

class Integers : public Theory {
 public:
  Integers(z3::context& context, z3::solver* solver) : Theory(context), solver_(*solver) {}

  Term Number(const std::string& name) override { return context_.int_const(name.c_str()); }
  Term Constant(std::int64_t value) override { return context_.int_val(value); }
  Term Less(const Term& a, const Term& b) override { return a < b; }
  Term LessOrEqual(const Term& a, const Term& b) override { return a <= b; }
  Term Arithmetic(BinaryOp op, const Term& a, const Term& b) override {
    if (op == BinaryOp::kAdd) return Note(a + b);
    if (op == BinaryOp::kSub) return Note(a - b);
    if (op == BinaryOp::kMul) return Note(a * b);
    const Division& division = Divide(a, b);
    return op == BinaryOp::kFloorDiv ? Note(division.quotient) : division.remainder;
  }

  const std::vector<Division>& divisions() const { return divisions_; }
  // What sums, products and quotients come to.
  const std::vector<Term>& results() const { return results_; }

 private:
  Term Note(const Term& result) {
    results_.push_back(result);
    return result;
  }
  // By what is known; fewer cases are fewer ways to search.
  bool IsPositive(const Term& b) {
    solver_.push();
    solver_.add(b <= 0);
    const bool is_positive = solver_.check() == z3::unsat;
    solver_.pop();
    return is_positive;
  }
  const Division& Divide(const Term& a, const Term& b) {
    const std::string number = std::to_string(divisions_.size());
    const Term q = Number("quotient" + number), r = Number("remainder" + number);
    if (IsPositive(b)) {
      solver_.add(a == b * q + r && r >= 0 && r < b);
    } else {
      solver_.add(z3::implies(b != 0, a == b * q + r));
      solver_.add(z3::implies(b > 0, r >= 0 && r < b));
      solver_.add(z3::implies(b < 0, r <= 0 && r > b));
      solver_.add(z3::implies(b == 0, q == 0 && r == 0));
    }
    divisions_.push_back({a, b, q, r});
    return divisions_.back();
  }

  z3::solver& solver_;
  std::vector<Division> divisions_;
  std::vector<Term> results_;
};

using Values = std::vector<std::pair<Var, Term>>;

class Translator {
 public:
  Translator(Theory* theory, z3::context& context, Values values)
      : theory_(*theory), context_(context), values_(std::move(values)) {}

  Term operator()(const Expr& e) const {
    switch (e.kind()) {
      case ExprKind::kIntImm: {
        const std::int64_t value = e.As<IntImmNode>()->value;
        return e.dtype().is_bool() ? context_.bool_val(value != 0) : theory_.Constant(value);
      }
      case ExprKind::kVar:
        for (const auto& [var, term] : values_) {
          if (var.same_as(e)) return term;
        }
        break;
      case ExprKind::kNot:
        return !(*this)(e.As<NotNode>()->a);
      case ExprKind::kSelect: {
        const auto& select = *e.As<SelectNode>();
        return z3::ite((*this)(select.condition), (*this)(select.on_true),
                       (*this)(select.on_false));
      }
      case ExprKind::kBinary:
        return Of(*e.As<BinaryNode>());
      default:
        break;
    }
    throw std::invalid_argument("a rule holds " + Print(e));
  }

 private:
  Term Of(const BinaryNode& node) const {
    const Term a = (*this)(node.a), b = (*this)(node.b);
    switch (node.op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
      case BinaryOp::kMul:
      case BinaryOp::kFloorDiv:
      case BinaryOp::kFloorMod:
        return theory_.Arithmetic(node.op, a, b);
      case BinaryOp::kMin:
        return theory_.Least(a, b);
      case BinaryOp::kMax:
        return theory_.Greatest(a, b);
      case BinaryOp::kAnd:
        return a && b;
      case BinaryOp::kOr:
        return a || b;
      case BinaryOp::kEQ:
        return IsNumber(node) ? theory_.Equal(a, b) : a == b;
      case BinaryOp::kNE:
        return !(IsNumber(node) ? theory_.Equal(a, b) : a == b);
      case BinaryOp::kLT:
        return theory_.Less(a, b);
      case BinaryOp::kLE:
        return theory_.LessOrEqual(a, b);
      case BinaryOp::kGT:
        return theory_.Less(b, a);
      case BinaryOp::kGE:
        return theory_.LessOrEqual(b, a);
      default:
        throw std::invalid_argument("rules have no such operator");
    }
  }
  static bool IsNumber(const BinaryNode& node) { return !node.a.dtype().is_bool(); }

  Theory& theory_;
  z3::context& context_;
  Values values_;
};

// --- lemmas about products of integers, and where proofs need them

// a > 0 and u <= v: a * u <= a * v
Term Grows(const Term& a, const Term& u, const Term& v) {
  return z3::implies(a > 0 && u <= v, a * u <= a * v);
}
// a > 0 and -a < a * m < a: m = 0, and so a * m = 0
Term IsZero(const Term& a, const Term& m) {
  return z3::implies(a > 0 && a * m > -a && a * m < a, m == 0 && a * m == 0);
}

struct Names {
  Term x, y, c, d, k;  // k: c / d, where d divides c
};
using Hints =
    std::function<std::vector<Term>(const std::vector<Division>& divisions, const Names& names)>;

// Divisions are those of the pattern, then those of the replacement, operands first.
std::vector<Term> OfComparedQuotient(const std::vector<Division>& made, const Names& n) {
  const Term& q = made[0].quotient;
  return {Grows(n.c, q, n.d - 1), Grows(n.c, n.d, q), Grows(n.c, q, n.d), Grows(n.c, n.d + 1, q)};
}
std::vector<Term> OfExtremum(const std::vector<Division>& made, const Names& n) {
  const Term &a = made[0].quotient, &b = made[1].quotient, &both = made[2].quotient;
  return {Grows(n.c, a, b - 1), Grows(n.c, b, a - 1), IsZero(n.c, both - a), IsZero(n.c, both - b)};
}
std::vector<Term> OfMultipleAndCeiling(const std::vector<Division>& made, const Names& n) {
  const Term sum = n.x + made[0].quotient;
  return {Grows(n.c, sum, n.x * 0 - 1), Grows(n.c, n.x * 0, sum)};
}
std::vector<Term> OfMultipleAndFloor(const std::vector<Division>& made, const Names& n) {
  const Term& q = made[0].quotient;
  return {Grows(n.c, n.x, q), Grows(n.c, q + 1, n.x)};
}
// x * y by y, whose sign is not known.
Hints OfMultiple(Term Names::*multiplier, Term Names::*divisor) {
  return [=](const std::vector<Division>& made, const Names& n) -> std::vector<Term> {
    const Term m = n.*multiplier - made[0].quotient;
    return {IsZero(n.*divisor, m), IsZero(-(n.*divisor), m), IsZero(-(n.*divisor), -m)};
  };
}

const std::map<std::string_view, Hints>& AllHints() {
  static const std::map<std::string_view, Hints> hints = {
      {"quotient of a quotient",
       [](const std::vector<Division>& made, const Names& n) -> std::vector<Term> {
         return {Grows(n.c, made[1].remainder, n.d - 1), Grows(n.c, n.x * 0, made[1].remainder),
                 IsZero(n.c * n.d, made[1].quotient - made[2].quotient)};
       }},
      {"remainder of a remainder",
       [](const std::vector<Division>& made, const Names& n) -> std::vector<Term> {
         return {IsZero(n.d, n.k * made[0].quotient + made[1].quotient - made[2].quotient)};
       }},
      {"quotient of a remainder",
       [](const std::vector<Division>& made, const Names& n) -> std::vector<Term> {
         // x = c q0 + r0, r0 = d q1 + r1; x = d q2 + r2, c = d q3, q2 = q3 q4 + r4.
         const Term &q0 = made[0].quotient, &q1 = made[1].quotient, &q2 = made[2].quotient;
         const Term &q3 = made[3].quotient, &q4 = made[4].quotient, &r4 = made[4].remainder;
         return {IsZero(n.d, n.k * q0 + q1 - q2),
                 Grows(n.d, q1, n.d * 0 - 1),
                 Grows(n.d, n.k, q1),
                 IsZero(n.d, q3 - n.k),
                 z3::implies(q3 == n.k && q2 == q3 * q4 + r4, q2 == n.k * q4 + r4),
                 IsZero(n.k, q0 - q4)};
       }},
      {"what a remainder takes off divides",
       [](const std::vector<Division>& made, const Names& n) -> std::vector<Term> {
         return {IsZero(n.d, made[0].quotient - made[1].quotient)};
       }},
      {"remainder of a multiple", OfMultiple(&Names::x, &Names::y)},
      {"remainder of a multiple, other side", OfMultiple(&Names::y, &Names::x)},
      {"min of quotients", OfExtremum},
      {"max of quotients", OfExtremum},
      {"quotient below", OfComparedQuotient},
      {"quotient at least", OfComparedQuotient},
      {"quotient at most", OfComparedQuotient},
      {"quotient above", OfComparedQuotient},
      {"multiple below", OfMultipleAndCeiling},
      {"multiple at least", OfMultipleAndCeiling},
      {"multiple at most", OfMultipleAndFloor},
      {"multiple above", OfMultipleAndFloor},
  };
  return hints;
}

// --- proofs

Values PlaceholderValues(Theory* theory, z3::context& context) {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  Values values;
  for (const Var* var : {&x, &y, &z, &c, &d})
    values.emplace_back(*var, theory->Number(var->name()));
  for (const Var* var : {&p, &q})
    values.emplace_back(*var, context.bool_const(var->name().c_str()));
  return values;
}

std::string ProveBy(Theory* theory, z3::context& context, const Rule& rule) {
  z3::solver solver = Solver(context);
  const Translator translate(theory, context, PlaceholderValues(theory, context));
  if (rule.condition.defined()) solver.add(translate(rule.condition));
  solver.add(translate(rule.pattern) != translate(rule.replacement));
  return Outcome(solver);
}

std::string ProveByBits(const Rule& rule, unsigned bits, bool is_signed) {
  z3::context context;
  BitVectors theory(context, bits, is_signed);
  return ProveBy(&theory, context, rule);
}

std::string ProveByHalves(const Rule& rule) {
  z3::context context;
  Halves theory(context);
  return ProveBy(&theory, context, rule);
}

bool DividesItsConstants(const Rule& rule) {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  return rule.condition.defined() &&
         StructuralEqual(rule.condition, c > 0 && d > 0 && FloorMod(c, d) == 0);
}

// `is_bounded`: values are of 64 bits, and the proof shows that so are all results.
std::string ProveByIntegers(const Rule& rule, bool is_bounded) {
  z3::context context;
  z3::solver solver = Solver(context);
  Integers theory(context, &solver);
  Values values = PlaceholderValues(&theory, context);
  // That d > 0 divides c > 0 means that c = d * k for some k > 0.
  const Term k = theory.Number("k");
  const bool divides = DividesItsConstants(rule);
  if (divides) {
    solver.add(k > 0 && values[4].second > 0);
    values[3].second = values[4].second * k;
  }
  const Translator translate(&theory, context, values);
  const Term least = context.int_val("-9223372036854775808");
  const Term most = context.int_val("9223372036854775807");
  const auto fits = [&](const Term& value) { return value >= least && value <= most; };
  for (const auto& [var, term] : values) {
    if (is_bounded && term.is_int()) solver.add(fits(term));
  }
  if (rule.condition.defined() && !divides) solver.add(translate(rule.condition));
  const std::size_t of_condition = theory.results().size();
  const Term pattern = translate(rule.pattern);  // before the replacement: hints count divisions
  const Term differ = pattern != translate(rule.replacement);
  if (const auto found = AllHints().find(rule.name); found != AllHints().end()) {
    const Names names{values[0].second, values[1].second, values[3].second, values[4].second, k};
    for (const Term& hint : found->second(theory.divisions(), names)) solver.add(hint);
  }
  if (is_bounded) {
    solver.push();
    Term all_fit = context.bool_val(true);
    for (std::size_t i = of_condition; i < theory.results().size(); ++i)
      all_fit = all_fit && fits(theory.results()[i]);
    solver.add(!all_fit);
    const std::string range = Outcome(solver);
    if (range != "proved") return "that no result leaves 64 bits is " + range;
    solver.pop();
  }
  solver.add(differ);
  return Outcome(solver);
}

bool DividesByConstants(const Rule& rule) {
  return rule.domain == RuleDomain::kInt64 && AllHints().contains(rule.name);
}

// All proofs of a rule, by name.
std::map<std::string, std::string> Prove(const Rule& rule) {
  if (rule.domain == RuleDomain::kIndex) return {{"integers", ProveByIntegers(rule, false)}};
  if (DividesByConstants(rule)) return {{"integers of 64 bits", ProveByIntegers(rule, true)}};
  std::map<std::string, std::string> proofs;
  const bool any_width = rule.domain == RuleDomain::kInteger || rule.domain == RuleDomain::kAny;
  for (const unsigned bits : {8U, 16U, 32U, 64U}) {
    if (bits != 64 && !any_width) continue;
    proofs["signed, " + std::to_string(bits)] = ProveByBits(rule, bits, true);
    if (any_width) proofs["unsigned, " + std::to_string(bits)] = ProveByBits(rule, bits, false);
  }
  if (rule.domain == RuleDomain::kAny) proofs["float16"] = ProveByHalves(rule);
  return proofs;
}

class RuleProofTest : public ::testing::TestWithParam<Rule> {};
INSTANTIATE_TEST_SUITE_P(Simplifier, RuleProofTest, ::testing::ValuesIn(SimplifyRules()),
                         [](const auto& info) {
                           std::string name;
                           for (const char letter : info.param.name)
                             if (std::isalnum(static_cast<unsigned char>(letter))) name += letter;
                           return name;
                         });

TEST_P(RuleProofTest, HoldsForAllValues) {
  for (const auto& [how, outcome] : Prove(GetParam())) EXPECT_EQ(outcome, "proved") << how;
}

TEST(LemmaTest, LemmasAboutProductsHold) {
  z3::context context;
  const Term a = context.int_const("a"), u = context.int_const("u"), v = context.int_const("v");
  for (const Term& lemma : {Grows(a, u, v), IsZero(a, u)}) {
    z3::solver solver = Solver(context);
    solver.add(!lemma);
    EXPECT_EQ(Outcome(solver), "proved") << lemma.to_string();
  }
}

TEST(LemmaTest, HintsBelongToRules) {
  for (const auto& [name, hints] : AllHints()) {
    EXPECT_TRUE(std::any_of(SimplifyRules().begin(), SimplifyRules().end(),
                            [&, &key = name](const Rule& rule) { return rule.name == key; }))
        << name;
  }
}

TEST(ProverTest, FindsValuesForWhichAWrongRuleFails) {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  const Expr positive = c > 0 && d > 0;
  const Rule wrong[] = {
      // NaN is neither below nor at least anything.
      {"not below, of floats", RuleDomain::kAny, Not(x < y), x >= y},
      {"min absorbs max, of floats", RuleDomain::kAny, Min(x, Max(x, y)), x},
      // The product wraps around.
      {"multiple below, of data", RuleDomain::kInt64, x * 2 < 0, x < 0},
      {"quotient below, off by one", RuleDomain::kIndex, FloorDiv(x, 3) < d, x <= 3 * d, positive},
      {"sides swapped", RuleDomain::kAny, Select(p, x, y), Select(p, y, x)},
      {"order of unsigned numbers", RuleDomain::kInteger, 0 * x <= x, x == x},
  };
  for (const Rule& rule : wrong) {
    bool is_wrong = false;
    for (const auto& [how, outcome] : Prove(rule))
      is_wrong = is_wrong || outcome.starts_with("wrong");
    EXPECT_TRUE(is_wrong) << rule.name;
  }
}

}  // namespace
}  // namespace tenon::loop
