// Reductions and normalisations along axes.
#include <utility>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

// The axes from the attribute or, from opset `input_since` on, from the second input. None, or an
// empty list, means all.
ops::ReduceAttrs Axes(Node& node, int input_since) {
  ops::ReduceAttrs reduce{.keepdims = node.Int("keepdims", 1) != 0};
  Ints axes;
  if (node.opset() < input_since) {
    axes = node.IntsOr("axes", {});
  } else if (node.has_input(1)) {
    axes = node.ConstantInts(1);
  }
  if (!axes.empty()) reduce.axis = axes;
  return reduce;
}

// Whether nothing is reduced: when there are no axes and the model says so.
bool IsNoOp(Node& node, const ops::ReduceAttrs& reduce) {
  return node.Int("noop_with_empty_axes", 0) != 0 && !reduce.axis;
}

Converter Reduce(const Expr& op, int input_since) {
  return [op, input_since](Node& node) {
    const ops::ReduceAttrs reduce = Axes(node, input_since);
    if (IsNoOp(node, reduce)) return std::vector<Expr>{node.input(0)};
    return std::vector<Expr>{node.Typed(ir::Call::Make(op, {node.input(0)}, Attrs::Make(reduce)))};
  };
}

// Applies `before` to each element, sums, and applies `after` to the sum.
Converter ReduceBetween(Expr (*before)(const Expr&), Expr (*after)(const Expr&)) {
  return [=](Node& node) {
    const ops::ReduceAttrs reduce = Axes(node, 18);
    const Expr x = before == nullptr ? node.input(0) : before(node.input(0));
    const Expr sum = IsNoOp(node, reduce) ? x : ops::Sum(x, reduce);
    return std::vector<Expr>{node.Typed(after == nullptr ? sum : after(sum))};
  };
}

Expr Square(const Expr& x) { return ops::Multiply(x, x); }

// Of integers it is the integer part of the root, which float64 has exactly up to 2^53.
std::vector<Expr> ReduceL2(Node& node) {
  const Expr& x = node.input(0);
  const DataType type = DataTypeOf(x);
  const ops::ReduceAttrs reduce = Axes(node, 18);
  const Expr real = type.is_float() ? x : ops::Cast(x, Float64);
  const Expr squares = Square(real);
  const Expr root = ops::Sqrt(IsNoOp(node, reduce) ? squares : ops::Sum(squares, reduce));
  return {node.Typed(type.is_float() ? root : ops::Cast(root, type))};
}

// The standard's types held integers up to opset 27, though its reference has no result for them.
Converter OfFloats(Converter convert) {
  return [convert = std::move(convert)](Node& node) {
    if (const DataType type = DataTypeOf(node.input(0)); !type.is_float())
      throw Unimplemented(
          StrCat("the input has the type ", type.ToString(),
                 "; a logarithm is one of floats, to which a Cast brings the input"));
    return convert(node);
  };
}

// Exponentials of the differences from the maximum do not overflow. Where the maximum is infinite,
// the exponentials of the elements themselves are taken.
std::vector<Expr> ReduceLogSumExp(Node& node) {
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  ops::ReduceAttrs reduce = Axes(node, 18);
  if (IsNoOp(node, reduce)) return {x};
  const bool keepdims = reduce.keepdims;
  reduce.keepdims = true;
  const Expr maximum = node.Typed(ops::Max(x, reduce));
  const Expr base =
      ops::Where(ir::Call::Make(ops::Known().isinf, {maximum}), ops::Scalar(0, t), maximum);
  const Expr y =
      node.Typed(ops::Add(ops::Log(ops::Sum(ops::Exp(ops::Subtract(x, base)), reduce)), base));
  if (keepdims) return {y};
  return {node.Typed(reduce.axis ? ops::Squeeze(y, reduce.axis) : ops::Reshape(y, {}))};
}

Converter ArgReduce(const Expr& op) {
  return [op](Node& node) {
    const ops::ArgReduceAttrs reduce{.axis = Ints{node.Int("axis", 0)},
                                     .keepdims = node.Int("keepdims", 1) != 0,
                                     .select_last_index = node.Int("select_last_index", 0) != 0};
    return std::vector<Expr>{
        node.Typed(ops::Cast(ir::Call::Make(op, {node.input(0)}, Attrs::Make(reduce)), Int64))};
  };
}

// Up to opset 12, the axes from `axis` on are normalised together.
Converter SoftmaxLike(const Expr& op) {
  return [op](Node& node) {
    const Expr& x = node.input(0);
    const std::int64_t rank = RankOf(x);
    const auto softmax = [&](const Expr& e, std::int64_t axis) {
      return ir::Call::Make(op, {e}, Attrs::Make(ops::SoftmaxAttrs{axis}));
    };
    if (node.opset() >= 13) return std::vector<Expr>{node.Typed(softmax(x, node.Int("axis", -1)))};
    const std::int64_t axis = AxisOf(node, 1);
    if (axis == rank - 1) return std::vector<Expr>{node.Typed(softmax(x, -1))};
    const std::vector<Dim> shape = DimsOf(x);
    std::vector<Dim> flat(shape.begin(), shape.begin() + axis);
    flat.push_back(ops::Product({shape.begin() + axis, shape.end()}));
    const Expr y = node.Typed(softmax(node.Typed(ReshapeTo(node.extents(), x, flat)), -1));
    return std::vector<Expr>{node.Typed(ReshapeTo(node.extents(), y, shape))};
  };
}

}  // namespace

void AddReduceConverters(ConverterTable* table) {
  const auto& known = ops::Known();
  ConverterTable& t = *table;
  t["ReduceMax"] = Reduce(known.max, 18);
  t["ReduceMean"] = Reduce(known.mean, 18);
  t["ReduceMin"] = Reduce(known.min, 18);
  t["ReduceProd"] = Reduce(known.prod, 18);
  t["ReduceSum"] = Reduce(known.sum, 13);
  t["ReduceL1"] = ReduceBetween(ops::Abs, nullptr);
  t["ReduceL2"] = InFloat32(ReduceL2);
  t["ReduceLogSum"] = InFloat32(OfFloats(ReduceBetween(nullptr, ops::Log)));
  t["ReduceLogSumExp"] = InFloat32(OfFloats(ReduceLogSumExp));
  t["ReduceSumSquare"] = InFloat32(ReduceBetween(Square, nullptr));
  t["ArgMax"] = ArgReduce(known.argmax);
  t["ArgMin"] = ArgReduce(known.argmin);
  t["Softmax"] = SoftmaxLike(known.softmax);
  t["LogSoftmax"] = SoftmaxLike(known.log_softmax);
}

}  // namespace tenon::onnx_import
