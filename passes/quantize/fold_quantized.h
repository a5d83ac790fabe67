// Folds quantised operators over constants, which FoldConstant leaves, since they have no computes.
// Each is written out in operators on integers (CanonicalizeQnn), which are then folded.
//
// Requires checked types and leaves them. Ordinary calls are folded, too.
//
//   Module folded = FoldQuantized(module, strategies::EvaluateCall, target);
#ifndef TENON_PASSES_QUANTIZE_FOLD_QUANTIZED_H_
#define TENON_PASSES_QUANTIZE_FOLD_QUANTIZED_H_

#include "tenon/ir/module.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/target.h"

namespace tenon::passes {

ir::Module FoldQuantized(const ir::Module& module, const ConstantEvaluator& evaluate,
                         const Target& target = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_FOLD_QUANTIZED_H_
