// FakeQuantizationToInteger: floating-point operators between qnn.dequantize and qnn.quantize
// become operators on the quantised integers.
//
// Values that are known as integers with constant scales are followed from qnn.dequantize on:
// through operators that move or pick elements (reshape, transpose, pad with zero, slices, max
// pooling, ...), relu and clip, which stay in the integers as they are; through nn.conv2d,
// nn.dense, nn.matmul and nn.batch_matmul of two such values, which become the qnn operator with
// sums in int32; through biases that are added to these; and through means (average pooling), which
// are taken of 256 times the integers. qnn.quantize of such a value becomes qnn.requantize; of a
// sum, difference, product or concatenation of two it becomes qnn.add, qnn.subtract, qnn.mul or
// qnn.concatenate, whatever moves or clips stands between. A product whose result is wanted in
// floating point is computed in integers all the same and dequantised.
//
// Results differ from the floating-point form by at most one quantum of the result: sums are exact,
// where float32 rounds them. What has no constant scale, or scales for each channel where the
// operator mixes channels, is left as it is. Requires checked types and leaves them.
//
//   quantize(nn.relu(nn.conv2d(dequantize(%x, ..), dequantize(%w, ..))), s, z)
//   -> requantize(maximum(qnn.conv2d(%x, %w, ..), 0), .., s, z)
#ifndef TENON_PASSES_FAKE_QUANTIZATION_TO_INTEGER_H_
#define TENON_PASSES_FAKE_QUANTIZATION_TO_INTEGER_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module FakeQuantizationToInteger(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FAKE_QUANTIZATION_TO_INTEGER_H_
