// FoldExplicitPadding: moves a pad into the window operator that reads it.
//
// nn.pad with a constant goes into the padding of three operators: nn.conv2d (value 0);
// nn.avg_pool2d (value 0, which then counts in the divisor, so only when the pool itself pads
// nothing or counts its padding); and nn.max_pool2d (value -inf, or the smallest integer). The pad
// must pad only the spatial axes, in any layout. Pools with ceil_mode keep it. Requires checked
// types and leaves them.
#ifndef TENON_PASSES_SIMPLIFY_FOLD_EXPLICIT_PADDING_H_
#define TENON_PASSES_SIMPLIFY_FOLD_EXPLICIT_PADDING_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module FoldExplicitPadding(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_FOLD_EXPLICIT_PADDING_H_
