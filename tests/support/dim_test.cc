#include "tenon/support/dim.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon {
namespace {

const Dim n = Dim::Symbol("n"), w = Dim::Symbol("w"), k = Dim::Symbol("#k");

TEST(DimTest, PrintsItsNormalForm) {
  EXPECT_EQ(Dim().ToString(), "?");
  EXPECT_EQ(Dim(7).ToString(), "7");
  EXPECT_EQ((w * 2 + n * 3 + w - 1).ToString(), "3*n + 3*w - 1");
  EXPECT_EQ((n * w * -1).ToString(), "-n*w");
  EXPECT_EQ((n * -2 + 4).ToString(), "-2*n + 4");
  EXPECT_EQ((FloorDiv(w - 1, 2) + 1).ToString(), "floordiv(w + 1, 2)");
  EXPECT_EQ(Max(w, n).ToString(), "max(n, w)");
}

TEST(DimTest, NamesThatAreNoWordsStandInQuotes) {
  for (const char* plain : {"n", "a.b", "_x1"}) EXPECT_EQ(Dim::Symbol(plain).ToString(), plain);
  EXPECT_EQ(Dim::Symbol("input.1").ToString(), "\"input.1\"");
  EXPECT_EQ((Dim::Symbol("a.b.0") * 2 + 1).ToString(), "2*\"a.b.0\" + 1");
  EXPECT_EQ(Dim::Symbol("N + \"1\"\\").ToString(), R"("N + \"1\"\\")");
  EXPECT_EQ(FloorDiv(Dim::Symbol("2nd"), 2).ToString(), "floordiv(\"2nd\", 2)");
  EXPECT_EQ(Dim::Symbol("a.b.0").symbol(), "a.b.0");
}

TEST(DimTest, AVariableNamedAsAnExpressionIsNotThatExpression) {
  const Dim half = FloorDiv(n, 2), named = Dim::Symbol("floordiv(n, 2)");
  EXPECT_FALSE(half == named);
  EXPECT_FALSE((half - named).is_static());
  EXPECT_FALSE(half * w == named * w);
  EXPECT_FALSE(ExactQuotient(half * w, named));
  EXPECT_EQ((half + named).ToString(), "\"floordiv(n, 2)\" + floordiv(n, 2)");
}

TEST(DimTest, ExpressionsOfEqualNormalFormAreEqual) {
  EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
  EXPECT_EQ(n - n, Dim(0));
  EXPECT_FALSE(n == w);
  EXPECT_FALSE(n == Dim(1));
  EXPECT_EQ(Dim(), Dim::Symbol("?"));
}

// An image that is padded to whole windows.
TEST(DimTest, BoundsAreThoseOfEachFactor) {
  const Dim padded = CeilDiv(n, 4) * 4;
  EXPECT_EQ(padded.LowerBound(), 4);
  EXPECT_EQ((Dim(0) - padded).LowerBound(), std::nullopt);
  EXPECT_EQ((padded * CeilDiv(w, 7)).LowerBound(), 4);
  EXPECT_EQ(Max(padded, 0), padded);
  EXPECT_EQ(Max(Dim(0) - padded, 0), Dim(0));
  EXPECT_EQ((Dim(7) - Min(n, 7)).LowerBound(), 0);
  EXPECT_EQ((Max(n, 5) * Max(k, 3)).LowerBound(), 15);
  EXPECT_EQ(((n - 3) * w).LowerBound(), std::nullopt);
}

// The rows of a table of 9 that belong to the last n of k + n places, beside n of them.
TEST(DimTest, BoundsOfSumsTakeOneArgumentOfExtremaAtATime) {
  EXPECT_EQ((n - Min(n, 7)).LowerBound(), 0);
  EXPECT_EQ((Max(n, 7) - n).LowerBound(), 0);
  EXPECT_EQ((Min(n, 7) - n).LowerBound(), std::nullopt);
  EXPECT_EQ((n - Min(k + n, 9) + Min(k, 9)).LowerBound(), 0);
  EXPECT_EQ(Max(Min(k + n, 9) - Min(k, 9), n), n);
  EXPECT_EQ(Max(Min(k + n, 9) - Min(k, 7), n).symbol(), std::nullopt);
}

TEST(DimTest, CountsThatValuesDecideMayBeNone) {
  EXPECT_EQ(k.LowerBound(), 0);
  EXPECT_EQ(n.LowerBound(), 1);
  EXPECT_EQ(Max(n, 1), n);
  EXPECT_EQ(Max(k, 1).ToString(), "max(#k, 1)");
  EXPECT_EQ(Max(k, 0), k);
  EXPECT_EQ((k * 2 + 1).Evaluate({{"#k", 0}}), 1);
}

TEST(DimTest, UnknownStaysUnknown) {
  EXPECT_TRUE((n + Dim()).is_any());
  EXPECT_TRUE((Dim() * 0).is_any());
  EXPECT_TRUE(FloorDiv(Dim(), 2).is_any());
  EXPECT_TRUE(Max(Dim(), n).is_any());
}

TEST(DimTest, ChainsOfDivisionsBecomeOne) {
  const Dim half = FloorDiv(w - 1, 2) + 1;
  const Dim quarter = FloorDiv(half - 1, 2) + 1;
  EXPECT_EQ(quarter, FloorDiv(w - 1, 4) + 1);
  EXPECT_EQ(FloorDiv(w * 8 + 5, 4), w * 2 + 1);
  EXPECT_EQ(FloorDiv(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(CeilDiv(w, 1), w);
}

TEST(DimTest, ExtremaAreDecidedByBounds) {
  EXPECT_EQ(Max(n + 1, n), n + 1);
  EXPECT_EQ(Min(n, 1), Dim(1));  // variables are at least 1
  EXPECT_EQ(Max(n * 2 - 1, 0), n * 2 - 1);
  EXPECT_EQ(Min(n, 5), Min(5, n));
  EXPECT_FALSE(Min(n, 5).is_static());
}

TEST(DimTest, QuotientsAreGivenOnlyWhereTheyAreExact) {
  EXPECT_EQ(ExactQuotient(n * w * 6, w * 2), n * 3);
  EXPECT_EQ(ExactQuotient((n + 1) * (w - 2), n + 1), w - 2);
  EXPECT_EQ(ExactQuotient(n * 6 + 1, 2), std::nullopt);
  EXPECT_EQ(ExactQuotient(n, w), std::nullopt);
  EXPECT_EQ(ExactQuotient(n, 0), std::nullopt);
  EXPECT_EQ(ExactQuotient(0, w), Dim(0));
  const Dim least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(ExactQuotient(least * n, n * -1), std::nullopt);
  EXPECT_EQ(ExactQuotient(n * 6, n * -1), Dim(-6));
}

TEST(DimTest, ValuesThatDoNotFitAreNone) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((n * w).Evaluate({{"n", kMax}, {"w", 2}}), std::nullopt);
  EXPECT_EQ((n + 1).Evaluate({{"n", kMax}}), std::nullopt);
  EXPECT_EQ((n + w).Evaluate({{"n", 1}}), std::nullopt);
  EXPECT_EQ(Dim().Evaluate({}), std::nullopt);
  EXPECT_THROW(n * kMax * 2, Error);
  EXPECT_THROW(Dim(kMax) + 1, Error);
}

// An expression and its value for n and w.
struct Drawn {
  Dim dim = 0;
  std::int64_t value = 0;
};

std::int64_t Floor(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

Drawn Draw(std::mt19937& random, std::int64_t n_value, std::int64_t k_value, int depth) {
  const auto pick = [&](int count) { return static_cast<int>(random() % count); };
  if (depth == 0) {
    switch (pick(3)) {
      case 0: {
        const int number = pick(9) - 4;
        return {number, number};
      }
      case 1:
        return {n, n_value};
      default:
        return {k, k_value};
    }
  }
  const Drawn a = Draw(random, n_value, k_value, depth - 1);
  const Drawn b = Draw(random, n_value, k_value, depth - 1);
  const int by = pick(5) + 1;
  switch (pick(7)) {
    case 0:
      return {a.dim + b.dim, a.value + b.value};
    case 1:
      return {a.dim - b.dim, a.value - b.value};
    case 2:
      return {a.dim * b.dim, a.value * b.value};
    case 3:
      return {FloorDiv(a.dim, by), Floor(a.value, by)};
    case 4:
      return {CeilDiv(a.dim, by), Floor(a.value + by - 1, by)};
    case 5:
      return {Max(a.dim, b.dim), std::max(a.value, b.value)};
    default:
      return {Min(a.dim, b.dim), std::min(a.value, b.value)};
  }
}

TEST(DimTest, RandomExpressionsHaveTheValuesOfTheirParts) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const auto n_value = static_cast<std::int64_t>(random() % 9 + 1);
    const auto k_value = static_cast<std::int64_t>(random() % 9);
    const Dim::Values values = {{"n", n_value}, {"#k", k_value}};
    const Drawn drawn = Draw(random, n_value, k_value, static_cast<int>(random() % 4));
    const std::string text = drawn.dim.ToString();
    ASSERT_EQ(drawn.dim.Evaluate(values), drawn.value) << text;
    ASSERT_EQ(drawn.dim.Substitute({{"n", n_value}, {"#k", k_value}}), Dim(drawn.value)) << text;
    ASSERT_EQ(drawn.dim.Substitute({{"n", n}}), drawn.dim) << text;
    ASSERT_LE(drawn.dim.LowerBound().value_or(drawn.value), drawn.value) << text;
    ASSERT_LE((Dim(0) - drawn.dim).LowerBound().value_or(-drawn.value), -drawn.value) << text;
    const Drawn other = Draw(random, n_value, k_value, static_cast<int>(random() % 3));
    if (const auto quotient = ExactQuotient(drawn.dim, other.dim)) {
      ASSERT_EQ(quotient->Evaluate(values).value() * other.value, drawn.value) << text;
    }
  }
}

// As slices of slices make them.
TEST(DimTest, FunctionsInFunctionsAreMerged) {
  EXPECT_EQ(Max(Max(k - 1, 0) - 1, 0), Max(k - 2, 0));
  EXPECT_EQ(Min(Max(k - 1, 0), k), Max(k - 1, 0));
  EXPECT_EQ(Min(Min(n, 7) + 1, 3), Min(n + 1, 3));
  EXPECT_EQ(Max(Max(k, n) + 2, 1), Max(k, n) + 2);
  EXPECT_EQ(Max(Min(n, k), Max(n, k)), Max(n, k));
  Dim extent = k;
  for (int i = 0; i < 30; ++i) extent = Max(Min(Max(extent - 1, 0), extent), 0);
  EXPECT_EQ(extent, Max(k - 30, 0));
}

// Each level stands in the next several times.
TEST(DimTest, AnExpressionThatGrowsByEachLevelIsRefused) {
  Dim n = Dim::Symbol("n");
  const auto grow = [&] {
    for (int level = 0; level < 40; ++level)
      n = Max(Min(n * 3, Dim(level + 7)) - FloorDiv(n, 5), FloorDiv(n, level + 2));
  };
  EXPECT_THAT([&] { grow(); }, ::testing::ThrowsMessage<Error>(
                                   ::testing::HasSubstr("an extent's expression is too large")));
}

}  // namespace
}  // namespace tenon
