// Parts of images resampled to one size, and grids of points under affine maps.
//
// A box covers the coordinates from y1 (H - 1) to y2 (H - 1), as in TensorFlow's crop_and_resize.
#include "tenon/ops/image/warp_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/index_value.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::vector<Tensor> CropAndResize(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::CropAndResizeAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& boxes = call.input(1);
  const std::vector<std::size_t> at = ops::LayoutPositions(attrs.layout, "NCHW", "layout");
  const DataType t = x.dtype() == Float64 ? Float64 : Float32;
  const auto number = [&](double v) { return te::Cast(t, v); };
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr box = i[at[0]];
        std::vector<Expr> from = ToExprs(i);
        from[at[0]] =
            te::Max(te::Min(IndexValue(call.input(2)(box)), Expr(ExtentOf(x, at[0]) - 1)), Expr(0));
        Expr inside = loop::True();
        Expr first[2], second[2], fraction[2];
        for (std::size_t d = 0; d < 2; ++d) {
          const std::int64_t extent = ExtentOf(x, at[d + 2]);
          const Expr last = number(static_cast<double>(extent - 1));
          const Expr start = te::Cast(t, boxes(box, Expr(static_cast<std::int64_t>(d))));
          const Expr end = te::Cast(t, boxes(box, Expr(static_cast<std::int64_t>(d + 2))));
          const std::int64_t count = call.shape()[at[d + 2]];
          const Expr place =
              count == 1 ? number(0.5) * (start + end) * last
                         : start * last +
                               te::Cast(t, i[at[d + 2]]) *
                                   ((end - start) * last / number(static_cast<double>(count - 1)));
          inside = inside && place >= number(0) && place <= last;
          // NaN is not inside, and indices are clamped while they are numbers of the image.
          const auto index = [&](const Expr& p) {
            return te::Cast(Int64, te::Select(p >= number(0) && p <= last, p, number(0)));
          };
          const bool nearest = attrs.method == "nearest_neighbor";
          first[d] = index(nearest ? te::Round(place) : te::Floor(place));
          second[d] = index(te::Ceil(place));
          fraction[d] = place - te::Floor(place);
        }
        const auto pixel = [&](const Expr& y, const Expr& column) {
          from[at[2]] = y;
          from[at[3]] = column;
          return te::Cast(t, x[from]);
        };
        const auto between = [&](const Expr& a, const Expr& b, const Expr& f) {
          return a + (b - a) * f;
        };
        const Expr value =
            attrs.method == "nearest_neighbor"
                ? pixel(first[0], first[1])
                : between(
                      between(pixel(first[0], first[1]), pixel(first[0], second[1]), fraction[1]),
                      between(pixel(second[0], first[1]), pixel(second[0], second[1]), fraction[1]),
                      fraction[0]);
        return te::Cast(call.dtype(), te::Select(inside, value, number(attrs.extrapolation_value)));
      },
      "crop_and_resize")};
}

std::vector<Tensor> AffineGrid(const TeCall& call) {
  const Tensor& x = call.input(0);
  const DataType t = call.dtype();
  const Shape shape = call.shape();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        // Coordinates go from -1 to 1 along each axis.
        const auto coordinate = [&](std::size_t axis) {
          return te::Cast(t, i[axis]) * te::Cast(t, 2.0 / static_cast<double>(shape[axis] - 1)) -
                 te::Cast(t, 1);
        };
        const auto of = [&](std::int64_t column) { return x(i[0], i[1], Expr(column)); };
        return of(0) * coordinate(3) + of(1) * coordinate(2) + of(2);
      },
      "affine_grid")};
}

}  // namespace

void AttachWarpComputes(ops::OpRegistry& registry) {
  registry.Definition("image.crop_and_resize").SetColumn(TeCompute{CropAndResize});
  registry.Definition("image.affine_grid").SetColumn(TeCompute{AffineGrid});
}

}  // namespace tenon::strategies
