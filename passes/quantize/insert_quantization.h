// InsertQuantization: puts qnn.quantize and qnn.dequantize around the values of a plan, and makes
// its weights constants of int8. It is the second half of post-training quantisation.
//
// The result computes in floating point with rounded values, as QDQ models do; compiling turns it
// into integers (FakeQuantizationToInteger). Values are uint8 with a zero point, weights int8
// without.
//
//   Module bytes = InsertQuantization(module, plan, {{-1, 1}, {0, 6}});
#ifndef TENON_PASSES_QUANTIZE_INSERT_QUANTIZATION_H_
#define TENON_PASSES_QUANTIZE_INSERT_QUANTIZATION_H_

#include <span>

#include "tenon/passes/quantize/quantization_plan.h"

namespace tenon::passes {

// The range within which a value is rounded. What is outside becomes the nearest end.
struct ByteRange {
  float low = 0, high = 0;
};

// `plan` is that of `module`, and `ranges` has one entry for each of its values. A range is
// widened to hold 0, which padding needs. Throws InvalidArgument for ranges that are too few, not
// finite or upside down. Requires checked types and leaves them.
ir::Module InsertQuantization(const ir::Module& module, const QuantizationPlan& plan,
                              std::span<const ByteRange> ranges);

// The mean square error of a float32 weight as bytes, divided by its mean square. It is 0 for a
// weight of zeros.
double WeightNoise(const NDArray& weight, std::optional<std::size_t> axis);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_INSERT_QUANTIZATION_H_
