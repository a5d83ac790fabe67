// Operators that write or move regions of a tensor. Every element of the result finds where it
// comes from.
#include "tenon/ops/boxes/region_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/index_value.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// Bounds are like those of strided_slice, but known only at run time. A negative step is seen from
// the other end: index i of an axis of n elements becomes n - 1 - i there, and so do bounds.
std::vector<Tensor> StridedSet(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor& v = call.input(1);
  if (NumElements(ShapeOf(v)) == 0) return {AsType(x, x.dtype())};
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from;
        Expr inside = loop::True();
        for (std::size_t d = 0; d < x.ndim(); ++d) {
          const std::int64_t n = ExtentOf(x, d);
          const Expr axis = static_cast<std::int64_t>(d);
          // Longer steps take one element, as this one does.
          const Expr stride = te::Max(IndexValue(call.input(4)(axis)), Expr(-ops::kLongestStep));
          const Expr falls = stride < Expr(0);
          const auto bound = [&](const Tensor& list) {
            const Expr given = IndexValue(list(axis));
            const Expr counted = te::Select(given < Expr(0), given + n, given);
            const Expr turned = te::Select(falls, Expr(n - 1) - counted, counted);
            return te::Max(te::Min(turned, Expr(n)), Expr(0));
          };
          const Expr at = te::Select(falls, Expr(n - 1) - i[d], Expr(i[d])) - bound(call.input(2));
          const Expr step = te::Max(te::Select(falls, -stride, stride), Expr(1));
          const Expr slot = te::FloorDiv(te::Max(at, Expr(0)), step);
          inside = inside && stride != Expr(0) && at >= Expr(0) &&
                   at < bound(call.input(3)) - bound(call.input(2)) &&
                   te::FloorMod(te::Max(at, Expr(0)), step) == Expr(0) &&
                   slot < Expr(ExtentOf(v, d));
          from.push_back(te::Min(slot, Expr(ExtentOf(v, d) - 1)));
        }
        return te::Select(inside, v[from], x[ToExprs(i)]);
      },
      "strided_set")};
}

std::vector<Tensor> MatrixSetDiag(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::MatrixSetDiagAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& values = call.input(1);
  const std::size_t rank = x.ndim();
  const ops::Diagonals diagonals =
      ops::DiagonalsOf(attrs, ExtentOf(x, rank - 2), ExtentOf(x, rank - 1));
  const Expr longest = diagonals.Longest();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr row = i[rank - 2], column = i[rank - 1];
        const Expr k = column - row;
        const Expr length = te::Min(te::Min(k, Expr(0)) + diagonals.rows,
                                    Expr(diagonals.columns) - te::Max(k, Expr(0)));
        const Expr right = te::Select(k >= Expr(0), Expr(attrs.super_diag_right_align ? 1 : 0),
                                      Expr(attrs.sub_diag_right_align ? 1 : 0));
        Expr at = te::Min(row, column);
        if (diagonals.Count() > 1) at = at + right * (longest - length);
        std::vector<Expr> from(i.begin(), i.end() - 2);
        const auto within = [](const Expr& index, std::int64_t extent) {
          return te::Max(te::Min(index, Expr(extent - 1)), Expr(0));
        };
        if (diagonals.Count() > 1)
          from.push_back(within(Expr(diagonals.highest) - k, diagonals.Count()));
        from.push_back(within(at, diagonals.Longest()));
        return te::Select(k >= Expr(diagonals.lowest) && k <= Expr(diagonals.highest), values[from],
                          x[ToExprs(i)]);
      },
      "matrix_set_diag")};
}

std::vector<Tensor> SlidingWindow(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SlidingWindowAttrs>();
  const Tensor& x = call.input(0);
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  const std::size_t count = x.ndim() - axis;
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from;
        for (std::size_t d = 0; d < axis; ++d) from.emplace_back(i[d]);
        for (std::size_t d = 0; d < count; ++d)
          from.push_back(i[axis + d] * attrs.strides[d] + i[axis + count + d]);
        return x[from];
      },
      "sliding_window")};
}

std::vector<Tensor> FifoBuffer(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor& buffer = call.input(1);
  const auto axis = static_cast<std::size_t>(
      ops::NormalAxis(call.attrs.As<ops::FIFOBufferAttrs>().axis, x.ndim()));
  const std::int64_t arriving = ExtentOf(x, axis), staying = ExtentOf(buffer, axis) - arriving;
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        from[axis] = i[axis] - staying;
        const auto arrived = [&] { return x[from]; };
        if (staying <= 0) return arrived();
        const Expr is_old = i[axis] < Expr(staying);
        if (arriving == 0) return buffer[ToExprs(i)];
        const Expr value = arrived();
        from[axis] = i[axis] + arriving;
        return te::IfThenElse(is_old, buffer[from], value);
      },
      "fifo_buffer")};
}

}  // namespace

void AttachRegionComputes(ops::OpRegistry& registry) {
  registry.Definition("strided_set").SetColumn(TeCompute{StridedSet});
  registry.Definition("matrix_set_diag").SetColumn(TeCompute{MatrixSetDiag});
  registry.Definition("sliding_window").SetColumn(TeCompute{SlidingWindow});
  registry.Definition("nn.fifo_buffer").SetColumn(TeCompute{FifoBuffer});
}

}  // namespace tenon::strategies
