#include "tenon/relax/read_function.h"

#include <unordered_set>
#include <utility>

#include "tenon/relax/read_body.h"
#include "tenon/relax/type_text.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;

// "@R.function" or "@R.function(private=True)".
void ReadDecorator(Cursor* text, bool* is_private) {
  text->Expect("@", "before a function");
  const Token at = text->token();
  std::string name;
  while (text->Is(TokenKind::kName)) {
    StrAppend(&name, text->Advance().text);
    if (text->Accept(".")) name += '.';
  }
  if (name == "T.prim_func")
    text->Fail(at,
               "functions of loops (T.prim_func) cannot be read; kernels are made of operators");
  if (name != "R.function")
    text->Fail(at, StrCat("@", name, " is not a function that can be read; @R.function is"));
  if (text->Accept("(")) {
    while (!text->IsPunct(")")) {
      const Token option = text->ExpectName("private or pure");
      text->Expect("=", "after the name of an option");
      const Token value = text->token();
      if (!text->IsName("True") && !text->IsName("False")) text->FailExpected("True or False");
      text->Advance();
      if (option.text == "private") {
        *is_private = value.text == "True";
      } else if (option.text != "pure") {
        text->Fail(option, StrCat("@R.function has no ", option.text, "; it has private and pure"));
      } else if (value.text == "False") {
        text->Fail(value, "functions with effects are not supported");
      }
      if (!text->Accept(",")) break;
    }
    text->Expect(")", "after the options of @R.function");
  }
  text->ExpectLineEnd("@R.function");
}

}  // namespace

FunctionHeader ReadHeader(Cursor* text, Symbols symbols) {
  FunctionHeader header;
  header.symbols = std::move(symbols);
  ReadDecorator(text, &header.is_private);
  if (!text->AcceptName("def")) text->FailExpected("\"def\" after @R.function");
  header.name = text->ExpectName("the name of a function");
  if (!IsName(header.name.text))
    text->Fail(header.name, StrCat("'", header.name.text,
                                   "' is a word of the language, not the name of a function"));
  text->Expect("(", "before the parameters");
  std::unordered_set<std::string_view> names;
  while (!text->IsPunct(")")) {
    const Token name = text->ExpectName("the name of a parameter");
    if (!names.insert(name.text).second)
      text->Fail(name, StrCat("the parameter ", name.text, " is given twice"));
    if (!text->Accept(":"))
      text->Fail(name, StrCat("the parameter ", name.text, " has no type; write it as in ",
                              name.text, ": R.Tensor((1, 64), dtype=\"float32\")"));
    const ir::Type type = ReadAnnotation(text, &header.symbols, Where::kSignature).ToType(*text);
    header.params.push_back(ir::Var::MakeChecked(std::string(name.text), type, text->SpanOf(name)));
    header.param_names.push_back(name);
    if (!text->Accept(",")) break;
  }
  text->Expect(")", "after the parameters");
  if (text->Accept("->")) header.result = ReadAnnotation(text, &header.symbols, Where::kSignature);
  text->Expect(":", "after the signature");
  header.body = text->position();
  return header;
}

void ReadAttributes(Cursor* text, const std::string& of, ir::FunctionAttrs* attrs) {
  text->Expect("(", "after " + of);
  text->Expect("{", "before the attributes");
  while (!text->IsPunct("}")) {
    const Token at = text->token();
    const std::string name = text->String();
    text->Expect(":", "after the name of an attribute");
    if (!attrs->emplace(name, ReadValue(text)).second)
      text->Fail(at, StrCat("the attribute ", name, " is given twice"));
    if (!text->Accept(",")) break;
  }
  text->Expect("}", "after the attributes");
  text->Expect(")", "after " + of);
  text->ExpectLineEnd(of);
}

Expr ReadFunction(Cursor* text, const FunctionHeader& header, Scope* scope, Surroundings* module) {
  const Span span = text->SpanOf(header.name);
  text->ExpectLineEnd("':'");
  if (!text->Is(TokenKind::kIndent))
    text->Fail(text->token(),
               StrCat("expected an indented block after \"def ", header.name.text, "\""));
  text->Advance();
  Symbols around = std::exchange(scope->symbols, {});
  const auto extents_around = scope->extents;
  scope->Open();
  for (const std::string& symbol : header.symbols) scope->BindSymbol(symbol);
  for (std::size_t i = 0; i < header.params.size(); ++i) {
    scope->Bind(header.param_names[i].text, header.params[i]);
    scope->extents.Add(header.params[i]);
  }
  ir::FunctionAttrs attrs;
  const Expr body = ReadBody(text, scope, module, &attrs);
  scope->Drop();
  scope->extents = extents_around;
  scope->symbols = std::move(around);
  if (header.result && !header.result->Holds(body.checked_type()))
    text->Fail(header.result->at,
               StrCat("the result type of ", header.name.text, " does not hold: the result is ",
                      ir::ToString(body.checked_type())));
  std::vector<ir::Type> types;
  for (const Expr& param : header.params) types.push_back(param.checked_type());
  const ir::Type result = header.result && header.result->is_complete()
                              ? header.result->ToType(*text)
                              : body.checked_type();
  return ir::Function::Make(header.params, body, result, std::move(attrs), span,
                            ir::FuncType(std::move(types), result));
}

}  // namespace tenon::relax
