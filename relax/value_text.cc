#include "tenon/relax/value_text.h"

#include <cmath>
#include <utility>

#include "tenon/relax/scalar_text.h"
#include "tenon/relax/string_text.h"
#include "tenon/support/real_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

// With a point or an exponent, so that it stays a fraction.
std::string DoubleText(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  std::string text = FormatShortest(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

attrs::Value ReadNumber(Cursor* text, bool negative) {
  const Token token = text->ExpectKind(TokenKind::kNumber, "a number");
  const std::string digits = StrCat(negative ? "-" : "", token.text);
  if (token.text.find_first_of(".eE") == std::string_view::npos) {
    const auto integer = ParseNumber<std::int64_t>(digits);
    // Rounding to a float would change an integer silently.
    if (!integer) text->Fail(token, StrCat("'", token.text, "' does not fit 64 bits"));
    return attrs::Value(*integer);
  }
  const auto real = ParseReal<double>(digits);
  if (!real) text->Fail(token, StrCat("'", token.text, "' is not a number that can be read"));
  if (std::isinf(*real))
    text->Fail(token, StrCat("'", token.text, "' is beyond the numbers of float64"));
  return attrs::Value(*real);
}

// float("inf")
attrs::Value ReadFloat(Cursor* text) {
  text->Expect("(", "after float");
  const Token at = text->token();
  const std::string name = text->String();
  text->Expect(")", "after a number");
  if (const auto value = ParseNotFinite(name)) return attrs::Value(*value);
  text->Fail(at, "float() stands for \"inf\", \"-inf\" and \"nan\"; other numbers stand alone");
}

// After "R" or "T".
attrs::Value ReadWrapped(Cursor* text, std::string_view room) {
  text->Expect(".", StrCat("after ", room));
  const Token name = text->ExpectName("the name of a value");
  text->Expect("(", "after the name of a value");
  attrs::Value value = ReadValue(text);
  text->Expect(")", "after a value");
  if (room == "T") {
    const auto type = DataType::Parse(name.text);
    if (!type) text->Fail(name, StrCat("T.", name.text, " is no element type"));
    const auto* word = value.As<std::string>();
    const auto number = word == nullptr ? std::nullopt : ParseNotFinite(*word);
    return number && type->is_float() ? attrs::Value(*number) : value;
  }
  if (name.text == "prim_value" || name.text == "shape" || name.text == "str") return value;
  if (name.text == "dtype") {
    const auto* dtype = value.As<std::string>();
    const auto type = dtype == nullptr ? std::nullopt : DataType::Parse(*dtype);
    if (!type) text->Fail(name, "R.dtype takes an element type in quotes");
    return attrs::Value(*type);
  }
  text->Fail(name, StrCat("R.", name.text,
                          " is no value of an attribute; values are numbers, strings, lists, True, "
                          "False, None, R.shape([..]), R.prim_value(..) and R.dtype(\"..\")"));
}

}  // namespace

std::string ValueText(const attrs::Value& value) {
  struct Printer {
    std::string operator()(attrs::None) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(std::int64_t v) const { return StrCat(v); }
    std::string operator()(double v) const { return DoubleText(v); }
    std::string operator()(const std::string& v) const { return QuotedString(v); }
    std::string operator()(DataType v) const { return StrCat("R.dtype(\"", v.ToString(), "\")"); }
    std::string operator()(const attrs::List& v) const {
      return StrCat(
          "[",
          StrJoin(v, ", ", [](std::string* text, const attrs::Value& e) { *text += ValueText(e); }),
          "]");
    }
  };
  return std::visit(Printer(), value.data);
}

attrs::Value ReadValue(Cursor* text) {
  const Nested nested(*text);
  if (text->Is(TokenKind::kString)) return attrs::Value(text->String());
  if (text->Is(TokenKind::kNumber)) return ReadNumber(text, false);
  if (text->Accept("-")) return ReadNumber(text, true);
  if (text->IsPunct("[") || text->IsPunct("(")) {
    const char* close = text->Advance().text == "[" ? "]" : ")";
    attrs::List list;
    while (!text->IsPunct(close)) {
      list.push_back(ReadValue(text));
      if (!text->Accept(",")) break;
    }
    text->Expect(close, "after a list");
    return attrs::Value(std::move(list));
  }
  const Token name = text->ExpectName("the value of an attribute");
  if (name.text == "None") return {};
  if (name.text == "True" || name.text == "False") return attrs::Value(name.text == "True");
  if (name.text == "float") return ReadFloat(text);
  if (name.text == "R" || name.text == "T") return ReadWrapped(text, name.text);
  text->Fail(name,
             StrCat("'", name.text,
                    "' is not a value; values are numbers, strings, lists, True, False and None"));
}

}  // namespace tenon::relax
