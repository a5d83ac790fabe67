// Inline: replaces calls of global functions by their bodies.
//
// A function is inlined when it has the attribute Inline=1 (under kAll: in any case), is not
// recursive and calls only functions that are inlined themselves. Inlined definitions that are no
// longer named leave the module; @main and functions with Composite stay. A function for a code
// generator (Compiler) becomes a literal that is called in place under kMarked; kAll inlines such
// literals, too.
//
//   Module flat = Inline(module);
#ifndef TENON_PASSES_INLINE_H_
#define TENON_PASSES_INLINE_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

enum class InlineRule {
  kMarked,
  kAll,
  kOutlined,  // those that OutlineBranches made (RestoreBranches)
};

ir::Module Inline(const ir::Module& module, InlineRule rule = InlineRule::kMarked);

}  // namespace tenon::passes

#endif  // TENON_PASSES_INLINE_H_
