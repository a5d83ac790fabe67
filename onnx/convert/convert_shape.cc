// Operators that rearrange, select, join or create elements.
#include <algorithm>
#include <limits>

#include "tenon/onnx/convert/converters.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

NDArray Vector(const std::vector<std::int64_t>& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<Expr> ConstantValue(Node& node) {
  if (const auto tensor = node.TensorValue("value")) {
    const Expr value = ir::Constant::Make(*tensor);
    const NarrowType* narrow = FindNarrowType(node.Find("value")->t().data_type());
    return {narrow != nullptr ? node.OfNarrowType(value, *narrow) : value};
  }
  if (const auto ints = node.OptionalInts("value_ints")) return {ir::Constant::Make(Vector(*ints))};
  if (node.Has("value_int"))
    return {ir::Constant::Make(NDArray::Scalar<std::int64_t>(node.Int("value_int", 0)))};
  if (node.Has("value_float"))
    return {ir::Constant::Make(
        NDArray::Scalar<float>(static_cast<float>(node.Float("value_float", 0))))};
  if (const auto* floats = node.Find("value_floats")) {
    const std::vector<float> values(floats->floats().begin(), floats->floats().end());
    return {ir::Constant::Make(
        NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values))};
  }
  throw Unimplemented("the constant has no value of a supported kind");
}

std::vector<Expr> ConstantOfShape(Node& node) {
  const Ints shape = node.ConstantInts(0);
  const auto given = node.TensorValue("value");
  const NDArray value = given ? given->Reshape({}) : NDArray::Scalar<float>(0);
  return {node.Typed(
      ir::Call::Make(ops::Known().full, {ir::Constant::Make(value)},
                     Attrs::Make(ops::InitOpAttrs{.shape = shape, .dtype = value.dtype()})))};
}

std::vector<Expr> ShapeValue(Node& node) {
  const std::vector<Dim> shape = DimsOf(node.input(0));
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(node.Int("start", 0));
  const std::int64_t end = node.Has("end") ? bound(node.Int("end", 0)) : rank;
  if (start >= end) return {ir::Constant::Make(Vector({}))};
  const std::vector<Dim> part(shape.begin() + start, shape.begin() + end);
  if (IsStatic(part)) {
    Ints numbers;
    for (const Dim& dim : part) numbers.push_back(dim.value());
    return {ir::Constant::Make(Vector(numbers))};
  }
  const Expr whole =
      ir::Call::Make(ops::Known().shape_of, {node.input(0)}, Attrs::Make(ops::ShapeOfAttrs{Int64}));
  if (part.size() == shape.size()) return {node.Typed(whole)};
  return {node.Typed(ops::StridedSlice(
      node.Typed(whole), {.begin = {start}, .end = {end}, .strides = {1}, .axes = Ints{0}}))};
}

std::vector<Expr> Size(Node& node) {
  if (IsStatic(DimsOf(node.input(0))))
    return {ir::Constant::Make(NDArray::Scalar<std::int64_t>(NumElements(ShapeOf(node.input(0)))))};
  const Expr shape =
      ir::Call::Make(ops::Known().shape_of, {node.input(0)}, Attrs::Make(ops::ShapeOfAttrs{Int64}));
  return {node.Typed(ir::Call::Make(ops::Known().prod, {shape}, Attrs::Make(ops::ReduceAttrs{})))};
}

// The target of a reshape that has expressions, with its 0 and -1 replaced.
std::vector<Dim> Resolved(Node& node, std::vector<Dim> target) {
  const std::vector<Dim> input = DimsOf(node.input(0));
  const bool allowzero = node.Int("allowzero", 0) != 0;
  std::optional<std::size_t> inferred;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == Dim(0) && !allowzero) {
      if (i >= input.size())
        throw InvalidArgument(
            StrCat("the shape has 0 at place ", i, ", where the input has no axis"));
      target[i] = input[i];
    } else if (target[i] == Dim(-1)) {
      if (inferred) throw InvalidArgument("the shape has more than one -1");
      inferred = i;
    }
  }
  if (!inferred) return target;
  target[*inferred] = 1;
  const std::optional<Dim> rest = ExactQuotient(ops::Product(input), ops::Product(target));
  if (!rest)
    throw Unimplemented(StrCat("the extent -1 of a reshape of ",
                               ir::ToString(node.input(0).checked_type()),
                               " is not known to be whole"));
  target[*inferred] = *rest;
  return target;
}

std::vector<Expr> Reshape(Node& node) {
  const std::vector<Dim> wanted = node.ShapeValue(1);
  if (!IsStatic(wanted)) return {node.Typed(ReshapeTo(node.input(0), Resolved(node, wanted)))};
  Ints target;
  for (const Dim& dim : wanted) target.push_back(dim.value());
  for (const std::int64_t extent : target) {
    if (extent < -1)
      throw InvalidArgument(StrCat("the shape [", StrJoin(target, ", "), "] has the extent ",
                                   extent, "; it must be at least -1"));
  }
  const bool allowzero = node.Int("allowzero", 0) != 0;
  return {node.Typed(
      ir::Call::Make(ops::Known().reshape, {node.input(0)},
                     Attrs::Make(ops::ReshapeAttrs{.newshape = target, .allowzero = allowzero})))};
}

std::vector<Expr> Flatten(Node& node) {
  const std::vector<Dim> shape = DimsOf(node.input(0));
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = node.Int("axis", 1);
  if (axis < -rank || axis > rank)
    throw InvalidArgument(StrCat("axis is ", axis, " for a tensor of rank ", rank));
  if (axis < 0) axis += rank;
  const Dim rows = ops::Product({shape.begin(), shape.begin() + axis});
  const Dim columns = ops::Product({shape.begin() + axis, shape.end()});
  if (!IsStatic(shape)) return {node.Typed(ReshapeTo(node.input(0), {rows, columns}))};
  return {node.Typed(
      ir::Call::Make(ops::Known().reshape, {node.input(0)},
                     Attrs::Make(ops::ReshapeAttrs{.newshape = {rows.value(), columns.value()},
                                                   .allowzero = true})))};
}

std::optional<Ints> AxesOf(Node& node, int input_since) {
  if (node.opset() < input_since) return node.OptionalInts("axes");
  if (!node.has_input(1)) return std::nullopt;
  return node.ConstantInts(1);
}

std::vector<Expr> Squeeze(Node& node) {
  return {node.Typed(ops::Squeeze(node.input(0), AxesOf(node, 13)))};
}

std::vector<Expr> Unsqueeze(Node& node) {
  const auto axes = AxesOf(node, 13);
  if (!axes) throw InvalidArgument("the axes are missing");
  const std::size_t rank = static_cast<std::size_t>(RankOf(node.input(0))) + axes->size();
  Ints sorted;
  for (const std::int64_t axis : *axes) sorted.push_back(ops::NormalAxis(axis, rank));
  std::sort(sorted.begin(), sorted.end());
  Expr value = node.input(0);
  for (const std::int64_t axis : sorted) value = ops::ExpandDims(value, axis);
  return {node.Typed(value)};
}

// Where the extents of the input are known only at run time, it is cut after the transposition.
// PyTorch writes its nonzero in this form.
std::vector<Expr> Transpose(Node& node) {
  if (const ir::CallNode* cut = AsRunTimeCut(node.input(0))) {
    const auto rank = static_cast<std::size_t>(RankOf(cut->args[0]));
    Ints order = node.IntsOr("perm", {});
    if (order.empty()) {
      for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    }
    const Expr moved = node.Typed(ops::Transpose(cut->args[0], order));
    const auto axis =
        std::find(order.begin(), order.end(), cut->attrs.As<ops::TakeFirstAttrs>().axis) -
        order.begin();
    return {FirstAlong(node, moved, cut->args[1], axis)};
  }
  return {node.Typed(ops::Transpose(node.input(0), node.OptionalInts("perm")))};
}

std::vector<Expr> Concat(Node& node) {
  if (!node.Has("axis")) throw InvalidArgument("the attribute axis is missing");
  return {node.Typed(ops::Concatenate(node.all_inputs(), node.Int("axis", 0)))};
}

std::vector<Expr> Split(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t axis = AxisOf(node, 0);
  const Dim whole = DimsOf(x)[static_cast<std::size_t>(axis)];
  const std::int64_t parts = node.num_outputs();
  if (parts == 0) throw InvalidArgument("there are no outputs");
  Ints lengths;
  if (node.opset() < 13) {
    lengths = node.IntsOr("split", {});
  } else if (node.has_input(1)) {
    lengths = node.ConstantInts(1);
  }
  const auto parts_of = [&](const ops::SplitAttrs& attrs) {
    const Expr tuple = ops::Split(x, attrs);
    std::vector<Expr> outputs;
    for (std::int64_t i = 0; i < parts; ++i)
      outputs.push_back(node.Typed(ir::TupleGetItem::Make(tuple, static_cast<int>(i))));
    return outputs;
  };
  if (!whole.is_static()) {
    node.Ignore("num_outputs");
    if (!lengths.empty())
      throw Unimplemented(
          StrCat("an extent of ", whole.ToString(), " is split into given lengths"));
    return parts_of({.indices_or_sections = parts, .axis = axis});
  }
  const std::int64_t extent = whole.value();
  if (lengths.empty()) {
    // Equal parts; the last one may be shorter (opset 18).
    const std::int64_t length = CeilDiv(extent, parts);
    for (std::int64_t i = 0; i < parts; ++i)
      lengths.push_back(std::max<std::int64_t>(0, std::min(length, extent - i * length)));
    node.Ignore("num_outputs");
  }
  std::int64_t sum = 0;
  Ints cuts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i > 0) cuts.push_back(sum);
    sum += lengths[i];
  }
  if (sum != extent || static_cast<std::int64_t>(lengths.size()) != parts)
    throw InvalidArgument(StrCat("the parts [", StrJoin(lengths, ", "), "] do not make up the ",
                                 parts, " outputs of an extent of ", extent));
  return parts_of({.indices_or_sections = cuts, .axis = axis});
}

// Clamps the bounds of a slice to the axis. For a negative step, the standard always begins at an
// element, so a start before the first element becomes the first one. An end before it is written
// as a very small integer.
void Clamp(std::int64_t extent, std::int64_t step, std::int64_t* start, std::int64_t* end) {
  constexpr std::int64_t kBeforeFirst = std::numeric_limits<std::int32_t>::min();
  const auto from_front = [&](std::int64_t bound) { return bound < 0 ? bound + extent : bound; };
  if (step > 0) {
    *start = std::clamp<std::int64_t>(from_front(*start), 0, extent);
    *end = std::clamp<std::int64_t>(from_front(*end), 0, extent);
    return;
  }
  *start = std::min(std::max<std::int64_t>(from_front(*start), 0), extent - 1);
  *end = std::min(from_front(*end), extent - 1);
  if (extent == 0) *start = *end = 0;
  if (*end < 0) *end = kBeforeFirst;
}

// The bounds of a slice. One that is the extent itself is the end of the axis.
Ints BoundsOf(const Node& node, std::size_t input, const std::optional<Ints>& axes) {
  const std::vector<Dim> bounds = node.ShapeValue(input);
  if (IsStatic(bounds)) return node.ConstantInts(input);
  const std::vector<Dim> shape = DimsOf(node.input(0));
  Ints numbers;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const std::int64_t axis = axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i);
    const Dim& extent = shape[static_cast<std::size_t>(ops::NormalAxis(axis, shape.size()))];
    const Dim from_end = bounds[i] - extent;
    if (!bounds[i].is_static() && (!from_end.is_static() || from_end.value() > 0))
      throw Unimplemented(StrCat("a slice of an extent of ", extent.ToString(), " has the bound ",
                                 bounds[i].ToString()));
    numbers.push_back(bounds[i].is_static()   ? bounds[i].value()
                      : from_end.value() == 0 ? std::numeric_limits<std::int32_t>::max()
                                              : from_end.value());
  }
  return numbers;
}

std::vector<Expr> Slice(Node& node) {
  const Expr& x = node.input(0);
  Ints starts, ends, steps;
  std::optional<Ints> axes;
  if (node.opset() < 10) {
    starts = node.IntsOr("starts", {});
    ends = node.IntsOr("ends", {});
    axes = node.OptionalInts("axes");
  } else {
    if (node.has_input(3)) axes = node.ConstantInts(3);
    starts = BoundsOf(node, 1, axes);
    ends = BoundsOf(node, 2, axes);
    if (node.has_input(4)) steps = node.ConstantInts(4);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != steps.size())
    throw InvalidArgument("starts, ends and steps have different lengths");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < starts.size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (axes->size() != starts.size())
    throw InvalidArgument("starts and axes have different lengths");
  const std::vector<Dim> shape = DimsOf(x);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Dim& extent = shape[static_cast<std::size_t>(ops::NormalAxis((*axes)[i], shape.size()))];
    // Of an expression, the operator clamps them itself.
    if (extent.is_static()) Clamp(extent.value(), steps[i], &starts[i], &ends[i]);
  }
  return {node.Typed(
      ops::StridedSlice(x, {.begin = starts, .end = ends, .strides = steps, .axes = axes}))};
}

std::vector<Expr> Gather(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t axis = AxisOf(node, 0);
  const Dim extent = DimsOf(x)[static_cast<std::size_t>(axis)];
  // Negative indices count from the end.
  Expr indices = node.input(1);
  const DataType t = DataTypeOf(indices);
  const Expr negative = ir::Call::Make(ops::Known().less, {indices, ops::Scalar(0, t)});
  const Expr length = extent.is_static()
                          ? ops::Scalar(static_cast<double>(extent.value()), t)
                          : ops::Cast(ExtentValue(x, static_cast<std::size_t>(axis)), t);
  indices = ops::Where(negative, ops::Add(indices, length), indices);
  return {node.Typed(ops::Take(x, indices, {.axis = axis}))};
}

std::vector<Expr> Expand(Node& node) {
  const std::vector<Dim> wanted = node.ShapeValue(1);
  if (!IsStatic(wanted) || !IsStatic(DimsOf(node.input(0))))
    return {node.Typed(BroadcastTo(node.input(0), wanted))};
  const Shape from = ShapeOf(node.input(0));
  Ints target = node.ConstantInts(1);
  // Broadcasting goes in both directions.
  while (target.size() < from.size()) target.insert(target.begin(), 1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::int64_t& extent = target[target.size() - from.size() + i];
    if (extent == 1) extent = from[i];
  }
  return {node.Typed(ir::Call::Make(ops::Known().broadcast_to, {node.input(0)},
                                    Attrs::Make(ops::InitOpAttrs{.shape = target})))};
}

std::vector<Expr> Tile(Node& node) {
  return {node.Typed(ir::Call::Make(ops::Known().tile, {node.input(0)},
                                    Attrs::Make(ops::TileAttrs{node.ConstantInts(1)})))};
}

}  // namespace

void AddShapeConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["Concat"] = Concat;
  t["Constant"] = ConstantValue;
  t["ConstantOfShape"] = ConstantOfShape;
  t["Expand"] = Expand;
  t["Flatten"] = Flatten;
  t["Gather"] = Gather;
  t["Reshape"] = Reshape;
  t["Shape"] = ShapeValue;
  t["Size"] = Size;
  t["Slice"] = Slice;
  t["Split"] = Split;
  t["Squeeze"] = Squeeze;
  t["Tile"] = Tile;
  t["Transpose"] = Transpose;
  t["Unsqueeze"] = Unsqueeze;
}

}  // namespace tenon::onnx_import
