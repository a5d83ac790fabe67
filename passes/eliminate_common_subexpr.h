// EliminateCommonSubexpr: computes equal values once.
//
// Calls of one operator with equal attributes and the same arguments (or scalar constants of equal
// bytes, or tuples of such) become one, and so do projections of one tuple; from the inputs on, so
// that equal chains collapse. Stateful operators and calls without arguments stay. Nothing is
// shared with function literals, which stay as they are. Requires checked types and keeps them;
// time is near linear in the size of the graph.
#ifndef TENON_PASSES_ELIMINATE_COMMON_SUBEXPR_H_
#define TENON_PASSES_ELIMINATE_COMMON_SUBEXPR_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module EliminateCommonSubexpr(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_ELIMINATE_COMMON_SUBEXPR_H_
