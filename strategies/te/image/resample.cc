// Every element is a sum over few taps along each axis (resample_taps.h). Their stored indices and
// weights come from coordinates in float64.
#include "tenon/strategies/te/image/resample.h"

#include <algorithm>

#include "tenon/strategies/te/image/resample_taps.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// The sum over the taps of axes[d] and of those after it, at result `i` and where `from` reads
// along the others.
Expr SumOverTaps(const Tensor& x, DataType t, const std::vector<ResampledAxis>& axes,
                 const std::vector<Taps>& taps, std::size_t d, const std::vector<Var>& i,
                 std::vector<Expr> from) {
  if (d == axes.size()) return te::Cast(t, x[from]);
  const std::size_t axis = axes[d].axis;
  Expr total, same;
  for (std::int64_t tap = 0; tap < taps[d].count; ++tap) {
    from[axis] = taps[d].index(i[axis], tap);
    Expr term = SumOverTaps(x, t, axes, taps, d + 1, i, from);
    if (tap == taps[d].centre) same = term;
    if (taps[d].weight) term = taps[d].weight(i[axis], tap) * term;
    total = tap == 0 ? term : total + term;
  }
  return taps[d].is_same.defined() ? te::Select(taps[d].is_same, same, total) : total;
}

// Each line with its first element `before` times more and its last one `after` times more.
Tensor WithRepeatedEnds(const Tensor& x, std::int64_t before, std::int64_t after) {
  std::vector<Expr> shape = x.shape();
  const Expr length = shape.back();
  shape.back() = length + (before + after);
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const auto at = [&](const Expr& place) {
          std::vector<Expr> from = ToExprs(i);
          from.back() = place;
          return x[from];
        };
        const Expr place = i.back() - before;
        return te::IfThenElse(place < Expr(0), at(0),
                              te::IfThenElse(place < length, at(place), at(length - 1)));
      },
      "repeated_ends", te::Stored{});
}

// Whether lines along memory are better resampled before others are. There must not be more of them
// than of the result, several results must read each, and resampling one must take more than a
// copy. One tap takes more where the steps of its index do not begin again with each vector.
// Extents that are expressions are taken to grow: if they shrink, the lines cost no more than what
// made the data.
bool IsLastAxisFirst(std::size_t rank, const std::vector<ResampledAxis>& axes,
                     const std::vector<Taps>& taps, const Target& target) {
  if (axes.empty()) return false;
  const std::size_t last = axes.size() - 1;
  if (axes[last].axis + 1 != rank) return false;
  const bool is_uneven = taps[last].period > 1 && target.vector_bytes % taps[last].period != 0;
  if (taps[last].count == 1 && !is_uneven) return false;
  bool is_read_again = false;
  for (std::size_t d = 0; d < last; ++d) {
    const ResampledAxis& a = axes[d];
    const bool are_numbers = IsNumber(a.in) && IsNumber(a.out);
    if (are_numbers && PlannedExtent(a.in) > PlannedExtent(a.out)) return false;
    is_read_again = is_read_again || taps[d].count > 1 || !are_numbers ||
                    PlannedExtent(a.in) < PlannedExtent(a.out);
  }
  return is_read_again;
}

}  // namespace

Tensor Resample(const Tensor& x, const std::vector<Expr>& shape, DataType dtype,
                const std::vector<ResampledAxis>& axes, const Resampling& how,
                const Target& target) {
  const auto is_none = [](const Expr& extent) { return loop::IsConstInt(extent, 0); };
  if (std::ranges::any_of(shape, is_none)) return Filled(shape, te::Cast(dtype, 0));
  // Sums of integers would lose the fractions of their weights.
  const DataType sum = x.dtype() == Float64 ? Float64 : Float32;
  std::vector<Taps> taps;
  for (const ResampledAxis& axis : axes) taps.push_back(TapsOf(axis, how, sum));
  // What is only moved keeps its bits: float32 does not hold all integers.
  const bool is_summed =
      std::ranges::any_of(taps, [](const Taps& of_axis) { return bool(of_axis.weight); });
  const DataType t = is_summed ? sum : x.dtype();
  Tensor from = x;
  std::vector<ResampledAxis> left = axes;
  if (IsLastAxisFirst(shape.size(), axes, taps, target)) {
    std::vector<Expr> lines = shape;
    for (const ResampledAxis& axis : axes) lines[axis.axis] = axis.in;
    lines.back() = shape.back();
    Tensor read = x;
    if (const std::optional<RepeatedEnds>& repeated = taps.back().repeated) {
      read = WithRepeatedEnds(x, repeated->before, repeated->after);
      taps.back().index = repeated->index;
    }
    from = te::Compute(
        lines,
        [&](const std::vector<Var>& i) {
          return SumOverTaps(read, t, axes, taps, axes.size() - 1, i, ToExprs(i));
        },
        "lines", taps.back().period == 0 ? te::Label(te::Stored{}) : te::WrittenOut{});
    left.pop_back();
  }
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        Expr value = te::Cast(dtype, SumOverTaps(from, t, left, taps, 0, i, ToExprs(i)));
        for (std::size_t d = 0; d < axes.size(); ++d) {
          if (taps[d].is_outside)
            value = te::Select(taps[d].is_outside(i[axes[d].axis]),
                               te::Cast(dtype, how.extrapolation_value), value);
        }
        return value;
      },
      "resize");
}

}  // namespace tenon::strategies
