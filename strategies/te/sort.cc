// Operators that order elements: keys of one of two types are laid out row by row, a library
// function finds the order, and the results read by it.
#include <limits>

#include "tenon/jit/library_functions.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/ops/sort_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

struct Rows {
  std::size_t axis;
  std::int64_t count, extent;
  Shape others;  // without the axis

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
            .others = ShapeOf(x)};
  rows.extent = rows.others[rows.axis];
  rows.others.erase(rows.others.begin() + static_cast<std::ptrdiff_t>(rows.axis));
  rows.count = NumElements(rows.others);
  return rows;
}

// float64 or int64 in the order of `value`.
Expr Key(const Expr& value) {
  const DataType type = value.dtype();
  if (type.is_float())
    return te::Cast(Float64, type.bits() == 16 ? te::Cast(Float32, value) : value);
  const Expr key = te::Cast(Int64, value);
  if (!type.is_uint() || type.bits() < 64) return key;
  const Expr sign = loop::IntImm(Int64, std::numeric_limits<std::int64_t>::min());
  return loop::Binary(loop::BinaryOp::kBitXor, key, sign);
}

// (row, rank) -> the place of the element of that rank along the axis.
Tensor Order(const Tensor& x, const Rows& rows, bool descends) {
  const Tensor keys = te::Compute(
      {rows.count, rows.extent},
      [&](const Var& row, const Var& at) { return Key(x[rows.At(row, at)]); }, "keys", "injective");
  return te::Extern(
      {{rows.count, rows.extent}, {rows.extent}}, {keys}, {Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        const auto number = [](std::int64_t n) { return loop::IntImm(Int64, n); };
        return te::ExternCall(jit::ArgsortFunction(),
                              {in[0], out[0], out[1], number(rows.count), number(rows.extent),
                               number(x.dtype().is_float() ? 1 : 0), number(descends ? 1 : 0)});
      },
      "order")[0];
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
        "sorted", "injective");
  }
  Tensor Indices(const std::vector<Expr>& shape, DataType dtype) const {
    return te::Compute(
        shape,
        [&](const std::vector<Var>& i) {
          return te::Cast(dtype, order(rows.RowOf(ToExprs(i)), i[rows.axis]));
        },
        "indices", "injective");
  }
};

// Of a tensor with elements.
Ranking Rank(const Tensor& x, std::int64_t axis, bool ascends) {
  const Rows rows = RowsOf(x, axis);
  return {x, Order(x, rows, !ascends), rows};
}

Tensor Nothing(const std::vector<Expr>& shape, DataType dtype) {
  return te::Compute(
      shape, [&](const std::vector<Var>&) { return te::Cast(dtype, 0); }, "nothing", "elemwise");
}

std::vector<Tensor> TopK(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::TopKAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<Expr> shape = call.te_shape();
  const DataType index_type = attrs.dtype.is_void() ? Int32 : attrs.dtype;
  const bool values = attrs.ret_type != "indices";
  const bool indices = attrs.ret_type != "values";
  std::vector<Tensor> results;
  if (NumElements(call.shape()) == 0) {
    if (values) results.push_back(Nothing(shape, x.dtype()));
    if (indices) results.push_back(Nothing(shape, index_type));
    return results;
  }
  const Ranking ranking = Rank(x, attrs.axis, attrs.is_ascend);
  if (values) results.push_back(ranking.Values(shape));
  if (indices) results.push_back(ranking.Indices(shape, index_type));
  return results;
}

std::vector<Tensor> Sort(const TeCall& call, bool wants_indices) {
  const auto& attrs = call.attrs.As<ops::ArgsortAttrs>();
  const std::vector<Expr> shape = call.te_shape();
  if (NumElements(call.shape()) == 0) return {Nothing(shape, call.dtype())};
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
