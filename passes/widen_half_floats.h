// WidenHalfFloats: sums and products of float16 and bfloat16 run in float32.
//
// No kernel calculates in types of 16 bits: they are how values are stored. An operator that sums
// up many of them (convolutions, products of matrices, means, average pools, softmax,
// normalisations) or multiplies them (`prod`) gets float32 operands, and its result is rounded
// once, not after every step. Matrix products and two-dimensional convolutions of bfloat16 keep
// their operands, for which CPUs have an instruction, and sum up in float32. Requires and keeps
// checked types; results differ by the roundings that are left out.
#ifndef TENON_PASSES_WIDEN_HALF_FLOATS_H_
#define TENON_PASSES_WIDEN_HALF_FLOATS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module WidenHalfFloats(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_WIDEN_HALF_FLOATS_H_
