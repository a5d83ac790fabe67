#include "tenon/passes/pattern/pattern_rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::Module;
using ::testing::HasSubstr;

Module Of(const std::string& body) {
  return Parse(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4), float32], "
      "%y: Tensor[(4), float32]) { " +
      body + " }");
}

// relu(relu(x)) -> relu(x)
RewriteRule ReluOnce() {
  const Pattern x = Wildcard();
  return {IsOp("nn.relu")(IsOp("nn.relu")(x)),
          [x](const Expr&, const Bindings& b) { return ops::Relu(b.At(x)); }};
}

struct Change {
  const char* name;
  const char* before;
  const char* after;
  friend void PrintTo(const Change& c, std::ostream* out) { *out << c.name; }
};
class RewriteChangesTest : public ::testing::TestWithParam<Change> {};
TEST_P(RewriteChangesTest, UntilNothingMatches) {
  const Module out = Rewrite(Of(GetParam().before), {ReluOnce()});
  EXPECT_TRUE(ir::StructuralEqual(InferType(out), InferType(Of(GetParam().after)))) << Print(out);
}
INSTANTIATE_TEST_SUITE_P(
    All, RewriteChangesTest,
    ::testing::Values(
        Change{"Two", "nn.relu(nn.relu(%x))", "nn.relu(%x)"},
        Change{"Five", "nn.relu(nn.relu(nn.relu(nn.relu(nn.relu(%x)))))", "nn.relu(%x)"},
        Change{"Inside", "add(exp(nn.relu(nn.relu(%x))), %y)", "add(exp(nn.relu(%x)), %y)"},
        Change{"One", "nn.relu(%x)", "nn.relu(%x)"},
        Change{"Apart", "nn.relu(exp(nn.relu(%x)))", "nn.relu(exp(nn.relu(%x)))"}),
    [](const auto& info) { return info.param.name; });

TEST(RewriteTest, WithoutAMatchTheModuleIsTheSame) {
  const Module module = Of("exp(%x)");
  EXPECT_EQ(Rewrite(module, {ReluOnce()}), module);
}

TEST(RewriteTest, PrimitiveFunctionsStay) {
  const Module module = Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = fn (%p: Tensor[(4), float32], Primitive=1) { nn.relu(nn.relu(%p)) };
  %0(%x)
})");
  EXPECT_EQ(Rewrite(module, {ReluOnce()}), module);
}

// exp(x) -> exp(exp(x)) never ends.
TEST(RewriteTest, ARuleThatFeedsItselfIsRefusedUnlessItRunsOnce) {
  const Pattern x = Wildcard();
  const RewriteRule grow{IsOp("exp")(x),
                         [](const Expr& pre, const Bindings&) { return ops::Exp(pre); }};
  const Error error = ErrorOf([&] { Rewrite(Of("exp(%x)"), {grow}, {.max_rounds = 5}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(error.message(), HasSubstr("still changes the graph in round 5"));
  const Module once = Rewrite(Of("exp(%x)"), {grow}, {.once = true});
  EXPECT_TRUE(ir::StructuralEqual(InferType(once), InferType(Of("exp(exp(%x))"))));
}

TEST(RewriteTest, TheFirstRuleThatChangesSomethingWins) {
  const Pattern x = Wildcard();
  const auto to = [&](Expr (*make)(const Expr&)) {
    return RewriteRule{IsOp("exp")(x),
                       [x, make](const Expr&, const Bindings& b) { return make(b.At(x)); }};
  };
  const RewriteRule keep{IsOp("exp")(x), [](const Expr& pre, const Bindings&) { return pre; }};
  const Module out = Rewrite(Of("exp(%x)"), {keep, to(ops::Log), to(ops::Tanh)});
  EXPECT_TRUE(ir::StructuralEqual(InferType(out), InferType(Of("log(%x)"))));
}

// What a rule makes has no types in its round; the rule that needs them runs in the next.
TEST(RewriteTest, ARuleThatNeedsTypesSeesThem) {
  const Pattern x = Wildcard();
  const RewriteRule first{IsOp("exp")(x),
                          [x](const Expr&, const Bindings& b) { return ops::Log(b.At(x)); }};
  bool typed = true;
  const RewriteRule second{.pattern = IsOp("tanh")(IsOp("log")(x)),
                           .callback =
                               [&](const Expr& pre, const Bindings& b) {
                                 typed = typed && pre.checked_type();
                                 for (const Expr& e : b.matched())
                                   typed = typed && e.checked_type();
                                 return ops::Relu(b.At(x));
                               },
                           .require_type = true};
  const Module out = Rewrite(Of("tanh(exp(%x))"), {second, first});
  EXPECT_TRUE(typed);
  EXPECT_TRUE(ir::StructuralEqual(InferType(out), InferType(Of("nn.relu(%x)"))));
}

TEST(RewriteTest, AnExpressionWithFreeVariablesIsRewrittenToo) {
  const Expr x = ir::Var::Make("x", ir::TensorType({4}, Float32));
  const Expr out = Rewrite(ops::Relu(ops::Relu(x)), {ReluOnce()});
  EXPECT_EQ(out.As<ir::CallNode>()->args[0].kind(), ir::ExprKind::kVar);
}

const ir::FunctionAttrs kComposite = {{"Composite", attrs::Value("a.b")}};

TEST(RewriteTest, WhatIsNullIsRefusedInWords) {
  const Module module = Of("exp(%x)");
  const auto keep = [](const Expr& e, const Bindings&) { return e; };
  const auto refusal = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(refusal([&] {
              Rewrite(module, {RewriteRule{Pattern(), keep}});
            }),
            "a pattern is null; make it by IsOp, Wildcard or others");
  EXPECT_EQ(refusal([&] {
              Rewrite(module, {RewriteRule{IsOp("exp")(Wildcard()), nullptr}});
            }),
            "a rewrite rule has no callback");
  EXPECT_EQ(refusal([] { Wildcard().Optional(nullptr); }),
            "what an optional pattern may be wrapped in is no function");
}

TEST(PartitionTest, AMatchBecomesACallOfALiteral) {
  const Module module = InferType(Of("nn.relu(exp(%x))"));
  const Pattern pattern = IsOp("nn.relu")(IsOp("exp")(Wildcard()));
  const Expr out = Partition(module.Get("main"), pattern, kComposite);
  ir::VerifyModule(Module().With("main", out));
  const auto& call = *out.As<ir::FunctionNode>()->body.As<ir::CallNode>();
  const auto& function = *call.callee.As<ir::FunctionNode>();
  EXPECT_EQ(function.attrs.at("Composite"), attrs::Value("a.b"));
  EXPECT_EQ(function.attrs.at("PartitionedFromPattern"), attrs::Value("exp_nn.relu"));
  EXPECT_EQ(call.args.size(), 1U);
}

TEST(PartitionTest, MatchesDoNotOverlapAndConsumersComeFirst) {
  const Module module = InferType(Of("exp(exp(exp(%x)))"));
  const Pattern pattern = IsOp("exp")(IsOp("exp")(Wildcard()));
  const Expr out = Partition(module.Get("main"), pattern, kComposite);
  const auto& call = *out.As<ir::FunctionNode>()->body.As<ir::CallNode>();
  EXPECT_NE(call.callee.As<ir::FunctionNode>(), nullptr);
  EXPECT_EQ(call.args[0].As<ir::CallNode>()->op()->name, "exp");
}

TEST(PartitionTest, AnInnerValueThatIsUsedOutsideOrACheckKeepsTheMatch) {
  const Pattern pattern = IsOp("nn.relu")(IsOp("exp")(Wildcard()));
  const Expr escaping = InferType(Parse(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  (nn.relu(%0), %0)
})"))
                            .Get("main");
  EXPECT_EQ(Partition(escaping, pattern, kComposite), escaping);
  const Expr plain = InferType(Of("nn.relu(exp(%x))")).Get("main");
  EXPECT_EQ(Partition(plain, pattern, kComposite, [](const Expr&) { return false; }), plain);
}

}  // namespace
}  // namespace tenon::passes
