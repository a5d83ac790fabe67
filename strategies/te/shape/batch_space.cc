// Blocks of space in the batch or in the channels. In the batch, element (r * N + n, q, ...) is
// element (n, q * block + r, ...) of the other form, with the positions r of a block in row-major
// order. In the channels, it is element (n, r * C + c, ...), or with mode CRD (n, c * block^2 + r,
// ...).
#include "tenon/ops/shape/batch_space_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// What coordinates are divided by. Where there are none, any number will do.
Expr Divisor(const Expr& extent) { return loop::IsConstInt(extent, 0) ? Expr(1) : extent; }

std::vector<Tensor> SpaceToBatchND(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SpaceToBatchNDAttrs>();
  const Tensor& x = call.input(0);
  const Expr batch = Divisor(x.shape()[0]);
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
          if (attrs.paddings[b][1] > 0) inside = inside && at[b + 1] < x.shape()[b + 1];
        }
        return te::IfThenElse(inside, x[at], te::Cast(x.dtype(), attrs.pad_value));
      },
      "space_to_batch_nd")};
}

std::vector<Tensor> BatchToSpaceND(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::BatchToSpaceNDAttrs>();
  const Tensor& x = call.input(0);
  const Expr batch = call.te_shape()[0];
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
      "batch_to_space_nd")};
}

std::vector<Tensor> SpaceToDepth(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SubPixelAttrs>();
  const Tensor& x = call.input(0);
  const auto at = ops::LayoutPositions(attrs.layout, "NCHW", "layout");
  const Expr block(attrs.block_size);
  const Expr channels = Divisor(x.shape()[at[1]]);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        const Expr position = te::FloorDiv(i[at[1]], channels);
        from[at[1]] = te::FloorMod(i[at[1]], channels);
        from[at[2]] = i[at[2]] * block + te::FloorDiv(position, block);
        from[at[3]] = i[at[3]] * block + te::FloorMod(position, block);
        return x[from];
      },
      "space_to_depth")};
}

std::vector<Tensor> DepthToSpace(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SubPixelAttrs>();
  const Tensor& x = call.input(0);
  const auto at = ops::LayoutPositions(attrs.layout, "NCHW", "layout");
  const Expr block(attrs.block_size);
  const Expr channels = call.te_shape()[at[1]];
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        const Expr position = te::FloorMod(i[at[2]], block) * block + te::FloorMod(i[at[3]], block);
        from[at[1]] = attrs.mode == "CRD"
                          ? i[at[1]] * (attrs.block_size * attrs.block_size) + position
                          : position * channels + i[at[1]];
        from[at[2]] = te::FloorDiv(i[at[2]], block);
        from[at[3]] = te::FloorDiv(i[at[3]], block);
        return x[from];
      },
      "depth_to_space")};
}

std::vector<Tensor> Dilate(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::DilateAttrs>();
  const Tensor& x = call.input(0);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        Expr is_old = loop::True();
        for (std::size_t d = 0; d < i.size(); ++d) {
          if (attrs.strides[d] == 1) continue;
          const Expr stride(attrs.strides[d]);
          from[d] = te::FloorDiv(i[d], stride);
          is_old = is_old && te::FloorMod(i[d], stride) == Expr(0);
        }
        return te::IfThenElse(is_old, x[from], te::Cast(x.dtype(), attrs.dilation_value));
      },
      "dilate")};
}

}  // namespace

void AttachBatchSpaceComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.space_to_batch_nd").SetColumn(TeCompute{SpaceToBatchND});
  registry.Definition("nn.batch_to_space_nd").SetColumn(TeCompute{BatchToSpaceND});
  registry.Definition("nn.space_to_depth").SetColumn(TeCompute{SpaceToDepth});
  registry.Definition("nn.depth_to_space").SetColumn(TeCompute{DepthToSpace});
  registry.Definition("nn.dilate").SetColumn(TeCompute{Dilate});
}

}  // namespace tenon::strategies
