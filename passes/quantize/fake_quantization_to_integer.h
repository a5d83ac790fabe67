// FakeQuantizationToInteger: floating-point operators between qnn.dequantize and qnn.quantize
// become operators on the quantised integers.
//
// The pass follows values that are known as integers with constant scales, starting at
// qnn.dequantize. Operators that move or pick elements (reshape, transpose, pad with zero, slices,
// max pooling, ...), relu and clip stay in the integers as they are. nn.conv2d, nn.dense, nn.matmul
// and nn.batch_matmul of two such values become the qnn operator with sums in int32, and biases are
// added to these sums. Means (average pooling) are taken of 256 times the integers. qnn.quantize of
// such a value becomes qnn.requantize. qnn.quantize of a sum, difference, product or concatenation
// of two becomes qnn.add, qnn.subtract, qnn.mul or qnn.concatenate, even when moves or clips stand
// in between. A product whose result is wanted in floating point is also computed in integers, and
// then dequantised.
//
// Results differ from the floating-point form by at most one quantum of the result: sums are exact,
// where float32 rounds them. A value stays as it is when it has no constant scale, or when it has a
// scale for each channel and the operator mixes channels. Requires checked types and leaves them.
//
//   quantize(nn.relu(nn.conv2d(dequantize(%x, ..), dequantize(%w, ..))), s, z)
//   -> requantize(maximum(qnn.conv2d(%x, %w, ..), 0), .., s, z)
#ifndef TENON_PASSES_QUANTIZE_FAKE_QUANTIZATION_TO_INTEGER_H_
#define TENON_PASSES_QUANTIZE_FAKE_QUANTIZATION_TO_INTEGER_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module FakeQuantizationToInteger(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_FAKE_QUANTIZATION_TO_INTEGER_H_
