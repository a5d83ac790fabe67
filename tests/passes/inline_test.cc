#include "tenon/passes/inline.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

struct Case {
  const char* rule;
  const char* before;
  const char* after;
};

class InlineTest : public testing::TestWithParam<Case> {};

TEST_P(InlineTest, GivesTheExpectedModule) {
  const ir::Module inlined = Inline(Parse(GetParam().before));
  ir::VerifyModule(inlined);
  EXPECT_TRUE(ir::StructuralEqual(inlined, Parse(GetParam().after))) << ir::PrintModule(inlined);
}

constexpr Case kCases[] = {
    {"S001_13_S001_14_MarkedOnly",
     "def @g1(%x1: Tensor[(1, 10), float32], Inline=1) { %x1 }\n"
     "def @g2(%x2: Tensor[(1, 10), float32]) { %x2 }\n"
     "def @main(%p0: Tensor[(1, 10), float32]) { %0 = @g1(%p0); %1 = @g2(%p0); add(%0, %1) }",
     "def @g2(%x2: Tensor[(1, 10), float32]) { %x2 }\n"
     "def @main(%p0: Tensor[(1, 10), float32]) { %0 = @g2(%p0); add(%p0, %0) }"},
    {"AChainOfMarkedFunctions",
     "def @a(%x: Tensor[(2), float32], Inline=1) { exp(%x) }\n"
     "def @b(%x: Tensor[(2), float32], Inline=1) { tanh(@a(%x)) }\n"
     "def @main(%x: Tensor[(2), float32]) { @b(@b(%x)) }",
     "def @main(%x: Tensor[(2), float32]) { tanh(exp(tanh(exp(%x)))) }"},
    {"S001_12_NotARecursiveFunction",
     "def @a(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }",
     "def @a(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }"},
    {"S001_12_NotACallerOfAnUnmarkedFunction",
     "def @a(%x: Tensor[(2), float32]) { exp(%x) }\n"
     "def @b(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @b(%x) }",
     "def @a(%x: Tensor[(2), float32]) { exp(%x) }\n"
     "def @b(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @b(%x) }"},
    {"S001_12_NotAFunctionWithoutTheMark",
     "def @a(%x: Tensor[(2), float32], Inline=0) { exp(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }",
     "def @a(%x: Tensor[(2), float32], Inline=0) { exp(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }"},
};
INSTANTIATE_TEST_SUITE_P(Rules, InlineTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.rule; });

TEST(InlineTextTest, S001_13_TheMarkStandsAmongTheParameters) {
  const std::string text =
      "#[version = \"0.0.5\"]\n"
      "def @g1(%x1: Tensor[(1, 10), float32], Inline=1) {\n  %x1\n}\n\n"
      "def @g2(%x2: Tensor[(1, 10), float32]) {\n  %x2\n}\n\n"
      "def @main(%p0: Tensor[(1, 10), float32]) {\n"
      "  %0 = @g1(%p0);\n  %1 = @g2(%p0);\n  add(%0, %1)\n}\n";
  EXPECT_EQ(ir::PrintModule(Parse(text)), text);
}

TEST(InlineAllTest, EveryUseHasVariablesOfItsOwn) {
  const ir::Module inlined =
      Inline(Parse("def @a(%x: Tensor[(2), float32]) { let %y = exp(%x); add(%y, %y) }\n"
                   "def @main(%x: Tensor[(2), float32]) { add(@a(%x), @a(tanh(%x))) }"),
             InlineRule::kAll);
  ir::VerifyModule(inlined);
  EXPECT_EQ(inlined.functions().size(), 1U);
}

struct Literals {
  const char* rule;
  const char* before;
  const char* after;
  friend void PrintTo(const Literals& l, std::ostream* out) { *out << l.rule; }
};
class InlineLiteralsTest : public testing::TestWithParam<Literals> {};

TEST_P(InlineLiteralsTest, GivesTheExpectedModule) {
  const ir::Module inlined = Inline(Parse(GetParam().before), InlineRule::kAll);
  ir::VerifyModule(inlined);
  EXPECT_TRUE(ir::StructuralEqual(inlined, Parse(GetParam().after))) << ir::PrintModule(inlined);
}

constexpr Literals kLiterals[] = {
    {"CalledInPlace", "def @main(%x) { (fn (%y) { add(%y, %y) })(exp(%x)) }",
     "def @main(%x) { %0 = exp(%x); add(%0, %0) }"},
    {"BoundToAVariable", "def @main(%x) { let %f = fn (%y) { exp(%y) }; %f(%f(%x)) }",
     "def @main(%x) { exp(exp(%x)) }"},
    {"BoundToTwoVariables",
     "def @main(%x) { let %f = fn (%y) { exp(%y) }; let %g = %f; add(%g(%x), %f(%x)) }",
     "def @main(%x) { add(exp(%x), exp(%x)) }"},
    {"ReadingWhatIsAround",
     "def @main(%x) { let %a = tanh(%x); let %f = fn (%y) { add(%y, %a) }; %f(%f(%x)) }",
     "def @main(%x) { let %a = tanh(%x); add(add(%x, %a), %a) }"},
    {"BindingVariables",
     "def @main(%x) { let %f = fn (%y) { let %z = exp(%y); add(%z, %z) }; add(%f(%x), %f(%x)) }",
     "def @main(%x) { add((let %a = exp(%x); add(%a, %a)), (let %b = exp(%x); add(%b, %b))) }"},
    {"HandedToAFunction",
     "def @twice(%f, %x) { %f(%f(%x)) }\n"
     "def @main(%x) { add(@twice(fn (%y) { exp(%y) }, %x), @twice(fn (%y) { tanh(%y) }, %x)) }",
     "def @main(%x) { add(exp(exp(%x)), tanh(tanh(%x))) }"},
    {"GivenByAFunction",
     "def @adder(%a) { fn (%y) { add(%y, %a) } }\n"
     "def @main(%x) { let %f = @adder(%x); %f(exp(%x)) }",
     "def @main(%x) { add(exp(%x), %x) }"},
    {"InATupleThatNobodyReads",
     "def @main(%x) { let %f = fn (%y) { exp(%y) }; let %p = (%f, %x); let %q = (%x, %p); exp(%x) "
     "}",
     "def @main(%x) { exp(%x) }"},
    {"TakenOutOfATuple",
     "def @pair(%x) { (fn (%y) { add(%y, %x) }, exp(%x)) }\n"
     "def @main(%x) { let %p = (@pair(%x), %x); let %q = %p.0; %q.0(%q.1) }",
     "def @main(%x) { add(exp(%x), %x) }"},
    {"AVariableOfAGlobalFunction",
     "def @f(%y) { exp(%y) }\ndef @main(%x) { let %g = @f; %g(%g(%x)) }",
     "def @main(%x) { exp(exp(%x)) }"},
    {"InABranch",
     "def @main(%c: bool, %x) { let %f = fn (%y) { exp(%y) }; if (%c) { %f(%x) } else { %x } }",
     "def @main(%c: bool, %x) { if (%c) { exp(%x) } else { %x } }"},
    {"AKernelStays", "def @main(%x) { (fn (%y, Primitive=1) { exp(%y) })(%x) }",
     "def @main(%x) { (fn (%y, Primitive=1) { exp(%y) })(%x) }"},
};
INSTANTIATE_TEST_SUITE_P(Rules, InlineLiteralsTest, testing::ValuesIn(kLiterals),
                         [](const auto& info) { return info.param.rule; });

// No text says this.
TEST(InlineAllTest, AFunctionThatReadsItsOwnVariableStays) {
  const ir::Var f = ir::Var::Make("f"), x = ir::Var::Make("x"), y = ir::Var::Make("y");
  const ir::Expr literal = ir::Function::Make({y}, ir::Call::Make(f, {y}));
  const ir::Module module = ir::Module().With(
      "main", ir::Function::Make({x}, ir::Let::Make(f, literal, ir::Call::Make(f, {x}))));
  EXPECT_TRUE(ir::StructuralEqual(Inline(module, InlineRule::kAll), module));
}

// It has no type, which is found out later.
TEST(InlineAllTest, FunctionsThatAreHandedOnWithoutEndAreRefused) {
  const Error error = ErrorOf([] {
    Inline(Parse("def @main(%x) { (fn (%f) { %f(%f) })(fn (%f) { %f(%f) }) }"), InlineRule::kAll);
  });
  EXPECT_THAT(std::string(error.message()),
              testing::HasSubstr("functions are handed to functions in more than 1000 levels"));
}

// Each of 25 functions calls the one below it twice.
TEST(InlineAllTest, CallsThatDoubleWithEachLevelAreRefused) {
  std::string text =
      "def @main(%x: Tensor[(2), float32]) { @f25(%x) }\n"
      "def @f0(%x: Tensor[(2), float32]) { exp(%x) }\n";
  for (int i = 1; i <= 25; ++i) {
    const std::string callee = StrCat("@f", i - 1);
    StrAppend(&text, "def @f", i, "(%x: Tensor[(2), float32]) { ", callee, "(", callee,
              "(%x)) }\n");
  }
  const ir::Module module = Parse(text);
  EXPECT_THAT(std::string(ErrorOf([&] { Inline(module, InlineRule::kAll); }).message()),
              testing::HasSubstr("become more than 1048576 expressions when they are inlined"));
}

// As functions of the module do.
TEST(InlineAllTest, LiteralsThatDoubleWithEachLevelAreRefused) {
  std::string text =
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  let %f0 = fn (%y0: Tensor[(2), float32]) { exp(%y0) };\n";
  for (int i = 1; i <= 25; ++i)
    StrAppend(&text, "  let %f", i, " = fn (%y", i, ": Tensor[(2), float32]) { %f", i - 1, "(%f",
              i - 1, "(%y", i, ")) };\n");
  const ir::Module module = Parse(text + "  %f25(%x)\n}");
  EXPECT_THAT(std::string(ErrorOf([&] { Inline(module, InlineRule::kAll); }).message()),
              testing::HasSubstr("become more than 1048576 expressions when they are inlined"));
}
// In each call the variables of a function stand for the extents of the arguments; what is bound
// inside is declared in the function's own.
TEST(InlineAllTest, WhatIsDeclaredInAFunctionsOwnExtentsIsOfEachCall) {
  const ir::Module module = Parse(
      "def @f(%x: Tensor[(n), float32]) -> Tensor[(n), float32] {\n"
      "  let %y: Tensor[(n), float32] = negative(%x);\n  multiply(%y, %y)\n}\n"
      "def @main(%x: Tensor[(n), float32], %z: Tensor[(m), float32], %w: Tensor[(4), float32]) {\n"
      "  (@f(%x), @f(%z), @f(%w))\n}");
  const ir::Module inlined = InferType(Inline(module, InlineRule::kAll));
  EXPECT_EQ(ir::ToString(inlined.Main().body.checked_type()),
            "(Tensor[(n), float32], Tensor[(m), float32], Tensor[(4), float32])");
}

TEST(InlineAllTest, WhatAFunctionDeclaresOfItsResultIsStillNeeded) {
  const ir::Module module = Parse(
      "def @f(%x: Tensor[(2, n), float32]) -> Tensor[(3), float32] { sum(%x, axis=[0]) }\n"
      "def @main(%x: Tensor[(2, m), float32], %y: Tensor[(3), float32]) { add(@f(%x), %y) }");
  const ir::Module inlined = InferType(Inline(module, InlineRule::kAll));
  const std::vector<ExtentCondition> needs = ConditionsOf(inlined.Main().body);
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_EQ(needs[0].ToString(), "m == 3, for sum");
}

// Neither the stack nor the time of a body for each function on the way is there for this.
TEST(InlineAllTest, AChainOfAHundredThousandFunctionsIsInlined) {
  constexpr int kFunctions = 100'000;
  std::string text = "def @main(%x: Tensor[(2), float32]) { @f0(%x) }\n";
  for (int i = 0; i < kFunctions; ++i) {
    const std::string name = StrCat("%x", i);
    StrAppend(&text, "def @f", i, "(", name, ": Tensor[(2), float32]) { exp(",
              i + 1 < kFunctions ? StrCat("@f", i + 1, "(", name, ")") : name, ") }\n");
  }
  const ir::Module inlined = Inline(Parse(text), InlineRule::kAll);
  EXPECT_EQ(inlined.functions().size(), 1U);
  int calls = 0;
  ir::VisitPostOrder(inlined.Main().body,
                     [&](const ir::Expr& e) { calls += e.kind() == ir::ExprKind::kCall; });
  EXPECT_EQ(calls, kFunctions);
}

// What calls itself stays, and so does its caller; what it calls is inlined.
TEST(InlineAllTest, WhatReachesACycleStays) {
  const ir::Module inlined =
      Inline(Parse("def @a(%x: Tensor[(2), float32]) { tanh(@b(%x)) }\n"
                   "def @b(%y: Tensor[(2), float32]) -> Tensor[(2), float32] { @b(@c(%y)) }\n"
                   "def @c(%z: Tensor[(2), float32]) { exp(%z) }\n"
                   "def @main(%x: Tensor[(2), float32]) { @a(@c(%x)) }"),
             InlineRule::kAll);
  ir::VerifyModule(inlined);
  EXPECT_TRUE(ir::StructuralEqual(
      inlined, Parse("def @a(%x: Tensor[(2), float32]) { tanh(@b(%x)) }\n"
                     "def @b(%y: Tensor[(2), float32]) -> Tensor[(2), float32] { @b(exp(%y)) }\n"
                     "def @main(%x: Tensor[(2), float32]) { @a(exp(%x)) }")))
      << ir::PrintModule(inlined);
}

}  // namespace
}  // namespace tenon::passes
