#include "tenon/relax/read_plain.h"

#include <algorithm>
#include <utility>

#include "tenon/relax/scalar_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

Literal ReadLiteral(Cursor* text, const char* expected) {
  Literal literal{.text = text->Accept("-") ? "-" : "", .at = text->token()};
  literal.is_flag = text->IsName("True") || text->IsName("False");
  if (!literal.is_flag && !text->Is(TokenKind::kNumber)) text->FailExpected(expected);
  text->Advance();
  literal.text += literal.at.text;
  literal.is_real = !literal.is_flag && literal.text.find_first_of(".eE") != std::string::npos;
  return literal;
}

Expr ScalarOf(const Cursor& text, const Literal& literal, DataType dtype, const Token& at) {
  const auto scalar = ParseScalar(literal.text, dtype);
  if (!scalar) text.Fail(literal.at, StrCat(literal.text, " is not a value of ", dtype.ToString()));
  return ir::Constant::Make(*scalar, text.SpanOf(at));
}

PlainValue ReadPrimValue(Cursor* text, const Token& at) {
  text->Expect("(", "after R.prim_value");
  std::optional<DataType> dtype;
  if (text->AcceptName("T")) {
    text->Expect(".", "after T");
    const Token type = text->ExpectName("an element type");
    dtype = DataType::Parse(type.text);
    if (!dtype || dtype->is_void() || dtype->is_vector())
      text->Fail(type, StrCat("T.", type.text, " is no element type"));
    text->Expect("(", "after the type of a number");
  }
  const Literal literal = ReadLiteral(text, "a number, True or False");
  if (dtype) text->Expect(")", "after a number");
  text->Expect(")", "after R.prim_value(");
  if (!dtype) dtype = literal.is_flag ? Bool : literal.is_real ? Float64 : Int64;
  PlainValue value;
  value.number = ScalarOf(*text, literal, *dtype, at);
  if (literal.is_flag) {
    value.attribute = attrs::Value(literal.text == "True");
  } else if (const auto integer = ParseNumber<std::int64_t>(literal.text);
             integer && !dtype->is_float()) {
    value.attribute = attrs::Value(*integer);
  } else if (const auto real = ParseNumber<double>(literal.text)) {
    value.attribute = attrs::Value(*real);
  }
  return value;
}

bool PlainType::Holds(const PlainValue& value) const {
  if (is_shape != value.shape.has_value()) return false;
  if (!is_shape) {
    const ir::Type& type = value.number.checked_type();
    return !dtype || *dtype == type.As<ir::TensorTypeNode>()->dtype;
  }
  return (!rank || *rank == value.shape->size()) && (!shape || *shape == *value.shape);
}

bool BeginsPlainType(const Cursor& text) {
  if (!text.IsName("R") || text.ahead().text != ".") return false;
  Cursor look = text;
  look.Advance();
  look.Advance();
  return look.IsName("Shape") || look.IsName("Prim");
}

PlainType ReadPlainType(Cursor* text, Symbols* symbols) {
  text->Advance();
  text->Advance();
  PlainType type{.at = text->Advance()};
  type.is_shape = type.at.text == "Shape";
  if (!text->Accept("(")) return type;
  if (!text->IsPunct(")")) {
    std::string_view keyword;
    Token at = text->token();
    if (text->IsKeyword()) {
      keyword = text->Advance().text;
      text->Advance();
    }
    if (!type.is_shape && (keyword.empty() || keyword == "dtype")) {
      type.dtype = ReadElementType(text);
    } else if (type.is_shape && keyword == "ndim") {
      at = text->ExpectKind(TokenKind::kNumber, "a number of axes");
      type.rank = ParseNumber<std::size_t>(at.text);
      if (!type.rank) text->Fail(at, "ndim is a number of axes from 0 on");
    } else if (type.is_shape && (keyword.empty() || keyword == "values")) {
      type.shape = ReadShape(text, symbols, Where::kBody);
    } else {
      text->Fail(at, type.is_shape ? "R.Shape has extents or ndim: R.Shape([n, 4]), R.Shape(ndim=2)"
                                   : "R.Prim has an element type: R.Prim(\"int64\")");
    }
  }
  text->Expect(")", StrCat("after R.", type.at.text));
  return type;
}

bool PlainReader::IsAfterR(std::string_view name) const {
  if (!text_->IsName("R") || text_->ahead().text != ".") return false;
  Cursor look = *text_;
  look.Advance();
  look.Advance();
  return look.IsName(name);
}

bool PlainReader::Begins() const {
  if (IsAfterR("shape") || IsAfterR("shape_of") || IsAfterR("prim_value")) return true;
  return text_->Is(TokenKind::kName) && scope_->FindPlain(text_->token().text) != nullptr;
}

PlainValue PlainReader::Read() {
  const Token at = text_->token();
  if (!text_->IsName("R")) return *scope_->FindPlain(text_->Advance().text);
  if (IsAfterR("shape_of")) return ShapeOf();
  if (IsAfterR("shape")) return Shape();
  for (int i = 0; i < 3; ++i) text_->Advance();
  return ReadPrimValue(text_, at);
}

std::optional<PlainValue> PlainReader::ReadArgument(bool is_shape) {
  if (text_->Is(TokenKind::kName) && scope_->FindPlain(text_->token().text) != nullptr)
    return Read();
  if (IsAfterR("shape_of")) return ShapeOf();
  if (!is_shape || !HasExtentNames()) return std::nullopt;
  if (IsAfterR("shape")) return Shape();
  PlainValue value;
  value.shape = ReadShape(text_, &scope_->symbols, Where::kBody);
  return value;
}

// Whether a list, or R.shape of one, has names in it.
bool PlainReader::HasExtentNames() const {
  Cursor look = *text_;
  if (IsAfterR("shape")) {
    for (int i = 0; i < 4; ++i) look.Advance();
  }
  if (!look.IsPunct("[") && !look.IsPunct("(")) return false;
  int depth = 0;
  do {
    if (look.IsPunct("[") || look.IsPunct("(")) ++depth;
    if (look.IsPunct("]") || look.IsPunct(")")) --depth;
    if (look.Is(TokenKind::kName) && !look.IsName("R") && !look.IsName("T") &&
        look.ahead().text != "(")
      return true;
    look.Advance();
  } while (depth > 0);
  return false;
}

// R.shape_of(x)
PlainValue PlainReader::ShapeOf() {
  const Token at = text_->token();
  for (int i = 0; i < 3; ++i) text_->Advance();
  text_->Expect("(", "after R.shape_of");
  const Expr value = read_input_();
  text_->Expect(")", "after the argument of R.shape_of");
  const auto* tensor = value.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr || std::any_of(tensor->shape.begin(), tensor->shape.end(),
                                       [](const Dim& dim) { return dim.is_any(); }))
    text_->Fail(at, StrCat("R.shape_of takes a tensor whose extents are numbers or expressions of "
                           "variables; this is ",
                           ir::ToString(value.checked_type())));
  PlainValue shape;
  shape.shape = tensor->shape;
  return shape;
}

// R.shape([n, 4])
PlainValue PlainReader::Shape() {
  for (int i = 0; i < 3; ++i) text_->Advance();
  text_->Expect("(", "after R.shape");
  PlainValue shape;
  shape.shape = ReadShape(text_, &scope_->symbols, Where::kBody);
  text_->Expect(")", "after R.shape(");
  return shape;
}

}  // namespace tenon::relax
