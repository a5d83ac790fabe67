// Conditions that need no run of the model: constants, and comparisons of extents.
//
//   KnownCondition(less(shape_of(x)[0], 1));   // false: an extent is at least 1
#ifndef TENON_ONNX_CONVERT_KNOWN_CONDITION_H_
#define TENON_ONNX_CONVERT_KNOWN_CONDITION_H_

#include <optional>
#include <string>

#include "tenon/ir/expr.h"

namespace tenon::onnx_import {

// The value of a condition that is the same for all values of the model's variables; nothing for
// any other. Throws InvalidArgument for what is no condition.
std::optional<bool> KnownCondition(const ir::Expr& condition);

// How users fix a condition that is not known: by extents that it compares ("it compares h/2 with
// 1; ..."), or by an input.
std::string WayToFix(const ir::Expr& condition);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_KNOWN_CONDITION_H_
