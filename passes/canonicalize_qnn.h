// CanonicalizeQnn: replaces every qnn.* operator by operators on integers and floats.
//
// Rounding is half to even, with results bit-equal to those of ONNX's reference implementation
// (passes/qnn_arithmetic.h says where zero points are added). Convolutions and matrix products sum
// in int32 the products of operands less their zero points. Arithmetic and functions of quantised
// tensors are computed on float32 and rounded once. Requires checked types and leaves them.
//
//   Module numbers = CanonicalizeQnn(InferType(module));
#ifndef TENON_PASSES_CANONICALIZE_QNN_H_
#define TENON_PASSES_CANONICALIZE_QNN_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CanonicalizeQnn(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CANONICALIZE_QNN_H_
