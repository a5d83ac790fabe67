// Operators that select, write or create elements by index.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/pad_by_places.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/convert/values_of_run.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/batch_space_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

template <typename AttrsType>
Expr Call(const Expr& op, std::vector<Expr> args, AttrsType attrs) {
  return ir::Call::Make(op, std::move(args), Attrs::Make(std::move(attrs)));
}

// In ONNX the tuple of an index lies along the last axis, in Tenon along the first.
Expr TuplesFirst(const Expr& indices) {
  const std::int64_t rank = RankOf(indices);
  if (rank == 0) throw InvalidArgument("the indices have rank 0");
  Ints order = {rank - 1};
  for (std::int64_t i = 0; i + 1 < rank; ++i) order.push_back(i);
  return ops::Transpose(indices, order);
}

std::string ReductionOf(Node& node) {
  const std::string reduction = node.String("reduction", "none");
  if (reduction == "none") return "update";
  if (reduction == "add" || reduction == "mul" || reduction == "min" || reduction == "max")
    return reduction;
  throw InvalidArgument(
      StrCat("reduction is ", reduction, "; it may be none, add, mul, min or max"));
}

std::vector<Expr> GatherElements(Node& node) {
  const std::int64_t axis = AxisOf(node, 0);
  const Expr& x = node.input(0);
  const Expr& indices = node.input(1);
  // The indices may cover less than the data along the other axes.
  const std::vector<Dim> x_dims = DimsOf(x), index_dims = DimsOf(indices);
  if (x_dims.size() != index_dims.size())
    throw InvalidArgument("data and indices have different ranks");
  Ints cropped;
  for (std::size_t i = 0; i < x_dims.size(); ++i) {
    if (static_cast<std::int64_t>(i) != axis && !(x_dims[i] == index_dims[i]))
      cropped.push_back(static_cast<std::int64_t>(i));
  }
  Expr data = x;
  if (!cropped.empty())
    data = ops::CallOp("slice_like", {x, indices},
                       Attrs::Make(ops::SliceLikeAttrs{.axes = std::move(cropped)}));
  return {node.Typed(Call(ops::Known().gather, {data, indices}, ops::GatherAttrs{.axis = axis}))};
}

std::vector<Expr> GatherND(Node& node) {
  return {node.Typed(Call(ops::Known().gather_nd, {node.input(0), TuplesFirst(node.input(1))},
                          ops::GatherNDAttrs{.batch_dims = node.Int("batch_dims", 0)}))};
}

std::vector<Expr> ScatterElements(Node& node) {
  const std::int64_t axis = AxisOf(node, 0);
  return {
      node.Typed(Call(ops::Known().scatter_elements, {node.input(0), node.input(1), node.input(2)},
                      ops::ScatterElementsAttrs{.axis = axis, .reduction = ReductionOf(node)}))};
}

std::vector<Expr> ScatterND(Node& node) {
  return {node.Typed(Call(ops::Known().scatter_nd,
                          {node.input(0), TuplesFirst(node.input(1)), node.input(2)},
                          ops::ScatterNDAttrs{.mode = ReductionOf(node)}))};
}

template <typename T>
Expr Vector(const std::vector<T>& values) {
  return ir::Constant::Make(
      NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values));
}

std::vector<Expr> Compress(Node& node) {
  const bool flat = !node.Has("axis");
  const Expr x = flat ? node.Typed(ops::Reshape(node.input(0), {-1})) : node.input(0);
  const std::int64_t axis = flat ? 0 : AxisOf(node, 0);
  const Expr& condition = node.input(1);
  if (!DataTypeOf(condition).is_bool() || RankOf(condition) != 1)
    throw InvalidArgument("the condition must be of type bool and rank 1");
  const Dim extent = DimsOf(x)[static_cast<std::size_t>(axis)], flags = DimsOf(condition)[0];
  if (extent.is_static() && flags.is_static() && flags.value() > extent.value())
    throw InvalidArgument(StrCat("the condition has ", flags.ToString(), " elements for ",
                                 extent.ToString(), "; it may have fewer, but no more"));
  // A run is refused in which there are more flags than elements.
  Expr data = x;
  if (!(Max(flags, extent) == extent))
    data = node.Typed(FirstOf(node.extents(), x, flags, static_cast<std::size_t>(axis)));
  if (const auto* known = condition.As<ir::ConstantNode>()) {
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < known->data.size(); ++i) {
      if (known->data.data<bool>()[i]) kept.push_back(i);
    }
    return {node.Typed(ops::Take(data, Vector(kept), {.axis = axis}))};
  }
  const PlacedFlags placed = PlacedFirst(node, condition);
  const Expr places = FirstAlong(node, placed.order, placed.count, 0);
  return {node.Typed(ops::Take(data, places, {.axis = axis}))};
}

// The places of indices, which count from the end where they are negative. Up to opset 10 none
// does: a negative one is outside.
Expr PlacesOfOneHot(const Node& node, const Expr& indices, const Expr& depth) {
  if (node.opset() < 11) return indices;
  const Expr is_negative = node.Typed(ir::Call::Make(ops::Known().less, {indices, Integer(0)}));
  return node.Typed(ops::Where(is_negative, ops::Add(indices, depth), indices));
}

// The indices as they are given. One that an int64 does not hold is outside, and none from the end.
Expr IndicesOfOneHot(const Node& node) {
  const Expr& given = node.input(0);
  const bool may_wrap = DataTypeOf(given) == UInt64;
  return node.Typed(
      ops::Cast(may_wrap ? ops::Minimum(given, ops::Scalar(0x1p62, UInt64)) : given, Int64));
}

// As many places as a run or its extents say.
Expr OneHotOfRun(Node& node) {
  const auto& known = ops::Known();
  const Expr depth = node.Typed(ops::Cast(node.Typed(ops::Reshape(node.input(1), Ints{})), Int64));
  const std::int64_t rank = RankOf(node.input(0)) + 1;
  const std::int64_t axis = ops::NormalAxis(node.Int("axis", -1), static_cast<std::size_t>(rank));
  const Expr given = IndicesOfOneHot(node);
  const Expr places = node.Typed(ops::ExpandDims(PlacesOfOneHot(node, given, depth), axis));
  const Expr each = PlacesAlong(node, static_cast<std::size_t>(rank),
                                static_cast<std::size_t>(axis), CountAt(node, 1));
  const Expr is_hot = node.Typed(ir::Call::Make(known.equal, {places, each}));
  const auto value = [&](std::int64_t i) { return node.Typed(ElementAlong(node.input(2), i, 0)); };
  return node.Typed(ops::Where(is_hot, value(1), value(0)));
}

std::vector<Expr> OneHot(Node& node) {
  if (DependsOnInputs(node.input(1))) return {OneHotOfRun(node)};
  const auto depth = node.ConstantInt(1);
  if (depth < 1) throw InvalidArgument(StrCat("depth is ", depth, "; it must be at least 1"));
  const Expr indices = PlacesOfOneHot(node, IndicesOfOneHot(node), Integer(depth));
  const auto value = [&](std::int64_t i) { return ElementAlong(node.input(2), i, 0); };
  const std::int64_t rank = RankOf(node.input(0)) + 1;
  const std::int64_t axis = ops::NormalAxis(node.Int("axis", -1), static_cast<std::size_t>(rank));
  return {node.Typed(
      Call(ops::Known().one_hot, {indices, value(1), value(0)},
           ops::OneHotAttrs{.depth = depth, .axis = axis, .dtype = DataTypeOf(node.input(2))}))};
}

std::vector<Expr> Trilu(Node& node) {
  Expr k = ops::Scalar(0, Int64);
  if (node.has_input(1)) k = ops::Reshape(node.input(1), {});
  return {node.Typed(Call(ops::Known().trilu, {node.input(0), k},
                          ops::TriluAttrs{.upper = node.Int("upper", 1) != 0}))};
}

// Sums or products of the elements up to each one.
Converter Cumulative(const char* op) {
  return [op](Node& node) {
    const Expr& x = node.input(0);
    const bool reverse = node.Int("reverse", 0) != 0;
    const bool exclusive = node.Int("exclusive", 0) != 0;
    const auto along = [&](std::int64_t axis) {
      const auto flipped = [&](const Expr& e) {
        return reverse ? Call(ops::Known().reverse, {e}, ops::ReverseAttrs{.axis = axis}) : e;
      };
      const Expr made = ops::CallOp(
          op, {flipped(x)}, Attrs::Make(ops::ScanopAttrs{.axis = axis, .exclusive = exclusive}));
      return node.Typed(flipped(made));
    };
    const std::int64_t rank = RankOf(x);
    if (IsOfRun(node, 1))
      return std::vector<Expr>{AlongAxisOfRun(node, node.input(1), rank, along)};
    return std::vector<Expr>{
        along(ops::NormalAxis(node.ConstantInt(1), static_cast<std::size_t>(rank)))};
  };
}

std::vector<Expr> ReverseSequence(Node& node) {
  return {node.Typed(Call(ops::Known().reverse_sequence, {node.input(0), node.input(1)},
                          ops::ReverseSequenceAttrs{.seq_axis = node.Int("time_axis", 0),
                                                    .batch_axis = node.Int("batch_axis", 1)}))};
}

std::vector<Expr> EyeLike(Node& node) {
  const std::vector<Dim> shape = DimsOf(node.input(0));
  if (shape.size() != 2) throw InvalidArgument("the input must have rank 2");
  DataType dtype = DataTypeOf(node.input(0));
  if (node.Has("dtype"))
    dtype = ToDataType(static_cast<int>(node.Int("dtype", 0)), "the attribute dtype");
  if (const Dim elements = ops::Product(shape); elements.is_static())
    RequireConstantSize(static_cast<double>(elements.value()));
  const Expr k = Integer(node.Int("k", 0));
  const Expr row = PlacesAlong(node, 2, 0, shape[0]), column = PlacesAlong(node, 2, 1, shape[1]);
  const Expr diagonal = ops::Subtract(column, row);
  return {node.Typed(ops::Cast(ir::Call::Make(ops::Known().equal, {diagonal, k}), dtype))};
}

// The attribute blocksize: the side of the square tiles that move to or from the channels.
std::int64_t BlockOf(Node& node) {
  if (RankOf(node.input(0)) != 4) throw InvalidArgument("the input must have rank 4");
  const std::int64_t block = node.Int("blocksize", 0);
  if (block < 1 || block > (1 << 15))
    throw InvalidArgument(StrCat("blocksize is ", block, "; it must be at least 1"));
  return block;
}

std::vector<Expr> DepthToSpace(Node& node) {
  const std::int64_t b = BlockOf(node);
  const std::string mode = node.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    throw InvalidArgument(StrCat("mode is ", mode, "; it may be DCR or CRD"));
  if (!IsStatic(DimsOf(node.input(0))))
    return {node.Typed(ops::DepthToSpace(node.input(0), {.block_size = b, .mode = mode}))};
  const Shape s = ShapeOf(node.input(0));
  if (s[1] % (b * b) != 0)
    throw InvalidArgument(StrCat("the ", s[1], " channels cannot be divided into ", b * b));
  const std::int64_t c = s[1] / (b * b);
  const bool depth_first = mode == "DCR";
  const Ints split =
      depth_first ? Ints{s[0], b, b, c, s[2], s[3]} : Ints{s[0], c, b, b, s[2], s[3]};
  const Ints order = depth_first ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3};
  return {node.Typed(
      ops::ReshapeToExtents(ops::Transpose(ops::ReshapeToExtents(node.input(0), split), order),
                            {s[0], c, s[2] * b, s[3] * b}))};
}

std::vector<Expr> SpaceToDepth(Node& node) {
  const std::int64_t b = BlockOf(node);
  if (!IsStatic(DimsOf(node.input(0))))
    return {node.Typed(ops::SpaceToDepth(node.input(0), {.block_size = b}))};
  const Shape s = ShapeOf(node.input(0));
  if (s[2] % b != 0 || s[3] % b != 0)
    throw InvalidArgument(
        StrCat("an image of ", s[2], " x ", s[3], " cannot be divided into squares of ", b));
  const Expr split = ops::ReshapeToExtents(node.input(0), {s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {node.Typed(ops::ReshapeToExtents(ops::Transpose(split, Ints{0, 3, 5, 1, 2, 4}),
                                           {s[0], s[1] * b * b, s[2] / b, s[3] / b}))};
}

// All elements in order, of which `k`, an expression that is no number or a value of a run, are
// kept. A run refuses more than there are. Where there are no variables of runs, the count may say
// where results are cut, and no more: then there are at most all of them.
std::vector<Expr> FirstOfOrder(Node& node, std::int64_t axis, std::optional<Dim> k,
                               const ops::TopKAttrs& attrs) {
  const Dim extent = DimsOf(node.input(0))[static_cast<std::size_t>(axis)];
  if (!k && node.loops() != nullptr) k = ExtentOf(node, node.input(1));
  const Expr both = node.Typed(Call(ops::OpRegistry::Global().Get("topk"), {node.input(0)}, attrs));
  std::vector<Expr> results;
  for (const int i : {0, 1}) {
    const Expr all = node.Typed(ir::TupleGetItem::Make(both, i));
    if (k && *k == extent) {
      results.push_back(all);
    } else if (k) {
      results.push_back(
          node.Typed(FirstOf(node.extents(), all, *k, static_cast<std::size_t>(axis))));
    } else {
      const Expr count = ops::Reshape(ops::Cast(node.input(1), Int64), {1});
      results.push_back(FirstAlong(node, all, node.Typed(count), axis));
    }
  }
  return results;
}

std::vector<Expr> TopK(Node& node) {
  const std::vector<Dim> shape = DimsOf(node.input(0));
  const std::int64_t axis = AxisOf(node, -1);
  const Dim& extent = shape[static_cast<std::size_t>(axis)];
  std::optional<Dim> wanted;
  if (node.opset() < 10) {
    wanted = node.Int("k", 0);
  } else if (const auto dims = DimsOfValue(node.input(1))) {
    if (dims->size() != 1) throw InvalidArgument("k must have one element");
    wanted = (*dims)[0];
  }
  node.Ignore("sorted");  // they always are
  ops::TopKAttrs attrs{.axis = axis, .is_ascend = node.Int("largest", 1) == 0, .dtype = Int64};
  if (!wanted || !wanted->is_static()) return FirstOfOrder(node, axis, wanted, attrs);
  const std::int64_t k = wanted->value();
  if (k < 0 || (extent.is_static() && k > extent.value()))
    throw InvalidArgument(StrCat("k is ", k, " for an axis of ", extent.ToString(), " elements"));
  Expr x = node.input(0);
  if (k == 0)
    x = node.Typed(
        ops::StridedSlice(x, {.begin = {0}, .end = {0}, .strides = {1}, .axes = Ints{axis}}));
  attrs.k = k;
  const Expr both = node.Typed(Call(ops::OpRegistry::Global().Get("topk"), {x}, attrs));
  return {node.Typed(ir::TupleGetItem::Make(both, 0)), node.Typed(ir::TupleGetItem::Make(both, 1))};
}

// A tensor of zeros, with values written at the flat positions where a pooling found them.
std::vector<Expr> MaxUnpool(Node& node) {
  const DataType type = DataTypeOf(node.input(0));
  const std::vector<Dim> pooled = DimsOf(node.input(0));
  const Ints kernel = node.IntsOr("kernel_shape", {});
  const std::size_t dims = kernel.size();
  if (dims == 0 || pooled.size() != dims + 2)
    throw InvalidArgument("kernel_shape must have a value for each spatial axis");
  const Ints strides = node.IntsOr("strides", Ints(dims, 1));
  const Ints pads = node.IntsOr("pads", Ints(2 * dims, 0));
  if (strides.size() != dims || pads.size() != 2 * dims)
    throw InvalidArgument(StrCat(dims, " axes take ", dims, " strides and ", 2 * dims, " pads"));
  // Positions count through the image that was pooled; the result may be a part of it.
  std::vector<Dim> image = pooled;
  for (std::size_t d = 0; d < dims; ++d) {
    for (const std::int64_t number : {strides[d], kernel[d], pads[d], pads[d + dims]})
      RequireConstantSize(std::fabs(static_cast<double>(number)));
    if (pooled[d + 2].is_static()) {
      RequireConstantSize(static_cast<double>(pooled[d + 2].value()) *
                          static_cast<double>(strides[d]));
    }
    image[d + 2] = (pooled[d + 2] - 1) * Dim(strides[d]) + kernel[d] - pads[d] - pads[d + dims];
  }
  const std::vector<Dim> result = node.has_input(2) ? ExtentsAt(node, 2) : image;
  if (result.size() != image.size()) throw InvalidArgument("output_shape has another rank");
  const Expr zeros =
      node.Typed(BroadcastTo(node.extents(), node.Typed(ops::Scalar(0, type)), image));
  const auto flat = [&](const Expr& e) { return node.Typed(ops::Reshape(e, {-1})); };
  Expr y =
      Call(ops::Known().scatter_elements, {flat(zeros), flat(node.input(1)), flat(node.input(0))},
           ops::ScatterElementsAttrs{.axis = 0});
  y = node.Typed(ops::CallOp("reshape_like", {node.Typed(y), zeros},
                             attrs::Attrs::Make(ops::ReshapeLikeAttrs{})));
  y = node.Typed(y);
  for (std::size_t d = 0; d < image.size(); ++d) {
    Dim more = result[d] - image[d];
    if (more.is_static() && more.value() < 0)
      throw InvalidArgument(StrCat("output_shape is ", ir::ToText(result),
                                   ", and what was pooled has the shape ", ir::ToText(image),
                                   "; each extent must be as large or larger"));
    if (more == Dim(0)) continue;
    if (!more.is_static()) {
      const Expr wanted = node.Typed(ops::Cast(ElementAt(node, node.input(2), d), Int64));
      const Expr has = node.Typed(ExtentValue(zeros, d));
      more = ExtentOf(node, node.Typed(ops::Subtract(ops::Reshape(wanted, Ints{}), has)), false,
                      "whose output_shape must be as large as what was pooled");
    }
    y = PaddedByPlaces(node, y, d, {.after = more}, "constant", node.Typed(ops::Scalar(0, type)));
  }
  return {y};
}

}  // namespace

void AddIndexConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["Compress"] = Compress;
  t["CumProd"] = Cumulative("cumprod");
  t["CumSum"] = Cumulative("cumsum");
  t["DepthToSpace"] = DepthToSpace;
  t["EyeLike"] = EyeLike;
  t["GatherElements"] = GatherElements;
  t["GatherND"] = GatherND;
  t["MaxUnpool"] = MaxUnpool;
  t["OneHot"] = OneHot;
  t["ReverseSequence"] = ReverseSequence;
  t["Scatter"] = ScatterElements;
  t["ScatterElements"] = ScatterElements;
  t["ScatterND"] = ScatterND;
  t["SpaceToDepth"] = SpaceToDepth;
  t["TopK"] = Converter(TopK).With({.other = "a run refuses a k of more elements than there are; "
                                             "exported code gives all of them then"});
  t["Trilu"] = Trilu;
}

}  // namespace tenon::onnx_import
