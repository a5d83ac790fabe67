// WidenFloat16: sums of float16 run in float32.
//
// No kernel calculates in float16: it is how values are stored. An operator that sums up many of
// them (convolutions, products of matrices, means, average pools, softmax) gets float32 operands,
// and its result is rounded once, not after every addition. Requires and keeps checked types;
// results differ by the roundings that are left out.
#ifndef TENON_PASSES_WIDEN_FLOAT16_H_
#define TENON_PASSES_WIDEN_FLOAT16_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module WidenFloat16(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_WIDEN_FLOAT16_H_
