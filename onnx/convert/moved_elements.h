// Values that are made only of elements of other values: moved, chosen among them, or written
// beside zeros. Such a value has their type also where a wider one carries it.
//
//   Expr y = MadeOf(node, node.Typed(ops::Where(condition, a, b)), {a, b});
#ifndef TENON_ONNX_CONVERT_MOVED_ELEMENTS_H_
#define TENON_ONNX_CONVERT_MOVED_ELEMENTS_H_

#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The value, known from now on as one of the narrow type that all parts have. A sequence stands for
// its elements, and a part that is null for nothing. Throws InvalidArgument where a part has
// another type than the others.
Expr MadeOf(const Node& node, const Expr& value, const std::vector<Expr>& parts);

// The same for the outputs of a node whose operator only moves elements or chooses among them; no
// effect for others.
void KeepNarrowTypes(const Node& node, const std::vector<Expr>& outputs);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_MOVED_ELEMENTS_H_
