// What the converters of quantised operators share: scales, zero points and integer products.
#ifndef TENON_ONNX_CONVERT_QUANTIZE_H_
#define TENON_ONNX_CONVERT_QUANTIZE_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The scale or zero point at input `i`: a single element becomes a scalar, values per channel stay.
Expr ParameterAt(const Node& node, std::size_t i);
// The zero point at input `i`, or zero of type `otherwise` where there is none.
Expr ZeroPointAt(const Node& node, std::size_t i, DataType otherwise);
// The zero point of an operand whose products are summed, which all rows must share. Throws
// Unimplemented.
Expr SingleZeroPointAt(const Node& node, std::size_t i, DataType otherwise);

struct QuantizedOperand {
  Expr data, zero_point;
};

// The int32 product of operands of any rank, minus their zero points. That of `a` may be one for
// each row, that of `b` one for each column of a matrix.
Expr IntegerProduct(const Node& node, const QuantizedOperand& a, const QuantizedOperand& b);

// A float in float32 where it is a half, in whose range neither a product of two scales nor an
// integer product need lie; else as it is.
Expr Widened(const Node& node, const Expr& scale);

// An integer product times the scales of its operands, plus a bias unless that is null. Rounded
// once, to the type of the first scale.
Expr ScaledProduct(const Node& node, const Expr& product, const Expr& a_scale, const Expr& b_scale,
                   const Expr& bias);

struct DynamicallyQuantized {
  Expr data, scale, zero_point;  // of uint8, float32 and uint8; typed
};

// Quantises with a scale for the range of the data, extended to contain zero.
DynamicallyQuantized QuantizeDynamically(const Node& node, const Expr& x);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_QUANTIZE_H_
