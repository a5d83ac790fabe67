// Functions of Relax text: a header and the statements of a body.
//
//   FunctionHeader header = ReadHeader(&cursor);          // from its decorator to the colon
//   ir::Expr function = ReadFunction(&source, header, &module);
#ifndef TENON_RELAX_READ_FUNCTION_H_
#define TENON_RELAX_READ_FUNCTION_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"
#include "tenon/relax/scope.h"

namespace tenon::relax {

struct FunctionHeader {
  Token name;
  bool is_private = false;
  std::vector<ir::Expr> params;
  std::vector<Token> param_names;
  std::optional<Annotation> result = std::nullopt;
  Symbols symbols;
  std::size_t body = 0;  // the place of its first token
};

// From the "@" of the decorator to the ":". `symbols` are those of the function around it.
FunctionHeader ReadHeader(Cursor* text, Symbols symbols = {});

// The function, from its body on, without the attribute that says whether it is public. The cursor
// ends after it, and the scope is as before.
ir::Expr ReadFunction(Cursor* text, const FunctionHeader& header, Scope* scope,
                      Surroundings* module);

// The attributes in R.func_attr({"name": value}), or I.module_attrs, from the "(" to the end of the
// line. `of` names it in errors.
void ReadAttributes(Cursor* text, const std::string& of, ir::FunctionAttrs* attrs);

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_FUNCTION_H_
