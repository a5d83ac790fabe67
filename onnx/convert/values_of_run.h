// Operators by integers that only a run knows, where extents of the result depend on them, or which
// axis is meant.
#ifndef TENON_ONNX_CONVERT_VALUES_OF_RUN_H_
#define TENON_ONNX_CONVERT_VALUES_OF_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// Whether a run decides an input, or a part of it.
bool IsOfRun(const Node& node, std::size_t input);

// Input 0 under the shape at input 1, with 0 and -1 as the standard has them. A run is refused that
// does not keep the number of elements.
Expr ReshapedByValues(const Node& node, bool allowzero);

// The one number at an input as an extent: a number, an expression of variables, or a new variable
// for one that only a run knows.
Dim CountAt(const Node& node, std::size_t input);

// The elements of `x` along the axis from `begin` on, as many as `length` says. Typed.
Expr PartAlong(const Node& node, const Expr& x, std::int64_t axis, const Dim& begin,
               const Dim& length);

// Input 0 split along the axis into parts of the lengths at input 1, of which there is a known
// number. A run is refused whose lengths do not add up to the extent.
std::vector<Expr> SplitByValues(const Node& node, std::int64_t axis);

// What `make` gives for the axis that a run says, an integer in [-rank, rank); a run with another
// one is refused. All axes must give one type.
Expr AlongAxisOfRun(const Node& node, const Expr& axis, std::int64_t rank,
                    const std::function<Expr(std::int64_t axis)>& make);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_VALUES_OF_RUN_H_
