// CanonicalizeQnn: replaces every qnn.* operator by operators on integers and floats.
//
// LegalizeQnn goes first, so that a target may have rules of its own (passes/legalize.h).
//
// Rounding is half to even. Results are bit-equal to those of ONNX's reference implementation
// (passes/quantize/qnn_arithmetic.h says where zero points are added). Convolutions and matrix
// products multiply operands minus their zero points and sum in int32. Arithmetic and functions of
// quantised tensors are computed in float32 and rounded once. Requires checked types and leaves
// them.
//
//   Module numbers = CanonicalizeQnn(InferType(module));
#ifndef TENON_PASSES_QUANTIZE_CANONICALIZE_QNN_H_
#define TENON_PASSES_QUANTIZE_CANONICALIZE_QNN_H_

#include "tenon/ir/module.h"
#include "tenon/support/target.h"

namespace tenon::passes {

ir::Module CanonicalizeQnn(const ir::Module& module, const Target& target = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_CANONICALIZE_QNN_H_
