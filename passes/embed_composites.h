// EmbedComposites: makes a kernel of every composite function.
//
// A call of a global function with Composite becomes a call of a literal with Primitive=1, and
// literals with Composite (which Inline brings out of functions with Codegen) get the mark. Their
// constants, but for those of rank 0, become arguments, so that weights are packed once when the
// kernel is made. Composite functions that nothing names any more leave the module. Requires
// checked types and keeps them.
#ifndef TENON_PASSES_EMBED_COMPOSITES_H_
#define TENON_PASSES_EMBED_COMPOSITES_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module EmbedComposites(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_EMBED_COMPOSITES_H_
