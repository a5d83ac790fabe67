// Numbers rounded to a narrow type, in the type that carries it.
//
//   Expr y = RoundedTo(node, x, *FindNarrowType(onnx_type), Overflow::kSaturates);
#ifndef TENON_ONNX_CONVERT_NARROW_CAST_H_
#define TENON_ONNX_CONVERT_NARROW_CAST_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// What becomes of floats beyond the greatest finite value.
enum class Overflow { kSaturates, kInfinityOrNan };

// To a narrow float: the nearest value, ties to even. To a narrow integer: a float is truncated,
// and one beyond the type becomes its end; an integer drops its upper bits, as casts between
// integers do. Throws Unimplemented for types of powers of two.
Expr RoundedTo(const Node& node, const Expr& x, const NarrowType& type, Overflow overflow);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_NARROW_CAST_H_
