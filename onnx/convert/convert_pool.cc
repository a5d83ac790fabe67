// Pooling over windows and over whole images.
#include <algorithm>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/onnx/convert/pool_places.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/pool/pool_builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Takes away the last window along a spatial axis when it would start past the data and the padding
// before it, as PyTorch and ONNX Runtime do. The padding after the data then ends with the window
// before it; where that one ends inside the data, the rest is cut off. Of an extent that is a
// variable, the window is computed and cut off.
void DropWindowInPadding(const Node& node, std::size_t d, Pooling* p) {
  Window& w = p->window;
  const std::int64_t span = ops::WindowSpan(w.kernel[d], w.dilations[d]), stride = w.strides[d];
  const Dim extent = DimsOf(p->data)[d + 2];
  if (!extent.is_static()) {
    if (w.after[d] <= span - stride) return;  // the last window starts in the data
    p->kept[d] = CeilDiv(ops::PaddedExtent(extent, w.before[d], 0), stride);
    // Padding of a window or more may have others, which stay.
    if (w.after[d] >= span)
      p->kept[d] =
          Max(*p->kept[d],
              CeilDiv(ops::PaddedExtent(extent, w.before[d], w.after[d]) - Dim(span), stride));
    return;
  }
  const std::int64_t start = ops::PaddedExtent(extent.value(), w.before[d], 0);
  const std::int64_t room = ops::PaddedExtent(start, w.after[d], -span);
  if (room <= 0) {
    if (start <= 0) p->kept[d] = 0;  // the only window
    return;
  }
  // The last window but one begins where a whole stride still fits.
  const std::int64_t before_last = (room - 1) / stride * stride;
  if (before_last < start - stride) return;
  w.after[d] = ops::PaddedExtent(before_last, span, -start);
  if (w.after[d] >= 0) return;
  p->data =
      node.Typed(ops::StridedSlice(p->data, {.begin = {0},
                                             .end = {extent.value() + w.after[d]},
                                             .strides = {1},
                                             .axes = Ints{static_cast<std::int64_t>(d) + 2}}));
  w.after[d] = 0;
}

// How far the last window of ceil_mode reaches past the padded data, in which the first window has
// `room` to move. One window may be all there is, and lack less than a stride.
std::int64_t PastTheEnd(std::int64_t room, std::int64_t stride) {
  if (room >= 0) return (stride - room % stride) % stride;
  return room > -stride ? -room : 0;
}

// `fill` is what padding is in the data, where it cannot be that of the operator.
Pooling PoolingOf(Node& node, double fill) {
  Expr x = node.input(0);
  Window window = ReadWindow(node, node.IntsOr("kernel_shape", {}), fill, &x);
  // With SAME, extents and strides alone say how many windows there are.
  const bool ceil = node.Int("ceil_mode", 0) != 0 && !window.automatic.starts_with("SAME");
  Pooling p{x, std::move(window), ceil};
  p.kept.resize(p.window.kernel.size());
  for (std::size_t d = 0; p.ceil && d < p.window.kernel.size(); ++d)
    DropWindowInPadding(node, d, &p);
  return p;
}

// The result without the windows that are dropped.
Expr Kept(const Node& node, const Pooling& p, Expr y) {
  for (std::size_t d = 0; d < p.kept.size(); ++d) {
    const Dim all = DimsOf(y)[d + 2];
    if (p.kept[d] && !(Min(all, *p.kept[d]) == all))
      y = node.Typed(FirstOf(node.extents(), y, Min(all, *p.kept[d]), d + 2));
  }
  return y;
}

// The window of a pooling as attributes over the same number of axes.
template <typename AttrsType>
AttrsType PoolAttrs(const Pooling& p) {
  return {.pool_size = p.window.kernel,
          .strides = p.window.strides,
          .dilation = p.window.dilations,
          .padding = p.window.pads(),
          .ceil_mode = p.ceil};
}

std::vector<Expr> MaxPool(Node& node) {
  const Pooling p = PoolingOf(node, LeastOf(DataTypeOf(node.input(0))));
  const std::size_t dims = p.window.kernel.size();
  const Expr all =
      node.Typed(dims == 1   ? ops::MaxPool1D(p.data, PoolAttrs<ops::MaxPool1DAttrs>(p))
                 : dims == 2 ? ops::MaxPool2D(p.data, PoolAttrs<ops::MaxPool2DAttrs>(p))
                             : ops::MaxPool3D(p.data, PoolAttrs<ops::MaxPool3DAttrs>(p)));
  const bool columns_first = node.Int("storage_order", 0) != 0;
  const Expr maximum = Kept(node, p, all);
  if (!node.WantsOutput(1)) return {maximum};
  return {maximum, PlacesOfMaxima(node, p, maximum, columns_first)};
}

template <typename AttrsType>
AttrsType AveragePoolAttrs(const Pooling& p, bool counts_padding) {
  AttrsType attrs = PoolAttrs<AttrsType>(p);
  attrs.count_include_pad = counts_padding;
  return attrs;
}

Expr Average(const Node& node, const Pooling& p, bool counts_padding) {
  const std::size_t dims = p.window.kernel.size();
  return node.Typed(
      dims == 1 ? ops::AvgPool1D(p.data, AveragePoolAttrs<ops::AvgPool1DAttrs>(p, counts_padding))
      : dims == 2
          ? ops::AvgPool2D(p.data, AveragePoolAttrs<ops::AvgPool2DAttrs>(p, counts_padding))
          : ops::AvgPool3D(p.data, AveragePoolAttrs<ops::AvgPool3DAttrs>(p, counts_padding)));
}

std::vector<Expr> AveragePool(Node& node) {
  const bool counts_padding = node.Int("count_include_pad", 0) != 0;
  Pooling p = PoolingOf(node, 0);
  const Expr y = Average(node, p, counts_padding);
  const bool has_padding = std::ranges::any_of(p.window.in_data, [](const Expr& e) { return !!e; });
  if (!has_padding || counts_padding) return {Kept(node, p, y)};
  // Padding in the data is counted there, and so takes its share of the mean of ones.
  Node ones = node.Over({node.Typed(
      BroadcastTo(node.extents(), ops::Scalar(1, DataTypeOf(p.data)), DimsOf(node.input(0))))});
  const Expr share = Average(ones, PoolingOf(ones, 0), false);
  return {Kept(node, p, node.Typed(ops::Divide(y, share)))};
}

// --- Lp norms: the root of a sum of powers, over windows and over whole images

std::int64_t OrderOf(Node& node) {
  const std::int64_t p = node.Int("p", 2);
  if (p < 1) throw InvalidArgument(StrCat("p is ", p, "; it must be at least 1"));
  return p;
}

// The type is asked of the value that is powered, whose type is known.
Expr Powered(const Node& node, const Expr& x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return node.Typed(ops::Multiply(x, x));
  if (exponent == 0.5) return node.Typed(ops::Sqrt(x));
  return node.Typed(ops::Power(x, ops::Scalar(exponent, DataTypeOf(x))));
}

// The sums are averages of windows that count all of their elements, times their number. So the
// padding is put around the data before.
std::vector<Expr> LpPool(Node& node) {
  const auto order = static_cast<double>(OrderOf(node));
  Pooling p = PoolingOf(node, 0);
  Window& w = p.window;
  const std::vector<Dim> shape = DimsOf(p.data);
  std::vector<Ints> width = {{0, 0}, {0, 0}};
  double count = 1;
  bool is_padded = false;
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    count *= static_cast<double>(w.kernel[d]);
    if (p.ceil) {
      // The last window reaches less than a stride further.
      std::int64_t further = w.strides[d] - 1;
      if (shape[d + 2].is_static()) {
        const std::int64_t span = ops::WindowSpan(w.kernel[d], w.dilations[d]);
        const std::int64_t room =
            ops::PaddedExtent(shape[d + 2].value(), w.before[d], w.after[d]) - span;
        further = PastTheEnd(room, w.strides[d]);
      }
      w.after[d] = ops::PaddedExtent(w.after[d], further, 0);
    }
    is_padded = is_padded || w.before[d] != 0 || w.after[d] != 0;
    width.push_back({w.before[d], w.after[d]});
    w.before[d] = w.after[d] = 0;
  }
  p.ceil = false;
  const DataType type = DataTypeOf(p.data);
  p.data = Powered(node, node.Typed(ops::Abs(p.data)), order);
  if (is_padded) p.data = node.Typed(ops::Pad(p.data, width, 0, type));
  const Expr average = Kept(node, p, Average(node, p, true));
  const Expr sum = ops::Multiply(average, ops::Scalar(count, type));
  return {Powered(node, node.Typed(sum), 1 / order)};
}

Ints SpatialAxesOf(const Expr& x) {
  Ints axes;
  for (std::int64_t i = 2; i < RankOf(x); ++i) axes.push_back(i);
  return axes;
}

std::vector<Expr> GlobalLpPool(Node& node) {
  const auto order = static_cast<double>(OrderOf(node));
  const Expr& x = node.input(0);
  const Expr sum = ops::Sum(Powered(node, node.Typed(ops::Abs(x)), order),
                            {.axis = SpatialAxesOf(x), .keepdims = true});
  return {Powered(node, node.Typed(sum), 1 / order)};
}

// Any number of spatial axes, by a reduction.
Converter GlobalPool(bool is_max) {
  return [is_max](Node& node) {
    const Expr& x = node.input(0);
    if (RankOf(x) == 4)
      return std::vector<Expr>{
          node.Typed(is_max ? ops::GlobalMaxPool2D(x) : ops::GlobalAvgPool2D(x))};
    const ops::ReduceAttrs reduce{.axis = SpatialAxesOf(x), .keepdims = true};
    return std::vector<Expr>{node.Typed(is_max ? ops::Max(x, reduce) : ops::Mean(x, reduce))};
  };
}

}  // namespace

void AddPoolConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["AveragePool"] = Converter(AveragePool).With({.other = "one to three spatial axes"});
  t["GlobalAveragePool"] = GlobalPool(false);
  t["GlobalLpPool"] = InFloat32(GlobalLpPool);
  t["GlobalMaxPool"] = GlobalPool(true);
  t["LpPool"] = InFloat32(LpPool).With({.other = "one to three spatial axes"});
  t["MaxPool"] = Converter(MaxPool).With({.other = "one to three spatial axes"});
}

}  // namespace tenon::onnx_import
