// Small arrays of extents under operators that only move elements.
#ifndef TENON_ONNX_CONVERT_MOVED_DIMS_H_
#define TENON_ONNX_CONVERT_MOVED_DIMS_H_

#include <functional>
#include <optional>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::onnx_import {

// The elements of an operand in row-major order; null where they are not known.
using DimsOfOperand = std::function<const std::vector<Dim>*(const ir::Expr&)>;

// The elements of `e`, a typed value of static shape, in row-major order. Nothing for what is made
// by another operator, of operands that are not known, or at places that are not constant.
//
//   MovedDims(transpose([[a, b], [c, d]]), operand) == {a, c, b, d}
std::optional<std::vector<Dim>> MovedDims(const ir::Expr& e, const DimsOfOperand& operand);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_MOVED_DIMS_H_
