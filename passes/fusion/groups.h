// Which functions passes that make groups leave as they are.
#ifndef TENON_PASSES_FUSION_GROUPS_H_
#define TENON_PASSES_FUSION_GROUPS_H_

#include "tenon/ir/expr.h"

namespace tenon::passes {

// Whether the function is a group already: a kernel (Primitive), a match of a pattern (Composite),
// or part of a code generator's work (Codegen, Compiler).
bool IsGroup(const ir::FunctionNode& function);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_GROUPS_H_
