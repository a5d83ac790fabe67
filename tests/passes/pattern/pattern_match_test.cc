// The pattern language, construct by construct.
#include "tenon/passes/pattern/pattern_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pattern/pattern.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ::testing::HasSubstr;

Expr X(const char* name = "x") { return ir::Var::Make(name, ir::TensorType({2, 3}, Float32)); }

std::optional<Bindings> MatchOf(const Pattern& pattern, const Expr& e) {
  return Matcher(e).Match(pattern, e);
}
bool Matches(const Pattern& pattern, const Expr& e) { return MatchOf(pattern, e).has_value(); }

TEST(PatternMatchTest, AWildcardMatchesAnything) {
  EXPECT_TRUE(Matches(Wildcard(), X()));
  EXPECT_TRUE(Matches(Wildcard(), ops::Exp(X())));
}

TEST(PatternMatchTest, AnOperatorIsKnownByName) {
  EXPECT_TRUE(Matches(IsOp("exp")(Wildcard()), ops::Exp(X())));
  EXPECT_FALSE(Matches(IsOp("exp")(Wildcard()), ops::Log(X())));
  EXPECT_FALSE(Matches(IsOp("exp")(Wildcard()), X()));
  const Error error = ErrorOf([] { IsOp("nn.rellu"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("nn.relu"));
}

TEST(PatternMatchTest, ArgumentsMustBeAsMany) {
  EXPECT_FALSE(Matches(IsOp("exp")(Wildcard(), Wildcard()), ops::Exp(X())));
  EXPECT_FALSE(Matches(IsOp("exp")(), ops::Exp(X())));
  EXPECT_TRUE(Matches(IsOp("add").WithAnyArgs(), ops::Add(X(), X())));
}

TEST(PatternMatchTest, ShapesThatAreArgumentsInRelaxHaveWildcards) {
  const Expr reshaped = ops::Reshape(X(), {3, 2});
  EXPECT_TRUE(Matches(IsOp("relax.reshape")(Wildcard(), Wildcard()), reshaped));
  EXPECT_TRUE(Matches(IsOp("relax.reshape")(Wildcard()), reshaped));
  EXPECT_FALSE(Matches(IsOp("reshape")(Wildcard(), Wildcard()), reshaped));
  const Pattern shape = Wildcard();
  const std::optional<Bindings> found =
      MatchOf(IsOp("relax.clip")(IsVar(), shape, Wildcard()), ops::Clip(X(), 0, 1));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->Find(shape));
  EXPECT_EQ(ErrorOf([] { IsOp("relax.reshape")(Wildcard(), IsConstant()); }).message(),
            "argument 1 of reshape is an attribute here; its pattern must be Wildcard(), and "
            "HasAttr restricts it");
}

TEST(PatternMatchTest, VariablesMatchByNameOrAny) {
  EXPECT_TRUE(Matches(IsVar(), X("a")));
  EXPECT_TRUE(Matches(IsVar("a"), X("a")));
  EXPECT_FALSE(Matches(IsVar("b"), X("a")));
  EXPECT_FALSE(Matches(IsVar(), ops::Scalar(1)));
}

TEST(PatternMatchTest, ALetMatchesByItsParts) {
  const ir::Var v = ir::Var::Make("v");
  const Expr let = ir::Let::Make(v, ops::Exp(X()), ops::Log(v));
  EXPECT_TRUE(Matches(IsLet(IsVar("v"), IsOp("exp")(Wildcard()), IsOp("log")(Wildcard())), let));
  EXPECT_FALSE(Matches(IsLet(Wildcard(), IsOp("log")(Wildcard()), Wildcard()), let));
  EXPECT_FALSE(Matches(IsLet(Wildcard(), Wildcard(), Wildcard()), ops::Exp(X())));
}

TEST(PatternMatchTest, AnIfMatchesByItsParts) {
  const Expr x = X(), c = ir::Var::Make("c", ir::TensorType({}, Bool));
  const Expr choice = ir::If::Make(c, ops::Exp(x), ops::Log(x));
  EXPECT_TRUE(Matches(IsIf(IsVar("c"), IsOp("exp")(Wildcard()), IsOp("log")(Wildcard())), choice));
  EXPECT_FALSE(Matches(IsIf(Wildcard(), IsOp("log")(Wildcard()), Wildcard()), choice));
  EXPECT_FALSE(Matches(IsIf(Wildcard(), Wildcard(), Wildcard()), x));
}

TEST(PatternMatchTest, ShapesAreComparedWhereverTheOtherStands) {
  const auto product = [](const Shape& other) {
    const ir::Var y = ir::Var::Make("y", ir::TensorTypeOf(other, Float32));
    return InferType(ir::Module::FromExpr(ops::Multiply(X(), y))).Main().body;
  };
  const Pattern a = Wildcard(), b = Wildcard();
  // The second operand is bound after the first one is compared with it, and before.
  for (const Pattern& pattern :
       {IsOp("multiply")(a.SameShapeAs(b), b), IsOp("multiply")(b, a.SameShapeAs(b))}) {
    EXPECT_TRUE(Matches(pattern, product({2, 3})));
    EXPECT_FALSE(Matches(pattern, product({1, 3})));
  }
  EXPECT_FALSE(Matches(a.SameShapeAs(b), product({2, 3}))) << "b took no part";
  EXPECT_TRUE(Matches(IsOp("multiply")(~a.SameShapeAs(b), b), product({2, 3})))
      << "a negated part is a match of its own, in which b takes no part";
  // The other way of an alternative.
  const Pattern either = IsOp("multiply")(a.SameShapeAs(b) | IsVar("x"), b);
  EXPECT_TRUE(Matches(either, product({1, 3})));
}

TEST(PatternMatchTest, AUserReadsAnArgumentInAnyPlace) {
  const Expr x = X(), exp = ops::Exp(x);
  const Pattern producer = IsOp("exp")(Wildcard());
  const Pattern user = IsOp("where").WithAnyArgs();
  const auto where = [&](const Expr& yes, const Expr& no) {
    return ops::Where(ir::Var::Make("c", ir::TensorType({2, 3}, Bool)), yes, no);
  };
  EXPECT_TRUE(Matches(producer.UsedBy(user), where(x, exp)));
  EXPECT_TRUE(Matches(producer.UsedBy(user), where(exp, x)));
  EXPECT_FALSE(Matches(producer.UsedBy(user), where(x, x)));
  EXPECT_FALSE(Matches(producer.UsedBy(user), ops::Log(exp)));
  const auto bindings = MatchOf(producer.UsedBy(user), where(x, exp));
  EXPECT_EQ(bindings->At(producer), exp);

  EXPECT_TRUE(Matches(producer.OnlyUsedBy(user), where(x, exp)));
  EXPECT_TRUE(Matches(producer.OnlyUsedBy(user), where(exp, exp)));
  const Expr read_twice = where(ops::Log(exp), exp);
  EXPECT_TRUE(Matches(producer.UsedBy(user), read_twice));
  EXPECT_FALSE(Matches(producer.OnlyUsedBy(user), read_twice));
}

TEST(PatternMatchTest, ConstantsAndGivenExpressionsMatch) {
  EXPECT_TRUE(Matches(IsConstant(), ops::Scalar(1)));
  EXPECT_FALSE(Matches(IsConstant(), X()));
  const Expr x = X();
  EXPECT_TRUE(Matches(IsExpr(ops::Exp(x)), ops::Exp(x)));
  EXPECT_TRUE(Matches(IsExpr(ops::Scalar(2)), ops::Scalar(2)));
  EXPECT_FALSE(Matches(IsExpr(ops::Scalar(2)), ops::Scalar(3)));
}

TEST(PatternMatchTest, TuplesAndTheirFieldsMatch) {
  const Expr pair = ir::Tuple::Make({X("a"), X("b")});
  EXPECT_TRUE(Matches(IsTuple(), pair));
  EXPECT_TRUE(Matches(IsTuple({IsVar("a"), IsVar("b")}), pair));
  EXPECT_FALSE(Matches(IsTuple({IsVar("b"), IsVar("a")}), pair));
  EXPECT_FALSE(Matches(IsTuple({IsVar("a")}), pair));
  const Expr item = ir::TupleGetItem::Make(pair, 1);
  EXPECT_TRUE(Matches(IsTupleGetItem(IsTuple()), item));
  EXPECT_TRUE(Matches(IsTupleGetItem(IsTuple(), 1), item));
  EXPECT_FALSE(Matches(IsTupleGetItem(IsTuple(), 0), item));
}

TEST(PatternMatchTest, S002_13_CommutativeOperatorsMatchBothWays) {
  const Expr x = X();
  for (const char* op : {"add", "multiply", "maximum", "minimum"}) {
    const Pattern pattern = IsOp(op)(IsOp("exp")(Wildcard()), IsConstant());
    EXPECT_TRUE(Matches(pattern, ops::CallOp(op, {ops::Exp(x), ops::Scalar(1)}))) << op;
    EXPECT_TRUE(Matches(pattern, ops::CallOp(op, {ops::Scalar(1), ops::Exp(x)}))) << op;
    EXPECT_FALSE(Matches(pattern, ops::CallOp(op, {ops::Exp(x), ops::Exp(x)}))) << op;
  }
  EXPECT_FALSE(Matches(IsOp("subtract")(IsOp("exp")(Wildcard()), IsConstant()),
                       ops::Subtract(ops::Scalar(1), ops::Exp(x))));
}

// The first order of the inner sum fits the inner sum alone and fails the outer one.
TEST(PatternMatchTest, AnOrderThatFailsLaterIsTakenBack) {
  const Expr a = X("a");
  const Expr b = X("b");
  const Pattern p = Wildcard();
  const Pattern q = Wildcard();
  const Pattern pattern = IsOp("subtract")(IsOp("add")(p, q), q);
  const auto match = MatchOf(pattern, ops::Subtract(ops::Add(a, b), a));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->At(p), b);
  EXPECT_EQ(match->At(q), a);
  EXPECT_FALSE(Matches(pattern, ops::Subtract(ops::Add(a, b), X("c"))));
}

TEST(PatternMatchTest, AWildcardStandsForOneExpression) {
  const Pattern p = Wildcard();
  const Expr x = X();
  EXPECT_TRUE(Matches(IsOp("subtract")(p, p), ops::Subtract(x, x)));
  EXPECT_FALSE(Matches(IsOp("subtract")(p, p), ops::Subtract(x, X())));
}

TEST(PatternMatchTest, AlternativesAreTriedInOrder) {
  const Pattern exp = IsOp("exp")(Wildcard());
  const Pattern log = IsOp("log")(Wildcard());
  const auto match = MatchOf(exp | log, ops::Log(X()));
  ASSERT_TRUE(match);
  EXPECT_FALSE(match->Find(exp));
  EXPECT_EQ(match->matched().size(), 1U);
  const Error error = ErrorOf([&] { match->At(exp); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(Matches(exp | log, ops::Tanh(X())));
}

TEST(PatternMatchTest, AndNeedsBothAndNotNeedsNone) {
  const Pattern call = Wildcard().WithAnyArgs();
  EXPECT_TRUE(Matches(call & ~IsOp("exp")(Wildcard()), ops::Log(X())));
  EXPECT_FALSE(Matches(call & ~IsOp("exp")(Wildcard()), ops::Exp(X())));
  EXPECT_FALSE(Matches(call & ~IsOp("exp")(Wildcard()), X()));
}

TEST(PatternMatchTest, OptionalTakesTheLongerForm) {
  const Pattern exp = IsOp("exp")(Wildcard());
  const Pattern pattern = exp.Optional([](const Pattern& p) { return IsOp("nn.relu")(p); });
  const auto longer = MatchOf(pattern, ops::Relu(ops::Exp(X())));
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->matched().size(), 2U);
  EXPECT_TRUE(Matches(pattern, ops::Exp(X())));
  EXPECT_FALSE(Matches(pattern, ops::Relu(X())));
}

TEST(PatternMatchTest, AttributesOfCallsAndFunctionsMatch) {
  const Expr softmax = ops::Softmax(X(), 1);
  const Pattern pattern = IsOp("nn.softmax")(Wildcard());
  EXPECT_TRUE(Matches(pattern.HasAttr("axis", std::int64_t{1}), softmax));
  EXPECT_FALSE(Matches(pattern.HasAttr("axis", std::int64_t{0}), softmax));
  EXPECT_FALSE(Matches(pattern.HasAttr("axes", std::int64_t{1}), softmax));
  EXPECT_FALSE(Matches(Wildcard().HasAttr("axis", std::int64_t{1}), X()));
  const Expr function = ir::Function::Make({}, ops::Scalar(1), {}, {{"Primitive", 1L}});
  EXPECT_TRUE(Matches(Wildcard().HasAttr("Primitive", 1L), function));
}

TEST(PatternMatchTest, ShapesTypesAndElementTypesMatch) {
  const Expr e = InferType(ops::Exp(X()));
  EXPECT_TRUE(Matches(Wildcard().HasShape({2, 3}), e));
  EXPECT_FALSE(Matches(Wildcard().HasShape({3, 2}), e));
  EXPECT_TRUE(Matches(Wildcard().HasDType(Float32), e));
  EXPECT_FALSE(Matches(Wildcard().HasDType(Int32), e));
  EXPECT_TRUE(Matches(Wildcard().HasType(ir::TensorType({2, 3}, Float32)), e));
  EXPECT_FALSE(Matches(Wildcard().HasType(ir::TensorType({2}, Float32)), e));
  EXPECT_FALSE(Matches(Wildcard().HasShape({2, 3}), ops::Exp(X())));  // no checked type
}

// A diamond: relu's value goes two ways and comes together.
TEST(PatternMatchTest, DominatesFollowsEveryWay) {
  const Pattern parent = IsOp("exp")(Wildcard());
  const Pattern unary = IsOp("nn.relu")(Wildcard()) | IsOp("tanh")(Wildcard());
  const Pattern pattern = Dominates(parent, unary, IsOp("add")(Wildcard(), Wildcard()));
  const Expr exp = ops::Exp(X());
  const Expr diamond = ops::Add(ops::Tanh(ops::Relu(exp)), ops::Tanh(exp));
  const auto match = MatchOf(pattern, diamond);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->At(parent), exp);
  EXPECT_EQ(match->matched().size(), 5U);
  EXPECT_TRUE(Matches(pattern, ops::Add(exp, ops::Relu(exp))));
}

TEST(PatternMatchTest, DominatesRefusesAWayThatLeavesOrEntersElsewhere) {
  const Pattern pattern = Dominates(IsOp("exp")(Wildcard()), IsOp("nn.relu")(Wildcard()),
                                    IsOp("add")(Wildcard(), Wildcard()));
  const Expr exp = ops::Exp(X());
  EXPECT_FALSE(Matches(pattern, ops::Add(ops::Tanh(exp), exp)));  // tanh is no path
  EXPECT_FALSE(Matches(pattern, ops::Add(ops::Relu(exp), X())));  // comes from elsewhere
  const Expr relu = ops::Relu(exp);
  const Expr sum = ops::Add(relu, exp);
  Matcher matcher(ir::Tuple::Make({sum, relu}));  // leaves the region
  EXPECT_FALSE(matcher.Match(pattern, sum));
}

// No stack per operator: the way is walked by a loop.
TEST(PatternMatchTest, DominatesWalksAHundredThousandOperators) {
  Expr e = ops::Exp(X());
  for (int i = 0; i < 100000; ++i) e = ops::Relu(e);
  const Pattern pattern =
      Dominates(IsOp("exp")(Wildcard()), IsOp("nn.relu")(Wildcard()), IsOp("tanh")(Wildcard()));
  EXPECT_TRUE(Matches(pattern, ops::Tanh(e)));
}

// The four shapes of the factory.
TEST(PatternMatchTest, S000_02_TheFactoryMakesBiasAndActivation) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2, 4, 4}, Float32));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({2, 2, 1, 1}, Float32));
  const ir::Var b = ir::Var::Make("b", ir::TensorType({2, 1, 1}, Float32));
  const Expr conv = ops::Conv2D(x, w);
  const Expr sum = ops::Add(conv, b);
  const std::vector<Expr> shapes = {conv, ops::Relu(conv), sum, ops::Relu(sum)};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Pattern pattern = MakeFusedBiasActivationPattern(
        "nn.conv2d", i >= 2, i % 2 == 1 ? std::optional<std::string>("nn.relu") : std::nullopt);
    for (std::size_t j = 0; j < shapes.size(); ++j)
      EXPECT_EQ(Matches(pattern, shapes[j]), i == j) << i << " " << j;
  }
  // Data, weight and bias are any values.
  const Expr constant = ir::Constant::Make(NDArray::Zeros({2, 1, 1}, Float32));
  for (const Expr& bias : {Expr(b), constant, ops::Exp(b)}) {
    const Expr biased = ops::Add(ops::Conv2D(ops::Exp(x), ops::Exp(w)), bias);
    EXPECT_TRUE(Matches(MakeFusedBiasActivationPattern("nn.conv2d", true), biased));
    EXPECT_TRUE(
        Matches(MakeFusedBiasActivationPattern("nn.conv2d", true, "nn.relu"), ops::Relu(biased)));
  }
}

TEST(PatternMatchTest, NullPartsAreRefused) {
  EXPECT_EQ(ErrorOf([] { IsOp("exp")(Pattern()); }).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf([] { Pattern()(Wildcard()); }).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf([] { Pattern() | Wildcard(); }).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tenon::passes
