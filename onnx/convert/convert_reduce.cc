// Reductions and normalisations along axes.
#include <optional>
#include <utility>

#include "tenon/onnx/convert/axes_of_run.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/onnx/convert/run_time_axes.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

// What a node reduces: along axes that are known at import, or that only a run knows.
class Reduction {
 public:
  // The axes come from the attribute or, from opset `input_since` on, from the second input. None,
  // or an empty list, means all. Throws Unimplemented for axes of a run if these are dropped and
  // their number is not known.
  Reduction(Node& node, int input_since) : node_(node) {
    attrs_.keepdims = node.Int("keepdims", 1) != 0;
    const bool is_none_if_empty = node.Int("noop_with_empty_axes", 0) != 0;
    Ints axes;
    if (node.opset() < input_since) {
      axes = node.IntsOr("axes", {});
    } else if (node.has_input(1)) {
      const Expr& given = node.input(1);
      const std::optional<std::vector<Dim>> known = DimsOfValue(given);
      if (known && IsStatic(*known)) {
        axes = NumbersOf(*known);
      } else if (DependsOnInputs(given) && (attrs_.keepdims || IsStatic(DimsOf(given)))) {
        of_run_.emplace(node, node.input(0), given, !is_none_if_empty);
        axes_of_run_ = given;
        return;
      } else {
        axes = node.ConstantInts(1);
      }
    }
    if (!axes.empty()) attrs_.axis = axes;
    is_no_op_ = is_none_if_empty && axes.empty();
  }

  // Whether nothing is reduced: when there are no axes and the model says so.
  bool is_no_op() const { return is_no_op_; }

  // The input, or a value of its extents, reduced by an operator that gives one element as it is.
  Expr Of(const Expr& op, const Expr& x) const {
    if (is_no_op_) return x;
    if (of_run_) {
      const Expr typed = node_.Typed(x);
      const DataType type = DataTypeOf(typed);
      if (!type.is_half()) return WithoutAxes(of_run_->Reduced(op, typed));
      // Rounded once, and not after each axis.
      const Expr wide = node_.Typed(ops::Cast(typed, Float32));
      return WithoutAxes(node_.Typed(ops::Cast(of_run_->Reduced(op, wide), type)));
    }
    return ir::Call::Make(op, {x}, Attrs::Make(attrs_));
  }

  // The mean of the input. Integers are added up in 64 bits.
  Expr Mean(const Expr& x) const {
    if (!of_run_) return Of(ops::Known().mean, x);
    const DataType type = DataTypeOf(x);
    const DataType wide = type.is_half()    ? Float32
                          : type.is_float() ? type
                          : type == UInt64  ? UInt64
                                            : Int64;
    const Expr sum = Of(ops::Known().sum, ops::Cast(x, wide));
    return ops::Cast(ops::Divide(sum, ops::Cast(of_run_->Count(), wide)), type);
  }

  // What was reduced with one element along each axis, as operands beside the input have it.
  Expr Beside(const Expr& reduced) const {
    return of_run_ ? of_run_->Spread(node_.Typed(reduced)) : reduced;
  }

  // The same reduction with the rank of the input.
  Reduction WithRank() const {
    Reduction with_rank = *this;
    with_rank.attrs_.keepdims = true;
    return with_rank;
  }
  // A result of it without the axes, where the node drops them.
  Expr WithoutAxes(const Expr& reduced) const {
    if (attrs_.keepdims) return reduced;
    if (of_run_) return SqueezedByValues(node_, node_.Typed(reduced), axes_of_run_);
    return attrs_.axis ? ops::Squeeze(reduced, attrs_.axis) : ops::Reshape(reduced, {});
  }

 private:
  const Node& node_;
  ops::ReduceAttrs attrs_;
  bool is_no_op_ = false;
  std::optional<RunTimeAxes> of_run_;
  Expr axes_of_run_;
};

std::vector<Expr> ReduceMean(Node& node) {
  const Reduction reduction(node, 18);
  return {node.Typed(reduction.Mean(node.input(0)))};
}

Converter Reduce(const Expr& op, int input_since) {
  return [op, input_since](Node& node) {
    const Reduction reduction(node, input_since);
    return std::vector<Expr>{node.Typed(reduction.Of(op, node.input(0)))};
  };
}

// Applies `before` to each element, sums, and applies `after` to the sum.
Converter ReduceBetween(Expr (*before)(const Expr&), Expr (*after)(const Expr&)) {
  return [=](Node& node) {
    const Reduction reduction(node, 18);
    const Expr x = before == nullptr ? node.input(0) : before(node.input(0));
    const Expr sum = reduction.Of(ops::Known().sum, x);
    return std::vector<Expr>{node.Typed(after == nullptr ? sum : after(sum))};
  };
}

Expr Square(const Expr& x) { return ops::Multiply(x, x); }

// Of integers it is the integer part of the root, which float64 has exactly up to 2^53.
std::vector<Expr> ReduceL2(Node& node) {
  const Expr& x = node.input(0);
  const DataType type = DataTypeOf(x);
  const Reduction reduction(node, 18);
  const Expr real = type.is_float() ? x : ops::Cast(x, Float64);
  const Expr root = ops::Sqrt(reduction.Of(ops::Known().sum, Square(real)));
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
  const Reduction reduction(node, 18);
  if (reduction.is_no_op()) return {x};
  const auto& known = ops::Known();
  const Reduction with_rank = reduction.WithRank();
  const Expr maximum = node.Typed(with_rank.Of(known.max, x));
  const Expr base = ops::Where(ir::Call::Make(known.isinf, {maximum}), ops::Scalar(0, t), maximum);
  const Expr powers = ops::Exp(ops::Subtract(x, with_rank.Beside(base)));
  const Expr y = node.Typed(ops::Add(ops::Log(with_rank.Of(known.sum, powers)), base));
  return {node.Typed(reduction.WithoutAxes(y))};
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
  t["ReduceMax"] = Reduce(known.max, 18).With({.other = "axes as of ReduceL1"});
  t["ReduceMean"] = Converter(ReduceMean).With({.other = "axes as of ReduceL1"});
  t["ReduceMin"] = Reduce(known.min, 18).With({.other = "axes as of ReduceL1"});
  t["ReduceProd"] = Reduce(known.prod, 18).With({.other = "axes as of ReduceL1"});
  t["ReduceSum"] = Reduce(known.sum, 13).With({.other = "axes as of ReduceL1"});
  t["ReduceL1"] =
      ReduceBetween(ops::Abs, nullptr)
          .With({.other = "axes of a run that are dropped, in a number known at import"});
  t["ReduceL2"] = InFloat32(ReduceL2).With(
      {.other =
           "of integers, the integer part of the root, computed in float64; axes as of ReduceL1"});
  t["ReduceLogSum"] = InFloat32(OfFloats(ReduceBetween(nullptr, ops::Log)))
                          .With({.other = "floats; axes as of ReduceL1"});
  t["ReduceLogSumExp"] =
      InFloat32(OfFloats(ReduceLogSumExp)).With({.other = "floats; axes as of ReduceL1"});
  t["ReduceSumSquare"] =
      InFloat32(ReduceBetween(Square, nullptr)).With({.other = "axes as of ReduceL1"});
  t["ArgMax"] = ArgReduce(known.argmax);
  t["ArgMin"] = ArgReduce(known.argmin);
  t["Softmax"] = SoftmaxLike(known.softmax);
  t["LogSoftmax"] = SoftmaxLike(known.log_softmax);
}

}  // namespace tenon::onnx_import
