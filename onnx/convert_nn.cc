// Pooling, matrix products and normalisations.
#include "tenon/onnx/converters.h"
#include "tenon/onnx/matmul.h"
#include "tenon/onnx/window.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

// A window over one axis is one of height 1; of one over three axes, height and width are pooled
// first and then depth: greatest values and means of boxes can be taken axis by axis.
template <typename AttrsType, typename Pool>
Expr PoolOver(Node& node, const Expr& x, const AttrsType& base, const Pool& pool) {
  const Shape shape = ShapeOf(x);
  const Window w = ReadWindow(node, shape, node.IntsOr("kernel_shape", {}));
  const auto over = [&](const Expr& image, const std::vector<int>& axes) {
    AttrsType attrs = base;
    attrs.strides.clear();
    attrs.dilation.clear();
    attrs.padding.clear();
    const auto pick = [&](const Ints& values, std::int64_t otherwise, Ints* to) {
      for (const int axis : axes)
        to->push_back(axis < 0 ? otherwise : values[static_cast<std::size_t>(axis)]);
    };
    pick(w.kernel, 1, &attrs.pool_size);
    pick(w.strides, 1, &attrs.strides);
    pick(w.dilations, 1, &attrs.dilation);
    pick(w.before, 0, &attrs.padding);
    pick(w.after, 0, &attrs.padding);
    return node.Typed(pool(image, attrs));
  };
  switch (w.kernel.size()) {
    case 1:
      return ops::Squeeze(over(node.Typed(ops::ExpandDims(x, 2)), {-1, 0}), Ints{2});
    case 2:
      return over(x, {0, 1});
    default: {
      const Expr flat =
          node.Typed(ops::Reshape(x, {shape[0], shape[1] * shape[2], shape[3], shape[4]}));
      const Expr rows = over(flat, {1, 2});
      const Shape image = ShapeOf(rows);
      const Expr deep =
          over(node.Typed(ops::Reshape(rows, {shape[0], shape[1], shape[2], image[2] * image[3]})),
               {0, -1});
      return ops::Reshape(deep, {shape[0], shape[1], ShapeOf(deep)[2], image[2], image[3]});
    }
  }
}

std::vector<Expr> MaxPool(Node& node) {
  if (node.num_outputs() > 1) throw Unimplemented("the second output (indices) is not supported");
  node.Ignore("storage_order");
  const ops::MaxPool2DAttrs base{.ceil_mode = node.Int("ceil_mode", 0) != 0};
  return {node.Typed(PoolOver(node, node.input(0), base, ops::MaxPool2D))};
}

std::vector<Expr> AveragePool(Node& node) {
  const ops::AvgPool2DAttrs base{.ceil_mode = node.Int("ceil_mode", 0) != 0,
                                 .count_include_pad = node.Int("count_include_pad", 0) != 0};
  return {node.Typed(PoolOver(node, node.input(0), base, ops::AvgPool2D))};
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
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  Ints axes;
  for (std::int64_t i = 2; i < RankOf(x); ++i) axes.push_back(i);
  const auto spatial = static_cast<std::int64_t>(axes.size());
  const ops::ReduceAttrs reduce{.axis = axes, .keepdims = true};
  const Expr centred = ops::Subtract(x, ops::Mean(x, reduce));
  const Expr variance = ops::Mean(ops::Multiply(centred, centred), reduce);
  const Expr deviation = ops::Sqrt(ops::Add(variance, ops::Scalar(node.Float("epsilon", 1e-5), t)));
  const Expr scaled =
      ops::Multiply(ops::Divide(centred, deviation), ops::ExpandDims(node.input(1), 1, spatial));
  return {node.Typed(ops::Add(scaled, ops::ExpandDims(node.input(2), 1, spatial)))};
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
