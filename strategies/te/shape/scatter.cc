// Operators that write elements by index. A library function copies the data and then writes one
// update after the other. The places of the updates are computed before, as offsets. What is out of
// range is dropped, and a negative index counts from the end. Updates run in order, so the last of
// several to one element counts.
#include "tenon/strategies/te/shape/scatter.h"

#include <functional>
#include <limits>

#include "tenon/jit/library_functions.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/empty.h"
#include "tenon/strategies/te/index_value.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::int64_t ModeOf(const std::string& mode) {
  if (mode == "update") return 0;
  if (mode == "add") return 1;
  if (mode == "mul") return 2;
  return mode == "min" ? 3 : 4;
}

Tensor WithOtherSign(const Tensor& x) {
  const Expr sign = loop::IntImm(x.dtype(), std::numeric_limits<std::int64_t>::min());
  return te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        return loop::Binary(loop::BinaryOp::kBitXor, x[ToExprs(i)], sign);
      },
      "other_sign");
}

// The place, or -1 if `at` is out of range; then `inside` becomes false.
Expr Placed(const Expr& index, const Expr& extent, Expr* inside) {
  const Expr given = IndexValue(index);
  const Expr at = te::Select(given < Expr(0), given + extent, given);
  *inside = *inside && at >= Expr(0) && at < extent;
  return at;
}

std::vector<Tensor> ScatterElements(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ScatterElementsAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& indices = call.input(1);
  const std::vector<Expr>& extents = indices.shape();
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  if (IsEmpty(extents) || IsEmpty(x.shape())) return Unchanged(call);
  const Tensor offsets = te::Compute(
      {ProductOf(extents)},
      [&](const Var& k) {
        std::vector<Expr> at = Unflatten(k, extents);
        Expr inside = loop::True();
        at[axis] = Placed(indices[at], x.shape()[axis], &inside);
        return te::Select(inside, Flatten(at, x.shape()), Expr(-1));
      },
      "offsets");
  return {Scatter(attrs.reduction, x, call.input(2), offsets, 1, call.dtype())};
}

std::vector<Tensor> ScatterND(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor& indices = call.input(1);
  const auto length = static_cast<std::size_t>(ExtentOf(indices, 0));
  const std::vector<Expr> tuples(indices.shape().begin() + 1, indices.shape().end());
  if (IsEmpty(tuples) || IsEmpty(x.shape())) return Unchanged(call);
  const Tensor offsets = te::Compute(
      {ProductOf(tuples)},
      [&](const Var& k) {
        Expr inside = loop::True();
        Expr offset = 0;
        for (std::size_t d = 0; d < length; ++d) {
          std::vector<Expr> from = Unflatten(k, tuples);
          from.insert(from.begin(), Expr(static_cast<std::int64_t>(d)));
          offset = offset * x.shape()[d] + Placed(indices[from], x.shape()[d], &inside);
        }
        return te::Select(inside, offset, Expr(-1));
      },
      "offsets");
  const Expr row =
      ProductOf({x.shape().begin() + static_cast<std::ptrdiff_t>(length), x.shape().end()});
  return {Scatter(call.attrs.As<ops::ScatterNDAttrs>().mode, x, call.input(2), offsets, row,
                  call.dtype())};
}

// If the input is not a permutation, the result is 0 where no element points.
std::vector<Tensor> InvertPermutation(const TeCall& call) {
  const Tensor& p = call.input(0);
  const std::int64_t n = ExtentOf(p, 0);
  const auto vector = [&](DataType dtype, const char* name,
                          const std::function<Expr(const Var&)>& f) {
    return te::Compute(
        {n}, [&](const Var& i) { return te::Cast(dtype, f(i)); }, name);
  };
  if (n == 0) return Unchanged(call);
  const Tensor offsets = vector(Int64, "offsets", [&](const Var& i) {
    const Expr at = IndexValue(p(i));
    return te::Select(at >= Expr(0) && at < Expr(n), at, Expr(-1));
  });
  const Tensor zeros = vector(p.dtype(), "zeros", [](const Var&) { return Expr(0); });
  const Tensor numbers = vector(p.dtype(), "numbers", [](const Var& i) { return Expr(i); });
  return {Scatter("update", zeros, numbers, offsets, 1, call.dtype())};
}

}  // namespace

std::vector<Tensor> Unchanged(const TeCall& call) {
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return call.input(0)[ToExprs(i)]; },
      "unchanged")};
}

std::pair<DataType, std::int64_t> JoinedIn(DataType type) {
  if (type == Float64) return {Float64, 1};
  if (type.is_float()) return {Float32, 0};
  return type.bits() < 32 || type == Int32 ? std::pair(Int32, std::int64_t{2})
                                           : std::pair(Int64, std::int64_t{3});
}

Tensor Scatter(const std::string& mode, const Tensor& x, const Tensor& updates,
               const Tensor& offsets, const Expr& row, DataType result) {
  const std::int64_t kind = ModeOf(mode);
  const auto [wide, number] =
      kind == 0 ? std::pair(x.dtype(), static_cast<std::int64_t>(x.dtype().bytes()))
                : JoinedIn(x.dtype());
  const std::int64_t type = number;
  // The order of uint64 is that of int64 with the other sign.
  const bool turns_sign = x.dtype() == UInt64 && (mode == "min" || mode == "max");
  const auto operand = [&, wide = wide](const Tensor& tensor) {
    return AsType(turns_sign ? WithOtherSign(tensor) : tensor, wide);
  };
  const Tensor scattered = te::Extern(
      {x.shape()}, {operand(x), offsets, operand(updates)}, {wide},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::ScatterFunction(),
                              {in[0], in[1], in[2], out[0], ProductOf(x.shape()),
                               offsets.shape()[0], row, Expr(type), Expr(kind)});
      },
      "scatter")[0];
  return turns_sign ? WithOtherSign(AsType(scattered, result)) : AsType(scattered, result);
}

void AttachScatterComputes(ops::OpRegistry& registry) {
  registry.Definition("scatter_elements").SetColumn(TeCompute{ScatterElements});
  registry.Definition("scatter_nd").SetColumn(TeCompute{ScatterND});
  registry.Definition("invert_permutation").SetColumn(TeCompute{InvertPermutation});
}

}  // namespace tenon::strategies
