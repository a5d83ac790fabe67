#include "tenon/passes/expand_run_time_ops.h"

#include <algorithm>
#include <limits>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::TensorTypeNode;

constexpr const char* kArgWhere = "argwhere";
constexpr const char* kFillEmptyRows = "sparse_fill_empty_rows";

bool IsCallOf(const Expr& e, const char* name) {
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->op() != nullptr && call->op()->name == name;
}
bool IsExpanded(const Expr& e) { return IsCallOf(e, kArgWhere) || IsCallOf(e, kFillEmptyRows); }

Expr Call(const Expr& op, std::vector<Expr> args) { return ir::Call::Make(op, std::move(args)); }
Expr Number(std::int64_t value) { return ir::Constant::Make(NDArray::Scalar<std::int64_t>(value)); }
// As take_first has it: one element of rank 1.
Expr TrueOnes(const Expr& flags) {
  return ops::Sum(ops::Cast(flags, Int64), {.axis = ops::Ints{0}, .keepdims = true});
}
// The places of a vector of int64 in rising order, equal elements as they were.
Expr Ordered(const Expr& keys) { return ops::Argsort(keys, {.axis = 0, .dtype = Int64}); }

Expr Extent(const Expr& x, const TensorTypeNode& type, std::size_t axis) {
  if (type.shape[axis].is_static()) return Number(type.shape[axis].value());
  const Expr shape = ops::CallOp("shape_of", {x}, attrs::Attrs::Make(ops::ShapeOfAttrs{Int64}));
  return ops::Take(shape, Number(static_cast<std::int64_t>(axis)), {.axis = 0});
}

// The flat places of the true elements come first in the order, and are taken apart.
Expr ArgWhere(const Expr& x, const TensorTypeNode& type) {
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  const bool is_empty = std::ranges::any_of(
      type.shape, [](const Dim& extent) { return extent.is_static() && extent.value() == 0; });
  if (is_empty) return ir::Constant::Make(NDArray::Empty({0, rank}, Int32));
  const auto& known = ops::Known();
  const Expr flat = ops::Reshape(x, {-1});
  const Expr flags =
      type.dtype.is_bool() ? flat : Call(known.not_equal, {flat, ops::Scalar(0, type.dtype)});
  std::vector<Expr> extents;
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis)
    extents.push_back(Extent(x, type, axis));
  std::vector<Expr> columns =
      ops::CoordinatesOf(Ordered(ops::Cast(Call(known.logical_not, {flags}), Int64)), extents);
  for (Expr& column : columns) column = ops::ExpandDims(column, 1);
  const Expr rows = columns.size() == 1 ? columns[0] : ops::Concatenate(std::move(columns), 1);
  return ops::TakeFirst(ops::Cast(rows, Int32), TrueOnes(flags));
}

// The entries and one more for each row, sorted by rows; those of rows that have entries come last
// and are cut off.
Expr FilledRows(const std::vector<Expr>& args, const TensorTypeNode& indices,
                const TensorTypeNode& values) {
  const auto& known = ops::Known();
  const std::int64_t rank = indices.shape[1].value();
  const Expr row_count = ops::StridedSlice(
      ops::Cast(args[2], Int64), {.begin = {0}, .end = {1}, .strides = {1}, .axes = ops::Ints{0}});
  const Expr rows = ops::CallOp("count_up", {row_count},
                                attrs::Attrs::Make(ops::CountUpAttrs{.needed_by = kFillEmptyRows}));
  const Expr row_of_entry = ops::Take(ops::Cast(args[0], Int64), Number(0), {.axis = 1});
  const Expr none = ops::Multiply(rows, Number(0));
  const Expr one_each = Call(known.equal, {row_of_entry, row_of_entry});
  const Expr has_entries =
      ops::ScatterElements(none, row_of_entry, ops::Cast(one_each, Int64), {.axis = 0});
  const Expr is_empty = Call(known.equal, {has_entries, Number(0)});
  const Expr last = Number(std::numeric_limits<std::int64_t>::max());
  const Expr keys = ops::Concatenate({row_of_entry, ops::Where(is_empty, rows, last)}, 0);
  const Expr order = Ordered(keys);
  const Expr count = TrueOnes(Call(known.not_equal, {keys, last}));
  std::vector<Expr> columns = {ops::ExpandDims(rows, 1)};
  for (std::int64_t i = 1; i < rank; ++i) columns.push_back(ops::ExpandDims(none, 1));
  const Expr added = ops::Cast(
      columns.size() == 1 ? columns[0] : ops::Concatenate(std::move(columns), 1), indices.dtype);
  const Expr filled = ops::Where(Call(known.equal, {rows, rows}), args[3], args[3]);
  const auto sorted = [&](const Expr& entries, const Expr& more) {
    return ops::TakeFirst(ops::Take(ops::Concatenate({entries, more}, 0), order, {.axis = 0}),
                          count);
  };
  return ir::Tuple::Make(
      {sorted(args[0], added), sorted(args[1], ops::Cast(filled, values.dtype)), is_empty});
}

Expr Expanded(const Expr& original, const Expr& rebuilt) {
  if (!IsExpanded(original)) return rebuilt;
  const auto type = [&](std::size_t i) -> const TensorTypeNode& {
    return *original.As<ir::CallNode>()->args[i].checked_type().As<TensorTypeNode>();
  };
  const std::vector<Expr>& args = rebuilt.As<ir::CallNode>()->args;
  return IsCallOf(original, kArgWhere) ? ArgWhere(args[0], type(0))
                                       : FilledRows(args, type(0), type(1));
}

}  // namespace

ir::Module ExpandRunTimeOps(const ir::Module& module) {
  bool has_any = false;
  for (const auto& [name, function] : module.functions())
    ir::VisitPostOrder(function, [&](const Expr& e) { has_any = has_any || IsExpanded(e); });
  if (!has_any) return module;
  return InferType(module).Map(
      [](const Expr& function) { return ir::RewritePostOrder(function, Expanded); });
}

}  // namespace tenon::passes
