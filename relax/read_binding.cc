#include "tenon/relax/read_binding.h"

#include <vector>

#include "tenon/relax/type_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

namespace {

// "T.int64()" after "n =".
bool DeclaresSymbol(const Cursor& text) {
  return text.IsName("T") && text.ahead().kind == TokenKind::kPunctuation &&
         text.ahead().text == ".";
}

}  // namespace

std::optional<Token> BindingReader::Read() {
  const Token name = text_->ExpectName("a statement");
  Said said;
  if (text_->Accept(":")) {
    if (BeginsPlainType(*text_)) {
      said.plain = ReadPlainType(text_, scope_);
    } else {
      said.type =
          ReadAnnotation(text_, &scope_->symbols, Where::kBody, PlainExtents(text_, scope_));
    }
    text_->Expect("=", "after the type of a variable");
    BindValue(name, said);
    return name;
  }
  if (text_->Accept(",")) return Unpacked(name);
  if (!text_->IsPunct("="))
    text_->Fail(name, "this statement has no effect; a value gets a name: x = ...");
  text_->Advance();
  if (DeclaresSymbol(*text_)) {
    Symbol(name);
    return std::nullopt;
  }
  if (text_->Is(TokenKind::kName) && module_->IsModule(text_->token().text) &&
      text_->ahead().kind == TokenKind::kLineEnd) {
    text_->Advance();
    text_->Advance();
    module_->AddModuleName(name.text);
    return std::nullopt;
  }
  BindValue(name, said);
  return name;
}

void BindingReader::BindValue(const Token& name, const Said& said) {
  if (plain_.Begins()) return BindPlain(name, said);
  const Expr value = Value();
  const Token* wrong = nullptr;
  if (said.plain) wrong = &said.plain->at;
  if (said.type && !said.type->Holds(value.checked_type())) wrong = &said.type->at;
  if (wrong != nullptr)
    text_->Fail(*wrong, StrCat("the type of ", name.text, " does not hold: its value is ",
                               ir::ToString(value.checked_type())));
  scope_->Bind(name.text, value);
}

void BindingReader::BindPlain(const Token& name, const Said& said) {
  PlainValue value = plain_.Read();
  text_->ExpectLineEnd("a value");
  if ((said.plain && !said.plain->Holds(value)) ||
      (said.type && said.type->kind != AnnotationKind::kAnything))
    text_->Fail(
        said.plain ? said.plain->at : said.type->at,
        StrCat("the type of ", name.text, " does not hold: its value is ", value.ToString()));
  scope_->BindPlain(name.text, std::move(value));
}

Expr BindingReader::Value() {
  Expr value = exprs_.Read();
  text_->ExpectLineEnd("a value");
  return value;
}

// a, b = value
Token BindingReader::Unpacked(const Token& first) {
  std::vector<Token> names = {first};
  while (!text_->IsPunct("=")) {
    names.push_back(text_->ExpectName("the name of a variable"));
    if (!text_->Accept(",")) break;
  }
  text_->Expect("=", "after the names of variables");
  const Expr value = Value();
  const auto* tuple = value.checked_type().As<ir::TupleTypeNode>();
  if (tuple == nullptr || tuple->fields.size() != names.size())
    text_->Fail(first,
                StrCat(names.size(), " names stand for ", ir::ToString(value.checked_type())));
  for (std::size_t i = 0; i < names.size(); ++i)
    scope_->Bind(names[i].text, ir::TupleGetItem::Make(value, static_cast<int>(i),
                                                       text_->SpanOf(names[i]), tuple->fields[i]));
  return names.back();
}

void BindingReader::Symbol(const Token& name) {
  text_->Advance();
  text_->Advance();
  const Token type = text_->ExpectName("int64");
  if (type.text != "int64")
    text_->Fail(type, StrCat("T.", type.text, " is no variable of an extent; T.int64() is"));
  text_->Expect("(", "after T.int64");
  text_->Expect(")", "after T.int64(");
  text_->ExpectLineEnd("a variable");
  if (!IsName(name.text))
    text_->Fail(name, StrCat("'", name.text, "' is a word of the language, not a variable"));
  scope_->BindSymbol(name.text);
}

}  // namespace tenon::relax
