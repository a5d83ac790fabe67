// Operators that order elements. Results read the elements by the order that is found.
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/empty.h"
#include "tenon/strategies/te/sort/order.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

struct Rows {
  std::size_t axis;
  Expr count, extent;
  std::vector<Expr> others;  // without the axis

  // The position of element `at` of row `row`.
  std::vector<Expr> At(const Expr& row, const Expr& at) const {
    std::vector<Expr> index = Unflatten(row, others);
    index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis), at);
    return index;
  }
  // The row of a position.
  Expr RowOf(const std::vector<Expr>& index) const {
    Expr row = 0;
    std::size_t next = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (d != axis) row = row * others[next++] + index[d];
    }
    return row;
  }
};

Rows RowsOf(const Tensor& x, std::int64_t axis) {
  Rows rows{.axis = static_cast<std::size_t>(ops::NormalAxis(axis, x.ndim())),
            .count = 1,
            .extent = 0,
            .others = x.shape()};
  rows.extent = rows.others[rows.axis];
  rows.others.erase(rows.others.begin() + static_cast<std::ptrdiff_t>(rows.axis));
  rows.count = ProductOf(rows.others);
  return rows;
}

struct Ranking {
  Tensor x, order;
  Rows rows;

  Tensor Values(const std::vector<Expr>& shape) const {
    return te::Compute(
        shape,
        [&](const std::vector<Var>& i) {
          std::vector<Expr> at = ToExprs(i);
          at[rows.axis] = order(rows.RowOf(ToExprs(i)), i[rows.axis]);
          return x[at];
        },
        "sorted");
  }
  Tensor Indices(const std::vector<Expr>& shape, DataType dtype) const {
    return te::Compute(
        shape,
        [&](const std::vector<Var>& i) {
          return te::Cast(dtype, order(rows.RowOf(ToExprs(i)), i[rows.axis]));
        },
        "indices");
  }
};

// Ranks a tensor with elements, the first `limit` ranks or all.
Ranking Rank(const Tensor& x, std::int64_t axis, bool ascends,
             const std::optional<Expr>& limit = std::nullopt) {
  const Rows rows = RowsOf(x, axis);
  const auto key = [&](const Expr& row, const Expr& at) { return x[rows.At(row, at)]; };
  return {x, StableOrder(rows.count, rows.extent, key, !ascends, limit), rows};
}

Tensor Nothing(const std::vector<Expr>& shape, DataType dtype) {
  return te::Compute(
      shape, [&](const std::vector<Var>&) { return te::Cast(dtype, 0); }, "nothing");
}

std::vector<Tensor> TopK(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::TopKAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<Expr> shape = call.te_shape();
  const DataType index_type = attrs.dtype.is_void() ? Int32 : attrs.dtype;
  const bool values = attrs.ret_type != "indices";
  const bool indices = attrs.ret_type != "values";
  std::vector<Tensor> results;
  if (IsEmpty(shape)) {
    if (values) results.push_back(Nothing(shape, x.dtype()));
    if (indices) results.push_back(Nothing(shape, index_type));
    return results;
  }
  const Expr& limit = shape[static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()))];
  const Ranking ranking = Rank(x, attrs.axis, attrs.is_ascend, limit);
  if (values) results.push_back(ranking.Values(shape));
  if (indices) results.push_back(ranking.Indices(shape, index_type));
  return results;
}

std::vector<Tensor> Sort(const TeCall& call, bool wants_indices) {
  const auto& attrs = call.attrs.As<ops::ArgsortAttrs>();
  const std::vector<Expr> shape = call.te_shape();
  if (IsEmpty(shape)) return {Nothing(shape, call.dtype())};
  const Ranking ranking = Rank(call.input(0), attrs.axis, attrs.is_ascend);
  return {wants_indices ? ranking.Indices(shape, call.dtype()) : ranking.Values(shape)};
}

}  // namespace

void AttachSortComputes(ops::OpRegistry& registry) {
  registry.Definition("argsort").SetColumn(
      TeCompute{[](const TeCall& call) { return Sort(call, true); }});
  registry.Definition("sort").SetColumn(
      TeCompute{[](const TeCall& call) { return Sort(call, false); }});
  registry.Definition("topk").SetColumn(TeCompute{TopK});
}

}  // namespace tenon::strategies
