// The statements of a function's body in Relax text: bindings, ifs, dataflow blocks, functions.
//
//   ir::Expr result = ReadBody(&cursor, &scope, &module, &attrs);
#ifndef TENON_RELAX_READ_BODY_H_
#define TENON_RELAX_READ_BODY_H_

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"
#include "tenon/relax/scope.h"

namespace tenon::relax {

// The value of "return". The cursor begins in the block and ends after it; `scope` has the
// parameters, and `attrs` gets the function's attributes. Throws InvalidArgument with the place.
ir::Expr ReadBody(Cursor* text, Scope* scope, Surroundings* module, ir::FunctionAttrs* attrs);

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_BODY_H_
