// Pooling over windows and over whole images, and the positions of the values that max pooling
// picks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/window.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/pool_builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A pooling of any operator: what is pooled, and the window over it.
struct Pooling {
  Expr data;
  Window window;
  bool ceil;  // whether the last window may reach past the end
};

// Takes away the last window along a spatial axis when it would start past the data and the padding
// before it, as PyTorch and ONNX Runtime do. The padding after the data then ends with the window
// before it; where that one ends inside the data, the rest is cut off.
void DropWindowInPadding(const Node& node, std::size_t d, Pooling* p) {
  Window& w = p->window;
  const std::int64_t span = ops::WindowSpan(w.kernel[d], w.dilations[d]), stride = w.strides[d];
  const Dim extent = DimsOf(p->data)[d + 2];
  if (!extent.is_static()) {
    if (w.after[d] <= span - stride) return;  // the last window starts in the data
    throw Unimplemented(StrCat("ceil_mode over the extent ", extent.ToString(), " with windows of ",
                               span, " elements, strides of ", stride, " and a padding of ",
                               w.after[d], " after the data is not supported; the padding may be ",
                               "the difference of both at most"));
  }
  const std::int64_t start = ops::PaddedExtent(extent.value(), w.before[d], 0);
  const std::int64_t room = ops::PaddedExtent(start, w.after[d], -span);
  if (room <= 0) return;
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

Pooling PoolingOf(Node& node) {
  const Expr& x = node.input(0);
  Pooling p{x, ReadWindow(node, DimsOf(x), node.IntsOr("kernel_shape", {})),
            node.Int("ceil_mode", 0) != 0};
  for (std::size_t d = 0; p.ceil && d < p.window.kernel.size(); ++d)
    DropWindowInPadding(node, d, &p);
  return p;
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

// The maximum number of entries of a table that finds the indices of a pooling.
constexpr std::int64_t kMaxPlaces = std::int64_t{1} << 20;

// Refuses a table of `outer` x `inner` entries, neither negative, beyond that.
void RequireTable(const char* what, std::int64_t outer, std::int64_t inner) {
  if (inner > 0 && outer > kMaxPlaces / inner)
    throw InvalidArgument(StrCat("the indices of ", outer, " x ", inner, " ", what,
                                 " are asked for; at most ", kMaxPlaces, " are supported"));
}

Expr TableOf(const Shape& shape, const std::vector<std::int64_t>& values) {
  return ir::Constant::Make(NDArray::FromVector<std::int64_t>(shape, values));
}

// start, start + step, ... for each index of one axis of a result of rank 4. Tables along several
// axes add up by broadcasting.
Expr PlacesAlong(std::size_t axis, std::int64_t count, std::int64_t start, std::int64_t step) {
  RequireTable("planes or windows", count, 1);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(start + i * step);
  Shape shape(4, 1);
  shape[axis] = count;
  return TableOf(shape, values);
}

// The positions of each window's taps along a spatial axis of the padded image.
Expr TapsAlong(const Window& w, std::size_t d, std::int64_t windows) {
  RequireTable("taps along an axis", windows, w.kernel[d]);
  std::vector<std::int64_t> places;
  for (std::int64_t window = 0; window < windows; ++window) {
    for (std::int64_t tap = 0; tap < w.kernel[d]; ++tap)
      places.push_back(window * w.strides[d] + tap * w.dilations[d]);
  }
  return TableOf({static_cast<std::int64_t>(places.size())}, places);
}

// The first tap of each window along a spatial axis that lies in the image, times `step`; 0 where
// none does.
Expr FirstTapsAlong(const Window& w, std::size_t d, std::int64_t windows, std::int64_t extent,
                    std::int64_t step) {
  std::vector<std::int64_t> taps;
  for (std::int64_t window = 0; window < windows; ++window) {
    const std::int64_t start = window * w.strides[d] - w.before[d];
    const std::int64_t tap = start < 0 ? CeilDiv(-start, w.dilations[d]) : 0;
    const bool is_inside = tap < w.kernel[d] && start + tap * w.dilations[d] < extent;
    taps.push_back(is_inside ? tap * step : 0);
  }
  Shape shape(4, 1);
  shape[d + 2] = windows;
  return TableOf(shape, taps);
}

// The position in its image of each window's maximum. The taps of all windows are gathered, axis by
// axis; the first maximum of each window is found; then its position is computed.
Expr PlacesOfMaxima(const Node& node, const Pooling& p, const Expr& maximum, bool columns_first) {
  const Expr& x = p.data;
  const Shape result = ShapeOf(maximum);
  const Window& w = p.window;
  const Shape shape = ShapeOf(x), image = ShapeOf(node.input(0));
  if (w.kernel.size() != 2) throw Unimplemented("indices are supported only over two spatial axes");
  // The elements that the last window reaches past the end.
  const auto past_end = [&](std::size_t d) {
    const std::int64_t span = (w.kernel[d] - 1) * w.dilations[d] + 1;
    return std::max<std::int64_t>(
        0, (result[d + 2] - 1) * w.strides[d] + span - shape[d + 2] - w.before[d]);
  };
  const DataType type = DataTypeOf(x);
  const double min_value = type.is_float()  ? -std::numeric_limits<double>::infinity()
                           : type.is_uint() ? 0
                                            : -std::ldexp(1.0, type.bits() - 1);
  const Expr padded = node.Typed(
      ops::Pad(x, {{0, 0}, {0, 0}, {w.before[0], past_end(0)}, {w.before[1], past_end(1)}},
               min_value, type));
  const Expr rows = node.Typed(ops::Take(padded, TapsAlong(w, 0, result[2]), {.axis = 2}));
  const Expr taps = node.Typed(ops::Take(rows, TapsAlong(w, 1, result[3]), {.axis = 3}));
  const Expr by_axis = node.Typed(ops::ReshapeToExtents(
      taps, {result[0], result[1], result[2], w.kernel[0], result[3], w.kernel[1]}));
  RequireTable("taps of a window", w.kernel[0], w.kernel[1]);
  const std::int64_t count = w.kernel[0] * w.kernel[1];
  const Expr windows =
      node.Typed(ops::ReshapeToExtents(node.Typed(ops::Transpose(by_axis, Ints{0, 1, 2, 4, 3, 5})),
                                       {result[0], result[1], result[2], result[3], count}));
  Expr tap = node.Typed(ops::Cast(node.Typed(ops::ArgMax(windows, {.axis = Ints{4}})), Int64));
  if (ShapeOf(padded) != shape) {
    // Of elements that equal the padding the first one counts, and not the padding before it.
    const Expr lowest = ir::Call::Make(ops::Known().equal, {maximum, ops::Scalar(min_value, type)});
    const Expr first = ops::Add(FirstTapsAlong(w, 0, result[2], shape[2], w.kernel[1]),
                                FirstTapsAlong(w, 1, result[3], shape[3], 1));
    tap = node.Typed(ops::Where(lowest, first, tap));
  }
  // In the given image: the position of the first tap of each window, and of each tap relative to
  // it.
  const std::int64_t down = columns_first ? 1 : image[3], across = columns_first ? image[2] : 1;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i)
    offsets.push_back(i / w.kernel[1] * w.dilations[0] * down +
                      i % w.kernel[1] * w.dilations[1] * across);
  const std::int64_t plane = image[2] * image[3];
  const Expr planes =
      ops::Add(PlacesAlong(0, shape[0], 0, shape[1] * plane), PlacesAlong(1, shape[1], 0, plane));
  // A stride is no larger than the image where there is a second window, and may be anything else.
  const auto step = [&](std::size_t axis, std::int64_t unit) {
    return result[axis + 2] > 1 ? w.strides[axis] * unit : 0;
  };
  const Expr firsts = ops::Add(PlacesAlong(2, result[2], -w.before[0] * down, step(0, down)),
                               PlacesAlong(3, result[3], -w.before[1] * across, step(1, across)));
  return ops::Add(ops::Add(planes, firsts), ops::Take(TableOf({count}, offsets), tap));
}

std::vector<Expr> MaxPool(Node& node) {
  const Pooling p = PoolingOf(node);
  const std::size_t dims = p.window.kernel.size();
  const Expr maximum =
      node.Typed(dims == 1   ? ops::MaxPool1D(p.data, PoolAttrs<ops::MaxPool1DAttrs>(p))
                 : dims == 2 ? ops::MaxPool2D(p.data, PoolAttrs<ops::MaxPool2DAttrs>(p))
                             : ops::MaxPool3D(p.data, PoolAttrs<ops::MaxPool3DAttrs>(p)));
  const bool columns_first = node.Int("storage_order", 0) != 0;
  if (node.num_outputs() < 2) return {maximum};
  return {maximum, node.Typed(PlacesOfMaxima(node, p, maximum, columns_first))};
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
  return {Average(node, PoolingOf(node), counts_padding)};
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
  Pooling p = PoolingOf(node);
  Window& w = p.window;
  const std::vector<Dim> shape = DimsOf(p.data);
  std::vector<Ints> width = {{0, 0}, {0, 0}};
  double count = 1;
  bool is_padded = false;
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    count *= static_cast<double>(w.kernel[d]);
    if (p.ceil) {
      if (!shape[d + 2].is_static())
        throw Unimplemented(
            StrCat("ceil_mode over the extent ", shape[d + 2].ToString(), " is not supported"));
      const std::int64_t span = ops::WindowSpan(w.kernel[d], w.dilations[d]);
      const std::int64_t room =
          ops::PaddedExtent(shape[d + 2].value(), w.before[d], w.after[d]) - span;
      if (room > 0) {
        const std::int64_t rest = room % w.strides[d];
        w.after[d] = ops::PaddedExtent(w.after[d], rest == 0 ? 0 : w.strides[d] - rest, 0);
      }
    }
    is_padded = is_padded || w.before[d] != 0 || w.after[d] != 0;
    width.push_back({w.before[d], w.after[d]});
    w.before[d] = w.after[d] = 0;
  }
  p.ceil = false;
  const DataType type = DataTypeOf(p.data);
  p.data = Powered(node, node.Typed(ops::Abs(p.data)), order);
  if (is_padded) p.data = node.Typed(ops::Pad(p.data, width, 0, type));
  const Expr sum = ops::Multiply(Average(node, p, true), ops::Scalar(count, type));
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
  t["AveragePool"] = AveragePool;
  t["GlobalAveragePool"] = GlobalPool(false);
  t["GlobalLpPool"] = GlobalLpPool;
  t["GlobalMaxPool"] = GlobalPool(true);
  t["LpPool"] = LpPool;
  t["MaxPool"] = MaxPool;
}

}  // namespace tenon::onnx_import
