// The text that a module prints as.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

std::string MainOf(std::string_view text) { return Print(Parse(text)).substr(sizeof kVersion - 1); }

// A number is taken when the first consumer's text is formed.
TEST(PrinterTest, SX_01_NumbersAreTakenByTheFirstConsumer) {
  EXPECT_EQ(MainOf("def @main(%x, %s) { add(multiply(%x, %s), multiply(negative(%x), %s)) }"),
            "def @main(%x, %s) {\n"
            "  %0 = negative(%x);\n"
            "  %1 = multiply(%x, %s);\n"
            "  %2 = multiply(%0, %s);\n"
            "  add(%1, %2)\n"
            "}\n");
}

// A literal that is called is visited before the arguments and numbered after them.
TEST(PrinterTest, SX_02_ACalledLiteralIsNumberedAfterTheArguments) {
  EXPECT_EQ(MainOf("def @main(%x) { %0 = fn (%p) { exp(%p) }; %0(%0(%x)) }"),
            "def @main(%x) {\n"
            "  %0 = fn (%p) {\n"
            "    exp(%p)\n"
            "  };\n"
            "  %1 = %0(%x);\n"
            "  %0(%1)\n"
            "}\n");
  EXPECT_EQ(MainOf("def @main(%x) {\n"
                   "  %0 = fn (%p) { exp(%p) };\n"
                   "  %1 = fn (%p) { tanh(%p) };\n"
                   "  %1(%0(%x))\n"
                   "}"),
            "def @main(%x) {\n"
            "  %0 = fn (%p1) {\n"
            "    exp(%p1)\n"
            "  };\n"
            "  %1 = %0(%x);\n"
            "  %2 = fn (%p) {\n"
            "    tanh(%p)\n"
            "  };\n"
            "  %2(%1)\n"
            "}\n");
}

// What only one branch uses stands in it, and what more than one place uses stands before.
TEST(PrinterTest, ALineStandsInTheInnermostBranchThatHoldsItsUses) {
  EXPECT_EQ(MainOf("def @main(%c: bool, %x) {\n"
                   "  %0 = exp(%x);\n"
                   "  %1 = tanh(%x);\n"
                   "  if (%c) { add(%0, multiply(%1, %1)) } else { %0 }\n"
                   "}"),
            "def @main(%c: bool, %x) {\n"
            "  %1 = exp(%x);\n"
            "  if (%c) {\n"
            "    %0 = tanh(%x);\n"
            "    %2 = multiply(%0, %0);\n"
            "    add(%1, %2)\n"
            "  } else {\n"
            "    %1\n"
            "  }\n"
            "}\n");
}

TEST(PrinterTest, AnIfThatIsReadGetsALine) {
  EXPECT_EQ(MainOf("def @main(%c: bool, %x) { exp(if (%c) { let %y = exp(%x); add(%y, %y) } else "
                   "{ if (%c) { %x } else { tanh(%x) } }) }"),
            "def @main(%c: bool, %x) {\n"
            "  %0 = if (%c) {\n"
            "    let %y = exp(%x);\n"
            "    add(%y, %y)\n"
            "  } else {\n"
            "    if (%c) {\n"
            "      %x\n"
            "    } else {\n"
            "      tanh(%x)\n"
            "    }\n"
            "  };\n"
            "  exp(%0)\n"
            "}\n");
}

TEST(PrinterTest, AMatchOverATupleIsProjections) {
  EXPECT_EQ(MainOf("def @main(%t: (float32, (float32, float32))) {\n"
                   "  match (%t) { (%a, (%b, _)) => { add(%a, %b) }, }\n"
                   "}"),
            "def @main(%t: (float32, (float32, float32))) {\n"
            "  %0 = %t.1;\n"
            "  %1 = %t.0;\n"
            "  %2 = %0.0;\n"
            "  add(%1, %2)\n"
            "}\n");
}

// A copy of a generic function for each call, and one copy for a call of itself.
TEST(PrinterTest, EachCallOfAGenericFunctionHasAnInstance) {
  EXPECT_EQ(Print(Parse("def @main(%c: bool, %x: Tensor[(4), float32]) {\n"
                        "  (@last(%c, %x), @last(%c, %c))\n"
                        "}\n"
                        "def @last[A](%c: bool, %x: A) -> A {\n"
                        "  if (%c) { %x } else { @last(%c, %x) }\n"
                        "}\n"))
                .substr(sizeof kVersion - 1),
            "def @main(%c: bool, %x: Tensor[(4), float32]) {\n"
            "  %0 = @last_1(%c, %x);\n"
            "  %1 = @last_2(%c, %c);\n"
            "  (%0, %1)\n"
            "}\n"
            "\n"
            "def @last_1(%c: bool, %x) {\n"
            "  if (%c) {\n"
            "    %x\n"
            "  } else {\n"
            "    @last_1(%c, %x)\n"
            "  }\n"
            "}\n"
            "\n"
            "def @last_2(%c: bool, %x) {\n"
            "  if (%c) {\n"
            "    %x\n"
            "  } else {\n"
            "    @last_2(%c, %x)\n"
            "  }\n"
            "}\n");
}

TEST(PrinterTest, AnItemOfANumberIsNotANumber) {
  EXPECT_EQ(MainOf("def @main() { (3).40282 }"), "def @main() {\n  (3).40282\n}\n");
}

TEST(PrinterTest, SX_03_VariablesOfOneNameGetSuffixes) {
  const Var a = Var::Make("x"), b = Var::Make("x"), c = Var::Make("x1"), d = Var::Make("x");
  EXPECT_EQ(PrintExpr(Function::Make({a, b, c, d}, Tuple::Make({d, c, b, a}))),
            "fn (%x, %x1, %x11, %x2) {\n  (%x2, %x11, %x1, %x)\n}\n");
}

// Dense has no default for units; conv2d prints what differs.
TEST(PrinterTest, SX_05_AttributesPrintWhenTheyDifferOrHaveNoDefault) {
  EXPECT_THAT(MainOf("def @main(%x, %w) { nn.dense(%x, %w) }"),
              HasSubstr("nn.dense(%x, %w, units=None)\n"));
  EXPECT_THAT(MainOf("def @main(%x, %w) { nn.conv2d(%x, %w, strides=[1, 1], groups=1) }"),
              HasSubstr("nn.conv2d(%x, %w)\n"));
  EXPECT_THAT(MainOf("def @main(%x) { strided_slice(%x, begin=[0], end=[1]) }"),
              HasSubstr("strided_slice(%x, begin=[0], end=[1], strides=[], axes=None)\n"));
}

TEST(PrinterTest, SX_06_FunctionAttributesStandAfterTheParameters) {
  EXPECT_EQ(MainOf("def @main(%x: Tensor[(1, 10), float32], Inline=1) { %x }"),
            "def @main(%x: Tensor[(1, 10), float32], Inline=1) {\n  %x\n}\n");
  EXPECT_EQ(MainOf("def @main(Inline=1) { () }"), "def @main(Inline=1) {\n  ()\n}\n");
}

TEST(PrinterTest, SX_07_TuplesAndProjectionsTakeNumbers) {
  EXPECT_EQ(MainOf("def @main(%x) { exp((%x, %x).1) }"),
            "def @main(%x) {\n"
            "  %0 = (%x, %x);\n"
            "  %1 = %0.1;\n"
            "  exp(%1)\n"
            "}\n");
}

TEST(PrinterTest, NumbersAndNamesStartAnewInEachDefinition) {
  EXPECT_EQ(MainOf("def @f(%x) { exp(exp(%x)) } def @main(%x) { tanh(tanh(%x)) }"),
            "def @f(%x) {\n  %0 = exp(%x);\n  exp(%0)\n}\n"
            "\n"
            "def @main(%x) {\n  %0 = tanh(%x);\n  tanh(%0)\n}\n");
}

TEST(PrinterTest, FreeVariablesAreDeclared) {
  const Var x = Var::Make("x", TensorType({2}, Float32));
  const Var y = Var::Make("y");
  const std::string text = PrintExpr(ops::Add(ops::Exp(x), y));
  EXPECT_EQ(text,
            "free_var %x: Tensor[(2), float32];\n"
            "free_var %y;\n"
            "%0 = exp(%x);\n"
            "add(%0, %y)\n");
  EXPECT_TRUE(StructuralEqual(Parse(text), Module::FromExpr(ops::Add(ops::Exp(x), y))));
}

TEST(PrinterTest, AModuleWithoutFunctionsIsItsVersion) { EXPECT_EQ(Print(Module()), kVersion); }

// Attributes come from other formats, too.
TEST(PrinterTest, AttributesOfFunctionsReadBackUnderAnyNameAndAsTypes) {
  const Var x = Var::Make("x", TensorType({3}, Float32));
  const Module module =
      Module().With("main", Function::Make({x}, x, Type(),
                                           {{"my attr", attrs::Value(std::int64_t{1})},
                                            {"t", attrs::Value(Float32)},
                                            {"", attrs::Value(std::string("float32"))}}));
  const std::string text = Print(module);
  EXPECT_THAT(text, HasSubstr("\"\"=\"float32\", \"my attr\"=1, t=float32)"));
  EXPECT_TRUE(StructuralEqual(Parse(text), module)) << text;
}

// The names of extents come from other formats, too.
TEST(PrinterTest, ATypeThatWouldEndItsCommentIsLeftOut) {
  const Type type = TensorType({Dim::Symbol("a*/b"), 4}, Float32);
  const Var x = Var::Make("x", type);
  const Expr call = ops::Exp(x);
  const Module module = Module::FromExpr(WithChildren(call, Children(call), type));
  const std::string text = Print(module);
  EXPECT_TRUE(StructuralEqual(Parse(text), module)) << text;
}

}  // namespace
}  // namespace tenon::ir
