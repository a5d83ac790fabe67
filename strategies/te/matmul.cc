// Matrix products. Large ones are summed up in register tiles from a packed right operand, whose
// columns lie together panel by panel; small ones are plain sums.
#include <algorithm>
#include <functional>
#include <map>

#include "tenon/jit/cpu_features.h"
#include "tenon/ops/einsum_rules.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// Fewer rows do not pay for packing the right operand, which costs more across its rows and nothing
// when it is constant.
constexpr std::int64_t kLeastRows = 8;
constexpr std::int64_t kLeastRowsTransposed = 32;
constexpr std::int64_t kLeastRowsConstant = 4;

std::int64_t LeastRows(const TeCall& call, bool transpose_b) {
  if (call.IsConstant(1)) return kLeastRowsConstant;
  return transpose_b ? kLeastRowsTransposed : kLeastRows;
}

// An element of a matrix in a batch, at (batch, row, column).
using ReadMatrix = std::function<Expr(const std::vector<Expr>&, const Expr&, const Expr&)>;

struct Product {
  Shape batch;
  std::int64_t rows, columns, depth;
  DataType dtype;
  ReadMatrix left, right;       // (batch, row, depth) and (batch, depth, column)
  std::int64_t least_rows;      // that pay for packing the right operand
  std::vector<bool> right_has;  // for each batch axis, whether the right operand differs along it
  std::function<Tensor(const Tensor&)> prepared;  // see TeCall
  // Products that one instruction adds up, of operands as they are; 1 where there is none.
  std::int64_t group = 1;
  // Whether the left operand lies in memory along its rows.
  bool left_in_rows = false;
};

std::int64_t DotGroup(const Tensor& a, const Tensor& b, DataType sum) {
  const jit::CpuFeatures host = jit::CpuFeatures::Host();
  const DataType left = a.dtype();
  const DataType right = b.dtype();
  const bool bytes = left == UInt8 && right == Int8 && sum == Int32 && host.Has("avx512vnni");
  const bool halves =
      left == BFloat16 && right == BFloat16 && sum == Float32 && host.Has("avx512bf16");
  return bytes ? 4 : halves ? 2 : 1;
}

struct TileShape {
  std::int64_t rows, vectors;
};

// 16 sums hide the latency of the multiply-add; of the shapes with so many the one that covers the
// columns with the least waste, then the widest.
TileShape ChooseTile(std::int64_t columns, std::int64_t lanes) {
  constexpr TileShape kShapes[] = {{4, 4}, {6, 3}, {8, 2}, {14, 1}};
  const auto covered = [&](const TileShape& tile) {
    return RoundUp(columns, tile.vectors * lanes);
  };
  return *std::min_element(
      std::begin(kShapes), std::end(kShapes),
      [&](const TileShape& a, const TileShape& b) { return covered(a) < covered(b); });
}

Tensor PlainProduct(const Product& product, const std::vector<Expr>& shape) {
  const IterVar k = te::ReduceAxis(0, product.depth, "k");
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> batch(i.begin(), i.end() - 2);
        return te::Sum(te::Cast(product.dtype, product.left(batch, i[i.size() - 2], k.var)) *
                           te::Cast(product.dtype, product.right(batch, k.var, i.back())),
                       {k});
      },
      "matmul", "matmul");
}

// The left operand as (batch..., row, depth); past the last product of a group zeros.
Tensor PackLeft(const Product& product) {
  std::vector<Expr> shape = ToExprs(product.batch);
  shape.emplace_back(product.rows);
  shape.emplace_back(RoundUp(product.depth, product.group));
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> batch(i.begin(), i.end() - 2);
        const Expr value = product.left(batch, i[i.size() - 2], i.back());
        if (product.depth % product.group == 0) return value;
        return te::IfThenElse(i.back() < Expr(product.depth), value, te::Cast(value.dtype(), 0));
      },
      "rows", kPacked);
}

// The right operand as (batch..., panel, depth, column of the panel); past the last column zeros.
Tensor PackRight(const Product& product, std::int64_t width) {
  std::vector<Expr> shape;
  for (std::size_t d = 0; d < product.batch.size(); ++d) {
    if (product.right_has[d]) shape.emplace_back(product.batch[d]);
  }
  shape.emplace_back(CeilDiv(product.columns, width));
  shape.emplace_back(CeilDiv(product.depth, product.group));
  shape.emplace_back(width);
  if (product.group > 1) shape.emplace_back(product.group);
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> batch;
        std::size_t next = 0;
        for (const bool has : product.right_has) batch.push_back(has ? Expr(i[next++]) : Expr(0));
        const Expr column = i[next] * width + i[next + 2];
        const Expr depth =
            product.group == 1 ? Expr(i[next + 1]) : i[next + 1] * product.group + i[next + 3];
        Expr value = product.right(batch, depth, column);
        if (product.group == 1) value = te::Cast(product.dtype, value);
        const bool ragged = product.depth % product.group != 0;
        if (product.columns % width == 0 && !ragged) return value;
        Expr inside = column < Expr(product.columns);
        if (ragged) inside = inside && depth < Expr(product.depth);
        return te::IfThenElse(inside, value, te::Cast(value.dtype(), 0));
      },
      "packed", kPacked);
}

Tensor TiledProduct(const Product& product, const std::vector<Expr>& shape) {
  const std::int64_t lanes = VectorLanes(product.dtype.bytes());
  const TileShape tile = ChooseTile(product.columns, lanes);
  const std::int64_t width = tile.vectors * lanes;
  const Tensor packed = product.prepared(PackRight(product, width));
  const std::size_t rank = product.batch.size();
  const IterVar k = te::ReduceAxis(0, CeilDiv(product.depth, product.group), "k");
  const IterVar g = te::ReduceAxis(0, product.group, "g");
  const bool dots = product.group > 1;
  const bool in_place = !dots || (product.left_in_rows && product.depth % product.group == 0);
  const Tensor rows = in_place ? Tensor() : PackLeft(product);
  std::vector<Expr> tiles(shape.begin(), shape.end() - 2);
  for (const std::int64_t extent :
       {CeilDiv(product.columns, width), CeilDiv(product.rows, tile.rows), tile.rows, tile.vectors,
        lanes})
    tiles.emplace_back(extent);
  const Tensor sums = te::Compute(
      tiles,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> batch(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(rank));
        Expr row = i[rank + 1] * tile.rows + i[rank + 2];
        // Rows past the last one are computed from it and dropped.
        if (product.rows % tile.rows != 0) row = te::Min(row, product.rows - 1);
        std::vector<Expr> at;
        for (std::size_t d = 0; d < rank; ++d) {
          if (product.right_has[d]) at.push_back(batch[d]);
        }
        at.insert(at.end(), {i[rank], k.var, i[rank + 3] * lanes + i[rank + 4]});
        if (dots) at.emplace_back(g.var);
        const Expr depth = dots ? k.var * product.group + g.var : Expr(k.var);
        std::vector<Expr> left_at = batch;
        left_at.insert(left_at.end(), {row, depth});
        const Expr left = in_place ? product.left(batch, row, depth) : rows[left_at];
        return te::Sum(te::Cast(product.dtype, left) * te::Cast(product.dtype, packed[at]),
                       dots ? std::vector<IterVar>{k, g} : std::vector<IterVar>{k});
      },
      "matmul", dots ? kDotTile : kRegisterTile);
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(rank));
        const Expr& row = i[rank];
        const Expr& column = i[rank + 1];
        at.insert(at.end(),
                  {te::FloorDiv(column, width), te::FloorDiv(row, tile.rows),
                   te::FloorMod(row, tile.rows), te::FloorDiv(te::FloorMod(column, width), lanes),
                   te::FloorMod(column, lanes)});
        return sums[at];
      },
      "matmul", "injective");
}

std::vector<Tensor> Multiply(const Product& product, const std::vector<Expr>& shape) {
  const std::int64_t lanes = VectorLanes(product.dtype.bytes());
  const bool tiled =
      product.dtype.bytes() >= 4 && product.rows >= product.least_rows &&
      product.columns >= lanes && product.depth > 0 &&
      std::find(product.batch.begin(), product.batch.end(), 0) == product.batch.end();
  return {tiled ? TiledProduct(product, shape) : PlainProduct(product, shape)};
}

// One matrix or, on the left, a batch of them by one matrix.
std::vector<Tensor> Matmul(const TeCall& call, bool transpose_a, bool transpose_b) {
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const std::size_t rank = a.ndim();
  const Shape shape = call.shape();
  if (rank < 2) {
    const IterVar k = te::ReduceAxis(0, a.shape()[0], "k");
    const DataType dtype = call.dtype();
    return {te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) {
          const Expr b_value = transpose_b ? b(i[0], k.var) : b(k.var, i[0]);
          return te::Sum(te::Cast(dtype, a(k.var)) * te::Cast(dtype, b_value), {k});
        },
        "matmul", "matmul")};
  }
  const Shape batch(shape.begin(), shape.end() - 2);
  return Multiply(
      {.batch = batch,
       .rows = shape[rank - 2],
       .columns = shape[rank - 1],
       .depth = ExtentOf(a, transpose_a ? rank - 2 : rank - 1),
       .dtype = call.dtype(),
       .left =
           [&](const std::vector<Expr>& at, const Expr& row, const Expr& k) {
             std::vector<Expr> indices = at;
             indices.push_back(transpose_a ? k : row);
             indices.push_back(transpose_a ? row : k);
             return a[indices];
           },
       .right = [&](const std::vector<Expr>&, const Expr& k,
                    const Expr& column) { return transpose_b ? b(column, k) : b(k, column); },
       .least_rows = LeastRows(call, transpose_b),
       .right_has = std::vector<bool>(batch.size(), false),
       .prepared = [&](const Tensor& packed) { return call.Prepared(packed); },
       .group = DotGroup(a, b, call.dtype()),
       .left_in_rows = !transpose_a && a.op()->is_placeholder()},
      call.te_shape());
}

std::vector<Tensor> BatchMatmul(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::BatchMatmulAttrs>();
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const Shape shape = call.shape();
  const bool a_shared = ExtentOf(a, 0) == 1;
  const bool b_shared = ExtentOf(b, 0) == 1;
  return Multiply({.batch = {shape[0]},
                   .rows = shape[1],
                   .columns = shape[2],
                   .depth = ExtentOf(a, attrs.transpose_a ? 1 : 2),
                   .dtype = call.dtype(),
                   .left =
                       [&](const std::vector<Expr>& at, const Expr& row, const Expr& k) {
                         const Expr batch = a_shared ? Expr(0) : at[0];
                         return attrs.transpose_a ? a(batch, k, row) : a(batch, row, k);
                       },
                   .right =
                       [&](const std::vector<Expr>& at, const Expr& k, const Expr& column) {
                         const Expr batch = b_shared ? Expr(0) : at[0];
                         return attrs.transpose_b ? b(batch, column, k) : b(batch, k, column);
                       },
                   .least_rows = LeastRows(call, attrs.transpose_b),
                   .right_has = {!b_shared},
                   .prepared = [&](const Tensor& packed) { return call.Prepared(packed); },
                   .group = DotGroup(a, b, call.dtype()),
                   .left_in_rows = !attrs.transpose_a && a.op()->is_placeholder()},
                  call.te_shape());
}

// One sum over all labels that the result lacks.
std::vector<Tensor> Einsum(const TeCall& call) {
  std::vector<std::size_t> ranks;
  for (const Tensor& x : call.inputs) ranks.push_back(x.ndim());
  const ops::EinsumAxes axes = ops::ParseEinsum(call.attrs.As<ops::EinsumAttrs>().equation, ranks);
  std::map<int, std::int64_t> extents;
  for (std::size_t k = 0; k < ranks.size(); ++k)
    for (std::size_t d = 0; d < ranks[k]; ++d) {
      std::int64_t& extent = extents.emplace(axes.operands[k][d], 1).first->second;
      if (extent == 1) extent = ExtentOf(call.input(k), d);
    }
  std::vector<IterVar> summed;
  for (const int label : axes.summed)
    summed.push_back(te::ReduceAxis(0, extents.at(label), StrCat("k", summed.size())));
  const auto product = [&](const std::vector<Var>& i) {
    std::map<int, Expr> at;
    for (std::size_t d = 0; d < i.size(); ++d) at.emplace(axes.result[d], i[d]);
    for (std::size_t d = 0; d < summed.size(); ++d) at.emplace(axes.summed[d], summed[d].var);
    Expr all;
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      std::vector<Expr> from;
      for (std::size_t d = 0; d < ranks[k]; ++d)
        from.push_back(ExtentOf(call.input(k), d) == 1 ? Expr(0) : at.at(axes.operands[k][d]));
      const Expr factor = call.input(k)[from];
      all = k == 0 ? factor : all * factor;
    }
    return all;
  };
  if (summed.empty()) return {te::Compute(call.te_shape(), product, "einsum", "injective")};
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return te::Sum(product(i), summed); },
      "einsum", "comm_reduce")};
}

}  // namespace

void AttachMatmulComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.dense").SetColumn(TeCompute{[](const TeCall& call) {
    return Matmul(call, false, true);
  }});
  registry.Definition("nn.matmul").SetColumn(TeCompute{[](const TeCall& call) {
    const auto& attrs = call.attrs.As<ops::MatmulAttrs>();
    return Matmul(call, attrs.transpose_a, attrs.transpose_b);
  }});
  registry.Definition("nn.batch_matmul").SetColumn(TeCompute{BatchMatmul});
  registry.Definition("einsum").SetColumn(TeCompute{Einsum});
}

}  // namespace tenon::strategies
