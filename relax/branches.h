// What an if of Relax text is made of.
//
//   RequireCondition(text, place, condition);
//   ir::Expr value = MakeIf(text, condition, yes, no, span);
#ifndef TENON_RELAX_BRANCHES_H_
#define TENON_RELAX_BRANCHES_H_

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"

namespace tenon::relax {

// The variable that a branch binds last.
struct Branch {
  Token name;
  ir::Expr value;
};

// Throws InvalidArgument at `at` for what is no bool without axes.
void RequireCondition(const Cursor& text, const Token& at, const ir::Expr& condition);

// An if with its type. Throws InvalidArgument where the branches bind variables of different names
// or types.
ir::Expr MakeIf(const Cursor& text, const ir::Expr& condition, const Branch& yes, const Branch& no,
                const Span& span);

}  // namespace tenon::relax

#endif  // TENON_RELAX_BRANCHES_H_
