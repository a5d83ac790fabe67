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
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::compiler {
namespace {

using ir::CallNode;
using ir::Expr;

using Results = std::vector<Pieces>;

using Extents = std::vector<Dim>;

Dim Count(const Extents& shape, std::size_t begin, std::size_t end) {
  Dim count = 1;
  for (std::size_t axis = begin; axis < end; ++axis) count = count * shape[axis];
  return count;
}
Dim Count(const Extents& shape) { return Count(shape, 0, shape.size()); }

bool IsAtMost(const Dim& a, const Dim& b) {
  const std::optional<std::int64_t> room = (b - a).LowerBound();
  return room && *room >= 0;
}

// Adds a piece. If it goes on where the last one ends, it makes that one longer.
void Append(Pieces* pieces, const Piece& piece) {
  if (!pieces->empty()) {
    Piece& last = pieces->back();
    if (last.input == piece.input && last.begin + last.count == piece.begin) {
      last.count = last.count + piece.count;
      return;
    }
  }
  pieces->push_back(piece);
}

// Nothing if variables decide which pieces are cut.
std::optional<Pieces> Cut(const Pieces& whole, Dim begin, const Dim& count) {
  if (count == Dim(0)) return Pieces();
  // If there is one piece, all cuts lie within it.
  if (whole.size() == 1) return Pieces{{whole[0].input, whole[0].begin + begin, count}};
  Pieces cut;
  for (const Piece& piece : whole) {
    const Dim end = begin + count;
    const bool is_before = IsAtMost(piece.count, begin), is_after = IsAtMost(end, 0);
    if (!is_before && !is_after) {
      const Dim first = Max(begin, 0), last = Min(end, piece.count);
      const Dim length = last - first;
      if (!length.is_static() && !IsAtMost(1, length)) return std::nullopt;
      if (!(length == Dim(0))) Append(&cut, {piece.input, piece.begin + first, length});
    }
    begin = begin - piece.count;
  }
  return cut;
}

std::optional<Extents> ShapeOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr || std::any_of(tensor->shape.begin(), tensor->shape.end(),
                                       [](const Dim& dim) { return dim.is_any(); }))
    return std::nullopt;
  return tensor->shape;
}

std::optional<Results> CutSlice(const CallNode& call, const Pieces& whole, const Extents& shape) {
  const std::vector<ops::SliceDims> ranges =
      ops::SliceRanges(call.attrs.As<ops::StridedSliceAttrs>(), shape);
  std::size_t axis = 0;
  Dim begin = 0, count = 1;
  const auto stride = [&] { return Count(shape, axis + 1, shape.size()); };
  for (; axis < shape.size() && ranges[axis].extent == Dim(1); ++axis)
    begin = begin + ranges[axis].begin * stride();
  if (axis < shape.size()) {
    const std::optional<std::int64_t> least = ranges[axis].extent.LowerBound();
    if (ranges[axis].stride != 1 || !least || *least < 1) return std::nullopt;
    begin = begin + ranges[axis].begin * stride();
    count = ranges[axis].extent * stride();
    while (++axis < shape.size()) {
      if (!(ranges[axis].extent == shape[axis]) || ranges[axis].stride != 1) return std::nullopt;
    }
  }
  std::optional<Pieces> cut = Cut(whole, begin, count);
  if (!cut) return std::nullopt;
  return Results{*std::move(cut)};
}

std::optional<Results> CutParts(const Expr& e, const CallNode& call, const Pieces& whole,
                                const Extents& shape) {
  const auto& attrs = call.attrs.As<ops::SplitAttrs>();
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, shape.size()));
  if (!(Count(shape, 0, axis) == Dim(1))) return std::nullopt;
  const Dim stride = Count(shape, axis + 1, shape.size());
  Results parts;
  Dim first = 0;
  for (const ir::Type& part : Flatten(e.checked_type())) {
    const Dim& extent = part.As<ir::TensorTypeNode>()->shape[axis];
    std::optional<Pieces> cut = Cut(whole, first * stride, extent * stride);
    if (!cut) return std::nullopt;
    parts.push_back(*std::move(cut));
    first = first + extent;
  }
  return parts;
}

// Puts the fields one after the other, if nothing comes before `axis` in the result.
std::optional<Results> Join(const Results& fields, std::int64_t axis, const Extents& result) {
  const auto outer = static_cast<std::size_t>(ops::NormalAxis(axis, result.size()));
  if (!(Count(result, 0, outer) == Dim(1))) return std::nullopt;
  Pieces joined;
  for (const Pieces& field : fields) {
    for (const Piece& piece : field) Append(&joined, piece);
  }
  return Results{joined};
}

std::optional<Results> OfCall(const Expr& e, const CallNode& call, const Results& argument) {
  const ops::KnownOps& known = ops::Known();
  const std::optional<Extents> result = ShapeOf(e);
  const std::optional<Extents> shape = ShapeOf(call.args[0]);
  if (call.callee == known.concatenate && result)
    return Join(argument, call.attrs.As<ops::ConcatenateAttrs>().axis, *result);
  if (call.callee == known.stack && result)
    return Join(argument, call.attrs.As<ops::StackAttrs>().axis, *result);
  if (argument.size() != 1 || !shape) return std::nullopt;
  if (call.callee == known.strided_slice) return CutSlice(call, argument[0], *shape);
  if (call.callee == known.split) return CutParts(e, call, argument[0], *shape);
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
      const auto* tensor = type.As<ir::TensorTypeNode>();
      if (tensor == nullptr) return {};
      const Dim count = Count(tensor->shape);
      if (count.is_any()) return {};
      value.push_back({{inputs++, 0, count}});
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
