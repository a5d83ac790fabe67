// EliminateCommonSubexpr: computes equal values once.
//
// Calls of one operator with equal attributes and the same arguments become one; so do projections
// of one tuple. Scalar constants of equal bytes, and tuples of such, count as the same argument.
// The walk starts at the inputs, so that equal chains collapse. Stateful operators and calls
// without arguments stay. Function literals stay as they are, and nothing is shared with them.
// Requires checked types and keeps them; the time is nearly linear in the size of the graph.
#ifndef TENON_PASSES_SIMPLIFY_ELIMINATE_COMMON_SUBEXPR_H_
#define TENON_PASSES_SIMPLIFY_ELIMINATE_COMMON_SUBEXPR_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module EliminateCommonSubexpr(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_ELIMINATE_COMMON_SUBEXPR_H_
