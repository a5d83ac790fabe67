// AlterOpLayout: puts operators into the layouts in which strategies say that they are faster:
// convolutions over blocks of channels, matrix products by blocks of columns.
//
// The column AlterLayout of an operator chooses, also of a user's (ops/layout/alter_layout.h).
// Operators in between follow; where they cannot, a layout_transform is inserted. Expects bias_add
// as addition (CanonicalizeOps). Needs checked types and leaves them.
//
//   Module out = AlterOpLayout(module);
#ifndef TENON_PASSES_LAYOUT_ALTER_OP_LAYOUT_H_
#define TENON_PASSES_LAYOUT_ALTER_OP_LAYOUT_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module AlterOpLayout(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_ALTER_OP_LAYOUT_H_
