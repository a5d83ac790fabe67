// Numbers, values of attributes, and what refers to the metadata section.
#include <cmath>
#include <utility>

#include "tenon/ir/parser.h"

namespace tenon::ir {
NumberText Parser::Split(const Token& token) {
  const auto number = ParseNumberText(token.text);
  if (!number) Fail(token, StrCat("'", token.text, "' is not a number that can be read"));
  return *number;
}

Expr Parser::NumberConstant(const Token& token) {
  const NumberText number = Split(token);
  const auto scalar = ParseScalar(number);
  if (const auto type = TypeOfNumber(number); !scalar && type && type->is_float())
    Fail(token, StrCat("'", token.text, "' is beyond the numbers of ", type->ToString()));
  if (!scalar)
    Fail(token, StrCat("'", token.text,
                       "' is not a constant; constants are 1 (int32), 1i64, 1i16, 1f (float32), "
                       "1f64, 1f16"));
  return Constant::Make(*scalar, lexer_.SpanOf(token));
}

attrs::Value Parser::AttributeValue() {
  const Nested nested(this);
  if (token_.kind == TokenKind::kString) return attrs::Value(Advance().text);
  if (token_.kind == TokenKind::kNumber) {
    const Token token = Advance();
    const NumberText number = Split(token);
    if (number.integer && (number.suffix.empty() || number.suffix[0] == 'i'))
      return attrs::Value(*number.integer);
    // Rounding to a float would change an integer silently.
    if (!number.is_fraction && (number.suffix.empty() || number.suffix[0] == 'i'))
      Fail(token, StrCat("'", token.text, "' does not fit 64 bits"));
    if (std::isinf(number.real))
      Fail(token, StrCat("'", token.text, "' is beyond the numbers of ", Float64.ToString()));
    return attrs::Value(number.real);
  }
  if (IsPunct("[") || IsPunct("(")) {
    const bool square = Advance().text == "[";
    const char* close = square ? "]" : ")";
    attrs::List list;
    while (!IsPunct(close)) {
      list.push_back(AttributeValue());
      if (!Accept(",")) break;
    }
    Expect(close, "after a list");
    return attrs::Value(std::move(list));
  }
  const bool negative = Accept("-");
  const Token name = ExpectKind(TokenKind::kName, "the value of an attribute");
  if (name.text == "inf" || name.text == "inff")
    return attrs::Value(negative ? -HUGE_VAL : HUGE_VAL);
  if (name.text == "nan" || name.text == "nanf") return attrs::Value(std::nan(""));
  if (name.text == "None") return attrs::Value();
  if (name.text == "meta") return MetaValue();
  if (name.text == "True" || name.text == "False") return attrs::Value(name.text == "True");
  if (const auto dtype = DataType::Parse(name.text)) return attrs::Value(*dtype);
  Fail(name, StrCat("'", name.text,
                    "' is not a value; values are numbers, strings, lists, True, False and None"));
}

// After "meta".
Parser::MetaReference Parser::MetaAfter() {
  Expect("[", "after \"meta\"");
  const Token kind = ExpectKind(TokenKind::kName, "the kind of a metadata entry");
  Expect("]", "in a metadata reference");
  Expect("[", "in a metadata reference");
  const Token number = ExpectKind(TokenKind::kNumber, "the number of a metadata entry");
  Expect("]", "in a metadata reference");
  const auto index = ParseNumber<std::size_t>(number.text);
  if (!index) Fail(number, StrCat("'", number.text, "' is not the number of a metadata entry"));
  return {kind, number, *index};
}

Expr Parser::MetaConstant(const Token& at) {
  const MetaReference meta = MetaAfter();
  if (meta.kind.text != "relay.Constant")
    Fail(meta.kind,
         StrCat("metadata of kind ", meta.kind.text, " cannot stand here; relay.Constant can"));
  const std::vector<NDArray>& constants = metadata_.constants;
  if (meta.index >= constants.size())
    Fail(meta.number, StrCat("the metadata section has ", constants.size(),
                             " constants; there is no ", meta.number.text));
  // One node per constant, so that sharing survives.
  auto [it, added] = meta_.try_emplace(meta.index);
  if (added) it->second = Constant::Make(constants[meta.index], lexer_.SpanOf(at));
  return it->second;
}

attrs::Value Parser::MetaValue() {
  const MetaReference meta = MetaAfter();
  const auto entries = metadata_.values.find(meta.kind.text);
  const std::size_t count = entries == metadata_.values.end() ? 0 : entries->second.size();
  if (meta.index >= count)
    Fail(meta.number, StrCat("the metadata section has ", count, " entries of kind ",
                             meta.kind.text, "; there is no ", meta.number.text));
  if (!entries->second[meta.index])
    Fail(meta.kind, StrCat("metadata of kind ", meta.kind.text,
                           " cannot stand here; boxed numbers, strings and devices can"));
  return *entries->second[meta.index];
}

// "{virtual_device=...}", as the text of the device.
std::string Parser::DeviceInBraces() {
  const Token name = ExpectKind(TokenKind::kName, "virtual_device=, the device of a variable");
  if (name.text != kVirtualDevice)
    Fail(name, StrCat("a variable has no attribute ", name.text, "; it can have ", kVirtualDevice));
  Expect("=", "after the name of an attribute");
  const Token at = token_;
  const attrs::Value value = AttributeValue();
  const auto* device = value.As<std::string>();
  if (device == nullptr)
    Fail(at, StrCat("the device of a variable is ", attrs::ToText(value),
                    "; it must be meta[VirtualDevice][number] or text such as \"cpu:1\""));
  Expect("}", "after the device of a variable");
  return *device;
}

}  // namespace tenon::ir
