// Operators of early detectors. The greatest element of a bin needs loops that depend on values, so
// a library function finds it.
#include <cmath>

#include "tenon/jit/library_functions.h"
#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/strategies/te/empty.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// Boxes at each place, whose extents are parts of those of the image. The reference counts widths
// in parts of the height, since most images are wider than high.
std::vector<Tensor> MultiBoxPrior(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::MultiBoxPriorAttrs>();
  const auto rows = static_cast<double>(ExtentOf(call.input(0), 2));
  const auto columns = static_cast<double>(ExtentOf(call.input(0), 3));
  std::vector<double> half_widths, half_heights;
  const auto add = [&](double size, double ratio) {
    half_widths.push_back(size * rows / columns * std::sqrt(ratio) / 2);
    half_heights.push_back(size / std::sqrt(ratio) / 2);
  };
  for (const double size : attrs.sizes) add(size, 1);
  for (std::size_t k = 1; k < attrs.ratios.size(); ++k) add(attrs.sizes[0], attrs.ratios[k]);
  const auto count = static_cast<std::int64_t>(half_widths.size());
  const auto number = [](double x) { return loop::FloatImm(Float32, x); };
  const auto step = [&](std::size_t axis, double extent) {
    return attrs.steps[axis] > 0 ? attrs.steps[axis] : 1 / extent;
  };
  const auto of_kind = [&](const Expr& kind, const std::vector<double>& values) {
    Expr value = number(values.back());
    for (std::int64_t k = count - 1; k-- > 0;)
      value = te::Select(kind == Expr(k), number(values[static_cast<std::size_t>(k)]), value);
    return value;
  };
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr kind = te::FloorMod(i[1], Expr(count));
        const Expr place = te::FloorDiv(i[1], Expr(count));
        const Expr columns_of_data(std::max<std::int64_t>(ExtentOf(call.input(0), 3), 1));
        const auto centre = [&](const Expr& at, std::size_t axis, double extent) {
          return (te::Cast(Float32, at) + number(attrs.offsets[axis])) * number(step(axis, extent));
        };
        const Expr is_x = te::FloorMod(i[2], Expr(2)) == Expr(0);
        const Expr middle =
            te::Select(is_x, centre(te::FloorMod(place, columns_of_data), 1, columns),
                       centre(te::FloorDiv(place, columns_of_data), 0, rows));
        const Expr half = te::Select(is_x, of_kind(kind, half_widths), of_kind(kind, half_heights));
        const Expr corner = te::Select(i[2] < Expr(2), middle - half, middle + half);
        return attrs.clip ? te::Max(te::Min(corner, number(1)), number(0)) : corner;
      },
      "multibox_prior")};
}

std::vector<Tensor> RoiPool(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ROIPoolAttrs>();
  const std::vector<Expr> shape = call.te_shape();
  const std::vector<Expr>& from = call.input(0).shape();
  if (IsEmpty(shape) || IsEmpty(from)) return {Zeros(call)};
  const Tensor pooled = te::Extern(
      {shape}, {AsType(call.input(0), Float32), AsType(call.input(1), Float32)}, {Float32},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::RoiPoolFunction(),
                              {in[0], in[1], out[0], from[0], from[1], from[2], from[3], shape[0],
                               shape[2], shape[3], loop::FloatImm(Float64, attrs.spatial_scale)});
      },
      "roi_pool")[0];
  return {AsType(pooled, call.dtype())};
}

// Darknet's reorg_cpu: the elements of a channel are spread over an image of `stride` times the
// height and width and a stride * stride-th of the channels, in whose memory the data is read.
std::vector<Tensor> YoloReorg(const TeCall& call) {
  const Tensor& x = call.input(0);
  const std::int64_t stride = call.attrs.As<ops::YoloReorgAttrs>().stride;
  const Shape from = ShapeOf(x), shape = call.shape();
  if (NumElements(from) == 0) return {Zeros(call)};
  const Expr channels(from[1]), height(from[2]), width(from[3]);
  const Expr wide_channels(from[1] / (stride * stride));
  const Expr step(stride);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        // Where the element lies within the result's image, and where that is in the data's shape.
        const Expr flat = (i[1] * Expr(shape[2]) + i[2]) * Expr(shape[3]) + i[3];
        const Expr column = te::FloorMod(flat, width);
        const Expr row = te::FloorMod(te::FloorDiv(flat, width), height);
        const Expr channel = te::FloorDiv(flat, width * height);
        const Expr offset = te::FloorDiv(channel, wide_channels);
        const Expr wide_row = row * step + te::FloorDiv(offset, step);
        const Expr wide_column = column * step + te::FloorMod(offset, step);
        const Expr source =
            wide_column +
            width * step * (wide_row + height * step * te::FloorMod(channel, wide_channels));
        return x[{i[0], te::FloorDiv(source, width * height),
                  te::FloorMod(te::FloorDiv(source, width), height), te::FloorMod(source, width)}];
      },
      "yolo_reorg")};
}

}  // namespace

void AttachDetectorComputes(ops::OpRegistry& registry) {
  registry.Definition("vision.multibox_prior").SetColumn(TeCompute{MultiBoxPrior});
  registry.Definition("vision.roi_pool").SetColumn(TeCompute{RoiPool});
  registry.Definition("vision.yolo_reorg").SetColumn(TeCompute{YoloReorg});
}

}  // namespace tenon::strategies
