// What decides which expressions run, and what stands for types. A match over a tuple is read as
// projections: its patterns always fit, so there is nothing to decide.
#include <utility>

#include "tenon/ir/parser.h"

namespace tenon::ir {

Expr Parser::BodyInBraces(const char* of_what) {
  Expect("{", of_what);
  scopes_.emplace_back();
  Expr body = Body();
  scopes_.pop_back();
  Expect("}", of_what);
  return body;
}

Expr Parser::IfAfter(const Token& at) {
  const Nested nested(this);
  const Span place = lexer_.SpanOf(at);
  Expect("(", "before the condition of an if");
  Expr condition = ParseExpr();
  Expect(")", "after the condition of an if");
  Expr yes = BodyInBraces("around the first branch of an if");
  if (!IsName("else"))
    Fail(token_, StrCat("expected \"else\" after the first branch of an if, found ", Shown(token_),
                        "; an if has a value, so it needs both branches"));
  Advance();
  Expr no = BodyInBraces("around the second branch of an if");
  return If::Make(std::move(condition), std::move(yes), std::move(no), place);
}

// Binds what the pattern names: "%x", "_" or "(pattern, ...)".
void Parser::Pattern(const Expr& value) {
  const Nested nested(this);
  if (token_.kind == TokenKind::kLocal) {
    const Token name = Advance();
    return Bind(name, value);
  }
  if (IsName("_")) {
    Advance();
    return;
  }
  if (token_.kind == TokenKind::kName)
    Fail(token_, StrCat("expected a pattern, found ", Shown(token_),
                        "; algebraic data types are not supported, so patterns are %name, _ and "
                        "tuples of patterns"));
  const Token open = Expect("(", "before a pattern of a tuple");
  int index = 0;
  while (!IsPunct(")")) {
    const Token field = token_;
    const Expr part =
        Placed(field, [&] { return TupleGetItem::Make(value, index, lexer_.SpanOf(field)); });
    Pattern(part);
    ++index;
    if (!Accept(",")) break;
  }
  Expect(")", "after a pattern of a tuple");
  if (index == 0) Fail(open, "a pattern of a tuple names at least one field");
}

Expr Parser::MatchAfter(const Token& at) {
  const Nested nested(this);
  Accept("?");
  Expect("(", "before the value of a match");
  const Expr value = ParseExpr();
  Expect(")", "after the value of a match");
  Expect("{", "before the clauses of a match");
  if (IsPunct("}")) Fail(at, "a match has no clause");
  scopes_.emplace_back();
  Pattern(value);
  Expect("=", "in \"=>\" after a pattern");
  Expect(">", "in \"=>\" after a pattern");
  Expr result = IsPunct("{") ? BodyInBraces("around the body of a clause") : ParseExpr();
  scopes_.pop_back();
  Accept(",");
  if (!IsPunct("}"))
    Fail(token_,
         "the first clause of this match takes every value, so that this one never runs; "
         "a match over tuples has one clause");
  Expect("}", "after the clauses of a match");
  return result;
}

bool Parser::TypeParameters() {
  if (!Accept("[")) return false;
  std::vector<std::string> names;
  while (!IsPunct("]")) {
    names.push_back(ExpectKind(TokenKind::kName, "the name of a type parameter").text);
    if (!Accept(",")) break;
  }
  Expect("]", "after the type parameters");
  type_parameters_.push_back(std::move(names));
  return true;
}

void Parser::RefuseDataType() {
  if (!IsName("type") && !IsName("extern")) return;
  Fail(token_,
       "algebraic data types are not supported; values are tensors, tuples, references and "
       "functions");
}

}  // namespace tenon::ir
