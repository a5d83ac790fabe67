// Operands of convolutions and matrix products of quantised tensors. Only the rules of
// CanonicalizeQnn that replace such calls include this header.
//
// Bytes stay bytes wherever possible. The CPU's instructions want the left operand unsigned and the
// right one signed, so an operand of the other sign is moved by 128, together with its zero point.
//
//   const QnnTensor left = AsBytes(OperandAt(call, 0, -1), UInt8);
#ifndef TENON_PASSES_QUANTIZE_QNN_OPERANDS_H_
#define TENON_PASSES_QUANTIZE_QNN_OPERANDS_H_

#include <cstddef>
#include <cstdint>

#include "tenon/passes/quantize/qnn_arithmetic.h"

namespace tenon::passes {

// Operand `i` and its zero point, which is argument i + 2 and may have one value per channel of
// `axis`.
QnnTensor OperandAt(const QnnCall& call, std::size_t i, std::int64_t axis);

struct QnnOperands {
  ir::Expr data, weight;
};
// Both minus their zero points, in one type: as they are where those are zero.
QnnOperands CenteredOperands(const QnnTensor& data, const QnnTensor& weight);

// Whether both operands are int8 or uint8.
bool AreBytes(const QnnCall& call);
// The same numbers as bytes of type `to`, which may have the other sign; the zero point in int32.
QnnTensor AsBytes(const QnnTensor& tensor, DataType to);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_QNN_OPERANDS_H_
