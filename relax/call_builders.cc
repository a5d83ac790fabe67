#include "tenon/relax/call_builders.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <utility>

#include "tenon/ops/builders.h"
#include "tenon/ops/call_op.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/type_relation.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;
using ops::Ints;

std::int64_t RankOf(const BoundCall& call, std::size_t input) {
  return static_cast<std::int64_t>(call.TensorOf(input).shape.size());
}

// A number of the element type of an input.
Expr NumberLike(const BoundCall& call, double value) {
  return call.Typed(ops::Scalar(value, call.TensorOf(0).dtype));
}

void RequireFloat(const BoundCall& call, const char* name) {
  if (!call.TensorOf(0).dtype.is_float())
    throw InvalidArgument(StrCat("R.", name, " takes floating-point numbers, not ",
                                 call.TensorOf(0).dtype.ToString()));
}

Expr ArgReduce(const BoundCall& call, const char* op) {
  attrs::FieldValues fields = {{"keepdims", attrs::Value(call.Bool("keepdims"))}};
  if (const auto axes = call.Ints("axis"))
    fields["axis"] = attrs::Value(attrs::List(axes->begin(), axes->end()));
  // Relax counts in 64 bits.
  return call.Typed(ops::Cast(call.Typed(ops::CallOp(op, call.inputs, fields)), Int64));
}

// The indices with their last axis, which holds a tuple each, moved to the front.
Expr TuplesFirst(const BoundCall& call, std::size_t input) {
  const std::int64_t rank = RankOf(call, input);
  if (rank < 2) return call.inputs[input];
  Ints axes = {rank - 1};
  for (std::int64_t axis = 0; axis + 1 < rank; ++axis) axes.push_back(axis);
  return call.Typed(ops::Transpose(call.inputs[input], axes));
}

Expr Triangle(const BoundCall& call, bool upper) {
  const Expr k = call.Typed(ops::Scalar(static_cast<double>(call.Int("k")), Int64));
  return ops::CallOp("trilu", {call.inputs[0], k}, {{"upper", attrs::Value(upper)}});
}

}  // namespace

const ir::TensorTypeNode& BoundCall::TensorOf(std::size_t input) const {
  const auto* tensor = inputs[input].checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr)
    throw InvalidArgument(StrCat("input ", input, " is ",
                                 ir::ToString(inputs[input].checked_type()), ", not a tensor"));
  return *tensor;
}

std::int64_t BoundCall::Int(const std::string& name) const {
  const auto* value = values.at(name).As<std::int64_t>();
  if (value == nullptr)
    throw InvalidArgument(StrCat(name, " is ", attrs::KindOf(values.at(name)), ", not an integer"));
  return *value;
}

bool BoundCall::Bool(const std::string& name) const {
  const auto* value = values.at(name).As<bool>();
  if (value == nullptr)
    throw InvalidArgument(StrCat(name, " is ", attrs::KindOf(values.at(name)), ", not a bool"));
  return *value;
}

std::optional<Ints> BoundCall::Ints(const std::string& name) const {
  const attrs::Value& value = values.at(name);
  if (value.is_none()) return std::nullopt;
  if (const auto* one = value.As<std::int64_t>()) return tenon::ops::Ints{*one};
  tenon::ops::Ints numbers;
  if (const auto wrong = attrs::FromValue(value, &numbers))
    throw InvalidArgument(StrCat(name, " is ", attrs::KindOf(value), "; it takes ", *wrong));
  return numbers;
}

Expr BoundCall::Typed(const Expr& call) const {
  return call.kind() == ir::ExprKind::kCall ? passes::InferCall(call) : call;
}

// One number is the end; the step follows start and end.
Expr BuildArange(const BoundCall& call) {
  attrs::Value start = call.values.at("start"), stop = call.values.at("end");
  if (stop.is_none()) stop = std::exchange(start, attrs::Value(std::int64_t{0}));
  attrs::FieldValues fields = {{"start", start}, {"stop", stop}, {"step", call.values.at("step")}};
  const attrs::Value& dtype = call.values.at("dtype");
  // Relax counts integers in 64 bits.
  const bool is_real = start.As<double>() != nullptr || stop.As<double>() != nullptr ||
                       call.values.at("step").As<double>() != nullptr;
  fields["dtype"] = dtype.is_none() ? attrs::Value(is_real ? Float32 : Int64) : dtype;
  return ops::CallOp("arange", {}, fields);
}

Expr BuildArgMax(const BoundCall& call) { return ArgReduce(call, "argmax"); }
Expr BuildArgMin(const BoundCall& call) { return ArgReduce(call, "argmin"); }

// Places of the axes in the result. Neighbours are one call.
Expr BuildExpandDims(const BoundCall& call) {
  Ints axes = call.Ints("axis").value_or(Ints{});
  const auto rank = RankOf(call, 0) + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      throw InvalidArgument(
          StrCat("axis ", axis, " is not within the ", rank, " axes of the result"));
    // The operator counts a single axis from the end itself.
    if (axis < 0 && axes.size() > 1) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    throw InvalidArgument("R.expand_dims is given an axis twice");
  if (axes.empty()) throw InvalidArgument("R.expand_dims is given no axis");
  Expr y = call.inputs[0];
  for (std::size_t i = 0; i < axes.size();) {
    std::size_t end = i + 1;
    while (end < axes.size() && axes[end] == axes[end - 1] + 1) ++end;
    y = call.Typed(ops::ExpandDims(y, axes[i], static_cast<std::int64_t>(end - i)));
    i = end;
  }
  return y;
}

Expr BuildFlatten(const BoundCall& call) { return ops::Reshape(call.inputs[0], {-1}); }

// Without an axis, the elements of the flattened array.
Expr BuildRepeat(const BoundCall& call) {
  const auto axes = call.Ints("axis");
  const Expr data = axes ? call.inputs[0] : call.Typed(ops::Reshape(call.inputs[0], {-1}));
  return ops::CallOp("repeat", {data},
                     {{"repeats", call.values.at("repeats")},
                      {"axis", attrs::Value(axes ? axes->at(0) : std::int64_t{0})}});
}

Expr BuildFma(const BoundCall& call) {
  return ops::Add(call.Typed(ops::Multiply(call.inputs[0], call.inputs[1])), call.inputs[2]);
}

Expr BuildGatherNd(const BoundCall& call) {
  return ops::CallOp("gather_nd", {call.inputs[0], TuplesFirst(call, 1)},
                     {{"batch_dims", call.values.at("batch_dims")}});
}

// x * (1 + erf(x / sqrt(2))) / 2
Expr BuildGelu(const BoundCall& call) {
  RequireFloat(call, "nn.gelu");
  const Expr& x = call.inputs[0];
  const Expr erf =
      call.Typed(ops::Erf(call.Typed(ops::Multiply(x, NumberLike(call, 1 / std::numbers::sqrt2)))));
  const Expr half = call.Typed(ops::Multiply(erf, NumberLike(call, 0.5)));
  return ops::Multiply(x, call.Typed(ops::Add(half, NumberLike(call, 0.5))));
}

// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
Expr BuildGeluTanh(const BoundCall& call) {
  RequireFloat(call, "nn.gelu_tanh");
  const Expr& x = call.inputs[0];
  const auto times = [&](const Expr& a, const Expr& b) { return call.Typed(ops::Multiply(a, b)); };
  const auto plus = [&](const Expr& a, const Expr& b) { return call.Typed(ops::Add(a, b)); };
  const Expr cubic = times(times(times(x, x), x), NumberLike(call, 0.044715));
  const double scale = std::sqrt(2 / std::numbers::pi);
  const Expr tanh = call.Typed(ops::Tanh(times(plus(x, cubic), NumberLike(call, scale))));
  return times(times(x, NumberLike(call, 0.5)), plus(tanh, NumberLike(call, 1)));
}

// Tenon's groups are of one axis, and the sums run over all axes after the first but that one.
Expr BuildGroupNorm(const BoundCall& call) {
  const std::int64_t rank = RankOf(call, 0);
  const auto from_front = [&](std::int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const std::int64_t channels = from_front(call.Int("channel_axis"));
  Ints summed;
  for (const std::int64_t axis : call.Ints("axes").value_or(ops::Ints{}))
    summed.push_back(from_front(axis));
  std::sort(summed.begin(), summed.end());
  Ints wanted;
  for (std::int64_t axis = 1; axis < rank; ++axis) {
    if (axis != channels) wanted.push_back(axis);
  }
  if (summed != wanted)
    throw Unimplemented(StrCat(
        "R.nn.group_norm over the axes ", StrJoin(summed, ", "),
        " is not supported; those beside the batch and the channels are: ", StrJoin(wanted, ", ")));
  return ops::CallOp("nn.group_norm", call.inputs,
                     {{"num_groups", call.values.at("num_groups")},
                      {"axis", attrs::Value(channels)},
                      {"epsilon", call.values.at("epsilon")},
                      {"center", call.values.at("center")},
                      {"scale", call.values.at("scale")}});
}

Expr BuildLinear(const BoundCall& call) {
  if (RankOf(call, 1) != 2)
    throw InvalidArgument(StrCat("R.linear takes a weight of two axes, not ", RankOf(call, 1)));
  BoundCall product = call;
  product.inputs = {call.inputs[0], call.Typed(ops::Transpose(call.inputs[1], Ints{1, 0}))};
  const Expr y = call.Typed(BuildMatmul(product));
  return call.inputs[2] ? ops::Add(y, call.inputs[2]) : y;
}

// NumPy's rule: vectors become matrices, and leading axes are batches that broadcast.
Expr BuildMatmul(const BoundCall& call) {
  const attrs::Value& dtype = call.values.at("out_dtype");
  attrs::FieldValues fields;
  if (!dtype.is_none()) fields["out_dtype"] = dtype;
  Expr a = call.inputs[0], b = call.inputs[1];
  std::vector<Dim> left = call.TensorOf(0).shape, right = call.TensorOf(1).shape;
  if (left.empty() || right.empty()) throw InvalidArgument("R.matmul takes no operand of rank 0");
  // Rows of any number of axes by one matrix.
  if (right.size() == 2) return ops::CallOp("nn.matmul", {a, b}, fields);
  Ints added;
  if (left.size() == 1) {
    a = call.Typed(ops::ExpandDims(a, 0));
    left.insert(left.begin(), Dim(1));
    added.push_back(-2);
  }
  if (right.size() == 1) {
    b = call.Typed(ops::ExpandDims(b, 1));
    right.emplace_back(1);
    added.push_back(-1);
  }
  Expr y;
  if (right.size() == 2) {
    y = call.Typed(ops::CallOp("nn.matmul", {a, b}, fields));
  } else if (left.size() == 3 && right.size() == 3) {
    y = call.Typed(ops::CallOp("nn.batch_matmul", {a, b}, fields));
  } else {
    const std::size_t rank = std::max(left.size(), right.size());
    std::vector<Dim> batch(rank - 2, Dim(1));
    for (const auto* shape : {&left, &right}) {
      for (std::size_t i = 0; i + 2 < shape->size(); ++i) {
        Dim& extent = batch[rank - shape->size() + i];
        const std::optional<Dim> both = ops::BroadcastDim(extent, (*shape)[i]);
        if (!both) throw InvalidArgument("the batches of R.matmul do not broadcast");
        extent = *both;
      }
    }
    const auto numbers = [](const std::vector<Dim>& dims) {
      Ints values;
      for (const Dim& dim : dims) {
        if (!dim.is_static())
          throw Unimplemented(
              "R.matmul of operands with batches takes extents that are numbers, not variables");
        values.push_back(dim.value());
      }
      return values;
    };
    const auto one_batch = [&](const Expr& e, const std::vector<Dim>& shape) {
      std::vector<Dim> full = batch;
      full.insert(full.end(), shape.end() - 2, shape.end());
      const Expr wide =
          call.Typed(ops::CallOp("broadcast_to", {e}, {{"shape", attrs::ToValue(numbers(full))}}));
      return call.Typed(ops::ReshapeToExtents(
          wide, numbers({ops::Product(batch), full[full.size() - 2], full.back()})));
    };
    y = call.Typed(
        ops::CallOp("nn.batch_matmul", {one_batch(a, left), one_batch(b, right)}, fields));
    std::vector<Dim> result = batch;
    result.push_back(left[left.size() - 2]);
    result.push_back(right.back());
    y = call.Typed(ops::ReshapeToExtents(y, numbers(result)));
  }
  return added.empty() ? y : ops::Squeeze(y, added);
}

// Relax lists before and after of each axis in one row.
Expr BuildPad(const BoundCall& call) {
  const Ints flat = call.Ints("pad_width").value_or(Ints{});
  if (flat.size() != static_cast<std::size_t>(2 * RankOf(call, 0)))
    throw InvalidArgument(StrCat("pad_width has ", flat.size(), " numbers; a tensor of rank ",
                                 RankOf(call, 0), " takes two an axis"));
  attrs::List pairs;
  for (std::size_t i = 0; i < flat.size(); i += 2)
    pairs.emplace_back(attrs::List{attrs::Value(flat[i]), attrs::Value(flat[i + 1])});
  double value = 0;
  if (attrs::FromValue(call.values.at("pad_value"), &value))
    throw InvalidArgument("pad_value is not a number");
  return ops::CallOp(
      "nn.pad", {call.inputs[0], NumberLike(call, value)},
      {{"pad_width", attrs::Value(std::move(pairs))}, {"pad_mode", call.values.at("pad_mode")}});
}

// x / sqrt(mean(x^2) + epsilon) * weight. Numbers of 16 bits are computed in float32, as in Relax:
// squares of halves would be infinite from 256 on.
Expr BuildRmsNorm(const BoundCall& call) {
  RequireFloat(call, "nn.rms_norm");
  const DataType type = call.TensorOf(0).dtype;
  const bool is_half = type.bits() == 16;
  const auto wide = [&](std::size_t input) {
    const Expr& x = call.inputs[input];
    return is_half && call.TensorOf(input).dtype == type ? call.Typed(ops::Cast(x, Float32)) : x;
  };
  const Expr x = wide(0);
  double epsilon = 0;
  if (attrs::FromValue(call.values.at("epsilon"), &epsilon))
    throw InvalidArgument("epsilon is not a number");
  const Expr square = call.Typed(ops::Multiply(x, x));
  const Expr mean = call.Typed(ops::Mean(square, {.axis = call.Ints("axes"), .keepdims = true}));
  const Expr least = call.Typed(ops::Scalar(epsilon, is_half ? Float32 : type));
  const Expr root =
      call.Typed(ops::CallOp("rsqrt", {call.Typed(ops::Add(mean, least))}, attrs::FieldValues()));
  const Expr y = ops::Multiply(call.Typed(ops::Multiply(x, root)), wide(1));
  return is_half ? ops::Cast(call.Typed(y), type) : y;
}

Expr BuildScatterNd(const BoundCall& call) {
  return ops::CallOp("scatter_nd", {call.inputs[0], TuplesFirst(call, 1), call.inputs[2]},
                     {{"mode", call.values.at("reduction")}});
}

Expr BuildSilu(const BoundCall& call) {
  RequireFloat(call, "nn.silu");
  return ops::Multiply(call.inputs[0], call.Typed(ops::Sigmoid(call.inputs[0])));
}

// Parts that the extent is no multiple of: all but the last have its quotient, rounded up.
Expr BuildSplit(const BoundCall& call) {
  const attrs::Value& parts = call.values.at("indices_or_sections");
  attrs::FieldValues fields = {{"indices_or_sections", parts}, {"axis", call.values.at("axis")}};
  const std::vector<Dim>& shape = call.TensorOf(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = call.Int("axis");
  if (axis < 0) axis += rank;
  const auto* count = parts.As<std::int64_t>();
  if (count != nullptr && *count > 0 && axis >= 0 && axis < rank &&
      shape[static_cast<std::size_t>(axis)].is_static()) {
    const std::int64_t extent = shape[static_cast<std::size_t>(axis)].value();
    const std::int64_t length = extent / *count + (extent % *count == 0 ? 0 : 1);
    if (extent % *count != 0) {
      if (length * (*count - 1) > extent)
        throw InvalidArgument(StrCat("R.split: ", *count, " parts of ", length,
                                     " elements are more than the ", extent, " of the axis"));
      attrs::List indices;
      for (std::int64_t i = 1; i < *count; ++i) indices.emplace_back(i * length);
      fields["indices_or_sections"] = attrs::Value(std::move(indices));
    }
  }
  return ops::CallOp("split", call.inputs, fields);
}

Expr BuildSquare(const BoundCall& call) { return ops::Multiply(call.inputs[0], call.inputs[0]); }

Expr BuildStd(const BoundCall& call) { return ops::Sqrt(call.Typed(BuildVariance(call))); }

Expr BuildTril(const BoundCall& call) { return Triangle(call, false); }
Expr BuildTriu(const BoundCall& call) { return Triangle(call, true); }

Expr BuildVariance(const BoundCall& call) {
  const Expr& x = call.inputs[0];
  const auto axes = call.Ints("axis");
  const Expr mean = call.Typed(ops::Mean(x, {.axis = axes, .keepdims = true}));
  attrs::FieldValues fields = {{"keepdims", attrs::Value(call.Bool("keepdims"))}};
  if (axes) fields["axis"] = attrs::ToValue(*axes);
  return ops::CallOp("variance", {x, mean}, fields);
}

}  // namespace tenon::relax
