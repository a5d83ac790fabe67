// Elements are repeated where that does it for all values of the variables. Whole multiples and
// parts of an extent, and the node's own scales, are scales of image.resize*d. For all other sizes
// image.resize_to_extents computes coordinates with the quotients of the extents.
#include "tenon/onnx/convert/resize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/resize_by_values.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/image/resize_to_extents_attrs.h"
#include "tenon/ops/index_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using Dims = std::vector<Dim>;

// Whether result i is element floor(i / scale) where the scale is a whole number.
bool RepeatsElements(const ops::Resize3DAttrs& how) {
  const std::string& from = how.coordinate_transformation_mode;
  const std::string& rounding = how.rounding_method;
  if (how.method != "nearest_neighbor") return false;
  if (from == "asymmetric" || from == "tf_half_pixel_for_nn") return rounding == "floor";
  const bool has_centres =
      from == "half_pixel" || from == "pytorch_half_pixel" || from == "half_pixel_symmetric";
  return has_centres && rounding.starts_with("round");
}

// A number that is the quotient of both for all values; nothing where there is none that is exact.
std::optional<double> ScaleOf(const Dim& size, const Dim& extent) {
  const std::optional<Dim> up = ExactQuotient(size, extent);
  if (up && up->is_static() && up->value() > 0) return static_cast<double>(up->value());
  const std::optional<Dim> down = ExactQuotient(extent, size);
  if (down && down->is_static() && down->value() > 0 &&
      std::has_single_bit(static_cast<std::uint64_t>(down->value())))
    return 1 / static_cast<double>(down->value());
  return std::nullopt;
}

Expr ToExtents(const Node& node, const Expr& x, const Dims& target, const ops::Resize3DAttrs& how) {
  auto named = node.extents().NamesIn(target);
  return ops::CallOp("image.resize_to_extents", {x, ir::Tuple::Make(std::move(named.others))},
                     attrs::Attrs::Make(ops::ResizeToExtentsAttrs{
                         .shape = std::move(named.text),
                         .method = how.method,
                         .coordinate_transformation_mode = how.coordinate_transformation_mode,
                         .rounding_method = how.rounding_method,
                         .cubic_alpha = how.cubic_alpha,
                         .cubic_exclude = how.cubic_exclude,
                         .roi = how.roi,
                         .extrapolation_value = how.extrapolation_value}));
}

Expr ResizedToSizes(Node& node, const Ints& axes, const Dims& sizes,
                    const ops::Resize3DAttrs& how) {
  RequireCount("sizes", sizes.size(), axes.size());
  const Expr& x = node.input(0);
  const Dims from = DimsOf(x);
  Dims target = from;
  std::vector<double> scales(from.size(), 1);
  bool are_scales = true;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (sizes[i].is_static() && sizes[i].value() < 0)
      throw InvalidArgument(StrCat("a size is ", sizes[i].ToString()));
    target[axis] = sizes[i];
    const std::optional<double> scale = ScaleOf(sizes[i], from[axis]);
    are_scales = are_scales && scale;
    if (scale) scales[axis] = *scale;
  }
  return are_scales ? ResizedByScales(node, x, scales, how) : ToExtents(node, x, target, how);
}

// A number times a part of it, as SetScale has it of numbers (convert_image.cc).
Dim CroppedExtent(const Dim& extent, double part) {
  const auto factor = static_cast<float>(part);
  if (!(factor >= 0))
    throw InvalidArgument(
        StrCat("a result's extent would be ", part, " times ", extent.ToString()));
  if (extent.is_static()) {
    const bool is_whole = std::floor(factor) == factor;
    const auto number = static_cast<double>(extent.value());
    return static_cast<std::int64_t>(std::floor(
        is_whole ? number * factor : static_cast<double>(static_cast<float>(number) * factor)));
  }
  if (std::floor(factor) == factor && factor < 0x1p31F)
    return extent * static_cast<std::int64_t>(factor);
  const double inverse = 1 / static_cast<double>(factor);
  if (std::has_single_bit(static_cast<std::uint64_t>(std::min(inverse, 0x1p31))) &&
      inverse == std::floor(inverse))
    return FloorDiv(extent, static_cast<std::int64_t>(inverse));
  throw Unimplemented(StrCat("a region of ", part, " times ", extent.ToString(),
                             " elements; of extents that are variables, parts by whole numbers and "
                             "powers of two are supported, and sizes"));
}

}  // namespace

void RequireCount(const char* what, std::size_t have, std::size_t want) {
  if (have != want) throw InvalidArgument(StrCat(what, " has ", have, " values; it takes ", want));
}

Expr ResizedOver(std::size_t k, const Expr& x, const ops::Resize3DAttrs& how) {
  const auto made = [&](auto attrs) {
    attrs.size = how.size;
    attrs.roi = how.roi;
    attrs.scales = how.scales;
    attrs.method = how.method;
    attrs.coordinate_transformation_mode = how.coordinate_transformation_mode;
    attrs.rounding_method = how.rounding_method;
    attrs.cubic_alpha = how.cubic_alpha;
    attrs.cubic_exclude = how.cubic_exclude;
    attrs.extrapolation_value = how.extrapolation_value;
    return attrs;
  };
  if (k == 1) return ops::Resize1D(x, made(ops::Resize1DAttrs{}));
  if (k == 2) return ops::Resize2D(x, made(ops::Resize2DAttrs{}));
  return ops::Resize3D(x, made(ops::Resize3DAttrs{}));
}

Expr ResizedByScales(const Node& node, const Expr& x, const std::vector<double>& scales,
                     const ops::Resize3DAttrs& how) {
  const std::size_t rank = scales.size();
  std::vector<std::size_t> axes;
  bool is_whole = true;
  for (std::size_t i = 0; i < rank; ++i) {
    if (scales[i] == 1) continue;
    if (!(scales[i] > 0))
      throw InvalidArgument(StrCat("the scale ", scales[i], " is not greater than zero"));
    axes.push_back(i);
    is_whole =
        is_whole && scales[i] > 1 && scales[i] < 0x1p31 && std::floor(scales[i]) == scales[i];
  }
  if (axes.empty()) return x;
  if (is_whole && RepeatsElements(how)) {
    Expr y = x;
    for (const std::size_t axis : axes)
      y = node.Typed(
          ops::Repeat(y, static_cast<std::int64_t>(scales[axis]), static_cast<std::int64_t>(axis)));
    return y;
  }
  if (rank < 3 || rank > 5 || axes.front() < 2)
    throw Unimplemented(StrCat("resizing axis ", axes.front(), " of a tensor of the shape ",
                               ir::ToText(DimsOf(x)),
                               " is not supported; of extents that are variables those after the "
                               "second axis are"));
  ops::Resize3DAttrs of_axes = how;
  of_axes.scales.assign(scales.begin() + 2, scales.end());
  return ResizedOver(rank - 2, x, of_axes);
}

Expr ResizedOverVariables(Node& node, const Ints& axes, const ops::Resize3DAttrs& how) {
  const Expr& x = node.input(0);
  const std::vector<double> given =
      node.has_input(2) ? node.ConstantNumbers(2) : std::vector<double>();
  if (given.empty()) {
    if (!node.has_input(3)) throw InvalidArgument("neither scales nor sizes are given");
    const std::string policy = node.String("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch")
      return ResizedInProportion(node, x, axes, node.input(3), policy, {.attrs = how});
    return ResizedToSizes(node, axes, ExtentsAt(node, 3), how);
  }
  RequireCount("scales", given.size(), axes.size());
  node.Ignore("keep_aspect_ratio_policy");
  std::vector<double> scales(static_cast<std::size_t>(RankOf(x)), 1);
  for (std::size_t i = 0; i < axes.size(); ++i)
    scales[static_cast<std::size_t>(axes[i])] = given[i];
  return ResizedByScales(node, x, scales, how);
}

Expr CroppedOverVariables(const Node& node, const Ints& axes, ops::Resize3DAttrs how) {
  const Expr& x = node.input(0);
  Dims target = DimsOf(x);
  const std::vector<double> roi = node.ConstantNumbers(1);
  RequireCount("roi", roi.size(), 2 * axes.size());
  how.roi.assign(target.size(), 0);
  how.roi.resize(2 * target.size(), 1);
  const std::vector<double> scales =
      node.has_input(2) ? node.ConstantNumbers(2) : std::vector<double>();
  if (scales.empty() && !node.has_input(3))
    throw InvalidArgument("neither scales nor sizes are given");
  const Dims sizes = scales.empty() ? ExtentsAt(node, 3) : Dims();
  RequireCount(scales.empty() ? "sizes" : "scales", scales.size() + sizes.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const double start = roi[i], end = roi[i + axes.size()];
    if (!scales.empty() && !(scales[i] > 0))
      throw InvalidArgument(StrCat("the scale ", scales[i], " is not greater than zero"));
    how.roi[axis] = start;
    how.roi[axis + target.size()] = end;
    target[axis] =
        scales.empty() ? sizes[i] : CroppedExtent(target[axis], (end - start) * scales[i]);
  }
  return node.Typed(ToExtents(node, x, target, how));
}

Expr AntialiasedOverVariables(Node& node, const Ints& axes, const ResizeByValues& how) {
  const Expr& x = node.input(0);
  if (node.has_input(2) && !node.ConstantNumbers(2).empty()) {
    node.Ignore("keep_aspect_ratio_policy");
    return ResizedByScaleValues(node, x, axes, node.input(2), how);
  }
  if (!node.has_input(3)) throw InvalidArgument("neither scales nor sizes are given");
  const std::string policy = node.String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") return ResizedInProportion(node, x, axes, node.input(3), policy, how);
  return AntialiasedToSizes(node, x, axes, ExtentsAt(node, 3), how);
}

}  // namespace tenon::onnx_import
