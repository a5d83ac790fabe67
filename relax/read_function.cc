#include "tenon/relax/read_function.h"

#include <unordered_set>
#include <utility>

#include "tenon/relax/read_expr.h"
#include "tenon/relax/type_text.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;

// "T.int64()" after "n =".
bool DeclaresSymbol(const Cursor& text) {
  return text.IsName("T") && text.ahead().kind == TokenKind::kPunctuation &&
         text.ahead().text == ".";
}

// Statements of Python that Relax text may have, but Tenon does not compute.
bool IsRefusedStatement(const Cursor& text) {
  for (const char* word : {"if", "for", "while", "assert", "del", "raise", "try", "lambda", "class",
                           "import", "from", "global", "yield"}) {
    if (text.IsName(word)) return true;
  }
  return false;
}

class BodyReader {
 public:
  BodyReader(Cursor* text, Scope* scope, Surroundings* module)
      : text_(text), scope_(scope), module_(module), exprs_(text, scope, module) {}

  // To the end of the block. The result of "return" is the function's.
  Expr Read() {
    while (!result_) {
      if (text_->Is(TokenKind::kDedent) || text_->Is(TokenKind::kEnd))
        text_->Fail(text_->token(), "the function ends without \"return\"");
      Statement();
    }
    if (!text_->Is(TokenKind::kDedent))
      text_->FailExpected("the end of the function after \"return\"");
    text_->Advance();
    return result_;
  }
  ir::FunctionAttrs TakeAttrs() { return std::move(attrs_); }

 private:
  void Statement() {
    if (text_->IsPunct("@")) return LocalFunction();
    if (text_->IsName("with")) return Dataflow();
    if (text_->AcceptName("return")) {
      result_ = exprs_.Read();
      text_->ExpectLineEnd("the result");
      return;
    }
    if (text_->AcceptName("pass")) return text_->ExpectLineEnd("\"pass\"");
    if (text_->Is(TokenKind::kString)) {  // a comment
      text_->Advance();
      return text_->ExpectLineEnd("a string");
    }
    SimpleStatement();
  }

  // What may stand in a dataflow block, too.
  void SimpleStatement() {
    if (IsRefusedStatement(*text_))
      text_->Fail(text_->token(), StrCat("\"", text_->token().text, "\" is not supported here"));
    if (text_->IsName("R") && text_->ahead().text == "." && AfterR("func_attr")) return;
    const Token name = text_->ExpectName("a statement");
    if (text_->Accept(":")) {
      const Annotation annotation = ReadAnnotation(text_, &scope_->symbols, Where::kBody);
      text_->Expect("=", "after the type of a variable");
      const Expr value = Value(name);
      if (!annotation.Holds(value.checked_type()))
        text_->Fail(annotation.at,
                    StrCat("the type of ", name.text, " does not hold: its value is ",
                           ir::ToString(value.checked_type())));
      scope_->Bind(name.text, value);
      return;
    }
    if (text_->Accept(",")) return Unpacked(name);
    if (!text_->IsPunct("="))
      text_->Fail(name, "this statement has no effect; a value gets a name: x = ...");
    text_->Advance();
    if (DeclaresSymbol(*text_)) return Symbol(name);
    if (text_->Is(TokenKind::kName) && module_->IsModule(text_->token().text) &&
        text_->ahead().kind == TokenKind::kLineEnd) {
      text_->Advance();
      text_->Advance();
      return module_->AddModuleName(name.text);
    }
    scope_->Bind(name.text, Value(name));
  }

  Expr Value(const Token&) {
    Expr value = exprs_.Read();
    text_->ExpectLineEnd("a value");
    return value;
  }

  // a, b = value
  void Unpacked(const Token& first) {
    std::vector<Token> names = {first};
    while (!text_->IsPunct("=")) {
      names.push_back(text_->ExpectName("the name of a variable"));
      if (!text_->Accept(",")) break;
    }
    text_->Expect("=", "after the names of variables");
    const Expr value = Value(first);
    const auto* tuple = value.checked_type().As<ir::TupleTypeNode>();
    if (tuple == nullptr || tuple->fields.size() != names.size())
      text_->Fail(first,
                  StrCat(names.size(), " names stand for ", ir::ToString(value.checked_type())));
    for (std::size_t i = 0; i < names.size(); ++i)
      scope_->Bind(names[i].text,
                   ir::TupleGetItem::Make(value, static_cast<int>(i), text_->SpanOf(names[i]),
                                          tuple->fields[i]));
  }

  void Symbol(const Token& name) {
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
    scope_->symbols.emplace(name.text);
  }

  // "R.NAME(...)" as a statement; false, with nothing taken, for another name.
  bool AfterR(std::string_view wanted) {
    Cursor look = *text_;
    look.Advance();
    look.Advance();
    if (!look.IsName(wanted)) return false;
    look.Advance();
    *text_ = look;
    FunctionAttributes();
    return true;
  }

  void FunctionAttributes() {
    text_->Expect("(", "after R.func_attr");
    text_->Expect("{", "before the attributes");
    while (!text_->IsPunct("}")) {
      const Token at = text_->token();
      const std::string name = text_->String();
      text_->Expect(":", "after the name of an attribute");
      if (!attrs_.emplace(name, ReadValue(text_)).second)
        text_->Fail(at, StrCat("the attribute ", name, " is given twice"));
      if (!text_->Accept(",")) break;
    }
    text_->Expect("}", "after the attributes");
    text_->Expect(")", "after R.func_attr");
    text_->ExpectLineEnd("R.func_attr");
  }

  void Dataflow() {
    text_->Advance();
    const Token at = text_->token();
    if (!text_->AcceptName("R")) text_->FailExpected("R.dataflow()");
    text_->Expect(".", "in R.dataflow()");
    if (!text_->AcceptName("dataflow"))
      text_->Fail(at, "only R.dataflow() can stand after \"with\"");
    text_->Expect("(", "in R.dataflow()");
    text_->Expect(")", "in R.dataflow()");
    text_->Expect(":", "after R.dataflow()");
    OpenBlock("R.dataflow()");
    scope_->Open();
    while (!text_->Is(TokenKind::kDedent)) {
      if (IsOutput()) {
        Output();
        if (!text_->Is(TokenKind::kDedent))
          text_->FailExpected("the end of the block after R.output");
      } else if (text_->IsPunct("@")) {
        LocalFunction();
      } else if (text_->IsName("return") || text_->IsName("with")) {
        text_->Fail(text_->token(),
                    StrCat("\"", text_->token().text, "\" cannot stand in a dataflow block"));
      } else {
        SimpleStatement();
      }
    }
    text_->Advance();
    scope_->Close();
  }

  void OpenBlock(std::string_view what) {
    text_->ExpectLineEnd("':'");
    if (!text_->Is(TokenKind::kIndent))
      text_->Fail(text_->token(), StrCat("expected an indented block after ", what));
    text_->Advance();
  }

  bool IsOutput() {
    if (!text_->IsName("R") || text_->ahead().text != ".") return false;
    Cursor look = *text_;
    look.Advance();
    look.Advance();
    return look.IsName("output");
  }

  void Output() {
    for (int i = 0; i < 3; ++i) text_->Advance();
    text_->Expect("(", "after R.output");
    while (!text_->IsPunct(")")) {
      const Token name = text_->ExpectName("the name of a variable");
      if (!scope_->Binds(name.text))
        text_->Fail(name, StrCat("the variable ", name.text, " is not defined in this block",
                                 DidYouMean("; ", name.text, scope_->Names())));
      scope_->Export(name.text);
      if (!text_->Accept(",")) break;
    }
    text_->Expect(")", "after the variables of R.output");
    text_->ExpectLineEnd("R.output");
  }

  void LocalFunction() {
    const Nested nested(*text_);
    const FunctionHeader header = ReadHeader(text_, scope_->symbols);
    const Expr function = ReadFunction(text_, header, scope_, module_);
    scope_->Bind(header.name.text, function);
  }

  Cursor* const text_;
  Scope* const scope_;
  Surroundings* const module_;
  ExprReader exprs_;
  ir::FunctionAttrs attrs_;
  Expr result_;
};

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

Expr ReadFunction(Cursor* text, const FunctionHeader& header, Scope* scope, Surroundings* module) {
  const Span span = text->SpanOf(header.name);
  text->ExpectLineEnd("':'");
  if (!text->Is(TokenKind::kIndent))
    text->Fail(text->token(),
               StrCat("expected an indented block after \"def ", header.name.text, "\""));
  text->Advance();
  Symbols around = std::exchange(scope->symbols, header.symbols);
  scope->Open();
  for (std::size_t i = 0; i < header.params.size(); ++i)
    scope->Bind(header.param_names[i].text, header.params[i]);
  BodyReader reader(text, scope, module);
  const Expr body = reader.Read();
  scope->Drop();
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
  return ir::Function::Make(header.params, body, result, reader.TakeAttrs(), span,
                            ir::FuncType(std::move(types), result));
}

}  // namespace tenon::relax
