// Each row says, for a place of the result, the place of the operand whose element is there.
#include "tenon/onnx/convert/moved_dims.h"

#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::onnx_import {
namespace {

using ir::Expr;
using Dims = std::vector<Dim>;
// Makes the place of the operand from that of the result.
using Source = std::function<void(const Shape& place, Shape* source)>;

std::size_t AxisOf(std::int64_t axis, const Shape& shape) {
  return static_cast<std::size_t>(ops::NormalAxis(axis, shape.size()));
}

Shape StaticShapeOf(const Expr& e) { return NumbersOf(DimsOf(e)); }

// Nothing where an element would come from outside.
std::optional<Dims> Gathered(const Dims& from, const Shape& from_shape, const Shape& shape,
                             const Source& source) {
  Dims elements;
  const std::int64_t count = NumElements(shape);
  Shape place(shape.size()), at(from_shape.size());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      place[axis] = rest % shape[axis];
    source(place, &at);
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (at[axis] < 0 || at[axis] >= from_shape[axis]) return std::nullopt;
      position = position * from_shape[axis] + at[axis];
    }
    elements.push_back(from[static_cast<std::size_t>(position)]);
  }
  return elements;
}

Source OfSlice(const ir::CallNode& call, const Shape& from) {
  return [ranges = ops::SliceRanges(call.attrs.As<ops::StridedSliceAttrs>(), from)](
             const Shape& place, Shape* at) {
    for (std::size_t i = 0; i < place.size(); ++i)
      (*at)[i] = ranges[i].begin + place[i] * ranges[i].stride;
  };
}

Source OfTranspose(const ir::CallNode& call, const Shape& from) {
  const auto& axes = call.attrs.As<ops::TransposeAttrs>().axes;
  return [axes, from](const Shape& place, Shape* at) {
    for (std::size_t i = 0; i < place.size(); ++i)
      (*at)[axes ? AxisOf((*axes)[i], from) : place.size() - 1 - i] = place[i];
  };
}

Source OfReverse(const ir::CallNode& call, const Shape& from) {
  const std::size_t axis = AxisOf(call.attrs.As<ops::ReverseAttrs>().axis, from);
  return [axis, from](const Shape& place, Shape* at) {
    *at = place;
    (*at)[axis] = from[axis] - 1 - place[axis];
  };
}

Source OfPart(const ops::SplitAttrs& attrs, std::int64_t part, const Shape& from) {
  const std::size_t axis = AxisOf(attrs.axis, from);
  const std::int64_t begin =
      ops::SplitParts(attrs, from[axis])[static_cast<std::size_t>(part)].first;
  return [axis, begin](const Shape& place, Shape* at) {
    *at = place;
    (*at)[axis] += begin;
  };
}

// The elements along an axis that constant indices name.
std::optional<Dims> OfTake(const ir::CallNode& call, const Dims& from, const Dims& indices,
                           const Shape& shape) {
  const auto& attrs = call.attrs.As<ops::TakeAttrs>();
  if (attrs.batch_dims != 0 || !IsStatic(indices)) return std::nullopt;
  Shape from_shape = StaticShapeOf(call.args[0]);
  if (!attrs.axis) from_shape = {static_cast<std::int64_t>(from.size())};
  const std::size_t axis = AxisOf(attrs.axis.value_or(0), from_shape);
  const Shape index_shape = StaticShapeOf(call.args[1]);
  return Gathered(from, from_shape, shape, [&](const Shape& place, Shape* at) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < index_shape.size(); ++i)
      index = index * index_shape[i] + place[axis + i];
    for (std::size_t i = 0; i < at->size(); ++i)
      (*at)[i] = i < axis    ? place[i]
                 : i == axis ? indices[static_cast<std::size_t>(index)].value()
                             : place[i - 1 + index_shape.size()];
  });
}

// Fields one after another along an axis of theirs, or along a new one.
std::optional<Dims> OfFields(const Expr& tuple, std::int64_t outer, const DimsOfOperand& operand) {
  std::vector<const Dims*> fields;
  for (const Expr& field : tuple.As<ir::TupleNode>()->fields) {
    fields.push_back(operand(field));
    if (fields.back() == nullptr) return std::nullopt;
  }
  Dims all;
  for (std::int64_t i = 0; i < outer; ++i) {
    for (const Dims* field : fields) {
      const auto part = static_cast<std::ptrdiff_t>(field->size()) / outer;
      all.insert(all.end(), field->begin() + i * part, field->begin() + (i + 1) * part);
    }
  }
  return all;
}

// How many elements the axes before this one of a result have.
std::int64_t Outer(std::int64_t axis, const Shape& shape) {
  return NumElements(Shape(shape.begin(), shape.begin() + ops::NormalAxis(axis, shape.size())));
}

}  // namespace

std::optional<Dims> MovedDims(const Expr& e, const DimsOfOperand& operand) {
  const auto& known = ops::Known();
  const Shape shape = StaticShapeOf(e);
  const auto* item = e.As<ir::TupleGetItemNode>();
  const auto* call = (item == nullptr ? e : item->tuple).As<ir::CallNode>();
  if (call == nullptr || call->args.empty()) return std::nullopt;
  if (call->callee == known.concatenate || call->callee == known.stack) {
    if (call->args[0].kind() != ir::ExprKind::kTuple) return std::nullopt;
    const std::int64_t axis = call->callee == known.stack
                                  ? call->attrs.As<ops::StackAttrs>().axis
                                  : call->attrs.As<ops::ConcatenateAttrs>().axis;
    return OfFields(call->args[0], Outer(axis, shape), operand);
  }
  const Dims* from = operand(call->args[0]);
  if (from == nullptr) return std::nullopt;
  const bool is_same = call->callee == known.cast || call->callee == known.squeeze ||
                       call->callee == known.expand_dims || call->callee == known.reshape;
  if (is_same) return *from;
  const Shape from_shape = StaticShapeOf(call->args[0]);
  if (item != nullptr) {
    if (!(call->callee == known.split)) return std::nullopt;
    return Gathered(*from, from_shape, shape,
                    OfPart(call->attrs.As<ops::SplitAttrs>(), item->index, from_shape));
  }
  if (call->callee == known.take) {
    const Dims* indices = operand(call->args[1]);
    return indices == nullptr ? std::nullopt : OfTake(*call, *from, *indices, shape);
  }
  using Row = Source (*)(const ir::CallNode&, const Shape&);
  const std::pair<const Expr&, Row> rows[] = {
      {known.strided_slice, OfSlice}, {known.transpose, OfTranspose}, {known.reverse, OfReverse}};
  for (const auto& [op, row] : rows) {
    if (call->callee == op) return Gathered(*from, from_shape, shape, row(*call, from_shape));
  }
  return std::nullopt;
}

}  // namespace tenon::onnx_import
