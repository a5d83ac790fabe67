// EmbedComposites: makes a kernel out of every composite function.
//
// A call of a global function with Composite becomes a call of a literal with Primitive=1. Literals
// with Composite (which Inline brings out of functions with Codegen) get the mark. Their constants
// become arguments, except those of rank 0, so that weights are packed once when the kernel is
// made. Composite functions that are no longer named leave the module. Requires checked types and
// keeps them.
#ifndef TENON_PASSES_PARTITION_EMBED_COMPOSITES_H_
#define TENON_PASSES_PARTITION_EMBED_COMPOSITES_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module EmbedComposites(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_EMBED_COMPOSITES_H_
