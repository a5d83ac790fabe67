// Shapes of variables during import: the extents of values, and integers that are computed from
// extents.
//
//   DimsOf(x);                       // (n, 3, h, w)
//   DimsOfValue(shape_of(x)[2:]);    // h, w
#ifndef TENON_ONNX_CONVERT_SYMBOLIC_SHAPES_H_
#define TENON_ONNX_CONVERT_SYMBOLIC_SHAPES_H_

#include <optional>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::onnx_import {

// The extents of a typed tensor expression.
std::vector<Dim> DimsOf(const ir::Expr& e);
// Whether all of them are numbers.
bool IsStatic(const std::vector<Dim>& dims);
// These numbers.
std::vector<std::int64_t> NumbersOf(const std::vector<Dim>& dims);
// Whether it is the type of a tensor of which each extent is a number or an expression of
// variables.
bool HasKnownExtents(const ir::Type& type);
// The integers of a typed scalar or vector as expressions of the model's variables: those of
// constants, extents and arithmetic on these. Nothing for any other value.
std::optional<std::vector<Dim>> DimsOfValue(const ir::Expr& e);
// A scalar of int64 whose value is the extent of `x` along `axis`.
ir::Expr ExtentValue(const ir::Expr& x, std::size_t axis);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_SYMBOLIC_SHAPES_H_
