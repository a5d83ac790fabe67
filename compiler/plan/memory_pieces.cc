// The body is evaluated from its arguments on with pieces as values. A slice is contiguous when it
// takes single positions of the leading axes, consecutive ones of one axis and the whole of all
// others.
#include "tenon/compiler/plan/memory_pieces.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/ops/transform_attrs.h"

namespace tenon::compiler {
namespace {

using ir::CallNode;
using ir::Expr;

using Results = std::vector<Pieces>;

std::int64_t Count(const Shape& shape, std::size_t begin, std::size_t end) {
  return NumElements(Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                           shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

// Adds a piece; one that goes on where the last one ends makes that one longer.
void Append(Pieces* pieces, const Piece& piece) {
  if (!pieces->empty()) {
    Piece& last = pieces->back();
    if (last.input == piece.input && last.begin + last.count == piece.begin) {
      last.count += piece.count;
      return;
    }
  }
  pieces->push_back(piece);
}

Pieces Cut(const Pieces& whole, std::int64_t begin, std::int64_t count) {
  Pieces cut;
  for (const Piece& piece : whole) {
    const std::int64_t first = std::max<std::int64_t>(begin, 0);
    const std::int64_t last = std::min(begin + count, piece.count);
    if (first < last) Append(&cut, {piece.input, piece.begin + first, last - first});
    begin -= piece.count;
  }
  return cut;
}

std::optional<Shape> ShapeOf(const Expr& e) {
  if (!ir::IsStaticTensor(e.checked_type())) return std::nullopt;
  return ir::StaticShape(e.checked_type(), "a piece");
}

std::optional<Results> CutSlice(const CallNode& call, const Pieces& whole, const Shape& shape) {
  const std::vector<ops::SliceRange> ranges =
      ops::SliceRanges(call.attrs.As<ops::StridedSliceAttrs>(), shape);
  std::size_t axis = 0;
  std::int64_t begin = 0, stride = NumElements(shape), count = 1;
  for (; axis < shape.size() && ranges[axis].extent == 1; ++axis) {
    stride /= shape[axis];
    begin += ranges[axis].begin * stride;
  }
  if (axis < shape.size()) {
    if (ranges[axis].stride != 1 || ranges[axis].extent == 0) return std::nullopt;
    stride /= shape[axis];
    begin += ranges[axis].begin * stride;
    count = ranges[axis].extent;
    while (++axis < shape.size()) {
      if (ranges[axis].extent != shape[axis] || ranges[axis].stride != 1) return std::nullopt;
    }
  }
  return Results{Cut(whole, begin, count * stride)};
}

std::optional<Results> CutParts(const CallNode& call, const Pieces& whole, const Shape& shape) {
  const auto& attrs = call.attrs.As<ops::SplitAttrs>();
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, shape.size()));
  if (Count(shape, 0, axis) != 1) return std::nullopt;
  const std::int64_t stride = Count(shape, axis + 1, shape.size());
  Results parts;
  for (const auto& [first, extent] : ops::SplitParts(attrs, shape[axis]))
    parts.push_back(Cut(whole, first * stride, extent * stride));
  return parts;
}

// The fields one after the other, when nothing comes before `axis` in the result.
std::optional<Results> Join(const Results& fields, std::int64_t axis, const Shape& result) {
  const auto outer = static_cast<std::size_t>(ops::NormalAxis(axis, result.size()));
  if (Count(result, 0, outer) != 1) return std::nullopt;
  Pieces joined;
  for (const Pieces& field : fields) {
    for (const Piece& piece : field) Append(&joined, piece);
  }
  return Results{joined};
}

std::optional<Results> OfCall(const Expr& e, const CallNode& call, const Results& argument) {
  const ops::KnownOps& known = ops::Known();
  const std::optional<Shape> result = ShapeOf(e);
  const std::optional<Shape> shape = ShapeOf(call.args[0]);
  if (call.callee == known.concatenate && result)
    return Join(argument, call.attrs.As<ops::ConcatenateAttrs>().axis, *result);
  if (call.callee == known.stack && result)
    return Join(argument, call.attrs.As<ops::StackAttrs>().axis, *result);
  if (argument.size() != 1 || !shape) return std::nullopt;
  if (call.callee == known.strided_slice) return CutSlice(call, argument[0], *shape);
  if (call.callee == known.split) return CutParts(call, argument[0], *shape);
  if (call.op() != nullptr && ops::OpOf(call)->reshape_only) return argument;
  return std::nullopt;
}

}  // namespace

std::vector<Pieces> PiecesOf(const ir::FunctionNode& function) {
  std::unordered_map<Expr, Results, ir::ExprHash> values;
  std::size_t inputs = 0;
  for (const Expr& param : function.params) {
    Results& value = values[param];
    for (const ir::Type& type : Flatten(param.checked_type())) {
      if (!ir::IsStaticTensor(type)) return {};
      value.push_back({{inputs++, 0, NumElements(ir::StaticShape(type, "a parameter"))}});
    }
  }
  bool is_known = true;
  ir::VisitPostOrder(
      function.body,
      [&](const Expr& e) {
        if (!is_known || values.contains(e) || e.kind() == ir::ExprKind::kOp) return;
        std::optional<Results> value;
        if (const auto* tuple = e.As<ir::TupleNode>()) {
          value.emplace();
          for (const Expr& field : tuple->fields) {
            const Results& inner = values.at(field);
            value->insert(value->end(), inner.begin(), inner.end());
          }
        } else if (const auto* item = e.As<ir::TupleGetItemNode>()) {
          const auto [begin, count] = LeavesOfField(item->tuple.checked_type(), item->index);
          const auto first = values.at(item->tuple).begin() + static_cast<std::ptrdiff_t>(begin);
          value.emplace(first, first + static_cast<std::ptrdiff_t>(count));
        } else if (const auto* call = e.As<CallNode>(); call != nullptr && !call->args.empty()) {
          value = OfCall(e, *call, values.at(call->args[0]));
        }
        is_known = value.has_value();
        if (is_known) values.emplace(e, std::move(*value));
      },
      [&](const Expr& e) { return is_known && e.kind() != ir::ExprKind::kFunction; });
  return is_known ? values.at(function.body) : Results();
}

bool IsView(const std::vector<Pieces>& results) {
  return !results.empty() && std::all_of(results.begin(), results.end(), [&](const Pieces& pieces) {
    return pieces.size() == 1 && pieces[0].input == results[0][0].input;
  });
}

}  // namespace tenon::compiler
