// Operators that rearrange, select, join or create elements.
#include <algorithm>
#include <limits>

#include "tenon/onnx/convert/axes_of_run.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/part_of_value.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/onnx/convert/values_of_run.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/extents/run_time_cut.h"
#include "tenon/ops/index/index_attrs.h"
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
  if (node.Has("value_int")) return {Integer(node.Int("value_int", 0))};
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
  if (IsStatic(part)) return {ir::Constant::Make(Vector(NumbersOf(part)))};
  const Expr whole =
      ir::Call::Make(ops::Known().shape_of, {node.input(0)}, Attrs::Make(ops::ShapeOfAttrs{Int64}));
  if (part.size() == shape.size()) return {node.Typed(whole)};
  return {node.Typed(ops::StridedSlice(
      node.Typed(whole), {.begin = {start}, .end = {end}, .strides = {1}, .axes = Ints{0}}))};
}

std::vector<Expr> Size(Node& node) {
  if (IsStatic(DimsOf(node.input(0)))) return {Integer(NumElements(ShapeOf(node.input(0))))};
  const Expr shape =
      ir::Call::Make(ops::Known().shape_of, {node.input(0)}, Attrs::Make(ops::ShapeOfAttrs{Int64}));
  return {node.Typed(ir::Call::Make(ops::Known().prod, {shape}, Attrs::Make(ops::ReduceAttrs{})))};
}

// How many of `all` elements are left beside `others`. Numbers that leave a rest for some values of
// the variables are taken: a run refuses these values. Nothing where variables divide.
std::optional<Dim> RestOf(const Dim& all, const std::vector<Dim>& others) {
  const auto [whole, part] = ops::WithoutVariables(all, others);
  if (const auto exact = ExactQuotient(whole, part)) return exact;
  if (!part.is_static() || part.value() < 1) return std::nullopt;
  return FloorDiv(whole, part.value());
}

// The target of a reshape that has expressions, with its 0 and -1 replaced. Nothing where only a
// run knows what -1 stands for.
std::optional<std::vector<Dim>> Resolved(Node& node, std::vector<Dim> target) {
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
  const auto rest = RestOf(ops::Product(input), target);
  if (!rest) return std::nullopt;
  target[*inferred] = *rest;
  return target;
}

std::vector<Expr> Reshape(Node& node) {
  const bool allowzero = node.Int("allowzero", 0) != 0;
  if (IsOfRun(node, 1)) return {ReshapedByValues(node, allowzero)};
  const std::vector<Dim> wanted = node.ShapeValue(1);
  if (!IsStatic(wanted)) {
    const auto target = Resolved(node, wanted);
    if (!target) return {ReshapedByValues(node, allowzero)};
    return {node.Typed(ReshapeTo(node.extents(), node.input(0), *target))};
  }
  const Ints target = NumbersOf(wanted);
  for (const std::int64_t extent : target) {
    if (extent < -1)
      throw InvalidArgument(StrCat("the shape [", StrJoin(target, ", "), "] has the extent ",
                                   extent, "; it must be at least -1"));
  }
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
  if (!IsStatic(shape))
    return {node.Typed(ReshapeTo(node.extents(), node.input(0), {rows, columns}))};
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
  if (node.opset() >= 13 && HasAxesOfRun(node, 1))
    return {SqueezedByValues(node, node.input(0), node.input(1))};
  return {node.Typed(ops::Squeeze(node.input(0), AxesOf(node, 13)))};
}

std::vector<Expr> Unsqueeze(Node& node) {
  if (node.opset() >= 13 && HasAxesOfRun(node, 1)) return {UnsqueezedByValues(node)};
  const auto axes = AxesOf(node, 13);
  if (!axes) throw InvalidArgument("the axes are missing");
  const std::size_t rank = static_cast<std::size_t>(RankOf(node.input(0))) + axes->size();
  Ints sorted;
  for (const std::int64_t axis : *axes) sorted.push_back(ops::NormalAxis(axis, rank));
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw InvalidArgument(StrCat("axes name the axis ", *twice, " twice"));
  Expr value = node.input(0);
  for (const std::int64_t axis : sorted) value = ops::ExpandDims(value, axis);
  return {node.Typed(value)};
}

// A cut moves after the transposition, so that a model may end there. PyTorch writes its nonzero
// in this form.
std::vector<Expr> Transpose(Node& node) {
  if (const ir::CallNode* cut = ops::AsRunTimeCut(node.input(0))) {
    const auto rank = static_cast<std::size_t>(RankOf(cut->args[0]));
    Ints order = node.IntsOr("perm", {});
    if (order.empty()) {
      for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    }
    const Expr moved = node.Typed(ops::Transpose(cut->args[0], order));
    const auto axis =
        std::find(order.begin(), order.end(), cut->attrs.As<ops::RunTimeCutAttrs>().axis) -
        order.begin();
    return {FirstAlong(node, moved, cut->args[1], axis)};
  }
  return {node.Typed(ops::Transpose(node.input(0), node.OptionalInts("perm")))};
}

std::vector<Expr> Concat(Node& node) {
  if (!node.Has("axis")) throw InvalidArgument("the attribute axis is missing");
  return {node.Typed(ops::Concatenate(node.all_inputs(), node.Int("axis", 0)))};
}

// Parts of one length of a variable extent that need not be a multiple of their number: the last
// ones may be shorter, or empty.
std::vector<Expr> PartsOfVariable(const Node& node, const Expr& x, std::int64_t axis,
                                  std::int64_t parts) {
  const Dim whole = DimsOf(x)[static_cast<std::size_t>(axis)];
  const Dim length = CeilDiv(whole, parts);
  std::vector<Expr> outputs;
  for (std::int64_t i = 0; i < parts; ++i) {
    const Dim begin = length * Dim(i), left = whole - begin;
    // The second of two is never longer than the first.
    const Dim count = i == 0 ? length : parts == 2 ? left : Max(Min(left, length), 0);
    outputs.push_back(PartAlong(node, x, axis, begin, count));
  }
  return outputs;
}

// Whether the last part is what all others, which are numbers, leave of the whole.
bool LeavesRest(const std::vector<Dim>& parts, const Dim& whole) {
  Dim sum = 0;
  for (const Dim& part : parts) sum = sum + part;
  return IsStatic({parts.begin(), parts.end() - 1}) && !sum.is_any() && sum == whole;
}

// The results of a split into so many parts.
std::vector<Expr> PartsOf(const Node& node, const Expr& x, std::int64_t count,
                          const ops::SplitAttrs& attrs) {
  const Expr tuple = ops::Split(x, attrs);
  std::vector<Expr> outputs;
  for (std::int64_t i = 0; i < count; ++i)
    outputs.push_back(node.Typed(ir::TupleGetItem::Make(tuple, static_cast<int>(i))));
  return outputs;
}

// Of a variable extent, parts of one length, or such that all but the last are numbers. The last
// one is what the others leave.
std::vector<Expr> SplitVariable(const Node& node, Expr x, std::int64_t axis,
                                std::vector<Dim> given) {
  const Dim whole = DimsOf(x)[static_cast<std::size_t>(axis)];
  const std::int64_t parts = node.num_outputs();
  if (given.empty() && !ExactQuotient(whole, parts)) return PartsOfVariable(node, x, axis, parts);
  if (given.empty()) return PartsOf(node, x, parts, {.indices_or_sections = parts, .axis = axis});
  const Dim last = given.back();
  given.pop_back();
  Ints cuts;
  Dim sum = 0;
  for (const Dim& length : given) {
    sum = sum + length;
    cuts.push_back(sum.value());
  }
  if (last.is_static()) {
    // The extent must then be a certain number. The relation of reshape asks for that.
    sum = sum + last;
    if (sum == Dim(0))
      throw Unimplemented(
          StrCat("an extent of ", whole.ToString(), " is split into parts that are all empty"));
    Ints codes(DimsOf(x).size(), 0);
    codes[static_cast<std::size_t>(axis)] = sum.value();
    x = node.Typed(ops::Reshape(x, codes));
  }
  return PartsOf(node, x, parts, {.indices_or_sections = cuts, .axis = axis});
}

std::vector<Expr> Split(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t axis = AxisOf(node, 0);
  const Dim whole = DimsOf(x)[static_cast<std::size_t>(axis)];
  const std::int64_t parts = node.num_outputs();
  if (parts == 0) throw InvalidArgument("there are no outputs");
  std::vector<Dim> given;
  if (node.opset() < 13) {
    const Ints split = node.IntsOr("split", {});
    given.assign(split.begin(), split.end());
  } else if (node.has_input(1)) {
    given = IsOfRun(node, 1) ? *PartOfValue(node.input(1)) : node.ShapeValue(1);
  }
  if (!given.empty() && static_cast<std::int64_t>(given.size()) != parts)
    throw InvalidArgument(
        StrCat("there are ", given.size(), " lengths for the ", parts, " outputs"));
  for (const Dim& length : given) {
    if (length.is_static() && length.value() < 0)
      throw InvalidArgument(StrCat("a part has the length ", length.value()));
  }
  if (!IsStatic(given) && !LeavesRest(given, whole)) return SplitByValues(node, axis);
  if (!whole.is_static()) {
    node.Ignore("num_outputs");
    return SplitVariable(node, x, axis, std::move(given));
  }
  Ints lengths = NumbersOf(given);
  const std::int64_t extent = whole.value();
  if (lengths.empty()) {
    // Equal parts; the last one may be shorter (opset 18).
    const std::int64_t length = CeilDiv(extent, parts);
    for (std::int64_t i = 0; i < parts; ++i)
      lengths.push_back(std::max<std::int64_t>(0, std::min(length, extent - i * length)));
    node.Ignore("num_outputs");
  }
  Dim sum = 0;
  Ints cuts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i > 0) cuts.push_back(sum.value());
    sum = sum + lengths[i];
  }
  if (sum != Dim(extent) || static_cast<std::int64_t>(lengths.size()) != parts)
    throw InvalidArgument(StrCat("the parts [", StrJoin(lengths, ", "), "] do not make up the ",
                                 parts, " outputs of an extent of ", extent));
  return PartsOf(node, x, parts, {.indices_or_sections = cuts, .axis = axis});
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

}  // namespace

void AddShapeConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["Concat"] = Concat;
  t["Constant"] = ConstantValue;
  t["Flatten"] = Flatten;
  t["Gather"] = Gather;
  t["Reshape"] = Reshape;
  t["Shape"] = ShapeValue;
  t["Size"] = Size;
  t["Split"] = Split;
  t["Squeeze"] = Converter(Squeeze).With({.other = "the number of axes is known at import"});
  t["Transpose"] = Transpose;
  t["Unsqueeze"] = Converter(Unsqueeze).With({.other = "the number of axes is known at import"});
}

}  // namespace tenon::onnx_import
