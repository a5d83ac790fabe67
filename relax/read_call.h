// The arguments of a call of an operator in Relax text, and the call that they make.
//
//   ir::Expr call = ReadCall(&cursor, name, signature, &scope, [&] { return reader.Read(); });
#ifndef TENON_RELAX_READ_CALL_H_
#define TENON_RELAX_READ_CALL_H_

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"
#include "tenon/relax/read_plain.h"
#include "tenon/relax/signature.h"

namespace tenon::relax {

// From the opening bracket on. `at` is the operator's name, where errors of the call are shown. The
// call has its type. Throws InvalidArgument for wrong arguments, with the signature as a note.
ir::Expr ReadCall(Cursor* text, const Token& at, const Signature& signature, Scope* scope,
                  const ReadInput& read_input);

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_CALL_H_
