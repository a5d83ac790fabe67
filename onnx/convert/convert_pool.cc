// Pooling over windows and over whole images, and the positions of the values that max pooling
// picks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/window.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/pool_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The window of the node as attributes of pooling over the same number of axes.
template <typename AttrsType>
AttrsType PoolAttrs(Node& node, const Window& w) {
  return {.pool_size = w.kernel,
          .strides = w.strides,
          .dilation = w.dilations,
          .padding = w.pads(),
          .ceil_mode = node.Int("ceil_mode", 0) != 0};
}

Window PoolWindow(Node& node) {
  return ReadWindow(node, DimsOf(node.input(0)), node.IntsOr("kernel_shape", {}));
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

// The position in its image of each window's maximum. The taps of all windows are gathered, axis by
// axis; the first maximum of each window is found; then its position is computed.
Expr PlacesOfMaxima(Node& node, const Window& w, const Shape& result, bool columns_first) {
  const Expr& x = node.input(0);
  const Shape shape = ShapeOf(x);
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
  const Expr by_axis = node.Typed(
      ops::Reshape(taps, {result[0], result[1], result[2], w.kernel[0], result[3], w.kernel[1]}));
  RequireTable("taps of a window", w.kernel[0], w.kernel[1]);
  const std::int64_t count = w.kernel[0] * w.kernel[1];
  const Expr windows =
      node.Typed(ops::Reshape(node.Typed(ops::Transpose(by_axis, Ints{0, 1, 2, 4, 3, 5})),
                              {result[0], result[1], result[2], result[3], count}));
  const Expr tap = node.Typed(ops::ArgMax(windows, {.axis = Ints{4}}));
  // In the given image: the position of the first tap of each window, and of each tap relative to
  // it.
  const std::int64_t down = columns_first ? 1 : shape[3], across = columns_first ? shape[2] : 1;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i)
    offsets.push_back(i / w.kernel[1] * w.dilations[0] * down +
                      i % w.kernel[1] * w.dilations[1] * across);
  const std::int64_t plane = shape[2] * shape[3];
  const Expr planes =
      ops::Add(PlacesAlong(0, shape[0], 0, shape[1] * plane), PlacesAlong(1, shape[1], 0, plane));
  const Expr firsts =
      ops::Add(PlacesAlong(2, result[2], -w.before[0] * down, w.strides[0] * down),
               PlacesAlong(3, result[3], -w.before[1] * across, w.strides[1] * across));
  return ops::Add(ops::Add(planes, firsts), ops::Take(TableOf({count}, offsets), tap));
}

std::vector<Expr> MaxPool(Node& node) {
  const Expr& x = node.input(0);
  const Window w = PoolWindow(node);
  const std::size_t dims = w.kernel.size();
  const Expr maximum =
      node.Typed(dims == 1   ? ops::MaxPool1D(x, PoolAttrs<ops::MaxPool1DAttrs>(node, w))
                 : dims == 2 ? ops::MaxPool2D(x, PoolAttrs<ops::MaxPool2DAttrs>(node, w))
                             : ops::MaxPool3D(x, PoolAttrs<ops::MaxPool3DAttrs>(node, w)));
  const bool columns_first = node.Int("storage_order", 0) != 0;
  if (node.num_outputs() < 2) return {maximum};
  return {maximum, node.Typed(PlacesOfMaxima(node, w, ShapeOf(maximum), columns_first))};
}

template <typename AttrsType>
AttrsType AveragePoolAttrs(Node& node, const Window& w) {
  AttrsType attrs = PoolAttrs<AttrsType>(node, w);
  attrs.count_include_pad = node.Int("count_include_pad", 0) != 0;
  return attrs;
}

std::vector<Expr> AveragePool(Node& node) {
  const Expr& x = node.input(0);
  const Window w = PoolWindow(node);
  const std::size_t dims = w.kernel.size();
  return {node.Typed(dims == 1 ? ops::AvgPool1D(x, AveragePoolAttrs<ops::AvgPool1DAttrs>(node, w))
                     : dims == 2
                         ? ops::AvgPool2D(x, AveragePoolAttrs<ops::AvgPool2DAttrs>(node, w))
                         : ops::AvgPool3D(x, AveragePoolAttrs<ops::AvgPool3DAttrs>(node, w)))};
}

// Any number of spatial axes, by a reduction.
Converter GlobalPool(bool is_max) {
  return [is_max](Node& node) {
    const Expr& x = node.input(0);
    if (RankOf(x) == 4)
      return std::vector<Expr>{
          node.Typed(is_max ? ops::GlobalMaxPool2D(x) : ops::GlobalAvgPool2D(x))};
    Ints axes;
    for (std::int64_t i = 2; i < RankOf(x); ++i) axes.push_back(i);
    const ops::ReduceAttrs reduce{.axis = axes, .keepdims = true};
    return std::vector<Expr>{node.Typed(is_max ? ops::Max(x, reduce) : ops::Mean(x, reduce))};
  };
}

}  // namespace

void AddPoolConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["AveragePool"] = AveragePool;
  t["GlobalAveragePool"] = GlobalPool(false);
  t["GlobalMaxPool"] = GlobalPool(true);
  t["MaxPool"] = MaxPool;
}

}  // namespace tenon::onnx_import
