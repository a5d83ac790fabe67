// SimplifyExpr: algebra on graphs, rule by rule until none applies.
//
// Constants that are added or multiplied one after the other are joined. x + 0, x - 0, x * 1, x /
// 1, casts to the same type, and reshapes and transposes that change nothing go. Consecutive
// reshapes, transposes, widening casts, clips and constant pads become one. Operands filled with
// one value become scalars, and a / sqrt(b) becomes a * rsqrt(b). docs/passes.md lists the rules
// and what they promise about NaN, -0.0 and overflow. x + x stays an addition. Requires checked
// types and leaves them.
#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_EXPR_H_
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_EXPR_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module SimplifyExpr(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_SIMPLIFY_EXPR_H_
