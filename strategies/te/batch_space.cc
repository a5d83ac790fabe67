// Blocks of space in the batch: element (r * N + n, q, ...) of the batch's form is element
// (n, q * block + r, ...) of the other one, with the positions r of a block in row-major order.
#include "tenon/ops/batch_space_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::vector<Tensor> SpaceToBatchND(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SpaceToBatchNDAttrs>();
  const Tensor& x = call.input(0);
  const Expr batch(std::max<std::int64_t>(ExtentOf(x, 0), 1));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        at[0] = te::FloorMod(i[0], batch);
        Expr position = te::FloorDiv(i[0], batch);
        Expr inside = loop::True();
        for (std::size_t b = attrs.block_shape.size(); b-- > 0;) {
          const Expr block(attrs.block_shape[b]);
          at[b + 1] = i[b + 1] * block + te::FloorMod(position, block) - attrs.paddings[b][0];
          position = te::FloorDiv(position, block);
          if (attrs.paddings[b][0] > 0) inside = inside && at[b + 1] >= Expr(0);
          if (attrs.paddings[b][1] > 0) inside = inside && at[b + 1] < Expr(ExtentOf(x, b + 1));
        }
        return te::IfThenElse(inside, x[at], te::Cast(x.dtype(), attrs.pad_value));
      },
      "space_to_batch_nd", "injective")};
}

std::vector<Tensor> BatchToSpaceND(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::BatchToSpaceNDAttrs>();
  const Tensor& x = call.input(0);
  std::int64_t blocks = 1;
  for (const std::int64_t extent : attrs.block_shape) blocks *= extent;
  const Expr batch(ExtentOf(x, 0) / blocks);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        Expr position = 0;
        for (std::size_t b = 0; b < attrs.block_shape.size(); ++b) {
          const Expr block(attrs.block_shape[b]);
          const Expr whole = i[b + 1] + attrs.crops[b][0];
          at[b + 1] = te::FloorDiv(whole, block);
          position = position * block + te::FloorMod(whole, block);
        }
        at[0] = position * batch + i[0];
        return x[at];
      },
      "batch_to_space_nd", "injective")};
}

}  // namespace

void AttachBatchSpaceComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.space_to_batch_nd").SetColumn(TeCompute{SpaceToBatchND});
  registry.Definition("nn.batch_to_space_nd").SetColumn(TeCompute{BatchToSpaceND});
}

}  // namespace tenon::strategies
