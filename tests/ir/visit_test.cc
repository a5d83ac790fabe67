// Walks and rewrites.
#include "tenon/ir/visit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Names of operators and variables in visiting order.
std::vector<std::string> Visited(const Expr& e,
                                 const std::function<bool(const Expr&)>& enter = nullptr) {
  std::vector<std::string> names;
  VisitPostOrder(
      e,
      [&](const Expr& node) {
        if (const auto* var = node.As<VarNode>()) names.push_back(var->name);
        if (const auto* op = node.As<OpNode>()) names.push_back(op->name);
        if (node.kind() == ExprKind::kCall) names.emplace_back("call");
        if (node.kind() == ExprKind::kFunction) names.emplace_back("fn");
        if (node.kind() == ExprKind::kLet) names.emplace_back("let");
      },
      enter);
  return names;
}

TEST(VisitTest, ChildrenComeFirstAndTheCalleeBeforeTheArguments) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  EXPECT_THAT(Visited(ops::Add(ops::Exp(y), x)),
              ElementsAre("add", "exp", "y", "call", "x", "call"));
}

TEST(VisitTest, EveryNodeIsVisitedOnce) {
  const Var x = Var::Make("x");
  Expr e = x;
  for (int i = 0; i < 60; ++i) e = ops::Add(e, e);
  EXPECT_EQ(Visited(e).size(), 62U);
}

TEST(VisitTest, ParametersAndLetVariablesAreVisited) {
  EXPECT_THAT(Visited(Parse("def @main(%x) { let %y = %x; fn (%z) { %y } }").Get("main")),
              ElementsAre("x", "y", "z", "fn", "let", "fn"));
}

TEST(VisitTest, EnterDecidesWhatIsLookedInto) {
  const Expr main = Parse("def @main(%x) { (fn (%z) { exp(%z) }, %x) }").Get("main");
  EXPECT_THAT(
      Visited(main, [&](const Expr& e) { return e.kind() != ExprKind::kFunction || e == main; }),
      ElementsAre("x", "fn", "fn"));
}

TEST(RewriteTest, WithoutChangesTheNodesStay) {
  const Expr main =
      Parse("def @main(%x) { let %y = exp(%x); (fn (%z) { %y }, 1f, %y) }").Get("main");
  EXPECT_EQ(RewritePostOrder(main, [](const Expr&, const Expr& e) { return e; }), main);
}

TEST(RewriteTest, AChangeRebuildsWhatIsAboveItAndNothingElse) {
  const Var x = Var::Make("x");
  const Expr kept = ops::Tanh(x);
  const Expr before = Tuple::Make({kept, ops::Exp(x)});
  const Expr after = RewritePostOrder(before, [](const Expr&, const Expr& e) {
    const auto* call = e.As<CallNode>();
    return call != nullptr && call->callee == ops::Known().exp ? ops::Log(call->args[0]) : e;
  });
  EXPECT_TRUE(StructuralEqual(after, Tuple::Make({kept, ops::Log(x)})));
  EXPECT_EQ(after.As<TupleNode>()->fields[0], kept);
}

TEST(RewriteTest, TheRewriterSeesTheNodeBeforeAndOverRewrittenChildren) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  const Expr inner = ops::Exp(x);
  int calls = 0;
  RewritePostOrder(ops::Tanh(inner), [&](const Expr& original, const Expr& e) -> Expr {
    if (e == x) return y;
    if (original == inner) {
      ++calls;
      EXPECT_EQ(e.As<CallNode>()->args[0], y);
      EXPECT_EQ(original.As<CallNode>()->args[0], x);
    }
    return e;
  });
  EXPECT_EQ(calls, 1);
}

TEST(RewriteTest, ANodeOverChangedChildrenHasNoCheckedType) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  const Expr typed = Call::Make(ops::Known().exp, {x}, {}, {}, TensorType({2}, Float32));
  EXPECT_FALSE(Substitute(typed, {{x, y}}).checked_type());
  EXPECT_TRUE(Substitute(typed, {{y, x}}).checked_type());
}

TEST(RewriteTest, SpansAndAttributesStay) {
  const Expr body = Parse("def @main(%x) {\n  nn.softmax(%x, axis=3)\n}").Main().body;
  const Expr after = Substitute(body, {{body.As<CallNode>()->args[0], Var::Make("y")}});
  EXPECT_EQ(after.span(), body.span());
  EXPECT_EQ(after.As<CallNode>()->attrs, body.As<CallNode>()->attrs);
}

TEST(SubstituteTest, ReplacesAllUsesAtOnce) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  EXPECT_TRUE(StructuralEqual(Substitute(ops::Add(x, y), {{x, y}, {y, x}}), ops::Add(y, x)));
}

std::vector<std::string> FreeNames(const Expr& e) {
  std::vector<std::string> names;
  for (const Var& var : FreeVars(e)) names.push_back(var.name());
  return names;
}

TEST(FreeVarsTest, ComeInOrderOfFirstUse) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  EXPECT_THAT(FreeNames(ops::Add(ops::Add(y, x), y)), ElementsAre("y", "x"));
}

TEST(FreeVarsTest, ParametersAndLetsBind) {
  const Var x = Var::Make("x"), y = Var::Make("y"), z = Var::Make("z");
  EXPECT_THAT(FreeNames(Function::Make({x}, ops::Add(x, y))), ElementsAre("y"));
  EXPECT_THAT(FreeNames(Let::Make(z, ops::Exp(x), z)), ElementsAre("x"));
  EXPECT_THAT(FreeNames(Parse("def @main(%x) { %x }").Get("main")), IsEmpty());
}

TEST(ModuleTest, AnExpressionBecomesMainOverItsFreeVariables) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  const Module module = Module::FromExpr(ops::Add(y, x));
  EXPECT_EQ(module.Main().params, (std::vector<Expr>{y, x}));
}

TEST(ModuleTest, WithReplacesInPlaceAndWithoutDrops) {
  const Expr f = Parse("def @main(%x) { %x }").Get("main");
  const Module module = Module().With("a", f).With("b", f);
  const Expr g = Parse("def @main() { () }").Get("main");
  EXPECT_EQ(module.With("a", g).functions()[0].second, g);
  EXPECT_EQ(module.Get("a"), f);
  EXPECT_EQ(module.Without("a").functions().size(), 1U);
  EXPECT_EQ(module.Without("missing"), module);
  EXPECT_THAT(ErrorOf([&] { (void)module.Get("c"); }).message(),
              ::testing::HasSubstr("no function @c; it has: @a, @b"));
  EXPECT_THAT(ErrorOf([&] { (void)module.With("c", Var::Make("x")); }).message(),
              ::testing::HasSubstr("@c is not a function"));
}

TEST(DepthTest, AHundredThousandNodesAreRewrittenAndFreed) {
  const Var x = Var::Make("x"), y = Var::Make("y");
  Expr e = x;
  for (int i = 0; i < 100000; ++i) e = ops::Exp(e);
  const Expr after = Substitute(e, {{x, y}});
  EXPECT_THAT(FreeNames(after), ElementsAre("y"));
}

}  // namespace
}  // namespace tenon::ir
