// Keys of one of two types are laid out row by row, and a library function finds the order.
#include "tenon/strategies/te/sort/order.h"

#include <limits>

#include "tenon/jit/library_functions.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// A key in float64 or int64 with the order of `value`.
Expr Key(const Expr& value) {
  const DataType type = value.dtype();
  if (type.is_float())
    return te::Cast(Float64, type.bits() == 16 ? te::Cast(Float32, value) : value);
  const Expr key = te::Cast(Int64, value);
  if (!type.is_uint() || type.bits() < 64) return key;
  const Expr sign = loop::IntImm(Int64, std::numeric_limits<std::int64_t>::min());
  return loop::Binary(loop::BinaryOp::kBitXor, key, sign);
}

}  // namespace

Tensor StableOrder(const Expr& rows, const Expr& extent,
                   const std::function<Expr(const Expr& row, const Expr& at)>& key, bool descends,
                   const std::optional<Expr>& limit) {
  const Tensor keys = te::Compute(
      {rows, extent}, [&](const Var& row, const Var& at) { return Key(key(row, at)); }, "keys");
  return te::Extern(
      {{rows, limit.value_or(extent)}, {Expr(4) * extent}}, {keys}, {Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        const auto number = [](std::int64_t n) { return loop::IntImm(Int64, n); };
        return te::ExternCall(jit::ArgsortFunction(),
                              {in[0], out[0], out[1], rows, extent, limit.value_or(extent),
                               number(keys.dtype().is_float() ? 1 : 0), number(descends ? 1 : 0)});
      },
      "order")[0];
}

Tensor KeysOfSlices(const Tensor& x) {
  const std::vector<Expr> inner(x.shape().begin() + 1, x.shape().end());
  return te::Compute(
      {x.shape()[0], ProductOf(inner)},
      [&](const Var& row, const Var& at) {
        std::vector<Expr> index = Unflatten(at, inner);
        index.insert(index.begin(), row);
        return Key(x[index]);
      },
      "keys", te::Stored{});
}

Tensor StableOrderOfRows(const Tensor& keys) {
  const Expr &n = keys.shape()[0], &width = keys.shape()[1];
  return te::Extern(
      {{Expr(1), n}, {n}}, {keys}, {Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::ArgsortSlicesFunction(),
                              {in[0], out[0], out[1], n, width,
                               loop::IntImm(Int64, keys.dtype().is_float() ? 1 : 0)});
      },
      "order")[0];
}

Compacted::Compacted(std::int64_t rows, std::int64_t extent,
                     const std::function<Expr(const Expr& row, const Expr& at)>& has_flag) {
  order = StableOrder(
      rows, extent,
      [&](const Expr& row, const Expr& at) {
        return te::Select(has_flag(row, at), Expr(0), Expr(1));
      },
      false);
  const te::IterVar at = te::ReduceAxis(0, extent, "at");
  kept = te::Compute(
      {rows},
      [&](const Var& row) {
        return te::Sum(te::Select(has_flag(row, at.var), Expr(1), Expr(0)), {at});
      },
      "kept", te::Stored{});
}

}  // namespace tenon::strategies
