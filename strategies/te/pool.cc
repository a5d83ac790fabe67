// Pooling over windows and over whole images, and scaling of images.
#include <limits>

#include "tenon/ops/layout.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

using Reducer = te::Reduction (*)(const Expr& source, std::vector<IterVar> axes);

Expr Lowest(DataType t) {
  if (t.is_float()) return loop::FloatImm(t, -std::numeric_limits<double>::infinity());
  if (t.is_int())
    return loop::IntImm(t, std::numeric_limits<std::int64_t>::min() >> (64 - t.bits()));
  return loop::IntImm(t, 0);
}

struct Window {
  std::vector<std::size_t> at;  // N, C, H, W in the layout
  std::array<std::int64_t, 2> size, strides, dilation, extent;
  std::array<std::int64_t, 4> padding;

  template <typename AttrsType>
  Window(const AttrsType& attrs, const Tensor& x)
      : at(ops::ImagePositions(attrs.layout, "layout")),
        size(ops::Pair(attrs.pool_size, "pool_size")),
        strides(ops::Pair(attrs.strides, "strides")),
        dilation(ops::Pair(attrs.dilation, "dilation")),
        extent{ExtentOf(x, at[2]), ExtentOf(x, at[3])},
        padding(ops::FourPaddings(attrs.padding)) {}

  // The input row (d = 0) or column (d = 1) that a tap of a result element reads, from the start of
  // the padding.
  Expr Padded(const std::vector<Var>& i, std::size_t d, const Expr& tap) const {
    return i[at[d + 2]] * strides[d] + tap * dilation[d];
  }
};

// The image with `value` around it, wide enough for windows that overhang in ceil_mode.
Tensor Surrounded(const Tensor& x, const Window& w, const Shape& result, const Expr& value) {
  Shape shape = ShapeOf(x);
  bool grows = false;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::size_t axis = w.at[d + 2];
    const std::int64_t reach =
        (result[axis] - 1) * w.strides[d] + (w.size[d] - 1) * w.dilation[d] + 1;
    grows = grows || w.padding[d] > 0 || reach > w.extent[d];
    shape[axis] = std::max(reach, w.padding[d] + w.extent[d]);
  }
  if (!grows) return x;
  return te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        Expr inside = loop::True();
        for (std::size_t d = 0; d < 2; ++d) {
          const std::size_t axis = w.at[d + 2];
          from[axis] = i[axis] - w.padding[d];
          inside = inside && from[axis] >= Expr(0) && from[axis] < Expr(w.extent[d]);
        }
        return te::IfThenElse(inside, x[from], value);
      },
      "pad_image", "injective");
}

Tensor OverWindow(const TeCall& call, const Window& w, const Expr& outside, Reducer reducer,
                  const char* name) {
  const Tensor image = Surrounded(call.input(0), w, call.shape(), outside);
  const IterVar tap_y = te::ReduceAxis(0, w.size[0], "ry");
  const IterVar tap_x = te::ReduceAxis(0, w.size[1], "rx");
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        from[w.at[2]] = w.Padded(i, 0, tap_y.var);
        from[w.at[3]] = w.Padded(i, 1, tap_x.var);
        return reducer(image[from], {tap_y, tap_x});
      },
      name, "pool");
}

std::vector<Tensor> MaxPool2D(const TeCall& call) {
  const Window w(call.attrs.As<ops::MaxPool2DAttrs>(), call.input(0));
  return {OverWindow(call, w, Lowest(call.dtype()), te::Max, "max_pool2d")};
}

std::vector<Tensor> AvgPool2D(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::AvgPool2DAttrs>();
  const Window w(attrs, call.input(0));
  const Tensor sum = OverWindow(call, w, te::Cast(call.dtype(), 0), te::Sum, "avg_pool2d_sum");
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        // Taps within the image or, when padding counts, within the padded image; taps that
        // ceil_mode lets overhang never count.
        Expr count = 1;
        for (std::size_t d = 0; d < 2; ++d) {
          const Expr first = i[w.at[d + 2]] * w.strides[d];
          const std::int64_t low = attrs.count_include_pad ? 0 : w.padding[d];
          const std::int64_t high =
              w.padding[d] + w.extent[d] + (attrs.count_include_pad ? w.padding[d + 2] : 0);
          const Expr skipped = te::Max(
              te::FloorDiv(Expr(low) - first + (w.dilation[d] - 1), w.dilation[d]), Expr(0));
          const Expr reached =
              te::Min(te::FloorDiv(Expr(high) - first + (w.dilation[d] - 1), w.dilation[d]),
                      Expr(w.size[d]));
          count = count * te::Max(reached - skipped, Expr(0));
        }
        return sum[ToExprs(i)] / te::Cast(call.dtype(), te::Max(count, Expr(1)));
      },
      "avg_pool2d", "elemwise")};
}

Tensor OverImage(const TeCall& call, Reducer reducer, const char* name) {
  const Tensor& x = call.input(0);
  const auto at = ops::ImagePositions(call.attrs.As<ops::GlobalPool2DAttrs>().layout, "layout");
  const IterVar y = te::ReduceAxis(0, x.shape()[at[2]], "ry");
  const IterVar column = te::ReduceAxis(0, x.shape()[at[3]], "rx");
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        from[at[2]] = y.var;
        from[at[3]] = column.var;
        return reducer(x[from], {y, column});
      },
      name, "pool");
}

std::vector<Tensor> GlobalAvgPool2D(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor sum = OverImage(call, te::Sum, "global_pool_sum");
  const double count = static_cast<double>(NumElements(ShapeOf(x))) /
                       static_cast<double>(std::max<std::int64_t>(1, NumElements(call.shape())));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) { return sum[ToExprs(i)] / te::Cast(x.dtype(), count); },
      "global_avg_pool2d", "elemwise")};
}

}  // namespace

void AttachPoolComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.max_pool2d").SetColumn(TeCompute{MaxPool2D});
  registry.Definition("nn.avg_pool2d").SetColumn(TeCompute{AvgPool2D});
  registry.Definition("nn.global_avg_pool2d").SetColumn(TeCompute{GlobalAvgPool2D});
  registry.Definition("nn.global_max_pool2d").SetColumn(TeCompute{[](const TeCall& call) {
    return std::vector<Tensor>{OverImage(call, te::Max, "global_max_pool2d")};
  }});
}

}  // namespace tenon::strategies
