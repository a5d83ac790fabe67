// Resize and Upsample. The resized axes must be among the last three; all others are
// merged into one. Extents that are variables have a form of their own (resize.h).
#include <algorithm>
#include <cmath>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/resize.h"
#include "tenon/onnx/convert/resize_antialias.h"
#include "tenon/onnx/convert/resize_by_values.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The wanted sizes and scales along every axis of the data.
struct Target {
  Ints size;
  std::vector<double> scale;  // of coordinates
  std::vector<double> start, end;
};

std::int64_t Extent(double value) {
  if (!(value >= 0 && value < 0x1p31))
    throw InvalidArgument(StrCat("a result's extent would be ", value));
  return static_cast<std::int64_t>(value);
}

// The last `k` axes, starting at the first that changes, are resized by `image.resize<k>d`.
Expr Resized(const Expr& x, const Target& target, const ops::Resize3DAttrs& how) {
  const Shape shape = ShapeOf(x);
  const bool crops = how.coordinate_transformation_mode == "tf_crop_and_resize";
  std::size_t first = shape.size();
  for (std::size_t i = shape.size(); i-- > 0;) {
    const bool whole = !crops || (target.start[i] == 0 && target.end[i] == 1);
    if (target.size[i] != shape[i] || target.scale[i] != 1 || !whole) first = i;
  }
  if (first == shape.size()) return x;
  const std::size_t dims = shape.size() - first;
  if (dims > 3)
    throw Unimplemented(StrCat("resizing axis ", first, " of ", shape.size(),
                               " is not supported; the last three are"));
  std::int64_t lead = 1;
  for (std::size_t i = 0; i < first; ++i) lead *= shape[i];
  Ints flat = {1, lead};
  flat.insert(flat.end(), shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
  ops::Resize3DAttrs of_axes = how;
  const auto from = static_cast<std::ptrdiff_t>(first);
  of_axes.size.assign(target.size.begin() + from, target.size.end());
  of_axes.scales.assign(target.scale.begin() + from, target.scale.end());
  if (crops) {
    of_axes.roi.assign(target.start.begin() + from, target.start.end());
    of_axes.roi.insert(of_axes.roi.end(), target.end.begin() + from, target.end.end());
  }
  const Expr y = ResizedOver(dims, flat == shape ? x : ops::ReshapeToExtents(x, flat), of_axes);
  return flat == shape ? y : ops::ReshapeToExtents(y, target.size);
}

std::string MethodOf(const std::string& mode) {
  if (mode == "nearest") return "nearest_neighbor";
  if (mode == "linear" || mode == "cubic") return mode;
  throw Unimplemented(
      StrCat("the mode ", mode, " is not supported; nearest, linear and cubic are"));
}

Target WholeOf(const Shape& shape) {
  const std::size_t rank = shape.size();
  return {shape, std::vector<double>(rank, 1), std::vector<double>(rank, 0),
          std::vector<double>(rank, 1)};
}

void SetScale(double scale, std::int64_t extent, std::size_t axis, Target* target) {
  if (!(scale > 0)) throw InvalidArgument(StrCat("the scale ", scale, " is not greater than zero"));
  target->scale[axis] = scale;
  // Scales are float32, and so is their product in the standard's shape inference: 2.6 times 5 is
  // 13, though the float is a little less than 2.6.
  const double part = target->end[axis] - target->start[axis];
  const auto factor = static_cast<float>(part * scale);
  const bool is_whole = std::floor(factor) == factor;  // exact, also of large extents
  target->size[axis] =
      Extent(std::floor(is_whole ? static_cast<double>(extent) * factor
                                 : static_cast<double>(static_cast<float>(extent) * factor)));
}

// Opset 10, and Upsample: scales for all axes, and no coordinate offset.
ops::Resize3DAttrs WithoutOffset(Node& node) {
  ops::Resize3DAttrs how;
  how.method = MethodOf(node.String("mode", "nearest"));
  how.coordinate_transformation_mode = "asymmetric";
  how.rounding_method = "floor";
  return how;
}

Expr ScaledBy(const Node& node, const Expr& x, const std::vector<double>& scales,
              const ops::Resize3DAttrs& how) {
  if (!IsStatic(DimsOf(x))) return ResizedByScales(node, x, scales, how);
  const Shape shape = ShapeOf(x);
  Target target = WholeOf(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) SetScale(scales[i], shape[i], i, &target);
  return Resized(x, target, how);
}

// `takes_next`: between two elements, an axis that shrinks takes the next one. The standard's test
// of Resize in opset 10 has it so, and ONNX Runtime.
Expr ByScales(Node& node, const std::vector<double>& scales, bool takes_next) {
  const Expr& x = node.input(0);
  RequireCount("scales", scales.size(), static_cast<std::size_t>(RankOf(x)));
  ops::Resize3DAttrs how = WithoutOffset(node);
  if (!takes_next || how.method != "nearest_neighbor") return ScaledBy(node, x, scales, how);
  std::vector<double> shrunk = scales, grown = scales;
  for (std::size_t i = 0; i < scales.size(); ++i) (scales[i] < 1 ? grown : shrunk)[i] = 1;
  how.rounding_method = "ceil";
  const Expr small = node.Typed(ScaledBy(node, x, shrunk, how));
  how.rounding_method = "floor";
  return ScaledBy(node, small, grown, how);
}

// The same by scales of a run.
Expr ByScaleValues(Node& node, bool takes_next) {
  Ints axes;
  for (std::int64_t axis = 0; axis < RankOf(node.input(0)); ++axis) axes.push_back(axis);
  return ResizedByScaleValues(node, node.input(0), axes, node.input(1),
                              {.attrs = WithoutOffset(node), .takes_next = takes_next});
}

std::vector<Expr> Upsample(Node& node) {
  std::vector<double> scales;
  if (node.opset() >= 9) {
    if (DependsOnInputs(node.input(1))) return {ByScaleValues(node, false)};
    scales = node.ConstantNumbers(1);
  } else if (const auto* given = node.Find("scales")) {
    scales.assign(given->floats().begin(), given->floats().end());
  }
  return {node.Typed(ByScales(node, scales, false))};
}

// Sets the wanted sizes; one factor for all axes when the aspect ratio is kept.
void SetSizes(Node& node, const Shape& shape, const Ints& axes, const Ints& sizes, bool crops,
              Target* target) {
  RequireCount("sizes", sizes.size(), axes.size());
  const std::string policy = node.String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    throw InvalidArgument(StrCat("keep_aspect_ratio_policy is ", policy,
                                 "; it may be stretch, not_larger or not_smaller"));
  double common = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (sizes[i] < 0) throw InvalidArgument(StrCat("a size is ", sizes[i]));
    const double ratio = static_cast<double>(sizes[i]) / static_cast<double>(shape[axis]);
    target->size[axis] = sizes[i];
    target->scale[axis] = sizes[i] == shape[axis] ? 1 : ratio;
    if (i == 0 || (policy == "not_larger" ? ratio < common : ratio > common)) common = ratio;
  }
  if (policy == "stretch" || crops) return;
  for (const std::int64_t a : axes) {
    const auto axis = static_cast<std::size_t>(a);
    target->scale[axis] = common;
    target->size[axis] = Extent(std::floor(static_cast<double>(shape[axis]) * common + 0.5));
  }
}

ops::Resize3DAttrs AttrsOfResize(Node& node) {
  ops::Resize3DAttrs how;
  how.method = MethodOf(node.String("mode", "nearest"));
  how.coordinate_transformation_mode = node.String("coordinate_transformation_mode", "half_pixel");
  how.rounding_method = node.String("nearest_mode", "round_prefer_floor");
  how.cubic_alpha = node.Float("cubic_coeff_a", -0.75);
  how.cubic_exclude = node.Int("exclude_outside", 0);
  how.extrapolation_value = node.Float("extrapolation_value", 0);
  if (how.cubic_exclude != 0 && how.method != "cubic") how.cubic_exclude = 0;
  return how;
}

// The axes to resize; all where none are named.
Ints ResizedAxes(Node& node, std::size_t rank) {
  Ints axes;
  if (const auto given = node.OptionalInts("axes")) {
    for (const std::int64_t axis : *given) axes.push_back(ops::NormalAxis(axis, rank));
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

// Where extents, scales or sizes are not known at import; nothing where all are.
std::optional<Expr> ResizedAtRunTime(Node& node, const Ints& axes, const ResizeByValues& how,
                                     bool crops) {
  const Expr& x = node.input(0);
  if (!crops && node.has_input(2) && DependsOnInputs(node.input(2))) {
    node.Ignore("keep_aspect_ratio_policy");
    return ResizedByScaleValues(node, x, axes, node.input(2), how);
  }
  const bool computes_sizes = node.has_input(3) && DependsOnInputs(node.input(3));
  if (IsStatic(DimsOf(x)) && !computes_sizes) return std::nullopt;
  if (!crops)
    return node.Typed(how.antialias ? AntialiasedOverVariables(node, axes, how)
                                    : ResizedOverVariables(node, axes, how.attrs));
  if (how.antialias) throw Unimplemented("tf_crop_and_resize with antialias is not supported");
  node.Ignore("keep_aspect_ratio_policy");
  return CroppedOverVariables(node, axes, how.attrs);
}

// Of known sizes or scales.
Target TargetOf(Node& node, const Shape& shape, const Ints& axes, bool crops) {
  Target target = WholeOf(shape);
  if (crops) {
    const std::vector<double> roi = node.ConstantNumbers(1);
    RequireCount("roi", roi.size(), 2 * axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      target.start[static_cast<std::size_t>(axes[i])] = roi[i];
      target.end[static_cast<std::size_t>(axes[i])] = roi[i + axes.size()];
    }
  }
  const std::vector<double> scales =
      node.has_input(2) ? node.ConstantNumbers(2) : std::vector<double>();
  if (!scales.empty()) {
    RequireCount("scales", scales.size(), axes.size());
    node.Ignore("keep_aspect_ratio_policy");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<std::size_t>(axes[i]);
      SetScale(scales[i], shape[axis], axis, &target);
    }
  } else if (node.has_input(3)) {
    SetSizes(node, shape, axes, node.ConstantInts(3), crops, &target);
  } else {
    throw InvalidArgument("neither scales nor sizes are given");
  }
  return target;
}

std::vector<Expr> Resize(Node& node) {
  if (node.opset() < 11 && DependsOnInputs(node.input(1))) return {ByScaleValues(node, true)};
  if (node.opset() < 11) return {node.Typed(ByScales(node, node.ConstantNumbers(1), true))};
  const Expr& x = node.input(0);
  const ops::Resize3DAttrs how = AttrsOfResize(node);
  const Ints axes = ResizedAxes(node, DimsOf(x).size());
  const bool crops = how.coordinate_transformation_mode == "tf_crop_and_resize";
  const ResizeByValues by_values{
      .attrs = how,
      .antialias = node.Int("antialias", 0) != 0 && how.method != "nearest_neighbor",
      .excludes_outside = node.Int("exclude_outside", 0) != 0};
  if (const auto resized = ResizedAtRunTime(node, axes, by_values, crops)) return {*resized};
  const Target target = TargetOf(node, ShapeOf(x), axes, crops);
  // Sizes may be 0, of which no scale can be made.
  if (std::ranges::find(target.size, 0) != target.size.end())
    return {ZerosOf(target.size, DataTypeOf(x))};
  if (by_values.antialias) {
    AntialiasedResize resize{.size = target.size,
                             .scale = target.scale,
                             .transformation = how.coordinate_transformation_mode,
                             .cubic = how.method == "cubic",
                             .alpha = how.cubic_alpha,
                             .excludes_outside = by_values.excludes_outside};
    return {Antialiased(node, x, resize)};
  }
  return {node.Typed(Resized(x, target, how))};
}

}  // namespace

void AddImageConverters(ConverterTable* table) {
  (*table)["Resize"] = Converter(Resize).With(
      {.known = {{1, "roi", "with tf_crop_and_resize"}, {2, "scales", "with tf_crop_and_resize"}},
       .other = "the last three axes, any with antialias and by sizes that a run computes; by "
                "scales that a run computes, all but the first two of three and more; not "
                "tf_crop_and_resize and antialias together"});
  (*table)["Upsample"] = Converter(Upsample).With({.other = "as Resize"});
}

}  // namespace tenon::onnx_import
