#include "tenon/relax/read_type.h"

#include <algorithm>

#include "tenon/relax/read_extent.h"
#include "tenon/relax/type_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

// An extent in a string has tokens of its own, so its errors show the string.
Dim ReadQuotedExtent(Cursor* text, Symbols* symbols, Where where) {
  const Token at = text->token();
  const std::string expression = text->String();
  return text->Placed(at, [&] {
    Source inner(expression, "");
    inner.nesting = text->source()->nesting;
    Cursor cursor(&inner);
    const Dim extent = ReadExtent(&cursor, [&](const Token& name) {
      if (!IsName(name.text))
        cursor.Fail(name, StrCat("'", name.text, "' is a word of the language, not a variable"));
      if (where == Where::kBody && !symbols->contains(name.text))
        cursor.Fail(name, StrCat("the variable ", name.text,
                                 " of an extent is not known; declare it first: ", name.text,
                                 " = T.int64()"));
      symbols->emplace(name.text);
      return Dim::Symbol(std::string(name.text));
    });
    if (cursor.Is(TokenKind::kLineEnd)) cursor.Advance();
    if (!cursor.Is(TokenKind::kEnd)) cursor.FailExpected("the end of an extent");
    return extent;
  });
}

class AnnotationReader {
 public:
  AnnotationReader(Cursor* text, Symbols* symbols, Where where, const OtherExtents& others)
      : text_(text), symbols_(symbols), where_(where), others_(others) {}

  Annotation Read() {
    const Nested nested(*text_);
    if (!text_->AcceptName("R"))
      text_->FailExpected("a type, such as R.Tensor((1, 64), dtype=\"float32\")");
    text_->Expect(".", "in a type");
    const Token name = text_->ExpectName("the name of a type");
    if (name.text == "Tensor") return Tensor(name);
    if (name.text == "Tuple") return Tuple(name);
    if (name.text == "Callable") return Callable(name);
    if (name.text == "Object") {
      if (text_->Accept("(")) text_->Expect(")", "after R.Object");
      return {AnnotationKind::kAnything, name};
    }
    if (name.text == "Shape" || name.text == "Prim")
      text_->Fail(name, StrCat("R.", name.text,
                               " is a value that Tenon has no type for, so no parameter or result "
                               "is one; shapes stand where an operator takes them, as "
                               "R.shape([1, 64]), and may have names in a body"));
    text_->Fail(
        name, StrCat("there is no type R.", name.text,
                     DidYouMean("; ", name.text, {"Tensor", "Tuple", "Callable", "Object"}, "R.")));
  }

 private:
  Annotation Tensor(const Token& at) {
    Annotation tensor{AnnotationKind::kTensor, at};
    if (!text_->Accept("(")) return tensor;
    std::optional<std::int64_t> rank;
    bool is_first = true;
    while (!text_->IsPunct(")")) {
      if (text_->IsKeyword()) {
        const Token name = text_->Advance();
        text_->Advance();
        if (name.text == "shape") {
          tensor.shape = ReadShape(text_, symbols_, where_, others_);
        } else if (name.text == "dtype") {
          tensor.dtype = ReadElementType(text_);
        } else if (name.text == "ndim") {
          rank = Rank();
        } else {
          text_->Fail(name,
                      StrCat("R.Tensor has no ", name.text, "; it has shape, dtype and ndim"));
        }
      } else if (text_->Is(TokenKind::kString)) {
        tensor.dtype = ReadElementType(text_);
      } else if (is_first) {
        tensor.shape = ReadShape(text_, symbols_, where_, others_);
      } else {
        text_->FailExpected("an element type, such as \"float32\"");
      }
      is_first = false;
      if (!text_->Accept(",")) break;
    }
    text_->Expect(")", "after R.Tensor");
    if (rank && *rank >= 0 && !tensor.shape)
      tensor.shape = std::vector<Dim>(static_cast<std::size_t>(*rank));
    if (rank && *rank >= 0 && tensor.shape->size() != static_cast<std::size_t>(*rank))
      text_->Fail(at,
                  StrCat("ndim is ", *rank, ", but ", tensor.shape->size(), " extents are given"));
    return tensor;
  }

  // -1: not known.
  std::int64_t Rank() {
    const Token at = text_->token();
    const bool is_unknown = text_->Accept("-");
    const Token number = text_->ExpectKind(TokenKind::kNumber, "a number of axes");
    const auto rank = ParseNumber<std::int64_t>(number.text);
    if (!rank || *rank > kMaxAxes || (is_unknown && *rank != 1))
      text_->Fail(at, StrCat("ndim is a number of axes from 0 to ", kMaxAxes));
    return is_unknown ? -1 : *rank;
  }

  Annotation Tuple(const Token& at) {
    Annotation tuple{AnnotationKind::kTuple, at};
    tuple.parts.emplace();
    if (!text_->Accept("(")) return tuple;
    const bool is_list = text_->Accept("[");
    const char* close = is_list ? "]" : ")";
    while (!text_->IsPunct(close)) {
      tuple.parts->push_back(Read());
      if (!text_->Accept(",")) break;
    }
    text_->Expect(close, "after the fields of R.Tuple");
    if (is_list) text_->Expect(")", "after R.Tuple");
    return tuple;
  }

  // R.Callable((P, P), R, True)
  Annotation Callable(const Token& at) {
    Annotation callable{AnnotationKind::kCallable, at};
    if (!text_->Accept("(")) return callable;
    callable.parts.emplace();
    text_->Expect("(", "before the parameters of R.Callable");
    while (!text_->IsPunct(")")) {
      callable.parts->push_back(Read());
      if (!text_->Accept(",")) break;
    }
    text_->Expect(")", "after the parameters of R.Callable");
    text_->Expect(",", "before the result of R.Callable");
    callable.parts->push_back(Read());
    if (text_->Accept(",")) {
      if (text_->IsKeyword()) {
        text_->Advance();
        text_->Advance();
      }
      if (!text_->IsName("True")) text_->Fail(text_->token(), "only pure functions can be called");
      text_->Advance();
    }
    text_->Expect(")", "after R.Callable");
    return callable;
  }

  Cursor* const text_;
  Symbols* const symbols_;
  const Where where_;
  const OtherExtents& others_;
};

bool DimsAgree(const Dim& said, const Dim& known) {
  return said.is_any() || known.is_any() || said == known;
}
using DimRule = bool(const Dim& said, const Dim& known);

bool Agrees(const Annotation& said, const ir::Type& type, DimRule* rule) {
  if (!type || said.kind == AnnotationKind::kAnything) return true;
  std::vector<ir::Type> types;
  if (said.kind == AnnotationKind::kTensor) {
    const auto* tensor = type.As<ir::TensorTypeNode>();
    if (tensor == nullptr || (said.dtype && *said.dtype != tensor->dtype)) return false;
    return !said.shape || std::equal(said.shape->begin(), said.shape->end(), tensor->shape.begin(),
                                     tensor->shape.end(), rule);
  }
  if (said.kind == AnnotationKind::kTuple) {
    const auto* tuple = type.As<ir::TupleTypeNode>();
    if (tuple == nullptr) return false;
    types = tuple->fields;
  } else {
    const auto* function = type.As<ir::FuncTypeNode>();
    if (function == nullptr) return false;
    types = function->params;
    types.push_back(function->result);
  }
  return !said.parts || std::equal(said.parts->begin(), said.parts->end(), types.begin(),
                                   types.end(), [&](const Annotation& part, const ir::Type& t) {
                                     return Agrees(part, t, rule);
                                   });
}

}  // namespace

bool Annotation::is_complete() const {
  switch (kind) {
    case AnnotationKind::kTensor:
      return shape && dtype;
    case AnnotationKind::kTuple:
    case AnnotationKind::kCallable:
      return parts && std::all_of(parts->begin(), parts->end(),
                                  [](const Annotation& part) { return part.is_complete(); });
    case AnnotationKind::kAnything:
      return false;
  }
  return false;
}

ir::Type Annotation::ToType(const Cursor& text) const {
  switch (kind) {
    case AnnotationKind::kTensor:
      if (!shape)
        text.Fail(at,
                  "the shape is missing: R.Tensor((1, 64), ...), or ndim=2 for extents that are "
                  "not known");
      if (!dtype) text.Fail(at, "the element type is missing: R.Tensor(..., dtype=\"float32\")");
      return ir::TensorType(*shape, *dtype);
    case AnnotationKind::kTuple:
    case AnnotationKind::kCallable: {
      if (!parts) text.Fail(at, "the parts of this type are missing");
      std::vector<ir::Type> types;
      for (const Annotation& part : *parts) types.push_back(part.ToType(text));
      return text.Placed(at, [&] {
        if (kind == AnnotationKind::kTuple) return ir::TupleType(types);
        const ir::Type result = types.back();
        types.pop_back();
        return ir::FuncType(types, result);
      });
    }
    case AnnotationKind::kAnything:
      text.Fail(at, "R.Object says nothing of the value; write R.Tensor or R.Tuple");
  }
  text.Fail(at, "this is no type");
}

bool Annotation::Holds(const ir::Type& type) const { return Agrees(*this, type, DimsAgree); }

bool Annotation::FollowsFrom(const ir::Type& type) const {
  return Agrees(*this, type,
                [](const Dim& said, const Dim& known) { return said.is_any() || said == known; });
}

Annotation ReadAnnotation(Cursor* text, Symbols* symbols, Where where, const OtherExtents& others) {
  return AnnotationReader(text, symbols, where, others).Read();
}

std::vector<Dim> ReadShape(Cursor* text, Symbols* symbols, Where where,
                           const OtherExtents& others) {
  const bool is_list = text->IsPunct("[");
  const char* close = is_list ? "]" : ")";
  if (!is_list && !text->IsPunct("(")) text->FailExpected("a shape, such as (1, 64)");
  text->Advance();
  std::vector<Dim> shape;
  while (!text->IsPunct(close)) {
    const Token at = text->token();
    if (text->Is(TokenKind::kString)) {
      shape.push_back(ReadQuotedExtent(text, symbols, where));
    } else {
      shape.push_back(ReadExtent(text, [&](const Token& name) {
        if (const auto other = others ? others(name) : std::nullopt) return *other;
        if (!symbols->contains(name.text))
          text->Fail(name,
                     StrCat("the variable ", name.text, " of an extent is not known; ",
                            where == Where::kSignature
                                ? StrCat("in a signature it stands in quotes: \"", name.text, "\"")
                                : StrCat("declare it first: ", name.text, " = T.int64()")));
        return Dim::Symbol(std::string(name.text));
      }));
    }
    if (shape.back().is_static() && shape.back().value() < 0)
      text->Fail(at, StrCat("'", shape.back().ToString(),
                            "' is not an extent; extents are integers from 0 on"));
    if (!text->Accept(",")) break;
  }
  text->Expect(close, "after a shape");
  return shape;
}

DataType ReadElementType(Cursor* text) {
  const Token at = text->token();
  const std::string name = text->String();
  const auto dtype = DataType::Parse(name);
  if (!dtype || dtype->is_void() || dtype->is_vector())
    text->Fail(at, StrCat("'", name,
                          "' is not an element type; types are bool, int8 to int64, uint8 to "
                          "uint64, float16, float32, float64 and bfloat16"));
  return *dtype;
}

}  // namespace tenon::relax
