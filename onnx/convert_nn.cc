// Pooling, matrix products and normalisations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/onnx/converters.h"
#include "tenon/onnx/matmul.h"
#include "tenon/onnx/window.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/pool_builders.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

constexpr std::int64_t kLargestDeterminant = 4;

// The window of the node as attributes of pooling over as many axes.
template <typename AttrsType>
AttrsType PoolAttrs(Node& node, const Window& w) {
  return {.pool_size = w.kernel,
          .strides = w.strides,
          .dilation = w.dilations,
          .padding = w.pads(),
          .ceil_mode = node.Int("ceil_mode", 0) != 0};
}

Window PoolWindow(Node& node) {
  return ReadWindow(node, ShapeOf(node.input(0)), node.IntsOr("kernel_shape", {}));
}

// Where in its image each greatest value of a window lies: the taps of all windows are gathered,
// the place of the first greatest one is found, and what it lies at is known.
Expr PlacesOfGreatest(Node& node, const Shape& result, bool columns_first) {
  const Expr& x = node.input(0);
  const Shape shape = ShapeOf(x);
  const Window w = PoolWindow(node);
  if (w.kernel.size() != 2)
    throw Unimplemented("indices are supported over two spatial axes, no others");
  // As many elements behind as the last window reaches.
  const auto behind = [&](std::size_t d) {
    const std::int64_t span = (w.kernel[d] - 1) * w.dilations[d] + 1;
    return std::max<std::int64_t>(
        0, (result[d + 2] - 1) * w.strides[d] + span - shape[d + 2] - w.before[d]);
  };
  const DataType type = DataTypeOf(x);
  const double least = type.is_float()  ? -std::numeric_limits<double>::infinity()
                       : type.is_uint() ? 0
                                        : -std::ldexp(1.0, type.bits() - 1);
  const Expr padded = node.Typed(ops::Pad(
      x, {{0, 0}, {0, 0}, {w.before[0], behind(0)}, {w.before[1], behind(1)}}, least, type));
  const std::int64_t down = columns_first ? 1 : shape[3], across = columns_first ? shape[2] : 1;
  const Shape image = ShapeOf(padded);
  // Where in the padded image the taps of each window lie, and in the given one from its first tap.
  std::vector<std::int64_t> places, offsets;
  for (std::int64_t y = 0; y < result[2]; ++y) {
    for (std::int64_t column = 0; column < result[3]; ++column) {
      for (std::int64_t tap = 0; tap < w.kernel[0] * w.kernel[1]; ++tap) {
        const std::int64_t top = tap / w.kernel[1] * w.dilations[0];
        const std::int64_t left = tap % w.kernel[1] * w.dilations[1];
        places.push_back((y * w.strides[0] + top) * image[3] + column * w.strides[1] + left);
        if (y + column == 0) offsets.push_back(top * down + left * across);
      }
    }
  }
  std::vector<std::int64_t> firsts;
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
    for (std::int64_t y = 0; y < result[2]; ++y) {
      for (std::int64_t column = 0; column < result[3]; ++column)
        firsts.push_back(plane * shape[2] * shape[3] + (y * w.strides[0] - w.before[0]) * down +
                         (column * w.strides[1] - w.before[1]) * across);
    }
  }
  const auto constant = [](const std::vector<std::int64_t>& values) {
    return ir::Constant::Make(
        NDArray::FromVector<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  };
  const Expr planes = node.Typed(ops::Reshape(padded, {image[0], image[1], image[2] * image[3]}));
  const Expr taps = node.Typed(ops::Take(planes, constant(places), {.axis = 2}));
  const auto count = static_cast<std::int64_t>(offsets.size());
  const Expr windows =
      node.Typed(ops::Reshape(taps, {result[0], result[1], result[2], result[3], count}));
  const Expr tap = node.Typed(ops::ArgMax(windows, {.axis = Ints{4}}));
  const Expr offset = node.Typed(ops::Take(constant(offsets), tap));
  return ops::Add(ir::Constant::Make(NDArray::FromVector<std::int64_t>(result, firsts)), offset);
}

std::vector<Expr> MaxPool(Node& node) {
  const Expr& x = node.input(0);
  const Window w = PoolWindow(node);
  const std::size_t dims = w.kernel.size();
  const Expr greatest =
      node.Typed(dims == 1   ? ops::MaxPool1D(x, PoolAttrs<ops::MaxPool1DAttrs>(node, w))
                 : dims == 2 ? ops::MaxPool2D(x, PoolAttrs<ops::MaxPool2DAttrs>(node, w))
                             : ops::MaxPool3D(x, PoolAttrs<ops::MaxPool3DAttrs>(node, w)));
  const bool columns_first = node.Int("storage_order", 0) != 0;
  if (node.num_outputs() < 2) return {greatest};
  return {greatest, node.Typed(PlacesOfGreatest(node, ShapeOf(greatest), columns_first))};
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

// Spatial axes of any number, through a reduction.
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

std::vector<Expr> BatchNormalization(Node& node) {
  if (node.Int("training_mode", 0) != 0 || node.num_outputs() > 1)
    throw Unimplemented("training is not supported");
  if (node.Int("spatial", 1) != 1) throw Unimplemented("spatial=0 is not supported");
  node.Ignore("momentum");
  const double epsilon = node.Float("epsilon", 1e-5);
  const Expr y = ops::BatchNorm(node.input(0), node.input(1), node.input(2), node.input(3),
                                node.input(4), {.epsilon = epsilon});
  return {node.Typed(ir::TupleGetItem::Make(y, 0))};
}

std::vector<Expr> InstanceNormalization(Node& node) {
  return {node.Typed(ops::InstanceNorm(node.input(0), node.input(1), node.input(2),
                                       {.epsilon = node.Float("epsilon", 1e-5)}))};
}

// Also gives the mean and the reciprocal of the deviation, where they are asked for.
std::vector<Expr> LayerNormalization(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t rank = RankOf(x);
  const std::int64_t axis = AxisOf(node, -1);
  if (node.Int("stash_type", 1) != 1) throw Unimplemented("stash_type must be 1 (float32)");
  const double epsilon = node.Float("epsilon", 1e-5);
  const bool center = node.has_input(2);
  if (axis == rank - 1 && node.num_outputs() == 1 && RankOf(node.input(1)) == 1)
    return {node.Typed(ops::LayerNorm(x, node.input(1), center ? node.input(2) : node.input(1),
                                      {.epsilon = epsilon, .center = center}))};
  const DataType t = DataTypeOf(x);
  Ints axes;
  for (std::int64_t i = axis; i < rank; ++i) axes.push_back(i);
  const ops::ReduceAttrs reduce{.axis = axes, .keepdims = true};
  const Expr mean = node.Typed(ops::Mean(x, reduce));
  const Expr centred = node.Typed(ops::Subtract(x, mean));
  const Expr variance = ops::Mean(ops::Multiply(centred, centred), reduce);
  const Expr deviation = ops::Sqrt(ops::Add(variance, ops::Scalar(epsilon, t)));
  const Expr inverse = node.Typed(ops::Divide(ops::Scalar(1, t), deviation));
  Expr y = ops::Multiply(ops::Multiply(centred, inverse), node.input(1));
  if (center) y = ops::Add(y, node.input(2));
  return {node.Typed(y), mean, inverse};
}

std::vector<Expr> LocalResponseNormalization(Node& node) {
  return {node.Typed(ir::Call::Make(ops::Known().lrn, {node.input(0)},
                                    Attrs::Make(ops::LRNAttrs{.size = node.Int("size", 0),
                                                              .bias = node.Float("bias", 1),
                                                              .alpha = node.Float("alpha", 1e-4),
                                                              .beta = node.Float("beta", 0.75)})))};
}

std::vector<Expr> MeanVarianceNormalization(Node& node) {
  const Expr& x = node.input(0);
  const ops::ReduceAttrs reduce{.axis = node.IntsOr("axes", {0, 2, 3}), .keepdims = true};
  const Expr centred = node.Typed(ops::Subtract(x, ops::Mean(x, reduce)));
  const Expr variance = ops::Mean(ops::Multiply(centred, centred), reduce);
  const Expr deviation = ops::Add(ops::Sqrt(variance), ops::Scalar(1e-9, DataTypeOf(x)));
  return {node.Typed(ops::Divide(centred, deviation))};
}

std::vector<Expr> Gemm(Node& node) {
  const Expr& a = node.input(0);
  const DataType t = DataTypeOf(a);
  const double alpha = node.Float("alpha", 1);
  const double beta = node.Float("beta", 1);
  Expr y = ops::Matmul(
      a, node.input(1),
      {.transpose_a = node.Int("transA", 0) != 0, .transpose_b = node.Int("transB", 0) != 0});
  if (alpha != 1) y = ops::Multiply(y, ops::Scalar(alpha, t));
  if (node.has_input(2)) {
    Expr c = node.input(2);
    if (beta != 1) c = ops::Multiply(c, ops::Scalar(beta, t));
    y = ops::Add(y, c);
  }
  return {node.Typed(y)};
}

std::vector<Expr> MatMul(Node& node) {
  return {ProductOfAnyRank(
      node, node.input(0), node.input(1),
      [](const Expr& a, const Expr& b) { return ops::Matmul(a, b); },
      [](const Expr& a, const Expr& b) { return ops::BatchMatmul(a, b); })};
}

// By cofactors: from the last row up, the determinants of all columns taken together by so many.
std::vector<Expr> Det(Node& node) {
  const Expr& x = node.input(0);
  const Shape shape = ShapeOf(x);
  const std::size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2])
    throw InvalidArgument("the input must be square matrices");
  const std::int64_t n = shape.back();
  if (n < 1 || n > kLargestDeterminant)
    throw Unimplemented(StrCat("determinants of ", n, " rows are not supported; those of 1 to ",
                               kLargestDeterminant, " are"));
  const auto along_last = [&](const Expr& e, std::int64_t i) {
    return node.Typed(
        ops::Take(e, ops::Scalar(static_cast<double>(i), Int64), {.axis = RankOf(e) - 1}));
  };
  // By the set of columns, a bit each.
  std::vector<Expr> minors(std::size_t{1} << n);
  for (std::size_t columns = 1; columns < minors.size(); ++columns) {
    const std::int64_t row = n - __builtin_popcountll(columns);
    bool negative = false;
    for (std::int64_t c = 0; c < n; ++c) {
      const std::size_t bit = std::size_t{1} << c;
      if ((columns & bit) == 0) continue;
      Expr term = along_last(along_last(x, c), row);
      if (columns != bit) term = ops::Multiply(term, minors[columns ^ bit]);
      Expr& sum = minors[columns];
      sum = node.Typed(!sum ? term : negative ? ops::Subtract(sum, term) : ops::Add(sum, term));
      negative = !negative;
    }
  }
  return {minors.back()};
}

std::vector<Expr> Dropout(Node& node) {
  node.Ignore("ratio");
  node.Ignore("seed");
  node.Ignore("is_test");
  if (node.has_input(2) && *node.Constant(2).data<bool>())
    throw Unimplemented("training is not supported");
  if (node.num_outputs() == 1) return {node.input(0)};
  // Nothing is dropped: the mask is true everywhere.
  const Expr mask =
      ir::Call::Make(ops::Known().full, {ops::Scalar(1, Bool)},
                     Attrs::Make(ops::InitOpAttrs{.shape = ShapeOf(node.input(0)), .dtype = Bool}));
  return {node.input(0), node.Typed(mask)};
}

}  // namespace

void AddNnConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["AveragePool"] = AveragePool;
  t["BatchNormalization"] = BatchNormalization;
  t["Det"] = Det;
  t["Dropout"] = Dropout;
  t["Gemm"] = Gemm;
  t["GlobalAveragePool"] = GlobalPool(false);
  t["GlobalMaxPool"] = GlobalPool(true);
  t["InstanceNormalization"] = InstanceNormalization;
  t["LRN"] = LocalResponseNormalization;
  t["LayerNormalization"] = LayerNormalization;
  t["MatMul"] = MatMul;
  t["MaxPool"] = MaxPool;
  t["MeanVarianceNormalization"] = MeanVarianceNormalization;
}

}  // namespace tenon::onnx_import
