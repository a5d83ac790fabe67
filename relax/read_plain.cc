#include "tenon/relax/read_plain.h"

#include <algorithm>
#include <utility>

#include "tenon/relax/read_extent.h"
#include "tenon/relax/scalar_text.h"
#include "tenon/support/real_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

namespace {

// "inf" and float("inf"): what digits cannot say. Nothing, with nothing read, for anything else.
std::optional<Literal> ReadNotFinite(Cursor* text) {
  Literal literal{.at = text->token(), .is_real = true};
  const bool is_call = text->IsName("float") && text->ahead().text == "(";
  if (!is_call && !text->Is(TokenKind::kString)) return std::nullopt;
  if (is_call) {
    text->Advance();
    text->Advance();
  }
  const Token word = text->token();
  literal.text = text->String();
  if (!ParseNotFinite(literal.text))
    text->Fail(word, "words of numbers are \"inf\", \"-inf\" and \"nan\"");
  if (is_call) text->Expect(")", "after a number");
  return literal;
}

}  // namespace

Literal ReadLiteral(Cursor* text, const char* expected) {
  if (const auto literal = ReadNotFinite(text)) return *literal;
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
  } else if (const auto special = ParseNotFinite(literal.text)) {
    value.attribute = attrs::Value(*special);
  } else if (const auto real = ParseReal<double>(literal.text)) {
    value.attribute = attrs::Value(*real);
  }
  return value;
}

bool PlainType::Holds(const PlainValue& value) const {
  if (is_shape != value.shape.has_value()) return false;
  if (value.extent) return !dtype || *dtype == Int64;
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

PlainType ReadPlainType(Cursor* text, Scope* scope) {
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
      type.shape = ReadShape(text, &scope->symbols, Where::kBody, PlainExtents(text, scope));
    } else {
      text->Fail(at, type.is_shape ? "R.Shape has extents or ndim: R.Shape([n, 4]), R.Shape(ndim=2)"
                                   : "R.Prim has an element type: R.Prim(\"int64\")");
    }
  }
  text->Expect(")", StrCat("after R.", type.at.text));
  return type;
}

PlainValue ReadItem(Cursor* text, const PlainValue& shape) {
  text->Expect("[", "before the number of an extent");
  const Token at = text->token();
  const bool is_from_end = text->Accept("-");
  const Token number = text->ExpectKind(TokenKind::kNumber, "the number of an extent");
  text->Expect("]", "after the number of an extent");
  const std::vector<Dim>& extents = *shape.shape;
  const auto rank = static_cast<std::int64_t>(extents.size());
  std::int64_t index = ParseNumber<std::int64_t>(number.text).value_or(rank);
  if (is_from_end && index > 0) index = index > rank ? rank : rank - index;
  if (index >= rank)
    text->Fail(at, StrCat("there is no such extent; ", shape.ToString(), " has ", rank));
  const Dim& extent = extents[static_cast<std::size_t>(index)];
  if (!extent.is_static()) return {.extent = extent};
  return {.number = ScalarOf(*text, {.text = StrCat(extent.value()), .at = at}, Int64, at),
          .attribute = attrs::Value(extent.value())};
}

OtherExtents PlainExtents(Cursor* text, const Scope* scope) {
  return [text, scope](const Token& name) -> std::optional<Dim> {
    const PlainValue* plain = scope->FindPlain(name.text);
    if (plain == nullptr) return std::nullopt;
    const PlainValue value = plain->shape && text->IsPunct("[") ? ReadItem(text, *plain) : *plain;
    if (value.extent) return value.extent;
    if (const auto* number = value.attribute.As<std::int64_t>()) return Dim(*number);
    text->Fail(name, StrCat(name.text, " is ", value.ToString(), ", which is no extent",
                            value.shape ? StrCat("; ", name.text, "[0] is one") : ""));
  };
}

bool PlainReader::IsAfterR(std::string_view name) const {
  if (!text_->IsName("R") || text_->ahead().text != ".") return false;
  Cursor look = *text_;
  look.Advance();
  look.Advance();
  return look.IsName(name);
}

bool PlainReader::Begins() const {
  return IsAfterR("shape") || IsAfterR("prim_value") || BeginsKnown();
}

PlainValue PlainReader::Read() {
  PlainValue value = Whole();
  return value.shape && text_->IsPunct("[") ? ReadItem(text_, value) : value;
}

PlainValue PlainReader::Whole() {
  const Token at = text_->token();
  if (!text_->IsName("R")) return *scope_->FindPlain(text_->Advance().text);
  if (IsAfterR("shape_of")) return ShapeOf();
  if (IsAfterR("shape")) return Shape();
  for (int i = 0; i < 3; ++i) text_->Advance();
  return ReadPrimValue(text_, at);
}

bool PlainReader::BeginsKnown() const {
  return IsAfterR("shape_of") ||
         (text_->Is(TokenKind::kName) && scope_->FindPlain(text_->token().text) != nullptr);
}

std::optional<PlainValue> PlainReader::ReadArgument(bool is_shape) {
  if (BeginsKnown()) return Read();
  if (is_shape ? !HasExtentNames() : !HasPlainNames()) return std::nullopt;
  if (IsAfterR("shape")) return Read();
  if (!is_shape) return ListOfNumbers();
  PlainValue value;
  value.shape = ReadShape(text_, &scope_->symbols, Where::kBody, PlainExtents(text_, scope_));
  return value;
}

// Whether a list, or R.shape of one, has names in it.
bool PlainReader::HasExtentNames() const {
  return AnyName([](const Cursor& at) {
    return !at.IsName("R") && !at.IsName("T") && at.ahead().text != "(";
  });
}

bool PlainReader::HasPlainNames() const {
  return AnyName([&](const Cursor& at) { return scope_->FindPlain(at.token().text) != nullptr; });
}

bool PlainReader::AnyName(const std::function<bool(const Cursor& at)>& is_one) const {
  Cursor look = *text_;
  if (IsAfterR("shape")) {
    for (int i = 0; i < 4; ++i) look.Advance();
  }
  if (!look.IsPunct("[") && !look.IsPunct("(")) return false;
  int depth = 0;
  do {
    if (look.IsPunct("[") || look.IsPunct("(")) ++depth;
    if (look.IsPunct("]") || look.IsPunct(")")) --depth;
    if (look.Is(TokenKind::kName) && is_one(look)) return true;
    look.Advance();
  } while (depth > 0);
  return false;
}

// [0, s[1]]: numbers of any sign.
PlainValue PlainReader::ListOfNumbers() {
  const char* close = text_->IsPunct("[") ? "]" : ")";
  text_->Advance();
  PlainValue list;
  list.shape.emplace();
  while (!text_->IsPunct(close)) {
    list.shape->push_back(ReadExtent(text_, [&](const Token& name) {
      const std::optional<Dim> extent = PlainExtents(text_, scope_)(name);
      if (!extent)
        text_->Fail(name, StrCat("'", name.text, "' is not a value; values are numbers"));
      return *extent;
    }));
    if (!text_->Accept(",")) break;
  }
  text_->Expect(close, "after a list");
  return list;
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
  shape.shape = ReadShape(text_, &scope_->symbols, Where::kBody, PlainExtents(text_, scope_));
  text_->Expect(")", "after R.shape(");
  return shape;
}

}  // namespace tenon::relax
