// Matrix products.
#include "tenon/ops/nn_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

std::vector<Tensor> Product(const TeCall& call, bool transpose_a, bool transpose_b) {
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const std::size_t rank = a.ndim();
  const IterVar k = te::ReduceAxis(0, a.shape()[transpose_a ? rank - 2 : rank - 1], "k");
  const DataType dtype = call.dtype();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> a_at = ToExprs(i);
        const Expr column = a_at.back();
        a_at.back() = k.var;
        if (transpose_a) std::swap(a_at[rank - 1], a_at[rank - 2]);
        const Expr b_value = transpose_b ? b(column, k.var) : b(k.var, column);
        return te::Sum(te::Cast(dtype, a[a_at]) * te::Cast(dtype, b_value), {k});
      },
      "matmul", "matmul")};
}

std::vector<Tensor> BatchMatmul(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::BatchMatmulAttrs>();
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const IterVar k = te::ReduceAxis(0, a.shape()[attrs.transpose_a ? 1 : 2], "k");
  const DataType dtype = call.dtype();
  const bool a_shared = ExtentOf(a, 0) == 1;
  const bool b_shared = ExtentOf(b, 0) == 1;
  return {te::Compute(
      call.te_shape(),
      [&](const Var& batch, const Var& i, const Var& j) {
        const Expr a_batch = a_shared ? Expr(0) : Expr(batch);
        const Expr b_batch = b_shared ? Expr(0) : Expr(batch);
        const Expr x = attrs.transpose_a ? a(a_batch, k.var, i) : a(a_batch, i, k.var);
        const Expr y = attrs.transpose_b ? b(b_batch, j, k.var) : b(b_batch, k.var, j);
        return te::Sum(te::Cast(dtype, x) * te::Cast(dtype, y), {k});
      },
      "batch_matmul", "matmul")};
}

}  // namespace

void AttachMatmulComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.dense").SetColumn(TeCompute{[](const TeCall& call) {
    return Product(call, false, true);
  }});
  registry.Definition("nn.matmul").SetColumn(TeCompute{[](const TeCall& call) {
    const auto& attrs = call.attrs.As<ops::MatmulAttrs>();
    return Product(call, attrs.transpose_a, attrs.transpose_b);
  }});
  registry.Definition("nn.batch_matmul").SetColumn(TeCompute{BatchMatmul});
}

}  // namespace tenon::strategies
