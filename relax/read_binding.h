// Bindings of Relax text: "x = value", "x: type = value", "a, b = value", "n = T.int64()".
//
//   BindingReader bindings(&cursor, &scope, &module, &exprs);
//   bindings.Read();
#ifndef TENON_RELAX_READ_BINDING_H_
#define TENON_RELAX_READ_BINDING_H_

#include <optional>

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"
#include "tenon/relax/read_expr.h"
#include "tenon/relax/read_plain.h"
#include "tenon/relax/scope.h"

namespace tenon::relax {

class BindingReader {
 public:
  BindingReader(Cursor* text, Scope* scope, Surroundings* module, ExprReader* exprs)
      : text_(text), scope_(scope), module_(module), exprs_(*exprs) {}

  // One line. The variable that it binds last; nothing for one of extents and for the module.
  std::optional<Token> Read();

 private:
  // What is said of a value before it is read.
  struct Said {
    std::optional<Annotation> type;
    std::optional<PlainType> plain;
  };

  ir::Expr Value();
  void BindValue(const Token& name, const Said& said);
  void BindPlain(const Token& name, const Said& said);
  Token Unpacked(const Token& first);
  void Symbol(const Token& name);

  Cursor* const text_;
  Scope* const scope_;
  Surroundings* const module_;
  ExprReader& exprs_;
  const ReadInput read_input_ = [this] { return exprs_.Read(); };
  PlainReader plain_{text_, scope_, read_input_};
};

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_BINDING_H_
