// Convolution, pooling, matrix products and normalisations.
#include "tenon/onnx/converters.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

// The window of a convolution or pooling: spatial attributes with their defaults.
struct Window {
  Ints kernel, strides, dilations, pads;  // pads: top, left, bottom, right
};

Window ReadWindow(Node& node, const Shape& data, const Ints& kernel) {
  const std::size_t dims = kernel.size();
  if (dims != 2 || data.size() != 4)
    throw Unimplemented(StrCat("windows over ", data.size() < 2 ? 0 : data.size() - 2,
                               " spatial axes are not supported; 2 are"));
  Window w{.kernel = kernel,
           .strides = node.IntsOr("strides", {1, 1}),
           .dilations = node.IntsOr("dilations", {1, 1}),
           .pads = node.IntsOr("pads", {0, 0, 0, 0})};
  if (w.strides.size() != 2 || w.dilations.size() != 2 || w.pads.size() != 4)
    throw InvalidArgument("strides and dilations take two values, pads four");
  const std::string automatic = node.String("auto_pad", "NOTSET");
  if (automatic == "NOTSET") return w;
  w.pads.assign(4, 0);
  if (automatic == "VALID") return w;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    throw InvalidArgument(
        StrCat("auto_pad is ", automatic, "; it may be NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t in = data[i + 2];
    const std::int64_t out = CeilDiv(in, w.strides[i]);
    const std::int64_t span = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const std::int64_t pad = std::max<std::int64_t>(0, (out - 1) * w.strides[i] + span - in);
    w.pads[i] = automatic == "SAME_UPPER" ? pad / 2 : (pad + 1) / 2;
    w.pads[i + 2] = pad - w.pads[i];
  }
  return w;
}

std::vector<Expr> Conv(Node& node) {
  const Expr& x = node.input(0);
  const Expr& weight = node.input(1);
  const Shape w_shape = ShapeOf(weight);
  if (w_shape.size() < 3)
    throw InvalidArgument(StrCat("the weight has rank ", w_shape.size(), "; it needs at least 3"));
  const Ints kernel(w_shape.begin() + 2, w_shape.end());
  if (node.IntsOr("kernel_shape", kernel) != kernel)
    throw InvalidArgument("kernel_shape is not the shape of the weight");
  const Window w = ReadWindow(node, ShapeOf(x), kernel);
  Expr y = ops::Conv2D(x, weight,
                       {.strides = w.strides,
                        .padding = w.pads,
                        .dilation = w.dilations,
                        .groups = node.Int("group", 1),
                        .channels = w_shape[0],
                        .kernel_size = kernel});
  if (node.has_input(2)) y = ops::BiasAdd(y, node.input(2));
  return {node.Typed(y)};
}

std::vector<Expr> MaxPool(Node& node) {
  const Expr& x = node.input(0);
  if (node.num_outputs() > 1) throw Unimplemented("the second output (indices) is not supported");
  node.Ignore("storage_order");
  const Window w = ReadWindow(node, ShapeOf(x), node.IntsOr("kernel_shape", {}));
  return {node.Typed(ops::MaxPool2D(x, {.pool_size = w.kernel,
                                        .strides = w.strides,
                                        .dilation = w.dilations,
                                        .padding = w.pads,
                                        .ceil_mode = node.Int("ceil_mode", 0) != 0}))};
}

std::vector<Expr> AveragePool(Node& node) {
  const Expr& x = node.input(0);
  const Window w = ReadWindow(node, ShapeOf(x), node.IntsOr("kernel_shape", {}));
  return {
      node.Typed(ops::AvgPool2D(x, {.pool_size = w.kernel,
                                    .strides = w.strides,
                                    .dilation = w.dilations,
                                    .padding = w.pads,
                                    .ceil_mode = node.Int("ceil_mode", 0) != 0,
                                    .count_include_pad = node.Int("count_include_pad", 0) != 0}))};
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

std::vector<Expr> LayerNormalization(Node& node) {
  const Expr& x = node.input(0);
  if (AxisOf(node, -1) != RankOf(x) - 1)
    throw Unimplemented("more than one normalised axis is not supported");
  if (node.num_outputs() > 1) throw Unimplemented("the moments as outputs are not supported");
  node.Ignore("stash_type");
  const double epsilon = node.Float("epsilon", 1e-5);
  const bool center = node.has_input(2);
  return {node.Typed(ops::LayerNorm(x, node.input(1), center ? node.input(2) : node.input(1),
                                    {.epsilon = epsilon, .center = center}))};
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

// Batches of both sides broadcast together, then products of rank 3.
Expr BatchedProduct(const Expr& a, const Expr& b) {
  const Shape a_shape = ShapeOf(a);
  const Shape b_shape = ShapeOf(b);
  const std::size_t rank = std::max(a_shape.size(), b_shape.size());
  Shape batch(rank - 2, 1);
  for (const Shape* shape : {&a_shape, &b_shape}) {
    for (std::size_t i = 0; i + 2 < shape->size(); ++i) {
      std::int64_t& extent = batch[rank - shape->size() + i];
      const std::int64_t other = (*shape)[i];
      if (extent != 1 && other != 1 && extent != other)
        throw InvalidArgument(StrCat("the batches ", ShapeToString(a_shape), " and ",
                                     ShapeToString(b_shape), " do not broadcast"));
      if (extent == 1) extent = other;
    }
  }
  const auto flattened = [&](const Expr& e, const Shape& shape) {
    Shape full = batch;
    full.insert(full.end(), shape.end() - 2, shape.end());
    Expr value = e;
    if (NumElements(shape) != NumElements(full))
      value = ir::Call::Make(ops::Known().broadcast_to, {e},
                             Attrs::Make(ops::InitOpAttrs{.shape = full}));
    return ops::Reshape(value, {-1, full[rank - 2], full[rank - 1]});
  };
  Shape result = batch;
  result.push_back(a_shape[a_shape.size() - 2]);
  result.push_back(b_shape.back());
  return ops::Reshape(ops::BatchMatmul(flattened(a, a_shape), flattened(b, b_shape)), result);
}

std::vector<Expr> MatMul(Node& node) {
  Expr a = node.input(0);
  Expr b = node.input(1);
  const bool a_vector = RankOf(a) == 1;
  const bool b_vector = RankOf(b) == 1;
  if (RankOf(a) == 0 || RankOf(b) == 0) throw InvalidArgument("an operand has rank 0");
  if (a_vector) a = node.Typed(ops::ExpandDims(a, 0));
  if (b_vector) b = node.Typed(ops::ExpandDims(b, 1));
  Expr y = RankOf(b) == 2 ? ops::Matmul(a, b) : BatchedProduct(a, b);
  y = node.Typed(y);
  Ints drop;
  if (a_vector) drop.push_back(-2);
  if (b_vector) drop.push_back(-1);
  return {drop.empty() ? y : node.Typed(ops::Squeeze(y, drop))};
}

std::vector<Expr> Dropout(Node& node) {
  node.Ignore("ratio");
  node.Ignore("seed");
  node.Ignore("is_test");
  if (node.num_outputs() > 1) throw Unimplemented("the mask as an output is not supported");
  if (node.has_input(2) && *node.Constant(2).data<bool>())
    throw Unimplemented("training is not supported");
  return {node.input(0)};
}

}  // namespace

void AddNnConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["AveragePool"] = AveragePool;
  t["BatchNormalization"] = BatchNormalization;
  t["Conv"] = Conv;
  t["Dropout"] = Dropout;
  t["Gemm"] = Gemm;
  t["GlobalAveragePool"] = GlobalPool(false);
  t["GlobalMaxPool"] = GlobalPool(true);
  t["InstanceNormalization"] = InstanceNormalization;
  t["LayerNormalization"] = LayerNormalization;
  t["MatMul"] = MatMul;
  t["MaxPool"] = MaxPool;
}

}  // namespace tenon::onnx_import
