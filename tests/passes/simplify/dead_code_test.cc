// Lets and functions that nothing needs.
#include "tenon/passes/simplify/dead_code.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

std::vector<std::string> Names(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, function] : module.functions()) names.push_back(name);
  return names;
}

TEST(RemoveUnusedFunctionsTest, S001_02_InputOfTheExamplePrintsThreeDefinitions) {
  const char* text =
      "#[version = \"0.0.5\"]\n"
      "def @fn1(%x: Tensor[(1, 1000), float32]) {\n"
      "  %x\n"
      "}\n"
      "\n"
      "def @fn2(%y: Tensor[(1, 1000), float32]) {\n"
      "  %y\n"
      "}\n"
      "\n"
      "def @main(%z: Tensor[(1, 1000), float32]) {\n"
      "  %0 = @fn1(%z);\n"
      "  add(%z, %0)\n"
      "}\n";
  EXPECT_THAT(Names(Parse(text)), ElementsAre("fn1", "fn2", "main"));
  EXPECT_EQ(Print(Parse(text)), text);
}

TEST(RemoveUnusedFunctionsTest, S001_03_DropsWhatMainDoesNotReachAndChangesNothingElse) {
  const Module before = Parse(
      "def @fn1(%x: Tensor[(1, 1000), float32]) { %x }\n"
      "def @fn2(%y: Tensor[(1, 1000), float32]) { %y }\n"
      "def @main(%z: Tensor[(1, 1000), float32]) { add(%z, @fn1(%z)) }");
  const Module after = RemoveUnusedFunctions(before);
  EXPECT_EQ(after, before.Without("fn2"));
  EXPECT_EQ(Print(after), std::string(kVersion) +
                              "def @fn1(%x: Tensor[(1, 1000), float32]) {\n"
                              "  %x\n"
                              "}\n"
                              "\n"
                              "def @main(%z: Tensor[(1, 1000), float32]) {\n"
                              "  %0 = @fn1(%z);\n"
                              "  add(%z, %0)\n"
                              "}\n");
}

struct Reach {
  const char* name;
  const char* text;
  std::vector<std::string> kept;
  friend void PrintTo(const Reach& t, std::ostream* out) { *out << t.name; }
};
class ReachTest : public ::testing::TestWithParam<Reach> {};

TEST_P(ReachTest, S001_04_KeepsWhatIsReached) {
  EXPECT_EQ(Names(RemoveUnusedFunctions(Parse(GetParam().text))), GetParam().kept);
}

INSTANTIATE_TEST_SUITE_P(
    Reachability, ReachTest,
    ::testing::Values(
        Reach{"AlongAChain",
              "def @a(%x) { @b(%x) }\ndef @b(%x) { @c(%x) }\ndef @c(%x) { %x }\n"
              "def @main(%x) { @a(%x) }\ndef @d(%x) { @a(%x) }",
              {"a", "b", "c", "main"}},
        Reach{"ThroughMutualRecursion",
              "def @a(%x) { @b(%x) }\ndef @b(%x) { @a(%x) }\ndef @main(%x) { @b(%x) }",
              {"a", "b", "main"}},
        Reach{"AFunctionAsAValue", "def @a(%x) { %x }\ndef @main(%x) { (%x, @a) }", {"a", "main"}},
        Reach{"InsideAFunctionLiteral",
              "def @a(%x) { %x }\ndef @main(%x) { %0 = fn (%y) { @a(%y) }; %0(%x) }",
              {"a", "main"}},
        Reach{"NotASelfRecursiveStranger", "def @a(%x) { @a(%x) }\ndef @main(%x) { %x }", {"main"}},
        Reach{"NotStrangersThatCallEachOther",
              "def @a(%x) { @b(%x) }\ndef @b(%x) { @a(%x) }\ndef @main(%x) { %x }",
              {"main"}}),
    [](const auto& info) { return info.param.name; });

TEST(RemoveUnusedFunctionsTest, OtherEntriesCount) {
  const Module module = Parse("def @a(%x) { %x }\ndef @b(%x) { %x }\ndef @main(%x) { %x }");
  EXPECT_THAT(Names(RemoveUnusedFunctions(module, {"b", "main"})), ElementsAre("b", "main"));
}

TEST(RemoveUnusedFunctionsTest, AnEntryThatIsMissingIsNamed) {
  const Error error =
      ErrorOf([] { RemoveUnusedFunctions(Parse("def @main(%x) { %x }"), {"start"}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("no function @start; it has: @main"));
}

struct Case {
  const char* name;
  const char* before;
  const char* after;  // the body of @main
  friend void PrintTo(const Case& t, std::ostream* out) { *out << t.name; }
};
class DeadCodeTest : public ::testing::TestWithParam<Case> {};

TEST_P(DeadCodeTest, LeavesTheBody) {
  const Module module = Parse(GetParam().before);
  EXPECT_EQ(ir::PrintExpr(DeadCodeElimination(module).Get("main")), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    Change, DeadCodeTest,
    ::testing::Values(
        Case{"DropsALetThatIsNotUsed", "def @main(%x) { let %a = exp(%x); %x }",
             "fn (%x) {\n  %x\n}\n"},
        Case{"DropsWhatOnlyADeadLetUsed",
             "def @main(%x) { let %a = exp(%x); let %b = exp(%a); let %c = tanh(%b); %x }",
             "fn (%x) {\n  %x\n}\n"},
        Case{"KeepsWhatIsUsed", "def @main(%x) { let %a = exp(%x); let %b = tanh(%x); %a }",
             "fn (%x) {\n  let %a = exp(%x);\n  %a\n}\n"},
        Case{"DropsAnUnusedFunctionLiteral", "def @main(%x) { let %f = fn (%y) { exp(%y) }; %x }",
             "fn (%x) {\n  %x\n}\n"},
        Case{"LooksInsideFunctionLiterals",
             "def @main(%x) { fn (%y) { let %a = exp(%y); tanh(%y) } }",
             "fn (%x) {\n  fn (%y) {\n    tanh(%y)\n  }\n}\n"}),
    [](const auto& info) { return info.param.name; });

class DeadCodeLeavesTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(DeadCodeLeavesTest, TheSameNodes) {
  const Module module = Parse(GetParam().text);
  EXPECT_EQ(DeadCodeElimination(module), module);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, DeadCodeLeavesTest,
    ::testing::Values(
        NamedText{"NoLets", "def @main(%x) { exp(%x) }"},
        NamedText{"AStatefulOperator", "def @main(%x) { let %a = nn.dropout(%x); %x }"},
        NamedText{"ACallOfAGlobal", "def @f(%x) { %x }\ndef @main(%x) { let %a = @f(%x); %x }"},
        NamedText{"ACallOfAVariable", "def @main(%x, %f) { let %a = %f(%x); %x }"},
        NamedText{"AUseInsideAFunctionLiteral",
                  "def @main(%x) { let %a = exp(%x); fn (%y) { add(%a, %y) } }"}),
    [](const auto& info) { return info.param.name; });

TEST(DeadCodeTest, AValueThatIsReadOnceStandsWhereItIsReadIfAsked) {
  const Module module = Parse(
      "def @main(%x) { let %a = exp(%x); let %b = tanh(%a); let %c = erf(%b); let %d = "
      "nn.dropout(%c); add(add(%b, %c), %d.0) }");
  EXPECT_EQ(ir::PrintExpr(DeadCodeElimination(module, {.inline_once = true}).Get("main")),
            "fn (%x) {\n"
            "  %0 = exp(%x);\n"
            "  let %b = tanh(%0);\n"
            "  let %c = erf(%b);\n"
            "  let %d = nn.dropout(%c);\n"
            "  %1 = add(%b, %c);\n"
            "  %2 = %d.0;\n"
            "  add(%1, %2)\n}\n");
}

TEST(DeadCodeTest, ValuesWithinValuesStandWhereTheyAreRead) {
  const Module module = Parse(
      "def @main(%x) { let %a = (let %b = (let %c = exp(%x); tanh(%c)); erf(%b)); add(%x, %a) "
      "}");
  EXPECT_EQ(ir::PrintExpr(DeadCodeElimination(module, {.inline_once = true}).Get("main")),
            "fn (%x) {\n"
            "  %0 = exp(%x);\n"
            "  %1 = tanh(%0);\n"
            "  %2 = erf(%1);\n"
            "  add(%x, %2)\n}\n");
}

TEST(DeadCodeTest, ALongChainOfValuesIsInlinedInLinearTime) {
  std::string text = "def @main(%x) { let %a0 = exp(%x); ";
  for (int i = 1; i < 20000; ++i) text += StrCat("let %a", i, " = exp(%a", i - 1, "); ");
  const Module after = DeadCodeElimination(Parse(text + "%a19999 }"), {.inline_once = true});
  EXPECT_EQ(ir::PrintExpr(after.Get("main")).find("let"), std::string::npos);
}

TEST(DeadCodeTest, EffectsAreIgnoredIfAsked) {
  const Module module = Parse("def @main(%x) { let %a = nn.dropout(%x); %x }");
  EXPECT_EQ(DeadCodeElimination(module), module);
  EXPECT_EQ(ir::PrintExpr(DeadCodeElimination(module, {.ignore_impurity = true}).Get("main")),
            "fn (%x) {\n  %x\n}\n");
}

TEST(DeadCodeTest, KeepsCheckedTypes) {
  const Module typed =
      InferType(Parse("def @main(%x: Tensor[(2), float32]) {\n"
                      "  let %a = exp(%x);\n"
                      "  let %b = tanh(%x);\n"
                      "  exp(%b)\n"
                      "}"));
  const Module after = DeadCodeElimination(typed);
  EXPECT_THAT(Print(after), ::testing::Not(HasSubstr("%a")));
  EXPECT_EQ(InferType(after), after);
}

TEST(DeadCodeTest, InliningOnceKeepsCheckedTypes) {
  const Module typed =
      InferType(Parse("def @swap(%a: Tensor[(2), float32], %b: Tensor[(3), int8]) { (%b, %a) }\n"
                      "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), int8]) {\n"
                      "  let %t = @swap(%x, %y);\n"
                      "  let %c = %t.1;\n"
                      "  exp(%c)\n"
                      "}"));
  const Module after = DeadCodeElimination(typed, {.inline_once = true, .ignore_impurity = true});
  EXPECT_THAT(Print(after), ::testing::Not(HasSubstr("let")));
  EXPECT_EQ(InferType(after), after);
}

TEST(DeadCodeTest, ALongBodyOfDeadLetsIsDropped) {
  std::string text = "def @main(%x) {\n";
  for (int i = 0; i < 20000; ++i) StrAppend(&text, "let %a", i, " = exp(%x);\n");
  EXPECT_EQ(ir::PrintExpr(DeadCodeElimination(Parse(text + "%x }")).Get("main")),
            "fn (%x) {\n  %x\n}\n");
}

}  // namespace
}  // namespace tenon::passes
