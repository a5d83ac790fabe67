// Embedding of positions by turning pairs of elements (Su et al., "RoFormer", 2021).
//
//   Expr y = Rotated(node, x, {.cosine = c, .sine = s}, 64, 64);
#ifndef TENON_ONNX_CONVERT_ROTARY_H_
#define TENON_ONNX_CONVERT_ROTARY_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct Angles {
  Expr cosine, sine;         // of each position, [batch or 1, length, turned elements / 2]
  bool interleaved = false;  // pairs are neighbours, not elements of both halves
};

// `x` is [batch, heads, length, size] or [batch, length, heads * size]; so is the result. The first
// `turned` elements of each head are turned, and the rest stays. Throws InvalidArgument when the
// shapes do not fit.
Expr Rotated(const Node& node, const Expr& x, const Angles& angles, std::int64_t size,
             std::int64_t turned);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_ROTARY_H_
