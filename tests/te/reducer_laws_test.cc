#include "tenon/te/reducer_laws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using Vars = std::vector<Var>;
using Values = std::vector<Expr>;

Values TermsOf(const std::vector<DataType>& types) {
  const IterVar k = ReduceAxis(0, 8);
  Values terms;
  for (const DataType type : types) terms.push_back(Placeholder({8}, type, "A")(k.var));
  return terms;
}

std::optional<std::string> Why(const Combiner& combiner) {
  std::vector<DataType> types;
  for (const Var& var : combiner.lhs) types.push_back(var.dtype());
  return WhyOrderCounts(combiner, TermsOf(types));
}

Combiner Of(DataType type, const std::function<Expr(Expr, Expr)>& join, const Expr& identity,
            bool is_commutative = true) {
  return MakeCombiner(
      "r", {type}, [&](const Vars& l, const Vars& r) { return Values{join(l[0], r[0])}; },
      {identity}, is_commutative);
}

// Tried as a user's reducer would be.
std::optional<std::string> Tried(Reduction r) {
  r.combiner.is_sum = r.combiner.is_order_free = false;
  return WhyOrderCounts(r.combiner, r.source);
}

TEST(ReducerLawsTest, BuiltInReducersKeepThem) {
  for (const DataType type : {Float32, Float64, Float16, BFloat16, Int8, Int32, Int64, UInt8}) {
    const Expr x = TermsOf({type})[0];
    const IterVar k = ReduceAxis(0, 8);
    const std::vector<Reduction> reductions = {
        Sum(x, {k}), Prod(x, {k}),          Max(x, {k}),
        Min(x, {k}), ArgMax(k.var, x, {k}), ArgMin(Cast(Int32, k.var), x, {k}, true)};
    for (const Reduction& r : reductions)
      EXPECT_EQ(Tried(r), std::nullopt) << r.combiner.name << " of " << type.ToString();
  }
  const Expr b = TermsOf({Bool})[0];
  EXPECT_EQ(Tried(All(b, {})), std::nullopt);
  EXPECT_EQ(Tried(Any(b, {})), std::nullopt);
}

TEST(ReducerLawsTest, ReducersOfManyKindsAreBelieved) {
  // The greatest, and the sum of exponentials in terms of it.
  const auto log_sum = [](const Vars& a, const Vars& b) {
    const Expr most = Max(a[0], b[0]);
    return Values{most, a[1] * Exp(a[0] - most) + b[1] * Exp(b[0] - most)};
  };
  EXPECT_EQ(Why(MakeCombiner("log_sum", {Float32, Float32}, log_sum,
                             {Cast(Float32, -1e30), Cast(Float32, 0)})),
            std::nullopt);
  // Resistors in parallel, of which none is one without end.
  const auto parallel = [](const Expr& x, const Expr& y) { return 1.0 / (1.0 / x + 1.0 / y); };
  EXPECT_EQ(Why(Of(Float64, parallel, loop::FloatImm(Float64, HUGE_VAL))), std::nullopt);
}

// Counts, means and sums of squares (Chan and others, 1979). The identity counts nothing, where a
// mean means nothing: samples are terms that the computation makes, not any three numbers.
TEST(ReducerLawsTest, SamplesAreTermsOfTheComputation) {
  const auto join = [](const Vars& a, const Vars& b) {
    const Expr n = a[0] + b[0], d = b[1] - a[1], some = Max(n, 1.0F);
    return Values{n, a[1] + d * b[0] / some, a[2] + b[2] + d * d * a[0] * b[0] / some};
  };
  const Combiner moments =
      MakeCombiner("moments", {Float32, Float32, Float32}, join, {0.0F, 0.0F, 0.0F});
  const Expr x = TermsOf({Float32})[0];
  EXPECT_EQ(WhyOrderCounts(moments, {Cast(Float32, 1), x, Cast(Float32, 0)}), std::nullopt);
}

TEST(ReducerLawsTest, ABrokenLawIsShownByItsTerms) {
  const auto minus = [](const Expr& x, const Expr& y) { return x - y; };
  EXPECT_THAT(Why(Of(Int32, minus, Cast(Int32, 0))),
              Optional(HasSubstr("reducer r is not associative: (2 . 2) . 2 is -2, but 2 . (2 . 2) "
                                 "is 2")));
  const auto half = [](const Expr& x, const Expr& y) { return (x + y) * 0.5F; };
  EXPECT_THAT(Why(Of(Float32, half, Cast(Float32, 0))),
              Optional(HasSubstr("reducer r is not associative: ")));
  // Products of 2 x 2 matrices.
  const auto product = [](const Vars& a, const Vars& b) {
    return Values{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                  a[2] * b[1] + a[3] * b[3]};
  };
  EXPECT_THAT(Why(MakeCombiner("matrices", {Float32, Float32, Float32, Float32}, product,
                               {1.0F, 0.0F, 0.0F, 1.0F})),
              Optional(HasSubstr("reducer matrices is not commutative: (")));
  // A sum that begins at 10 would begin there in each part.
  const auto plus = [](const Expr& x, const Expr& y) { return x + y; };
  EXPECT_THAT(Why(Of(Float32, plus, Cast(Float32, 10))),
              Optional(HasSubstr("reducer r has an identity that changes what it is joined with: "
                                 "10 . 2 is 12")));
}

TEST(ReducerLawsTest, AReducerMaySayThatOrderCounts) {
  const auto last = [](const Expr& x, const Expr& y) { return Select(y != 0, y, x); };
  EXPECT_EQ(Why(Of(Int32, last, Cast(Int32, 0), false)), "reducer r is not commutative");
  EXPECT_THAT(Why(Of(Int32, last, Cast(Int32, 0))),
              Optional(HasSubstr("reducer r is not commutative: ")));
}

}  // namespace
}  // namespace tenon::te
