// Numbers rounded to a narrow type, in the type that carries it.
//
//   Expr y = RoundedTo(node, x, *FindNarrowType(onnx_type), Overflow::kSaturates);
#ifndef TENON_ONNX_CONVERT_NARROW_CAST_H_
#define TENON_ONNX_CONVERT_NARROW_CAST_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// What becomes of floats beyond the greatest finite value.
enum class Overflow { kSaturates, kInfinityOrNan };

// Floats round to the nearest value, ties to even. Integers drop their upper bits, as casts between
// integers do; a float is truncated first. Throws Unimplemented for types of powers of two.
Expr RoundedTo(const Node& node, const Expr& x, const NarrowType& type, Overflow overflow);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_NARROW_CAST_H_
