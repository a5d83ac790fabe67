// image.grid_sample. If a coordinate leaves the data, it is clamped to the border, mirrored at it,
// or its taps count as zeros. Cubic taps leave the data one by one, other coordinates as a whole.
#include <utility>

#include "tenon/ops/image/image_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// One axis of the data as coordinates see it.
class Axis {
 public:
  Axis(Expr extent, const ops::GridSampleAttrs& attrs, DataType t)
      : extent_(std::move(extent)), attrs_(attrs), t_(t) {}

  Expr Number(double v) const { return te::Cast(t_, v); }

  // The coordinate in elements of one in [-1, 1].
  Expr Place(const Expr& g) const {
    if (attrs_.align_corners) return (g + Number(1)) * Extent(-1, 0.5);
    return ((g + Number(1)) * Extent() - Number(1)) * Number(0.5);
  }

  // The coordinate moved into the data, except where taps outside count as zeros.
  Expr Within(const Expr& at) const {
    if (attrs_.padding_mode == "zeros") return at;
    return Clamped(attrs_.padding_mode == "border" ? at : Reflected(at));
  }

  // The element at a whole coordinate, and whether it is one.
  Expr Index(const Expr& at) const {
    // Coordinates that fit no integer are brought near before they are converted; NaN becomes -1.
    const Expr near = te::Min(te::Max(at, Number(-1)), Extent());
    const Expr index = te::Cast(Int64, te::Select(at == at, near, Number(-1)));
    return te::Max(te::Min(index, extent_ - 1), Expr(0));
  }
  Expr IsInside(const Expr& at) const { return at >= Number(0) && at <= Extent(-1); }

 private:
  // The extent and `more`, times `factor`.
  Expr Extent(double more = 0, double factor = 1) const {
    if (const auto* number = extent_.As<loop::IntImmNode>())
      return Number((static_cast<double>(number->value) + more) * factor);
    return (te::Cast(t_, extent_) + Number(more)) * Number(factor);
  }
  Expr Clamped(const Expr& at) const { return te::Min(te::Max(at, Number(0)), Extent(-1)); }
  // The coordinate mirrored at the middles of the outermost elements, or at their sides.
  Expr Reflected(const Expr& at) const {
    const double low = attrs_.align_corners ? 0 : -0.5, less = attrs_.align_corners ? -1 : 0;
    if (loop::IsConstInt(extent_, attrs_.align_corners ? 1 : 0)) return Number(0);
    const Expr span = Extent(less);
    const Expr from = te::Abs(at - Number(low));
    const Expr turns = te::Floor(from / span);
    const Expr rest = from - turns * span;
    const Expr odd = turns - te::Floor(turns * Number(0.5)) * Number(2) > Number(0.5);
    const Expr place = te::Select(odd, span - rest, rest) + Number(low);
    // If there is only one element, every coordinate meets it.
    return extent_.As<loop::IntImmNode>() != nullptr
               ? place
               : te::Select(span == Number(0), Number(0), place);
  }

  const Expr extent_;
  const ops::GridSampleAttrs& attrs_;
  const DataType t_;
};

struct Tap {
  Expr at, weight;
};

// Half-way coordinates go to the even element.
Expr RoundedToEven(const Axis& axis, const Expr& x) {
  const Expr down = te::Floor(x), rest = x - down;
  const Expr is_odd = down - te::Floor(down * axis.Number(0.5)) * axis.Number(2) > axis.Number(0.5);
  const Expr up = rest > axis.Number(0.5) || (rest == axis.Number(0.5) && is_odd);
  return te::Select(up, down + axis.Number(1), down);
}

std::vector<Tap> TapsOf(const Axis& axis, const Expr& g, const ops::GridSampleAttrs& attrs) {
  const auto number = [&](double v) { return axis.Number(v); };
  const Expr place = axis.Place(g);
  if (attrs.method == "nearest") return {{RoundedToEven(axis, axis.Within(place)), number(1)}};
  if (attrs.method == "bilinear") {
    const Expr x = axis.Within(place);
    const Expr down = te::Floor(x);
    return {{down, number(1) - (x - down)}, {down + number(1), x - down}};
  }
  const Expr down = te::Floor(place), f = place - down;
  const double a = attrs.cubic_alpha;
  const auto near = [&](const Expr& t) {
    return (number(a + 2) * t - number(a + 3)) * t * t + number(1);
  };
  const auto far = [&](const Expr& t) {
    return ((t - number(5)) * t + number(8)) * t * number(a) - number(4 * a);
  };
  return {{axis.Within(down - number(1)), far(f + number(1))},
          {axis.Within(down), near(f)},
          {axis.Within(down + number(1)), near(number(1) - f)},
          {axis.Within(down + number(2)), far(number(2) - f)}};
}

std::vector<Tensor> GridSample(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::GridSampleAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& grid = call.input(1);
  const bool is_double = grid.dtype() == Float64 || x.dtype() == Float64;
  const DataType t = is_double ? Float64 : Float32;
  const Axis rows(x.shape()[2], attrs, t), columns(x.shape()[3], attrs, t);
  return {te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& c, const Var& i, const Var& j) {
        const auto taps_x = TapsOf(columns, te::Cast(t, grid(n, 0, i, j)), attrs);
        const auto taps_y = TapsOf(rows, te::Cast(t, grid(n, 1, i, j)), attrs);
        Expr sum = te::Cast(t, 0);
        for (const Tap& y : taps_y) {
          for (const Tap& z : taps_x) {
            const Expr value = te::Cast(t, x(n, c, rows.Index(y.at), columns.Index(z.at)));
            const Expr inside = rows.IsInside(y.at) && columns.IsInside(z.at);
            sum = sum + y.weight * z.weight * te::Select(inside, value, te::Cast(t, 0));
          }
        }
        return te::Cast(call.dtype(), sum);
      },
      "grid_sample")};
}

}  // namespace

void AttachGridSampleComputes(ops::OpRegistry& registry) {
  registry.Definition("image.grid_sample").SetColumn(TeCompute{GridSample});
}

}  // namespace tenon::strategies
