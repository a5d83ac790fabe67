// ToMixedPrecision: computes in a 16-bit floating type where that is faster.
//
// Convolutions and matrix products take low operands and sum in float32 (out_dtype). What follows
// them stays low when some floating operand is low and the others are low, variables or constants
// of the type's range.
// Operators that lose accuracy (exp, softmax, sums) are computed in float32. docs/passes.md lists
// the operators. The result keeps its type unless `keep_output_type` is false. Requires checked
// types and leaves them.
//
//   Module fast = ToMixedPrecision(InferType(module), {.type = BFloat16});
#ifndef TENON_PASSES_PRECISION_TO_MIXED_PRECISION_H_
#define TENON_PASSES_PRECISION_TO_MIXED_PRECISION_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct MixedPrecisionOptions {
  DataType type = BFloat16;  // or Float16
  bool keep_output_type = true;
  // Gets the names of operators that are in no list, sorted. They are treated as following.
  std::vector<std::string>* unlisted = nullptr;
};

// Throws InvalidArgument for any other type.
ir::Module ToMixedPrecision(const ir::Module& module, const MixedPrecisionOptions& options = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_PRECISION_TO_MIXED_PRECISION_H_
