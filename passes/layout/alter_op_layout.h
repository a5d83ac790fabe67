// AlterOpLayout: convolves over blocks of channels where strategies say that this is faster.
//
// Their AlterLayout column chooses the calls (strategies/te/blocked_conv.cc). Operators in between
// follow; where they cannot, a layout_transform is inserted. Expects bias_add as addition
// (CanonicalizeOps). Needs checked types and leaves them.
//
//   Module out = AlterOpLayout(module);
#ifndef TENON_PASSES_LAYOUT_ALTER_OP_LAYOUT_H_
#define TENON_PASSES_LAYOUT_ALTER_OP_LAYOUT_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module AlterOpLayout(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_ALTER_OP_LAYOUT_H_
