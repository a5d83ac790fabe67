// layout_transform.
#include "tenon/strategies/te/shape/layout.h"

#include "tenon/loop/simplify/simplify.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// The coordinate along the whole axis `letter` of the element at `at`.
Expr WholeCoordinate(const ops::Layout& layout, const std::vector<Var>& at, char letter) {
  Expr coordinate = at[layout.PositionOf(letter)];
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    const ops::LayoutAxis& axis = layout.axes()[i];
    if (axis.letter == letter && axis.block > 0) coordinate = coordinate * axis.block + at[i];
  }
  return coordinate;
}

std::vector<Tensor> LayoutTransform(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::LayoutTransformAttrs>();
  return {InLayout(call.input(0), attrs.src_layout, attrs.dst_layout, call.te_shape())};
}

}  // namespace

Tensor InLayout(const Tensor& x, const std::string& src, const std::string& dst,
                const std::vector<Expr>& shape) {
  const ops::Layout from = ops::Layout::Parse(src, "src_layout");
  const ops::Layout to = ops::Layout::Parse(dst, "dst_layout");
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> source;
        Expr inside = loop::True();
        for (std::size_t d = 0; d < from.rank(); ++d) {
          const ops::LayoutAxis& axis = from.axes()[d];
          const std::int64_t block = from.BlockOf(axis.letter);
          const Expr whole = WholeCoordinate(to, i, axis.letter);
          source.push_back(axis.block > 0 ? te::FloorMod(whole, block)
                                          : te::FloorDiv(whole, block));
          if (axis.block > 0) continue;
          // Blocks that do not divide the extent leave room.
          const Expr given = x.shape()[d] * block;
          const std::int64_t into = to.BlockOf(axis.letter);
          if (!loop::CanProve(loop::FloorMod(given, into) == 0, {}))
            inside = inside && whole < given;
        }
        if (loop::IsConstInt(inside, 1)) return x[source];
        return te::IfThenElse(inside, x[source], te::Cast(x.dtype(), 0));
      },
      "layout_transform");
}

void AttachLayoutComputes(ops::OpRegistry& registry) {
  registry.Definition("layout_transform").SetColumn(TeCompute{LayoutTransform});
}

}  // namespace tenon::strategies
