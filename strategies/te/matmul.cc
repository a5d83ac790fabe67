// Matrix products (te/product.cc).
#include "tenon/ops/nn_attrs.h"
#include "tenon/strategies/te/product.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

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
  const std::int64_t group = DotGroup(call.target, a.dtype(), b.dtype(), call.dtype(),
                                      AreFewRows(shape[rank - 2], call.IsConstant(1)));
  return {Multiply(
      {.batch = batch,
       .rows = shape[rank - 2],
       .columns = shape[rank - 1],
       .depth = ExtentOf(a, transpose_a ? rank - 2 : rank - 1),
       .dtype = call.dtype(),
       .target = call.target,
       .left =
           [&](const std::vector<Expr>& at, const Expr& row, const Expr& k) {
             std::vector<Expr> indices = at;
             indices.push_back(transpose_a ? k : row);
             indices.push_back(transpose_a ? row : k);
             return a[indices];
           },
       .right = [&](const std::vector<Expr>&, const Expr& k,
                    const Expr& column) { return transpose_b ? b(column, k) : b(k, column); },
       .least_rows = LeastRows(call.IsConstant(1), transpose_b, group),
       .right_has = std::vector<bool>(batch.size(), false),
       .prepared = [&](const Tensor& packed) { return call.Prepared(packed); },
       .group = group,
       .left_in_rows = !transpose_a && a.op()->is_placeholder()},
      call.te_shape())};
}

std::vector<Tensor> BatchMatmul(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::BatchMatmulAttrs>();
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const Shape shape = call.shape();
  const bool a_shared = ExtentOf(a, 0) == 1;
  const bool b_shared = ExtentOf(b, 0) == 1;
  const std::int64_t group = DotGroup(call.target, a.dtype(), b.dtype(), call.dtype(),
                                      AreFewRows(shape[1], call.IsConstant(1)));
  return {Multiply({.batch = {shape[0]},
                    .rows = shape[1],
                    .columns = shape[2],
                    .depth = ExtentOf(a, attrs.transpose_a ? 1 : 2),
                    .dtype = call.dtype(),
                    .target = call.target,
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
                    .least_rows = LeastRows(call.IsConstant(1), attrs.transpose_b, group),
                    .right_has = {!b_shared},
                    .prepared = [&](const Tensor& packed) { return call.Prepared(packed); },
                    .group = group,
                    .left_in_rows = !attrs.transpose_a && a.op()->is_placeholder()},
                   call.te_shape())};
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
}

}  // namespace tenon::strategies
