// Printing and parsing: what is printed reads back equal, and what cannot be read is refused with
// its place.
#include "tenon/ir/text_format.h"

#include <cmath>
#include <limits>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/strings.h"
#include "tenon/tests/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

std::string MainOf(std::string_view text) { return Print(Parse(text)).substr(sizeof kVersion - 1); }

// --- round trips

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

Module RoundTrip(const Module& module) { return Parse(PrintModule(module)); }

template <typename T>
NDArray Numbers(const std::vector<T>& values) {
  return NDArray::FromVector<T>({static_cast<std::int64_t>(values.size())}, values);
}

// The bytes of `bits` as elements of a type without a C++ name.
NDArray Halves(DataType dtype) {
  const NDArray bits = Numbers<std::uint16_t>({0, 1, 0x3c00, 0x7c00, 0x7e01, 0xffff});
  return NDArray::View({6}, dtype, bits.raw(), std::make_shared<NDArray>(bits));
}

TEST(MetadataTest, ConstantsOfEveryTypeReadBackByteForByte) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const NDArray& data :
       {Numbers<bool>({true, false}), Numbers<std::int8_t>({-128, 127}),
        Numbers<std::int16_t>({-32768, 7}), Numbers<std::int32_t>({INT32_MIN, 7}),
        Numbers<std::int64_t>({INT64_MIN, 7}), Numbers<std::uint8_t>({255, 0}),
        Numbers<std::uint16_t>({65535}), Numbers<std::uint32_t>({UINT32_MAX}),
        Numbers<std::uint64_t>({UINT64_MAX}),
        Numbers<float>({nan, -nan, -0.0F, 1e-45F, std::numeric_limits<float>::infinity()}),
        Numbers<double>({0.1, -0.0, 5e-324}), Halves(Float16), Halves(BFloat16)}) {
    const Module module = Module::FromExpr(Constant::Make(data));
    EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << data.dtype().ToString();
  }
}

TEST(MetadataTest, ShapesReadBack) {
  for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}, Shape{1, 1, 1}, Shape{2, 3, 4, 5}}) {
    const Module module = Module::FromExpr(Constant::Make(NDArray::Zeros(shape, Float32)));
    EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << ShapeToString(shape);
  }
}

// Scalars that have no text of their own.
TEST(MetadataTest, ScalarsOfOtherTypesAndWithoutAValueReadBack) {
  for (const NDArray& data :
       {NDArray::Scalar<std::int8_t>(-1), NDArray::Scalar<std::uint64_t>(UINT64_MAX),
        NDArray::Scalar<float>(NAN), NDArray::Scalar<float>(-INFINITY),
        NDArray::Scalar<double>(NAN)}) {
    const Module module = Module::FromExpr(Constant::Make(data));
    EXPECT_THAT(PrintModule(module), HasSubstr("meta[relay.Constant][0]"));
    EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << data.dtype().ToString();
  }
}

// SX-08.
TEST(MetadataTest, ConstantsAreNumberedThroughTheModule) {
  const Expr c = Constant::Make(Numbers<float>({1, 2}));
  const Expr d = Constant::Make(Numbers<float>({3, 4}));
  const Module module = Module()
                            .With("f", Function::Make({}, ops::Add(ops::Add(c, d), c)))
                            .With("main", Function::Make({}, d));
  const std::string text = PrintModule(module);
  EXPECT_THAT(text, HasSubstr("  %0 = add(meta[relay.Constant][0]"));
  EXPECT_THAT(text, HasSubstr("meta[relay.Constant][1]"));
  EXPECT_THAT(text, HasSubstr("  meta[relay.Constant][2]"));
  EXPECT_THAT(text, HasSubstr("\n#[metadata]\n{\"relay.Constant\":["));
  EXPECT_TRUE(StructuralEqual(Parse(text), module));
  EXPECT_THAT(Print(module), Not(HasSubstr("#[metadata]")));
}

TEST(MetadataTest, OneEntryIsOneConstant) {
  const Module module = Parse(
      "def @main() { add(meta[relay.Constant][0], meta[relay.Constant][0]) }\n"
      "#[metadata]\n"
      R"({"relay.Constant":[{"dtype":"int8","shape":[1],"data":"AQ=="}]})");
  const auto& call = *module.Main().body.As<CallNode>();
  EXPECT_EQ(call.args[0], call.args[1]);
  EXPECT_EQ(call.args[0].As<ConstantNode>()->data.ToVector<std::int8_t>(),
            std::vector<std::int8_t>{1});
}

TEST(RoundTripTest, HintsThatAreNoNamesPrintAsNames) {
  std::vector<Expr> params;
  for (const char* hint : {"", "0", "a.b", "a b", "x\ny", "é", "v", "a_b"})
    params.push_back(Var::Make(hint));
  const Module module = Module().With("main", Function::Make(params, ir::Tuple::Make(params)));
  EXPECT_TRUE(StructuralEqual(RoundTrip(module), module)) << PrintModule(module);
}

// --- the text itself

// SX-01: a number is taken when the first consumer's text is formed.
TEST(PrinterTest, NumbersAreTakenByTheFirstConsumer) {
  EXPECT_EQ(MainOf("def @main(%x, %s) { add(multiply(%x, %s), multiply(negative(%x), %s)) }"),
            "def @main(%x, %s) {\n"
            "  %0 = negative(%x);\n"
            "  %1 = multiply(%x, %s);\n"
            "  %2 = multiply(%0, %s);\n"
            "  add(%1, %2)\n"
            "}\n");
}

// SX-02: a literal that is called is visited before the arguments and numbered after them.
TEST(PrinterTest, ACalledLiteralIsNumberedAfterTheArguments) {
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

// SX-03.
TEST(PrinterTest, VariablesOfOneNameGetSuffixes) {
  const Var a = Var::Make("x"), b = Var::Make("x"), c = Var::Make("x1"), d = Var::Make("x");
  EXPECT_EQ(PrintExpr(Function::Make({a, b, c, d}, Tuple::Make({d, c, b, a}))),
            "fn (%x, %x1, %x11, %x2) {\n  (%x2, %x11, %x1, %x)\n}\n");
}

// SX-05: dense has no default for units; conv2d prints what differs.
TEST(PrinterTest, AttributesPrintWhenTheyDifferOrHaveNoDefault) {
  EXPECT_THAT(MainOf("def @main(%x, %w) { nn.dense(%x, %w) }"),
              HasSubstr("nn.dense(%x, %w, units=None)\n"));
  EXPECT_THAT(MainOf("def @main(%x, %w) { nn.conv2d(%x, %w, strides=[1, 1], groups=1) }"),
              HasSubstr("nn.conv2d(%x, %w)\n"));
  EXPECT_THAT(MainOf("def @main(%x) { strided_slice(%x, begin=[0], end=[1]) }"),
              HasSubstr("strided_slice(%x, begin=[0], end=[1], strides=[], axes=None)\n"));
}

// SX-06, S001-13.
TEST(PrinterTest, FunctionAttributesStandAfterTheParameters) {
  EXPECT_EQ(MainOf("def @main(%x: Tensor[(1, 10), float32], Inline=1) { %x }"),
            "def @main(%x: Tensor[(1, 10), float32], Inline=1) {\n  %x\n}\n");
  EXPECT_EQ(MainOf("def @main(Inline=1) { () }"), "def @main(Inline=1) {\n  ()\n}\n");
}

// SX-07.
TEST(PrinterTest, TuplesAndProjectionsTakeNumbers) {
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

// --- reading what other printers write

TEST(ParserTest, CommentsTypeCommentsAndBlanksAreSkipped) {
  EXPECT_EQ(MainOf("// first\n/* second\n*/ def @main(%x /* third */) {\n\n"
                   "  exp(%x) /* ty=Tensor[(1), float32] */ // last\n}\r\n\t"),
            "def @main(%x) {\n  exp(%x)\n}\n");
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

// --- errors

struct Refused {
  const char* name;
  const char* text;
  const char* message;  // whole, with place and caret
  friend void PrintTo(const Refused& t, std::ostream* out) { *out << t.name; }
};
class ParseErrorTest : public ::testing::TestWithParam<Refused> {};

TEST_P(ParseErrorTest, SaysWhatIsWrongAndShowsWhere) {
  const absl::Status status = TryParse(GetParam().text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Names, ParseErrorTest,
    ::testing::Values(
        Refused{"UnknownOperator", "def @main(%x) {\n  nn.conv2(%x)\n}",
                "test.relay:2:3: there is no operator named nn.conv2; did you mean nn.conv2d?\n"
                "  note: \n"
                "      nn.conv2(%x)\n"
                "      ^^^^^^^^"},
        Refused{"UnknownOperatorLikeNoOther", "def @main(%x) { quantum.fourier(%x) }",
                "test.relay:1:17: there is no operator named quantum.fourier\n"
                "  note: \n"
                "    def @main(%x) { quantum.fourier(%x) }\n"
                "                    ^^^^^^^^^^^^^^^"},
        Refused{"UndefinedVariable", "def @main(%data) {\n  add(%dta, %data)\n}",
                "test.relay:2:7: %dta is not defined here (a line can use only lines before it); "
                "did you mean %data?\n"
                "  note: \n"
                "      add(%dta, %data)\n"
                "          ^^^^"},
        Refused{"VariableOfAnInnerScope", "def @main(%x) { (fn (%inside) { %inside }, %inside) }",
                "test.relay:1:44: %inside is not defined here (a line can use only lines before "
                "it)\n"
                "  note: \n"
                "    def @main(%x) { (fn (%inside) { %inside }, %inside) }\n"
                "                                               ^^^^^^^"},
        Refused{"LineDefinedTwice", "def @main(%x) {\n  %0 = exp(%x);\n  %0 = exp(%x);\n  %0\n}",
                "test.relay:3:3: %0 is defined twice in one scope\n"
                "  note: \n"
                "      %0 = exp(%x);\n"
                "      ^^"},
        Refused{"ParameterTwice", "def @main(%x, %x) { %x }",
                "test.relay:1:15: %x is defined twice in one scope\n"
                "  note: \n"
                "    def @main(%x, %x) { %x }\n"
                "                  ^^"},
        Refused{"FunctionTwice", "def @main(%x) { %x }\ndef @main(%x) { %x }",
                "test.relay:2:5: @main is defined twice\n"
                "  note: \n"
                "    def @main(%x) { %x }\n"
                "        ^^^^^"},
        Refused{"LinesThatUseEachOther",
                "def @main(%first) {\n  %0 = exp(%1);\n  %1 = exp(%0);\n  %1\n}",
                "test.relay:2:12: %1 is not defined here (a line can use only lines before it)\n"
                "  note: \n"
                "      %0 = exp(%1);\n"
                "               ^^"},
        Refused{"LetThatUsesItself", "def @main() { let %self = exp(%self); %self }",
                "test.relay:1:31: %self is not defined here (a line can use only lines before "
                "it)\n"
                "  note: \n"
                "    def @main() { let %self = exp(%self); %self }\n"
                "                                  ^^^^^"},
        Refused{"UndefinedFunction", "def @main(%x) { @f(%x) }",
                "test.relay:1:17: @f is used but not defined\n"
                "  note: \n"
                "    def @main(%x) { @f(%x) }\n"
                "                    ^^"},
        Refused{"OperatorThatIsNotCalled", "def @main(%x) { exp }",
                "test.relay:1:17: the operator exp is named but not called\n"
                "  note: \n"
                "    def @main(%x) { exp }\n"
                "                    ^^^"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Syntax, ParseErrorTest,
    ::testing::Values(
        Refused{"Version", "#[version = \"0.0.4\"]\ndef @main() { () }",
                "test.relay:1:13: text of version 0.0.4 cannot be read; version 0.0.5 can\n"
                "  note: \n"
                "    #[version = \"0.0.4\"]\n"
                "                ^^^^^^^"},
        Refused{"StringWithoutEnd", "def @main(%x) {\n  cast(%x, dtype=\"float32)\n}",
                "test.relay:2:18: this string is never closed\n"
                "  note: \n"
                "      cast(%x, dtype=\"float32)\n"
                "                     ^^^^^^^^^"},
        Refused{"CommentWithoutEnd", "def @main(%x) { %x }\n/* no end",
                "test.relay:2:1: this comment is never closed\n"
                "  note: \n"
                "    /* no end\n"
                "    ^^"},
        Refused{"BraceWithoutEnd", "def @main(%x) {\n  exp(%x)",
                "test.relay:2:10: expected '}' after the body of a function, found the end of the "
                "text\n"
                "  note: \n"
                "      exp(%x)\n"
                "             ^"},
        Refused{"BracketWithoutEnd", "def @main(%x: Tensor[(2, float32]) { %x }",
                "test.relay:1:33: expected ')' after the extents of a tensor, found ']'\n"
                "  note: \n"
                "    def @main(%x: Tensor[(2, float32]) { %x }\n"
                "                                    ^"},
        Refused{"StrangeCharacter", "def @main(%x) { %x } $",
                "test.relay:1:22: the character '$' has no meaning here\n"
                "  note: \n"
                "    def @main(%x) { %x } $\n"
                "                         ^"},
        Refused{"WordsBehindTheLastDefinition", "def @main(%x) { %x } )",
                "test.relay:1:22: expected \"def\" or the end, found ')'\n"
                "  note: \n"
                "    def @main(%x) { %x } )\n"
                "                         ^"},
        Refused{"FunctionWithoutASign", "def main(%x) { %x }",
                "test.relay:1:5: expected the name of a function (@name), found 'main'\n"
                "  note: \n"
                "    def main(%x) { %x }\n"
                "        ^^^^"},
        Refused{"Nothing", "",
                "test.relay:1:1: expected an expression, found the end of the text\n"
                "  note: \n"
                "    \n"
                "    ^"},
        Refused{"MissingSemicolon", "def @main(%x) {\n  %0 = exp(%x)\n  %0\n}",
                "test.relay:3:3: expected ';' after a line, found '%0'\n"
                "  note: \n"
                "      %0\n"
                "      ^^"},
        Refused{"Branch", "def @main(%x) { if (%x) { %x } else { %x } }",
                "test.relay:1:17: \"if\" is not supported\n"
                "  note: \n"
                "    def @main(%x) { if (%x) { %x } else { %x } }\n"
                "                    ^^"},
        Refused{"TypeParameters", "def @main[A](%x) { %x }",
                "test.relay:1:10: type parameters are not supported\n"
                "  note: \n"
                "    def @main[A](%x) { %x }\n"
                "             ^"},
        Refused{"LetterOutsideOfAscii", "def @main(%x) { é }",
                "test.relay:1:17: the character 'é' has no meaning here\n"
                "  note: \n"
                "    def @main(%x) { é }\n"
                "                    ^"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, ParseErrorTest,
    ::testing::Values(
        Refused{"ElementType", "def @main(%x: Tensor[(2), float31]) { %x }",
                "test.relay:1:27: 'float31' is no element type; types are bool, int8 to int64, "
                "uint8 to uint64, float16, float32, float64 and bfloat16\n"
                "  note: \n"
                "    def @main(%x: Tensor[(2), float31]) { %x }\n"
                "                              ^^^^^^^"},
        Refused{"Extent", "def @main(%x: Tensor[(-2), float32]) { %x }",
                "test.relay:1:23: '-2' is no extent; extents are integers from 0 on\n"
                "  note: \n"
                "    def @main(%x: Tensor[(-2), float32]) { %x }\n"
                "                          ^^"},
        Refused{"Suffix", "def @main(%x) { add(%x, 1i8) }",
                "test.relay:1:25: '1i8' is no constant; constants are 1 (int32), 1i64, 1f "
                "(float32), 1f64\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1i8) }\n"
                "                            ^^^"},
        Refused{"IntegerBeyond32Bits", "def @main(%x) { add(%x, 3000000000) }",
                "test.relay:1:25: '3000000000' is no constant; constants are 1 (int32), 1i64, 1f "
                "(float32), 1f64\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 3000000000) }\n"
                "                            ^^^^^^^^^^"},
        Refused{"IntegerBeyond64Bits", "def @main(%x) { add(%x, 99999999999999999999) }",
                "test.relay:1:25: '99999999999999999999' is no constant; constants are 1 (int32), "
                "1i64, 1f (float32), 1f64\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 99999999999999999999) }\n"
                "                            ^^^^^^^^^^^^^^^^^^^^"},
        Refused{"FloatBeyondItsRange", "def @main(%x) { add(%x, 1e39f) }",
                "test.relay:1:25: '1e39f' is no constant; constants are 1 (int32), 1i64, 1f "
                "(float32), 1f64\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1e39f) }\n"
                "                            ^^^^^"},
        Refused{"NumberWithLetters", "def @main(%x) { add(%x, 1x) }",
                "test.relay:1:25: '1x' is no number that can be read\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1x) }\n"
                "                            ^^"},
        Refused{"ProjectionOutOfRange", "def @main(%x) { (%x, %x).2 }",
                "test.relay:1:26: field 2 of a tuple of 2\n"
                "  note: \n"
                "    def @main(%x) { (%x, %x).2 }\n"
                "                             ^"},
        Refused{"ProjectionBeyond32Bits", "def @main(%x) { %x.99999999999 }",
                "test.relay:1:20: '99999999999' is no number of a field\n"
                "  note: \n"
                "    def @main(%x) { %x.99999999999 }\n"
                "                       ^^^^^^^^^^^"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Calls, ParseErrorTest,
    ::testing::Values(
        Refused{"TooFewArguments", "def @main(%x) {\n  add(%x)\n}",
                "test.relay:2:3: add takes 2 arguments, not 1\n"
                "  note: \n"
                "      add(%x)\n"
                "      ^^^"},
        Refused{"TooManyArguments", "def @main(%x) { exp(%x, %x) }",
                "test.relay:1:17: exp takes 1 argument, not 2\n"
                "  note: \n"
                "    def @main(%x) { exp(%x, %x) }\n"
                "                    ^^^"},
        Refused{"UnknownAttribute", "def @main(%x) { nn.softmax(%x, axi=1) }",
                "test.relay:1:17: relay.attrs.SoftmaxAttrs: there is no field axi; the fields are: "
                "axis\n"
                "  note: \n"
                "    def @main(%x) { nn.softmax(%x, axi=1) }\n"
                "                    ^^^^^^^^^^\n"
                "  note: did you mean axis?"},
        Refused{
            "AttributeOfAWrongType", "def @main(%x) { nn.softmax(%x, axis=\"1\") }",
            "test.relay:1:17: relay.attrs.SoftmaxAttrs: field axis is \"1\", a string; it takes "
            "an integer\n"
            "  note: \n"
            "    def @main(%x) { nn.softmax(%x, axis=\"1\") }\n"
            "                    ^^^^^^^^^^"},
        Refused{"AttributeOutOfBounds", "def @main(%x, %w) { nn.conv2d(%x, %w, strides=[0, 1]) }",
                "test.relay:1:21: relay.attrs.Conv2DAttrs: field strides is 0; allowed is at least "
                "1\n"
                "  note: \n"
                "    def @main(%x, %w) { nn.conv2d(%x, %w, strides=[0, 1]) }\n"
                "                        ^^^^^^^^^"},
        Refused{"AttributeThatIsMissing", "def @main(%x) { clip(%x, a_min=0f) }",
                "test.relay:1:17: relay.attrs.ClipAttrs: field a_max is missing; it has no "
                "default\n"
                "  note: \n"
                "    def @main(%x) { clip(%x, a_min=0f) }\n"
                "                    ^^^^"},
        Refused{"AttributeTwice", "def @main(%x) { nn.softmax(%x, axis=1, axis=2) }",
                "test.relay:1:40: the attribute axis is given twice\n"
                "  note: \n"
                "    def @main(%x) { nn.softmax(%x, axis=1, axis=2) }\n"
                "                                           ^^^^"},
        Refused{"AttributeOfAnOperatorWithout", "def @main(%x) { exp(%x, axis=1) }",
                "test.relay:1:17: exp takes no attributes, so not axis\n"
                "  note: \n"
                "    def @main(%x) { exp(%x, axis=1) }\n"
                "                    ^^^"},
        Refused{"AttributeOfAFunction", "def @main(%f, %x) { %f(%x, axis=1) }",
                "test.relay:1:21: only operators take attributes\n"
                "  note: \n"
                "    def @main(%f, %x) { %f(%x, axis=1) }\n"
                "                        ^^"},
        Refused{"ArgumentAfterAnAttribute", "def @main(%x, %w) { nn.conv2d(%x, padding=[1], %w) }",
                "test.relay:1:48: arguments come before attributes\n"
                "  note: \n"
                "    def @main(%x, %w) { nn.conv2d(%x, padding=[1], %w) }\n"
                "                                                   ^^"},
        Refused{"AttributeWithoutAValue", "def @main(%x) { cast(%x, dtype=foo) }",
                "test.relay:1:32: 'foo' is no value; values are numbers, strings, lists, True, "
                "False and None\n"
                "  note: \n"
                "    def @main(%x) { cast(%x, dtype=foo) }\n"
                "                                   ^^^"}),
    [](const auto& info) { return info.param.name; });

// Deep nesting is refused in words, long before the stack ends; length is no depth.
TEST(ParseErrorTest, DeepNestingIsRefused) {
  const auto message = [](const std::string& text) {
    return std::string(TryParse(text).status().message());
  };
  constexpr int kDeep = 100000;
  const auto repeat = [](const std::string& s) {
    std::string text;
    for (int i = 0; i < kDeep; ++i) text += s;
    return text;
  };
  const std::string refusal = "nested more than 400 deep; give inner results a name (%0 = ...)";
  EXPECT_THAT(message("def @main(%x) { " + repeat("exp(")), HasSubstr(refusal));
  EXPECT_THAT(message("def @main(%x) { " + repeat("(")), HasSubstr(refusal));
  EXPECT_THAT(message("def @main(%x) { " + repeat("(let %a = ")), HasSubstr(refusal));
  EXPECT_THAT(message("def @main(%x) { " + repeat("fn () {")), HasSubstr(refusal));
  EXPECT_THAT(message("def @main(%x: " + repeat("(")), HasSubstr(refusal));
  EXPECT_THAT(message("def @main(a=" + repeat("[")), HasSubstr(refusal));
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

TEST(ParseErrorTest, OnlyAWindowOfALongLineIsShown) {
  const std::string text = "def @main(%" + std::string(1000, 'x') + ") { %missing }";
  const std::string message(TryParse(text).status().message());
  EXPECT_THAT(message, StartsWith("test.relay:1:1016: %missing is not defined here"));
  EXPECT_THAT(message, HasSubstr(std::string(55, 'x') + ") { %missing }\n"));
  EXPECT_LT(message.size(), 400U);
}

// --- damaged metadata

struct Damaged {
  const char* name;
  const char* metadata;
  absl::StatusCode code;
  const char* message;
  friend void PrintTo(const Damaged& t, std::ostream* out) { *out << t.name; }
};
class MetadataErrorTest : public ::testing::TestWithParam<Damaged> {};

absl::Status StatusWith(const char* metadata) {
  return TryParse(
             StrCat("def @main(%x) { add(%x, meta[relay.Constant][0]) }\n#[metadata]\n", metadata))
      .status();
}

TEST_P(MetadataErrorTest, IsRefusedInWords) {
  const absl::Status status = StatusWith(GetParam().metadata);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Damage, MetadataErrorTest,
    ::testing::Values(
        Damaged{"CutOff", R"({"relay.Constant":[{"dtype":)", absl::StatusCode::kInvalidArgument,
                "the metadata section cannot be read"},
        Damaged{"Empty", "", absl::StatusCode::kInvalidArgument,
                "the metadata section cannot be read"},
        Damaged{"NoObject", "[1]", absl::StatusCode::kInvalidArgument,
                R"(it must be an object with a list "relay.Constant" of {dtype, shape, data})"},
        Damaged{"NoList", R"({"relay.Constant":3})", absl::StatusCode::kInvalidArgument,
                "the metadata section cannot be read"},
        Damaged{"MissingField", R"({"relay.Constant":[{"dtype":"float32","shape":[1]}]})",
                absl::StatusCode::kInvalidArgument, "the metadata section cannot be read"},
        Damaged{"UnknownType",
                R"({"relay.Constant":[{"dtype":"float31","shape":[1],"data":"AAAAAA=="}]})",
                absl::StatusCode::kInvalidArgument,
                "constant 0 of the metadata section has the unknown type \"float31\""},
        Damaged{"NegativeExtent",
                R"({"relay.Constant":[{"dtype":"float32","shape":[-1],"data":""}]})",
                absl::StatusCode::kInvalidArgument, "negative extent -1"},
        Damaged{
            "TooManyElements",
            R"({"relay.Constant":[{"dtype":"int8","shape":[4611686018427387904,4],"data":""}]})",
            absl::StatusCode::kInvalidArgument, "too many elements"},
        Damaged{"ExtentThatIsNoNumber",
                R"({"relay.Constant":[{"dtype":"int8","shape":["a"],"data":""}]})",
                absl::StatusCode::kInvalidArgument, "the metadata section cannot be read"},
        Damaged{"TooFewBytes",
                R"({"relay.Constant":[{"dtype":"float32","shape":[2],"data":"AAAA"}]})",
                absl::StatusCode::kDataLoss,
                "constant 0 of the metadata section has 3 bytes; its type float32 (2,) needs 8"},
        Damaged{"TooManyBytes",
                R"({"relay.Constant":[{"dtype":"int8","shape":[2],"data":"AAAA"}]})",
                absl::StatusCode::kDataLoss, "has 3 bytes; its type int8 (2,) needs 2"},
        Damaged{"NoBase64", R"({"relay.Constant":[{"dtype":"int8","shape":[2],"data":"@@@@"}]})",
                absl::StatusCode::kDataLoss,
                "the data of constant 0 of the metadata section is no base64"},
        Damaged{"NoSuchEntry", R"({"relay.Constant":[]})", absl::StatusCode::kInvalidArgument,
                "test.relay:1:46: the metadata section has 0 constants; there is no 0"}),
    [](const auto& info) { return info.param.name; });

// As every error of the text.
TEST(MetadataErrorTest, DamageIsPlacedInTheText) {
  EXPECT_THAT(std::string(StatusWith("[1]").message()), StartsWith("test.relay:3:"));
}

TEST(MetadataErrorTest, OtherKindsOfEntriesAreRefused) {
  const std::string message(
      TryParse("def @main(%x) { add(%x, meta[IntImm][0]) }").status().message());
  EXPECT_THAT(message, StartsWith("test.relay:1:30: metadata of kind IntImm cannot stand here; "
                                  "relay.Constant can"));
}

// Every prefix of a module is refused or read, and nothing else happens.
TEST(ParserTest, EveryPrefixOfATextIsRefusedOrRead) {
  const std::string text = PrintModule(Module::FromExpr(ops::Clip(
      ops::Add(Var::Make("x", TensorType({2}, Float32)), Constant::Make(Numbers<float>({1, 2}))),
      -1, 1.5)));
  ASSERT_TRUE(TryParse(text).ok());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    const absl::Status status = TryParse(text.substr(0, length)).status();
    EXPECT_FALSE(status.ok()) << text.substr(0, length);
    EXPECT_NE(status.code(), absl::StatusCode::kInternal) << status;
  }
}

}  // namespace
}  // namespace tenon::ir
