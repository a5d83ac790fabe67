#include "tenon/ir/type_reader.h"

#include <algorithm>
#include <utility>

namespace tenon::ir {

Type TypeReader::ParseType() {
  const Nested nested(this);
  if (Accept("?")) return Type();
  if (Accept("(")) {
    std::vector<Type> fields = TypesUntilClose();
    return TupleType(std::move(fields));
  }
  const Token name = ExpectKind(TokenKind::kName, "a type");
  if (name.text == "fn") {
    Expect("(", "after \"fn\"");
    std::vector<Type> params = TypesUntilClose();
    Expect("->", "in a function type");
    return FuncType(std::move(params), ParseType());
  }
  if (name.text == "ref") {
    Expect("(", "after \"ref\"");
    Type value = ParseType();
    Expect(")", "after the type of a reference's value");
    return RefType(std::move(value));
  }
  for (const std::vector<std::string>& names : type_parameters_) {
    if (std::find(names.begin(), names.end(), name.text) != names.end()) return Type();
  }
  if (name.text != "Tensor") return TensorType({}, ElementType(name));
  Expect("[", "after \"Tensor\"");
  std::vector<Dim> shape = Extents();
  Expect(",", "before the element type");
  const DataType dtype = ElementType(ExpectKind(TokenKind::kName, "an element type"));
  Expect("]", "after a tensor type");
  return TensorType(std::move(shape), dtype);
}

std::vector<Dim> TypeReader::Extents() {
  Expect("(", "before the extents of a tensor");
  std::vector<Dim> shape;
  while (!IsPunct(")")) {
    const Token first = token_;
    shape.push_back(Extent());
    if (shape.back().is_static() && shape.back().value() < 0)
      Fail(first, StrCat("'", shape.back().ToString(),
                         "' is not an extent; extents are integers from 0 on"));
    if (!Accept(",")) break;
  }
  Expect(")", "after the extents of a tensor");
  return shape;
}

std::vector<Type> TypeReader::TypesUntilClose() {
  std::vector<Type> types;
  while (!IsPunct(")")) {
    types.push_back(ParseType());
    if (!Accept(",")) break;
  }
  Expect(")", "after a list of types");
  return types;
}

// Sums of products of numbers, names (in quotes where they are none here), calls of floordiv,
// ceildiv, max and min, and what stands in parentheses. The lexer takes a minus before digits for
// part of the number.
Dim TypeReader::Extent() {
  const Nested nested(this);
  Dim sum = Product();
  while (true) {
    if (Accept("+")) {
      sum = sum + Product();
    } else if (Accept("-")) {
      sum = sum - Product();
    } else if (token_.kind == TokenKind::kNumber && token_.text.starts_with('-')) {
      sum = sum + Product();
    } else {
      return sum;
    }
  }
}

Dim TypeReader::Product() {
  Dim product = Factor();
  while (Accept("*")) product = product * Factor();
  return product;
}

Dim TypeReader::Factor() {
  if (Accept("?")) return Dim();
  if (Accept("-")) return Factor() * -1;
  if (Accept("(")) {
    Dim inner = Extent();
    Expect(")", "after an extent's expression");
    return inner;
  }
  if (Accept("#")) return Variable("#" + ExpectKind(TokenKind::kName, "a name after #").text);
  if (token_.kind == TokenKind::kName) {
    const Token name = Advance();
    return IsPunct("(") ? ExtentCall(name) : Variable(name.text);
  }
  if (token_.kind == TokenKind::kString) return Variable(Advance().text);
  return Number();
}

Dim TypeReader::ExtentCall(const Token& name) {
  Expect("(", "after the name of a function");
  const Dim a = Extent();
  Expect(",", "between the arguments of a function of extents");
  const Token second = token_;
  const Dim b = Extent();
  Expect(")", "after the arguments of a function of extents");
  if (name.text == "max") return Max(a, b);
  if (name.text == "min") return Min(a, b);
  if (name.text != "floordiv" && name.text != "ceildiv")
    Fail(name, StrCat("'", name.text,
                      "' is not a function of extents; these are floordiv, ceildiv, max and min"));
  if (!b.is_static() || b.value() < 1) Fail(second, "extents are divided by numbers from 1 on");
  return name.text == "floordiv" ? FloorDiv(a, b.value()) : CeilDiv(a, b.value());
}

Dim TypeReader::Number() {
  const Token number = ExpectKind(TokenKind::kNumber, "an extent (a number, a name or ?)");
  const auto value = ParseNumber<std::int64_t>(number.text);
  if (!value) Fail(number, StrCat("'", number.text, "' is not an integer, as extents are"));
  return Dim(*value);
}

DataType TypeReader::ElementType(const Token& name) {
  const auto dtype = DataType::Parse(name.text);
  if (!dtype || dtype->is_void() || dtype->is_vector())
    Fail(name, StrCat("'", name.text,
                      "' is not an element type; types are bool, int8 to int64, uint8 to uint64, "
                      "float16, float32, float64 and bfloat16"));
  return *dtype;
}

}  // namespace tenon::ir
