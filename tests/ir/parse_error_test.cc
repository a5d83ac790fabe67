// Text that cannot be read is refused in words, with its place.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/text_format.h"
#include "tenon/ops/builders.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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
        Refused{"MissingElse", "def @main(%x) { if (%x) { %x } }",
                "test.relay:1:32: expected \"else\" after the first branch of an if, found '}'; an "
                "if has a value, so it needs both branches\n"
                "  note: \n"
                "    def @main(%x) { if (%x) { %x } }\n"
                "                                   ^"},
        Refused{"NameOfABranch", "def @main(%x) { if (%x) { %y = exp(%x); %y } else { %y } }",
                "test.relay:1:53: %y is not defined here (a line can use only lines before it); "
                "did you mean %x?\n"
                "  note: \n"
                "    def @main(%x) { if (%x) { %y = exp(%x); %y } else { %y } }\n"
                "                                                        ^^"},
        Refused{"AlgebraicDataType", "type List[A] { Nil, }",
                "test.relay:1:1: algebraic data types are not supported; values are tensors, "
                "tuples, references and functions\n"
                "  note: \n"
                "    type List[A] { Nil, }\n"
                "    ^^^^"},
        Refused{"Constructor", "def @main(%x) { match (%x) { Nil => { %x } } }",
                "test.relay:1:30: expected a pattern, found 'Nil'; algebraic data types are not "
                "supported, so patterns are %name, _ and tuples of patterns\n"
                "  note: \n"
                "    def @main(%x) { match (%x) { Nil => { %x } } }\n"
                "                                 ^^^"},
        Refused{"SecondClause", "def @main(%x) { match (%x) { %y => { %y }, _ => { %x } } }",
                "test.relay:1:44: the first clause of this match takes every value, so that this "
                "one never runs; a match over tuples has one clause\n"
                "  note: \n"
                "    def @main(%x) { match (%x) { %y => { %y }, _ => { %x } } }\n"
                "                                               ^"},
        Refused{"GenericMain", "def @main[A](%x) { %x }",
                "@main has type parameters; a program starts there, so its types must be known"},
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
                "test.relay:1:27: 'float31' is not an element type; types are bool, int8 to int64, "
                "uint8 to uint64, float16, float32, float64 and bfloat16\n"
                "  note: \n"
                "    def @main(%x: Tensor[(2), float31]) { %x }\n"
                "                              ^^^^^^^"},
        Refused{"Extent", "def @main(%x: Tensor[(-2), float32]) { %x }",
                "test.relay:1:23: '-2' is not an extent; extents are integers from 0 on\n"
                "  note: \n"
                "    def @main(%x: Tensor[(-2), float32]) { %x }\n"
                "                          ^^"},
        Refused{"Suffix", "def @main(%x) { add(%x, 1i8) }",
                "test.relay:1:25: '1i8' is not a constant; constants are 1 (int32), 1i64, "
                "1i16, 1f (float32), 1f64, 1f16\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1i8) }\n"
                "                            ^^^"},
        Refused{"IntegerBeyond32Bits", "def @main(%x) { add(%x, 3000000000) }",
                "test.relay:1:25: '3000000000' is not a constant; constants are 1 (int32), 1i64, "
                "1i16, 1f (float32), 1f64, 1f16\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 3000000000) }\n"
                "                            ^^^^^^^^^^"},
        Refused{
            "IntegerBeyond64Bits", "def @main(%x) { add(%x, 99999999999999999999) }",
            "test.relay:1:25: '99999999999999999999' is not a constant; constants are 1 (int32), "
            "1i64, 1i16, 1f (float32), 1f64, 1f16\n"
            "  note: \n"
            "    def @main(%x) { add(%x, 99999999999999999999) }\n"
            "                            ^^^^^^^^^^^^^^^^^^^^"},
        Refused{"FloatBeyondItsRange", "def @main(%x) { add(%x, 1e39f) }",
                "test.relay:1:25: '1e39f' is beyond the numbers of float32\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1e39f) }\n"
                "                            ^^^^^"},
        Refused{"FloatBeyond64Bits", "def @main(%x) { add(%x, 1e400f) }",
                "test.relay:1:25: '1e400f' is beyond the numbers of float32\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1e400f) }\n"
                "                            ^^^^^^"},
        Refused{"HalfBeyondItsRange", "def @main(%x) { add(%x, 65520f16) }",
                "test.relay:1:25: '65520f16' is beyond the numbers of float16\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 65520f16) }\n"
                "                            ^^^^^^^^"},
        Refused{"AttributeBeyondItsRange", "def @main(%x) { clip(%x, a_min=0f, a_max=1e400) }",
                "test.relay:1:42: '1e400' is beyond the numbers of float64\n"
                "  note: \n"
                "    def @main(%x) { clip(%x, a_min=0f, a_max=1e400) }\n"
                "                                             ^^^^^"},
        Refused{"NumberWithLetters", "def @main(%x) { add(%x, 1x) }",
                "test.relay:1:25: '1x' is not a number that can be read\n"
                "  note: \n"
                "    def @main(%x) { add(%x, 1x) }\n"
                "                            ^^"},
        Refused{"ProjectionOutOfRange", "def @main(%x) { (%x, %x).2 }",
                "test.relay:1:26: field 2 of a tuple of 2\n"
                "  note: \n"
                "    def @main(%x) { (%x, %x).2 }\n"
                "                             ^"},
        Refused{"ProjectionBeyond32Bits", "def @main(%x) { %x.99999999999 }",
                "test.relay:1:20: '99999999999' is not the number of a field\n"
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
                "test.relay:1:32: 'foo' is not a value; values are numbers, strings, lists, True, "
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

TEST(ParseErrorTest, OnlyAWindowOfALongLineIsShown) {
  const std::string text = "def @main(%" + std::string(1000, 'x') + ") { %missing }";
  const std::string message(TryParse(text).status().message());
  EXPECT_THAT(message, StartsWith("test.relay:1:1016: %missing is not defined here"));
  EXPECT_THAT(message, HasSubstr(std::string(55, 'x') + ") { %missing }\n"));
  EXPECT_LT(message.size(), 400U);
}

// Every prefix of a module is refused or read, and nothing else happens.
TEST(ParserTest, EveryPrefixOfATextIsRefusedOrRead) {
  const std::string text = PrintModule(
      Module::FromExpr(ops::Clip(ops::Add(Var::Make("x", TensorType({2}, Float32)),
                                          Constant::Make(NDArray::FromVector<float>({2}, {1, 2}))),
                                 -1, 1.5)));
  ASSERT_TRUE(TryParse(text).ok());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    const absl::Status status = TryParse(text.substr(0, length)).status();
    EXPECT_FALSE(status.ok()) << text.substr(0, length);
    EXPECT_NE(status.code(), absl::StatusCode::kInternal) << status;
  }
}

TEST(ParseErrorTest, CopiesOfLargeGenericFunctionsAreRefused) {
  std::string text = "def @g[A](%x: A) -> Tensor[(4), float32] {\n  %0 = negative(%x);\n";
  for (int i = 1; i < 1500; ++i) StrAppend(&text, "  %", i, " = negative(%", i - 1, ");\n");
  StrAppend(&text, "  %1499\n}\ndef @main(%x: Tensor[(4), float32]) {\n  %0 = @g(%x);\n");
  for (int i = 1; i < 1500; ++i) StrAppend(&text, "  %", i, " = @g(%", i - 1, ");\n");
  EXPECT_THAT(std::string(TryParse(text + "  %1499\n}").status().message()),
              HasSubstr("the copies of functions with type parameters have more than 1048576 "
                        "expressions"));
}

}  // namespace
}  // namespace tenon::ir
