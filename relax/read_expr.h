// Expressions of Relax text: variables, tuples, items, calls of operators and functions, a + b.
//
//   ir::Expr value = ExprReader(&cursor, &scope, &module).Read();
//   value.checked_type();   // known: types are inferred as the text is read
#ifndef TENON_RELAX_READ_EXPR_H_
#define TENON_RELAX_READ_EXPR_H_

#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"
#include "tenon/relax/scope.h"
#include "tenon/relax/signature.h"

namespace tenon::relax {

class ExprReader {
 public:
  ExprReader(Cursor* text, Scope* scope, Surroundings* module)
      : text_(text), scope_(scope), module_(module) {}

  // Throws InvalidArgument, with the place, for text that is no expression or has no type.
  ir::Expr Read();

 private:
  ir::Expr Product();
  ir::Expr Factor();
  ir::Expr Primary();
  ir::Expr Item(const ir::Expr& value, const Token& at);
  ir::Expr Parenthesised();
  ir::Expr Variable(const Token& name);
  ir::Expr Metadata(const Token& at);
  ir::Expr AfterR(const Token& at);
  ir::Expr Const(const Token& at);
  ir::Expr MatchCast(const Token& at);
  ir::Expr Plain(const Token& name, const PlainValue& value);
  ir::Expr TupleOf(const Token& at, const char* close, bool always);
  ir::Expr CallOfFunction(const Token& at, const ir::Expr& callee, const ir::Type& result);
  ir::Expr CallOfOperator(const Token& at, const std::string& name);
  ir::Expr Binary(const Token& at, const char* op, const ir::Expr& a, const ir::Expr& b);

  Cursor* const text_;
  Scope* const scope_;
  Surroundings* const module_;
  bool may_be_number_ = false;  // where an operator reads an input, or + its right side
};

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_EXPR_H_
