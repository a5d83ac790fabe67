// Printing and parsing: what is printed reads back equal, and what other printers write is read.
#include "tenon/ir/text_format.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

std::string MainOf(std::string_view text) { return Print(Parse(text)).substr(sizeof kVersion - 1); }

class RoundTripTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(RoundTripTest, ReadsBackEqual) {
  const Module module = Parse(GetParam().text);
  const std::string text = PrintModule(module);
  const absl::StatusOr<Module> again = TryParse(text);
  ASSERT_TRUE(again.ok()) << text << again.status();
  EXPECT_TRUE(StructuralEqual(module, *again)) << text;
  EXPECT_EQ(PrintModule(*again), text);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RoundTripTest,
    ::testing::Values(
        NamedText{"NoParameters", "def @main() { () }"},
        NamedText{"Call", "def @main(%x: Tensor[(2), float32]) { exp(%x) }"},
        NamedText{"SharedCall", "def @main(%x) { %0 = exp(%x); add(%0, tanh(%0)) }"},
        NamedText{"TwoCopiesOfACall", "def @main(%x) { add(exp(%x), exp(%x)) }"},
        NamedText{"Tuples", "def @main(%x) { ((%x,), (), (%x, (%x,)).1.0) }"},
        NamedText{"Types",
                  "def @main(%x: (Tensor[(2, ?, n), float16],), %f: fn (int32, ()) -> ?,\n"
                  "          %s: bfloat16, %e: Tensor[(0), bool], %u: Tensor[(1), uint8])\n"
                  "    -> (int8,) { %x }"},
        NamedText{"ExtentsWithNamesOfModels",
                  R"(def @main(%x: Tensor[("a.b.0", 2 * "a.b.0" + 1), float32],)"
                  R"( %y: Tensor[("N + \"1\"\\", floordiv("2nd", 2)), int8]) { (%x, %y) })"},
        NamedText{"Scalars",
                  "def @main() { (1, -1, 1i64, -9223372036854775808i64, 1f, -0f, 0.1f, 1e-45f,\n"
                  "  3.40282347e+38f, 1.5f64, 5e-324f64, True, False, 2147483647, -2147483648) }"},
        NamedText{
            "Attributes",
            "def @main(%x, %w) {\n"
            "  %0 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1], groups=2, channels=4,\n"
            "                 kernel_size=[3, 3], data_layout=\"NHWC\", out_dtype=\"int32\");\n"
            "  %1 = clip(%0, a_min=-inff, a_max=1e-05f);\n"
            "  %2 = strided_slice(%1, begin=[0, -1], end=[-1, 4], slice_mode=\"size\");\n"
            "  %3 = nn.pad(%2, 0f, pad_width=[[0, 0], [1, -1]], pad_mode=\"edge\");\n"
            "  %4 = split(%3, indices_or_sections=[1, 3], axis=1);\n"
            "  sum(%4.0, axis=None, keepdims=True)\n"
            "}"},
        NamedText{"NotANumberAsAttribute", "def @main(%x) { clip(%x, a_min=nanf, a_max=inff) }"},
        NamedText{"FunctionAttributes",
                  "def @main(%x, note=[1, [2f, \"x\"], True, None, []], z=-9223372036854775808,\n"
                  "          i=-inff, e=1e-05f, g=2f, relay.dotted=1, empty=\"\") { exp(%x) }"},
        NamedText{"QuotesAndBackslashes",
                  R"(def @main(%x, note="a \"b\" \\ c \\n %0 @f // /* #[metadata]") { %x })"},
        NamedText{"LineBreakInAString", R"(def @main(%x, note="a\nb") { %x })"},
        NamedText{"MetadataMarkInAString", R"(def @main(%x, note="a\n#[metadata]\n") { %x })"},
        NamedText{"Lets", "def @main(%x) { let %a = exp(%x); let %b: int32 = tanh(%a); (%a, %b) }"},
        NamedText{"LetsOfOneName", "def @main(%x) { let %x = exp(%x); let %x = tanh(%x); %x }"},
        NamedText{"LinesBetweenLets",
                  "def @main(%x) {\n"
                  "  let %a = exp(%x);\n"
                  "  %0 = add(%a, %a);\n"
                  "  let %b = add(%0, %0);\n"
                  "  add(%b, %0)\n"
                  "}"},
        NamedText{"LetAsAnArgument", "def @main(%x) { add((let %b = tanh(%x); %b), %x) }"},
        NamedText{"LetInALet", "def @main(%x) { let %a = (let %b = exp(%x); %b); %a }"},
        NamedText{"LineInALetThatIsAnArgument",
                  "def @main(%x) { add((let %b = exp(exp(%x)); %b), %x) }"},
        NamedText{"LineUsedInsideAndOutsideOfALet",
                  "def @main(%x) {\n"
                  "  %0 = exp(%x);\n"
                  "  %1 = (let %b = tanh(%0); add(%b, %0));\n"
                  "  add(%1, %0)\n"
                  "}"},
        NamedText{"FunctionLiterals",
                  "def @main(%x) {\n"
                  "  %0 = fn (%y) { exp(%y) };\n"
                  "  %1 = fn (%y, Primitive=1) -> int32 { let %z = exp(%y); %z };\n"
                  "  (%1(%0(%x)), fn (%y) { fn (%z) { add(%y, %z) } })\n"
                  "}"},
        NamedText{"FunctionLiteralInALet",
                  "def @main(%x) { let %f = fn (%y) { exp(%y) }; %f(%f(%x)) }"},
        NamedText{"FunctionLiteralAsResult", "def @main(%x) { fn (%y) { add(%x, %y) } }"},
        NamedText{"LineUsedInsideAndOutsideOfAFunctionLiteral",
                  "def @main(%x) {\n"
                  "  %0 = exp(%x);\n"
                  "  %1 = fn (%y) { add(%y, %0) };\n"
                  "  add(%1(%x), %0)\n"
                  "}"},
        NamedText{"LineSharedByTwoFunctionLiterals",
                  "def @main(%x) {\n"
                  "  %0 = exp(%x);\n"
                  "  %1 = fn (%y) { add(%y, %0) };\n"
                  "  %2 = fn (%y) { add(%0, %y) };\n"
                  "  (%1, %2)\n"
                  "}"},
        NamedText{"GlobalFunctions",
                  "def @f(%x) { @g(%x) }\n"
                  "def @g(%x) { @f(%x) }\n"
                  "def @main(%x) { (@f(%x), @g, @main) }"},
        NamedText{"NamesThatAreWords",
                  "def @main(%fn, %let, %meta, %def, %free_var, %True) { add(%fn, %let) }"},
        NamedText{"CallOfAParameter", "def @main(%f, %x) { %f(%x, %f) }"},
        NamedText{"OperatorWithoutArguments", "def @main() { zeros(shape=[], dtype=\"int8\") }"}),
    [](const auto& info) { return info.param.name; });

TEST(RoundTripTest, HintsThatAreNoNamesPrintAsNames) {
  std::vector<Expr> params;
  for (const char* hint : {"", "0", "a.b", "a b", "x\ny", "é", "v", "a_b"})
    params.push_back(Var::Make(hint));
  const Module module = Module().With("main", Function::Make(params, ir::Tuple::Make(params)));
  EXPECT_TRUE(StructuralEqual(Parse(PrintModule(module)), module)) << PrintModule(module);
}

TEST(RoundTripTest, AFunctionMayHaveAnyName) {
  for (const std::string name :
       {"", "a b", "%x", "1.a", "a/", "\"quoted\"", "two\nlines", "a.b/c"}) {
    const Expr identity = Parse("def @main(%x) { %x }").Get("main");
    const Expr x = Var::Make("x");
    const Module module =
        Module()
            .With(name, identity)
            .With("main", Function::Make({x}, Call::Make(GlobalVar::Make(name), {x})));
    const Module read = Parse(PrintModule(module));
    ASSERT_TRUE(read.Find(name)) << PrintModule(module);
    EXPECT_EQ(PrintModule(read), PrintModule(module));
  }
}

TEST(RoundTripTest, OnlyANameThatWouldEndEarlyIsQuoted) {
  const Expr identity = Parse("def @main(%x) { %x }").Get("main");
  EXPECT_THAT(PrintModule(Module().With("encoder/layer.norm", identity)),
              HasSubstr("def @encoder/layer.norm("));
  EXPECT_THAT(PrintModule(Module().With("a b", identity)), HasSubstr("def @\"a b\"("));
}

TEST(ParserTest, CommentsTypeCommentsAndBlanksAreSkipped) {
  EXPECT_EQ(MainOf("// first\n/* second\n*/ def @main(%x /* third */) {\n\n"
                   "  exp(%x) /* ty=Tensor[(1), float32] */ // last\n}\r\n\t"),
            "def @main(%x) {\n  exp(%x)\n}\n");
}

TEST(ParserTest, AByteOrderMarkIsSkippedAndNotCounted) {
  EXPECT_TRUE(StructuralEqual(Parse("\xEF\xBB\xBF"
                                    "def @main(%x) { exp(%x) }"),
                              Parse("def @main(%x) { exp(%x) }")));
  EXPECT_THAT(std::string(TryParse("\xEF\xBB\xBF"
                                   "def main")
                              .status()
                              .message()),
              HasSubstr("test.relay:1:5: "));
  // Elsewhere it is a character like any other.
  EXPECT_FALSE(TryParse("def @main(%x) { \xEF\xBB\xBF"
                        "exp(%x) }")
                   .ok());
}

TEST(ParserTest, ANumberIsTheNearestThatItsTypeHolds) {
  const Module module = Parse("def @main() { (1e-50f, -1e-50f, 1e-45f, 1e-400f64, 1e-9f16) }");
  const auto& fields = module.Main().body.As<TupleNode>()->fields;
  const auto real = [&](std::size_t i) {
    return fields[i].As<ConstantNode>()->data.ToVector<float>()[0];
  };
  EXPECT_EQ(real(0), 0);
  EXPECT_FALSE(std::signbit(real(0)));
  EXPECT_EQ(real(1), 0);
  EXPECT_TRUE(std::signbit(real(1)));
  EXPECT_EQ(real(2), std::ldexp(1.0F, -149));  // the least above 0
  EXPECT_EQ(fields[3].As<ConstantNode>()->data.ToVector<double>()[0], 0);
  EXPECT_EQ(*static_cast<const std::uint16_t*>(fields[4].As<ConstantNode>()->data.raw()), 0);
  EXPECT_TRUE(StructuralEqual(Parse(Print(module)), module));
}

TEST(ParserTest, AnExpressionBecomesMain) {
  EXPECT_EQ(MainOf("free_var %x: int32;\nexp(%x)"), "def @main(%x: int32) {\n  exp(%x)\n}\n");
  EXPECT_EQ(MainOf("fn (%y) { %y }"), "def @main(%y) {\n  %y\n}\n");
}

TEST(ParserTest, ATrailingCommaIsAllowedInATuple) {
  EXPECT_TRUE(
      StructuralEqual(Parse("def @main(%x) { (%x, %x,) }"), Parse("def @main(%x) { (%x, %x) }")));
}

TEST(ParserTest, ParenthesesAroundOneExpressionAreNoTuple) {
  EXPECT_EQ(MainOf("def @main(%x) { ((%x)) }"), "def @main(%x) {\n  %x\n}\n");
}

TEST(ParserTest, ALineThatIsNotUsedIsLeftOut) {
  EXPECT_EQ(MainOf("def @main(%x) { %0 = exp(%x); %x }"), "def @main(%x) {\n  %x\n}\n");
}

TEST(ParserTest, AnInnerNameHidesAnOuterOne) {
  const Module module = Parse("def @main(%x) { fn (%x) { exp(%x) } }");
  const auto& inner = *module.Main().body.As<FunctionNode>();
  EXPECT_EQ(inner.body.As<CallNode>()->args[0], inner.params[0]);
}

TEST(ParserTest, SpansCountLinesAndColumnsFromOne) {
  const Module module = Parse("def @main(%x) {\n  %0 = exp(%x);\n  tanh(%0)\n}");
  const Expr tanh = module.Main().body;
  const Expr exp = tanh.As<CallNode>()->args[0];
  EXPECT_EQ(tanh.span().ToString(), "test.relay:3:3");
  EXPECT_EQ(exp.span().ToString(), "test.relay:2:8");
  EXPECT_EQ(module.Main().params[0].span().ToString(), "test.relay:1:11");
}

TEST(ParserTest, WhatIsReadIsWellFormed) {
  VerifyModule(Parse("def @f(%x) { let %y = exp(%x); (%y, 1f).0 }\ndef @main(%x) { @f(%x) }"));
}

TEST(ParserTest, LengthIsNoDepth) {
  std::string text = "def @main(%x) {\n";
  for (int i = 0; i < 100000; ++i) StrAppend(&text, "let %a", i, " = exp(%x);\n");
  const Module module = Parse(text + "%a0 }");
  EXPECT_TRUE(StructuralEqual(Parse(Print(module)), module));
  std::string sum = "def @main(%x) {\n %0 = exp(%x);\n";
  for (int i = 1; i < 100000; ++i) StrAppend(&sum, "%", i, " = exp(%", i - 1, ");\n");
  const Module chain = Parse(sum + "%99999 }");
  EXPECT_TRUE(StructuralEqual(Parse(Print(chain)), chain));
}

// Each call asks for its place; they must not count the lines of the text from its start.
TEST(TextFormatTest, ReadsCallsThatSpanLinesInTimeThatGrowsWithTheText) {
  constexpr int kCalls = 100000;
  std::string text = "def @main(%x: Tensor[(1), float32]) {\n";
  for (int i = 0; i < kCalls; ++i)
    StrAppend(&text, "  %", i, " = add(", i == 0 ? "%x" : StrCat("%", i - 1), ",\n    1f);\n");
  StrAppend(&text, "  (%0,\n  %", kCalls - 1, ")\n}\n");
  const auto start = std::chrono::steady_clock::now();
  const Module module = Parse(text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  const auto* last = module.Main().body.As<TupleNode>()->fields[1].As<CallNode>();
  EXPECT_EQ(last->span.line, 2 * kCalls);
  EXPECT_EQ(last->span.column, StrCat("  %", kCalls - 1, " = ").size() + 1);
}

}  // namespace
}  // namespace tenon::ir
