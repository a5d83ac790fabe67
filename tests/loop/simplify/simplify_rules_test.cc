// Each rule of the simplifier is tried on random values of the domain that it claims, as the code
// computes them: the pattern and the replacement must have the same value. Rules that are wrong on
// purpose show that a wrong rule does not get through. simplify_proofs_test.cc proves the rules.
#include "tenon/loop/simplify/simplify_rules.h"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/simplify/simplify_casts.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;

enum class Numbers { kSigned, kUnsigned, kFloating };

// A value of one of the three kinds of numbers; bools are 0 and 1.
struct Value {
  std::int64_t integer = 0;
  double real = 0;
};

// What an expression over placeholders means when they stand for numbers of one kind. Constants and
// conditions are what they always are; int64 wraps around.
class Evaluator {
 public:
  Evaluator(Numbers numbers, const std::unordered_map<Expr, Value, ExprHash, ExprSame>& values)
      : numbers_(numbers), values_(values) {}

  Value operator()(const Expr& e) const {
    switch (e.kind()) {
      case ExprKind::kIntImm:
        return {e.As<IntImmNode>()->value, 0};
      case ExprKind::kVar:
        return values_.at(e);
      case ExprKind::kNot:
        return {(*this)(e.As<NotNode>()->a).integer == 0 ? 1 : 0, 0};
      case ExprKind::kSelect: {
        const auto& n = *e.As<SelectNode>();
        return (*this)((*this)(n.condition).integer != 0 ? n.on_true : n.on_false);
      }
      case ExprKind::kBinary: {
        const auto& n = *e.As<BinaryNode>();
        const Value a = (*this)(n.a), b = (*this)(n.b);
        if (n.op == BinaryOp::kAnd) return {a.integer & b.integer, 0};
        if (n.op == BinaryOp::kOr) return {a.integer | b.integer, 0};
        if (numbers_ == Numbers::kFloating) return Real(n.op, a.real, b.real);
        return {Integer(n.op, a.integer, b.integer), 0};
      }
      default:
        throw std::invalid_argument("a rule holds " + Print(e));
    }
  }

 private:
  static Value Real(BinaryOp op, double a, double b) {
    const bool nan = std::isnan(a) || std::isnan(b);
    switch (op) {
      case BinaryOp::kMin:
        return {0, nan ? NAN : std::min(a, b)};
      case BinaryOp::kMax:
        return {0, nan ? NAN : std::max(a, b)};
      case BinaryOp::kEQ:
        return {a == b, 0};
      case BinaryOp::kNE:
        return {a != b, 0};
      case BinaryOp::kLT:
        return {a < b, 0};
      case BinaryOp::kLE:
        return {a <= b, 0};
      case BinaryOp::kGT:
        return {a > b, 0};
      case BinaryOp::kGE:
        return {a >= b, 0};
      default:
        throw std::invalid_argument("rules do no arithmetic on floats");
    }
  }

  std::int64_t Integer(BinaryOp op, std::int64_t a, std::int64_t b) const {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const bool less = numbers_ == Numbers::kUnsigned ? x < y : a < b;
    switch (op) {
      case BinaryOp::kAdd:
        return static_cast<std::int64_t>(x + y);
      case BinaryOp::kSub:
        return static_cast<std::int64_t>(x - y);
      case BinaryOp::kMul:
        return static_cast<std::int64_t>(x * y);
      case BinaryOp::kFloorDiv:
        if (b == 0) return 0;
        if (b == -1) return static_cast<std::int64_t>(0 - x);
        return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      case BinaryOp::kFloorMod:
        if (b == 0 || b == -1) return 0;
        return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
      case BinaryOp::kMin:
        return less ? a : b;
      case BinaryOp::kMax:
        return less ? b : a;
      case BinaryOp::kEQ:
        return a == b;
      case BinaryOp::kNE:
        return a != b;
      case BinaryOp::kLT:
        return less;
      case BinaryOp::kLE:
        return less || a == b;
      case BinaryOp::kGT:
        return !less && a != b;
      case BinaryOp::kGE:
        return !less;
      default:
        throw std::invalid_argument("rules do no such arithmetic");
    }
  }

  Numbers numbers_;
  const std::unordered_map<Expr, Value, ExprHash, ExprSame>& values_;
};

class RuleProver {
 public:
  explicit RuleProver(unsigned seed) : generator_(seed) {}

  // Values for which the rule does not hold; nothing when none of the random ones is.
  std::optional<std::string> Disprove(const Rule& rule) {
    for (const Numbers numbers : NumbersOf(rule.domain)) {
      int tried = 0;
      for (int attempt = 0; attempt < 100000 && tried < 3000; ++attempt) {
        if (!Assign(rule, numbers)) continue;
        ++tried;
        const Evaluator evaluate(numbers, values_);
        const Value before = evaluate(rule.pattern), after = evaluate(rule.replacement);
        if (before.integer == after.integer && Same(before.real, after.real)) continue;
        return StrCat(rule.name, ": ", Print(rule.pattern), " = ", before.integer, " or ",
                      before.real, ", ", Print(rule.replacement), " = ", after.integer, " or ",
                      after.real);
      }
      if (tried < 100) return StrCat(rule.name, ": no constants meet the condition");
    }
    return std::nullopt;
  }

  // Constants that meet the rule's condition, or that do not.
  std::optional<ExprMap> Constants(const Rule& rule, bool meet) {
    for (int attempt = 0; attempt < 10000; ++attempt) {
      const std::int64_t c = Index(), d = Index();
      if (Meets(rule.condition, c, d) != meet) continue;
      const Placeholders& all = RulePlaceholders();
      return ExprMap{{all.c, IntImm(Int64, c)}, {all.d, IntImm(Int64, d)}};
    }
    return std::nullopt;
  }

 private:
  static std::vector<Numbers> NumbersOf(RuleDomain domain) {
    switch (domain) {
      case RuleDomain::kIndex:
      case RuleDomain::kInt64:
      case RuleDomain::kBool:
        return {Numbers::kSigned};
      case RuleDomain::kInteger:
        return {Numbers::kSigned, Numbers::kUnsigned};
      case RuleDomain::kAny:
        return {Numbers::kSigned, Numbers::kUnsigned, Numbers::kFloating};
    }
    return {};
  }

  static bool Same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }

  bool Assign(const Rule& rule, Numbers numbers) {
    const Placeholders& all = RulePlaceholders();
    const bool index = rule.domain == RuleDomain::kIndex;
    const auto number = [&] { return index ? Index() : Integer(); };
    const std::int64_t c = number(), d = number();
    if (!Meets(rule.condition, c, d)) return false;
    values_[all.c] = {c, 0};
    values_[all.d] = {d, 0};
    for (const Var* var : {&all.x, &all.y, &all.z})
      values_[*var] = numbers == Numbers::kFloating ? Value{0, Real()} : Value{number(), 0};
    for (const Var* var : {&all.p, &all.q})
      values_[*var] = {static_cast<std::int64_t>(generator_() % 2), 0};
    return true;
  }

  std::int64_t Index() {
    const auto small = static_cast<std::int64_t>(generator_() % 41) - 20;
    return generator_() % 2 == 0 ? small : small * 1000003 + small;
  }
  std::int64_t Integer() {
    constexpr std::int64_t kEnds[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 0, -1};
    switch (generator_() % 8) {
      case 0:
        return kEnds[generator_() % std::size(kEnds)];
      case 1:
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(generator_()) << 32 |
                                         static_cast<std::uint32_t>(generator_()));
      default:
        return Index();
    }
  }
  double Real() {
    constexpr double kSpecial[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1.0, 5e-324};
    if (generator_() % 2 == 0) return kSpecial[generator_() % std::size(kSpecial)];
    return static_cast<double>(Index()) / 8;
  }

  std::mt19937 generator_;
  std::unordered_map<Expr, Value, ExprHash, ExprSame> values_;
};

class RuleTest : public ::testing::TestWithParam<Rule> {};
INSTANTIATE_TEST_SUITE_P(Simplifier, RuleTest, ::testing::ValuesIn(SimplifyRules()),
                         [](const auto& info) {
                           std::string name;
                           for (const char letter : info.param.name)
                             if (std::isalnum(static_cast<unsigned char>(letter))) name += letter;
                           return name;
                         });

TEST_P(RuleTest, HoldsOnItsDomain) {
  for (const unsigned seed : {1U, 2U, 3U})
    EXPECT_EQ(RuleProver(seed).Disprove(GetParam()), std::nullopt);
}

TEST_P(RuleTest, ChangesWhatMatchesUnlessItsConditionFails) {
  const Rule& rule = GetParam();
  RuleProver prover(5);
  const bool index = rule.domain == RuleDomain::kIndex;
  const Expr matching = Substitute(rule.pattern, *prover.Constants(rule, true));
  const std::optional<Expr> changed = ApplyRules({rule}, matching, true);
  ASSERT_TRUE(changed.has_value()) << Print(matching);
  EXPECT_FALSE(StructuralEqual(*changed, matching));
  EXPECT_EQ(ApplyRules({rule}, matching, false).has_value(), !index);
  if (const auto others = prover.Constants(rule, false)) {
    const Expr refused = Substitute(rule.pattern, *others);
    EXPECT_EQ(ApplyRules({rule}, refused, true), std::nullopt) << Print(refused);
  }
}

// All rules together, and what the linear forms make of them.
TEST_P(RuleTest, TheSimplifierKeepsTheValueOfAnInstance) {
  const Rule& rule = GetParam();
  RuleProver prover(6);
  std::mt19937 generator(7);
  for (int count = 0; count < 20; ++count) {
    const Expr instance = Substitute(rule.pattern, *prover.Constants(rule, true));
    const Expr simpler = Simplify(instance);
    for (int attempt = 0; attempt < 50; ++attempt) {
      const Placeholders& all = RulePlaceholders();
      Interpreter interpreter;
      for (const Var* var : {&all.x, &all.y, &all.z})
        interpreter.Set(*var, static_cast<std::int64_t>(generator() % 201) - 100);
      for (const Var* var : {&all.p, &all.q})
        interpreter.Set(*var, static_cast<std::int64_t>(generator() % 2));
      ASSERT_EQ(interpreter.Value(simpler), interpreter.Value(instance))
          << Print(instance) << " became " << Print(simpler);
    }
  }
}

TEST(RuleTableTest, EachRuleHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Rule& rule : SimplifyRules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

TEST(RuleProverTest, CatchesWrongRules) {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  const Expr positive = c > 0 && d > 0;
  const Rule wrong[] = {
      // NaN is neither below nor at least anything.
      {"not below, of floats", RuleDomain::kAny, Not(x < y), x >= y},
      {"min absorbs max, of floats", RuleDomain::kAny, Min(x, Max(x, y)), x},
      // 12 is no multiple of 5.
      {"quotient of a remainder by any", RuleDomain::kInt64, FloorDiv(FloorMod(x, c), d),
       FloorMod(FloorDiv(x, d), FloorDiv(c, d)), positive},
      // The product wraps around.
      {"remainder of a multiple, of data", RuleDomain::kInt64, FloorMod(x * y, y), 0 * x},
      {"quotient below, off by one", RuleDomain::kIndex, FloorDiv(x, c) < d, x <= c * d, positive},
      {"sides swapped", RuleDomain::kAny, Select(p, x, y), Select(p, y, x)},
      {"order of unsigned numbers", RuleDomain::kInteger, x < y, Min(x, y) == x},
  };
  for (const Rule& rule : wrong) {
    const std::optional<std::string> found = RuleProver(11).Disprove(rule);
    ASSERT_TRUE(found.has_value()) << rule.name;
    EXPECT_THAT(*found, HasSubstr(std::string(rule.name)));
  }
}

TEST(RuleProverTest, CatchesAConditionThatNothingMeets) {
  const auto& [x, y, z, p, q, c, d] = RulePlaceholders();
  const Rule never{"never", RuleDomain::kIndex, x + c, x, c < c};
  EXPECT_THAT(RuleProver(1).Disprove(never).value_or(""), HasSubstr("no constants"));
}

TEST(SimplifyIndexTest, SplitAndFusedAxesComeApart) {
  const Var i("i"), j("j"), f("f");
  Bounds bounds;
  bounds.Bind(i, {0, 99});
  bounds.Bind(j, {0, 7});
  bounds.Bind(f, {0, 59});
  const auto simple = [&](const Expr& e) { return Print(Simplify(e, bounds)); };
  EXPECT_EQ(simple(FloorDiv(i * 8 + j, 8)), "i");
  EXPECT_EQ(simple(FloorMod(i * 8 + j, 8)), "j");
  EXPECT_EQ(simple(FloorDiv(i, 8) * 8 + FloorMod(i, 8)), "i");
  // Three fused axes of 3 * 4 * 5.
  EXPECT_EQ(simple(FloorDiv(FloorDiv(f, 5), 4)), "floordiv(f, 20)");
  EXPECT_EQ(simple(FloorDiv(FloorMod(f, 20), 5)), "floormod(floordiv(f, 5), 4)");
  EXPECT_EQ(simple(FloorDiv(f, 20) * 20 + FloorMod(FloorDiv(f, 5), 4) * 5 + FloorMod(f, 5)), "f");
  EXPECT_EQ(simple(FloorMod(FloorMod(f, 20), 5)), "floormod(f, 5)");
  EXPECT_EQ(simple(FloorDiv(i, 8) < 4), "(i < 32)");
  EXPECT_EQ(simple(Min(Min(i, 50), 20)), "min(i, 20)");
  EXPECT_EQ(simple(Select(i < 5, j, j)), "j");
  EXPECT_EQ(simple(Not(i < 5)), "(i >= 5)");
}

TEST(SimplifyIndexTest, WhatIsNotEqualStays) {
  const Var i("i"), x("x", Float32), y("y", Float32);
  for (const Expr& e :
       {FloorDiv(FloorMod(i, 12), 5), FloorMod(FloorMod(i, 12), 5),
        FloorDiv(i, 5) * 4 + FloorMod(i, 5), Not(x < y), Min(x, Max(x, y)), Select(i < 5, x, y)})
    EXPECT_EQ(Print(Simplify(e)), Print(e));
}

TEST(SimplifyCastTest, AWayThroughATypeThatHoldsAllValuesIsLeftOut) {
  const auto simple = [](DataType to, DataType through, DataType from) {
    return Print(Simplify(Cast(to, Cast(through, Var("v", from)))));
  };
  EXPECT_EQ(simple(Int64, Int32, Int8), "int64(v)");
  EXPECT_EQ(simple(Int8, Int32, Int8), "v");
  EXPECT_EQ(simple(UInt8, Int32, Bool), "uint8(v)");
  EXPECT_EQ(simple(Float16, Float32, Float16), "v");
  EXPECT_EQ(simple(Float32, Float64, BFloat16), "float32(v)");
  EXPECT_EQ(simple(Int32, Int16, UInt8), "int32(v)");
}

TEST(SimplifyCastTest, AWayThroughATypeThatLosesValuesStays) {
  const auto text = [](DataType to, DataType through, DataType from) {
    const Expr cast = Cast(to, Cast(through, Var("v", from)));
    EXPECT_EQ(Print(Simplify(cast)), Print(cast));
  };
  text(Int32, Int8, Int32);
  text(Int32, UInt8, Int8);
  text(Float32, Float16, Float32);
  text(Int32, Bool, Int32);
  text(Float32, BFloat16, Float16);
  // 300 saturates as a float and wraps around as an integer.
  text(Int8, Float64, Int32);
}

// Whatever integer types a value goes through, leaving one out that holds it changes nothing.
TEST(SimplifyCastTest, IntegersKeepTheirValue) {
  const DataType types[] = {Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Bool};
  const auto as = [](DataType type, std::int64_t value) {
    return IntImm(type, value).As<IntImmNode>()->value;
  };
  int left_out = 0;
  for (const DataType from : types) {
    for (const DataType through : types) {
      for (const DataType to : types) {
        const Expr cast = Cast(to, Cast(through, Var("v", from)));
        const std::optional<Expr> simpler = SimplifyCast(cast);
        if (!simpler) continue;
        ++left_out;
        for (const std::int64_t v :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{127},
              std::int64_t{128}, std::int64_t{-128}, std::int64_t{40000}, std::int64_t{-40000},
              INT64_MAX, INT64_MIN})
          EXPECT_EQ(as(to, as(through, as(from, v))), as(to, as(from, v)))
              << Print(cast) << " of " << v;
      }
    }
  }
  EXPECT_GT(left_out, 100);
}

}  // namespace
}  // namespace tenon::loop
