// Vectors of integers of which some follow from extents and others do not.
#ifndef TENON_ONNX_CONVERT_PART_OF_VALUE_H_
#define TENON_ONNX_CONVERT_PART_OF_VALUE_H_

#include <optional>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::onnx_import {

// As DimsOfValue, with "?" for integers that are not known. Nothing for what is no vector of few
// integers.
std::optional<std::vector<Dim>> PartOfValue(const ir::Expr& e);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_PART_OF_VALUE_H_
