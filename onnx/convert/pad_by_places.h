// Padding whose widths are expressions of extents, or counts that only a run knows: each element of
// the result is taken from its place along the axis.
#ifndef TENON_ONNX_CONVERT_PAD_BY_PLACES_H_
#define TENON_ONNX_CONVERT_PAD_BY_PLACES_H_

#include <string>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// Elements before and after an axis; where they are below 0, as many are cut off.
struct PadWidth {
  Dim before = 0, after = 0;
  bool is_static() const { return before.is_static() && after.is_static(); }
};

// `x` with more elements along the axis. `mode` is one of Pad's; `value` is that of "constant".
// Reflections go on where there are more elements than the axis has. Typed.
Expr PaddedByPlaces(const Node& node, const Expr& x, std::size_t axis, const PadWidth& width,
                    const std::string& mode, const Expr& value);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_PAD_BY_PLACES_H_
