#include "tenon/onnx/convert/rotary.h"

#include "tenon/ir/parse_extents.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Turns all elements of each head; `x` is [batch, length, heads, size].
Expr WhollyRotated(const Node& node, const Expr& x, const Angles& angles) {
  const std::vector<Dim> shape = DimsOf(x);
  const Dim half = *ExactQuotient(shape[3], 2);
  const auto by_head = [&](const Expr& e) { return node.Typed(ops::ExpandDims(e, 2)); };
  const Expr cosine = by_head(angles.cosine), sine = by_head(angles.sine);
  const std::vector<Dim> apart = angles.interleaved
                                     ? std::vector<Dim>{shape[0], shape[1], shape[2], half, 2}
                                     : std::vector<Dim>{shape[0], shape[1], shape[2], 2, half};
  const std::int64_t axis = angles.interleaved ? 4 : 3;
  const Expr pairs = node.Typed(ReshapeTo(node.extents(), x, apart));
  const Expr a = ElementAlong(pairs, 0, axis), b = ElementAlong(pairs, 1, axis);
  const Expr first = ops::Subtract(ops::Multiply(a, cosine), ops::Multiply(b, sine));
  const Expr second = ops::Add(ops::Multiply(a, sine), ops::Multiply(b, cosine));
  const Expr turned = node.Typed(ops::Stack({node.Typed(first), node.Typed(second)}, axis));
  return node.Typed(ReshapeTo(node.extents(), turned, shape));
}

}  // namespace

Expr Rotated(const Node& node, const Expr& x, const Angles& angles, std::int64_t size,
             std::int64_t turned) {
  const std::vector<Dim> shape = DimsOf(x), table = DimsOf(angles.cosine);
  if (shape.size() != 3 && shape.size() != 4)
    throw InvalidArgument("the input must have rank 3 or 4");
  const Dim &last = shape.back(), angle_count = table.empty() ? Dim() : table.back();
  if (table.size() != 3 || DimsOf(angles.sine) != table || !last.is_static() ||
      !angle_count.is_static())
    throw InvalidArgument(StrCat("the cosines and sines have the shapes ", ir::ToText(table),
                                 " and ", ir::ToText(DimsOf(angles.sine)),
                                 "; both must be (batch, length, angles)"));
  if (turned != 2 * angle_count.value() || turned > size || size <= 0 || last.value() % size != 0)
    throw InvalidArgument(StrCat("heads of ", size, " elements, of which ", turned,
                                 " are turned, do not fit the caches of ", angle_count.value(),
                                 " angles"));
  const bool by_heads = shape.size() == 4;
  const Expr heads = by_heads
                         ? node.Typed(ops::Transpose(x, Ints{0, 2, 1, 3}))
                         : node.Typed(ReshapeTo(node.extents(), x,
                                                {shape[0], shape[1], last.value() / size, size}));
  Expr y;
  if (turned == size) {
    y = WhollyRotated(node, heads, angles);
  } else if (turned == 0) {
    y = heads;
  } else {
    const std::vector<Expr> parts = PartsAlong(node, heads, {turned}, 3);
    y = node.Typed(ops::Concatenate({WhollyRotated(node, parts[0], angles), parts[1]}, 3));
  }
  if (by_heads) return node.Typed(ops::Transpose(y, Ints{0, 2, 1, 3}));
  return node.Typed(ReshapeTo(node.extents(), y, shape));
}

}  // namespace tenon::onnx_import
