// Proofs, by Z3, of what sums, casts and ranges rest on outside the table of rules
// (simplify_proofs_test.cc): each identity of divide_sums.cc, join_quotients.cc, guards.cc and
// intervals.cc, for all integers, and the casts of simplify_casts.cc and narrow_casts.cc for
// all bits. Sums are integers without bound: Sums::MayWrap leaves those alone that wrap around.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <z3++.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/intervals.h"
#include "tenon/loop/simplify/simplify_casts.h"
#include "tenon/tests/testing/z3_outcome.h"

namespace tenon::loop {
namespace {

using Term = z3::expr;

// Integers and their divisions. Products of unknowns are out of Z3's reach without the lemma that
// d * m between -d and d is 0.
class Claim {
 public:
  Claim() : solver_(Solver(context_)) {}

  Term Number(const char* name) { return context_.int_const(name); }
  void Given(const Term& fact) { solver_.add(fact); }
  // a = d * quotient + remainder with 0 <= remainder < d. Requires d > 0.
  struct Parts {
    Term quotient, remainder;
  };
  Parts Divide(const Term& a, const Term& d) {
    const std::string number = std::to_string(divisions_++);
    Parts parts{context_.int_const(("q" + number).c_str()),
                context_.int_const(("r" + number).c_str())};
    solver_.add(a == d * parts.quotient + parts.remainder && parts.remainder >= 0 &&
                parts.remainder < d);
    return parts;
  }
  // That multiples of d > 0 that differ by less than d are equal.
  void SameMultiple(const Term& d, const Term& a, const Term& b) {
    const Term m = a - b;
    solver_.add(z3::implies(d > 0 && d * m > -d && d * m < d, m == 0));
  }
  // u <= v: d * u <= d * v, for d > 0.
  void Grows(const Term& d, const Term& u, const Term& v) {
    solver_.add(z3::implies(d > 0 && u <= v, d * u <= d * v));
  }
  std::string Holds(const Term& claim) {
    solver_.add(!claim);
    return Outcome(solver_);
  }

 private:
  z3::context context_;
  z3::solver solver_;
  int divisions_ = 0;
};

TEST(QuotientProofTest, TermsThatTheDivisorDividesComeOut) {
  Claim claim;
  const Term c = claim.Number("c"), q = claim.Number("q"), r = claim.Number("r");
  claim.Given(c > 0);
  const auto sum = claim.Divide(c * q + r, c), rest = claim.Divide(r, c);
  claim.SameMultiple(c, sum.quotient, q + rest.quotient);
  EXPECT_EQ(claim.Holds(sum.quotient == q + rest.quotient && sum.remainder == rest.remainder),
            "proved");
}

TEST(QuotientProofTest, ARestBelowTheDivisorVanishes) {
  Claim claim;
  const Term c = claim.Number("c"), q = claim.Number("q"), r = claim.Number("r");
  claim.Given(r >= 0 && r < c);
  const auto sum = claim.Divide(c * q + r, c);
  claim.SameMultiple(c, sum.quotient, q);
  EXPECT_EQ(claim.Holds(sum.quotient == q && sum.remainder == r), "proved");
}

TEST(QuotientProofTest, GranulesAreDividedByWhatIsLeftOfTheDivisor) {
  Claim claim;
  const Term g = claim.Number("g"), k = claim.Number("k"), x = claim.Number("x"),
             part = claim.Number("part");
  claim.Given(g > 0 && k > 0 && part >= 0 && part < g);
  const Term c = g * k;
  const auto fine = claim.Divide(g * x + part, c), coarse = claim.Divide(x, k);
  claim.Given(g * x == g * k * coarse.quotient + g * coarse.remainder);
  claim.Grows(g, coarse.remainder, k - 1);
  claim.Grows(g, k * 0, coarse.remainder);
  claim.SameMultiple(c, fine.quotient, coarse.quotient);
  EXPECT_EQ(claim.Holds(fine.quotient == coarse.quotient &&
                        fine.remainder == g * coarse.remainder + part),
            "proved");
}

TEST(QuotientProofTest, OfNumbersThatAreNotNegativeBothRoundingsAgree) {
  z3::context context;
  z3::solver solver = Solver(context);
  const Term a = context.bv_const("a", 16), b = context.bv_const("b", 16);
  const Term zero = context.bv_val(0, 16);
  solver.add(z3::sge(a, zero) && z3::sgt(b, zero));
  // What truncation gives lies below by one where the remainder has another sign than b.
  solver.add(z3::slt(z3::srem(a, b), zero));
  EXPECT_EQ(Outcome(solver), "proved");
}

TEST(JoinProofTest, AQuotientAndARemainderOfTheSameNumberJoin) {
  Claim claim;
  const Term c = claim.Number("c"), k = claim.Number("k"), x = claim.Number("x");
  claim.Given(c > 0);
  const auto parts = claim.Divide(x, c);
  claim.Given(k * x == k * (c * parts.quotient + parts.remainder));
  EXPECT_EQ(claim.Holds(k * c * parts.quotient + k * parts.remainder == k * x), "proved");
}

TEST(JoinProofTest, AQuotientOfAQuotientIsOneByTheProduct) {
  Claim claim;
  const Term c = claim.Number("c"), d = claim.Number("d"), y = claim.Number("y");
  claim.Given(c > 0 && d > 0);
  const auto inner = claim.Divide(y, d), outer = claim.Divide(inner.quotient, c),
             once = claim.Divide(y, d * c);
  claim.Given(d * inner.quotient == d * c * outer.quotient + d * outer.remainder);
  claim.Grows(d, outer.remainder, c - 1);
  claim.Grows(d, c * 0, outer.remainder);
  claim.SameMultiple(d * c, outer.quotient, once.quotient);
  EXPECT_EQ(claim.Holds(outer.quotient == once.quotient), "proved");
}

TEST(JoinProofTest, ARemainderOfAQuotientJoinsWithTheRemainder) {
  Claim claim;
  const Term c = claim.Number("c"), d = claim.Number("d"), x = claim.Number("x"),
             n = claim.Number("n");
  claim.Given(c > 0 && d > 0);
  const auto parts = claim.Divide(x, c);
  const auto outer = claim.Divide(parts.quotient + n, d), whole = claim.Divide(x + n * c, c * d);
  // x + n * c = c * (d * outer.quotient + outer.remainder) + parts.remainder
  claim.Given(c * (parts.quotient + n) == c * d * outer.quotient + c * outer.remainder);
  claim.Grows(c, outer.remainder, d - 1);
  claim.Grows(c, d * 0, outer.remainder);
  claim.SameMultiple(c * d, outer.quotient, whole.quotient);
  EXPECT_EQ(claim.Holds(c * outer.remainder + parts.remainder == whole.remainder), "proved");
}

TEST(GuardProofTest, AnUpperBoundEndsTheLoop) {
  Claim claim;
  const Term a = claim.Number("a"), v = claim.Number("v"), rest = claim.Number("rest");
  claim.Given(a > 0);
  const auto most = claim.Divide(-rest, a);
  claim.Grows(a, v, most.quotient);
  claim.Grows(a, most.quotient + 1, v);
  EXPECT_EQ(claim.Holds((a * v + rest <= 0) == (v < most.quotient + 1)), "proved");
}

TEST(GuardProofTest, ALowerBoundBeginsTheLoop) {
  Claim claim;
  const Term b = claim.Number("b"), v = claim.Number("v"), rest = claim.Number("rest");
  claim.Given(b > 0);  // the coefficient is -b
  const auto least = claim.Divide(rest + b - 1, b);
  claim.Grows(b, least.quotient, v);
  claim.Grows(b, v, least.quotient - 1);
  EXPECT_EQ(claim.Holds((-(b * v) + rest <= 0) == (v >= least.quotient)), "proved");
}

TEST(RangeProofTest, AQuotientLiesBetweenThoseOfTheEnds) {
  Claim claim;
  const Term c = claim.Number("c"), low = claim.Number("low"), x = claim.Number("x");
  claim.Given(c > 0 && low <= x);
  const auto of_low = claim.Divide(low, c), of_x = claim.Divide(x, c);
  claim.Grows(c, of_x.quotient, of_low.quotient - 1);
  EXPECT_EQ(claim.Holds(of_low.quotient <= of_x.quotient), "proved");
}

TEST(RangeProofTest, AProductOfNumbersThatAreNotNegativeGrowsWithBoth) {
  Claim claim;
  const Term a = claim.Number("a"), b = claim.Number("b"), x = claim.Number("x"),
             y = claim.Number("y");
  claim.Given(a >= 0 && b >= 0 && a <= x && b <= y);
  claim.Given((x - a) * y >= 0 && (y - b) * a >= 0);  // products of numbers that are not negative
  EXPECT_EQ(claim.Holds(a * b <= x * y), "proved");
}

// --- casts

Term CastBits(const Term& value, DataType from, DataType to) {
  const auto before = static_cast<unsigned>(from.bits()), after = static_cast<unsigned>(to.bits());
  if (after <= before) return value.extract(after - 1, 0);
  return from.is_int() ? z3::sext(value, after - before) : z3::zext(value, after - before);
}

TEST(CastProofTest, ACastThroughATypeThatHoldsAllValuesIsOneCast) {
  const std::vector<DataType> types = {Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
  int simplified = 0;
  for (const DataType from : types) {
    for (const DataType through : types) {
      for (const DataType to : types) {
        const Var x("x", from);
        const Expr twice = Cast(to, Cast(through, x));
        const std::optional<Expr> once = SimplifyCast(twice);
        if (!once) continue;
        ++simplified;
        EXPECT_EQ(Print(*once), Print(Cast(to, x)));
        z3::context context;
        z3::solver solver = Solver(context);
        const Term value = context.bv_const("x", static_cast<unsigned>(from.bits()));
        solver.add(CastBits(CastBits(value, from, through), through, to) !=
                   CastBits(value, from, to));
        EXPECT_EQ(Outcome(solver), "proved") << Print(twice);
      }
    }
  }
  EXPECT_GT(simplified, 100);
}

TEST(CastProofTest, AFloatThroughAWiderOneIsExact) {
  for (const bool to_half : {false, true}) {
    z3::context context;
    z3::solver solver = Solver(context);
    const Term rounding(context, Z3_mk_fpa_rne(context));
    const auto cast = [&](const Term& x, const z3::sort& to) {
      return Term(context, Z3_mk_fpa_to_fp_float(context, rounding, x, to));
    };
    const z3::sort half = context.fpa_sort<16>(), single = context.fpa_sort<32>(),
                   to = to_half ? half : context.fpa_sort<64>();
    const Term x = context.constant("x", half);
    solver.add(cast(cast(x, single), to) != cast(x, to));
    EXPECT_EQ(Outcome(solver), "proved");
  }
}

// What narrow_casts.cc makes of sums that end at the greatest number and of differences that end at
// 0, in a type of twice as many bits; and extrema of values that the narrow type holds.
TEST(CastProofTest, SaturatedNumbersAreComputedInTheirOwnType) {
  for (const unsigned bits : {8U, 16U}) {
    z3::context context;
    const Term x = context.bv_const("x", bits), y = context.bv_const("y", bits);
    const Term greatest = ~context.bv_val(0, bits);
    const auto wide = [&](const Term& narrow) { return z3::zext(narrow, bits); };
    const auto less = [](const Term& a, const Term& b) { return z3::ult(a, b); };
    const auto least = [&](const Term& a, const Term& b) { return z3::ite(less(a, b), a, b); };
    const auto most = [&](const Term& a, const Term& b) { return z3::ite(less(a, b), b, a); };
    const auto narrow = [&](const Term& value) { return value.extract(bits - 1, 0); };
    const Term zero = context.bv_val(0, 2 * bits), difference = wide(x) - wide(y);
    const std::pair<Term, Term> pairs[] = {
        {narrow(least(wide(x) + wide(y), wide(greatest))), x + least(y, greatest - x)},
        {narrow(z3::ite(z3::slt(difference, zero), zero, difference)), most(x, y) - y},
        {narrow(least(wide(x), wide(y))), least(x, y)},
        {narrow(most(wide(x), wide(y))), most(x, y)}};
    for (const auto& [before, after] : pairs) {
      z3::solver solver = Solver(context);
      solver.add(before != after);
      EXPECT_EQ(Outcome(solver), "proved") << bits << " bits: " << after.to_string();
    }
  }
}

// --- the claims can fail

TEST(ProverTest, FindsNumbersForWhichAWrongIdentityFails) {
  Claim claim;
  const Term x = claim.Number("x"), r = claim.Number("r");
  claim.Given(r >= 0 && r <= 8);  // 8 is the divisor
  const auto sum = claim.Divide(8 * x + r, x * 0 + 8);
  EXPECT_THAT(claim.Holds(sum.quotient == x), testing::StartsWith("wrong"));
}

}  // namespace
}  // namespace tenon::loop
