// Functions that passes which make groups leave as they are, and which constants they hold.
#ifndef TENON_PASSES_FUSION_GROUPS_H_
#define TENON_PASSES_FUSION_GROUPS_H_

#include "tenon/ir/expr.h"

namespace tenon::passes {

// Whether the function is a group already: a kernel (Primitive), a match of a pattern (Composite),
// or part of a code generator's work (Codegen, Compiler).
bool IsGroup(const ir::FunctionNode& function);

// Whether a kernel has the constant as a number in its code. It reads others as parameters.
bool IsNumberInCode(const ir::ConstantNode& constant);

// The call of a kernel, or itself where that holds no constants but numbers. A kernel may hold any
// where a text or a program made it. They become its last parameters, and arguments of the call.
// Requires and keeps checked types.
ir::Expr WithConstantsAsArguments(const ir::Expr& call);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_GROUPS_H_
