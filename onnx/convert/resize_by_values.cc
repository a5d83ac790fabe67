// Axis after axis is resampled. Coordinates are vectors of float64, computed as kernels of resizes
// compute them where scales are numbers.
#include "tenon/onnx/convert/resize_by_values.h"

#include <array>
#include <utility>
#include <vector>

#include "tenon/onnx/convert/known_extents.h"
#include "tenon/onnx/convert/resize.h"
#include "tenon/onnx/convert/resize_antialias.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/image/resize_rules.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, Expr a, Expr b) {
  return ir::Call::Make(op, {std::move(a), std::move(b)});
}
Expr Call(const Expr& op, Expr a) { return ir::Call::Make(op, {std::move(a)}); }
Expr Real(double value) { return ops::Scalar(value, Float64); }

// How an axis is resampled. Scalars of float64, except for the count.
struct Resampling {
  std::size_t axis = 0;
  Expr scale;
  Expr count;        // int64, of the result's elements
  Dim taps = Dim();  // with antialias, for each element, where they are known
};

class Resampler {
 public:
  Resampler(const Node& node, const ResizeByValues& how) : node_(node), how_(how.attrs), by_(how) {}

  // `extent` is the result's, whose value is the count.
  Expr Along(const Expr& x, const Resampling& by, const Dim& extent) const {
    const Expr in = node_.Typed(ops::Cast(ValueOfCount(node_, DimsOf(x)[by.axis]), Float64));
    const Expr at = node_.Typed(Coordinates(by, in, extent));
    if (how_.method == "nearest_neighbor")
      return Taken(x, node_.Typed(Nearest(at, by.scale)), in, by.axis);
    if (by_.antialias) return Antialiased(x, at, by, in);
    const Expr first = node_.Typed(Call(ops::Known().floor, at));
    const Expr past = node_.Typed(ops::Subtract(at, first));
    return how_.method == "linear" ? Linear(x, first, past, in, by.axis)
                                   : Cubic(x, first, past, in, by.axis);
  }

 private:
  // Where the elements of the result lie in the data.
  Expr Coordinates(const Resampling& by, const Expr& in, const Dim& extent) const {
    const std::string& mode = how_.coordinate_transformation_mode;
    const Expr i = ops::Cast(node_.Typed(Places(node_.extents(), extent)), Float64);
    const Expr out = node_.Typed(ops::Cast(by.count, Float64));
    const Expr is_one = node_.Typed(Call(ops::Known().less_equal, out, Real(1)));
    if (mode == "asymmetric") return ops::Divide(i, by.scale);
    if (mode == "align_corners") {
      const Expr steps = ops::Maximum(ops::Subtract(out, Real(1)), Real(1));
      return ops::Divide(ops::Multiply(i, ops::Subtract(in, Real(1))), steps);
    }
    const Expr centres = ops::Divide(ops::Add(i, Real(0.5)), by.scale);
    if (mode == "tf_half_pixel_for_nn") return centres;
    const Expr at = ops::Add(centres, Real(-0.5));
    if (mode == "half_pixel") return at;
    if (mode == "pytorch_half_pixel")
      return ops::Where(is_one, ops::Multiply(node_.Typed(at), Real(0)), at);
    if (mode == "half_pixel_symmetric") {
      const Expr wanted = ops::Multiply(by.scale, in);
      const Expr lost = ops::Subtract(Real(1), ops::Divide(out, wanted));
      return ops::Add(at, ops::Multiply(ops::Divide(in, Real(2)), lost));
    }
    throw Unimplemented(StrCat("the coordinates ", mode,
                               " by scales that a run computes are not supported; they must be "
                               "known when the model is imported"));
  }

  Expr Nearest(const Expr& at, const Expr& scale) const {
    const auto& known = ops::Known();
    const auto before = [&] { return Call(known.floor, ops::Add(at, Real(ops::kResizeNudge))); };
    const auto next = [&] { return Call(known.ceil, ops::Add(at, Real(-ops::kResizeNudge))); };
    if (by_.takes_next) return ops::Where(Call(known.less, scale, Real(1)), next(), before());
    if (how_.rounding_method == "floor") return before();
    if (how_.rounding_method == "ceil") return next();
    if (how_.rounding_method == "round_prefer_ceil")
      return Call(known.floor, ops::Add(at, Real(0.5)));
    if (how_.rounding_method == "round_prefer_floor")
      return Call(known.ceil, ops::Add(at, Real(-0.5)));
    throw Unimplemented(StrCat("the nearest_mode ", how_.rounding_method, " is not supported"));
  }

  // The elements at places, which are whole numbers; those outside are at the edge.
  Expr Taken(const Expr& x, const Expr& places, const Expr& in, std::size_t axis) const {
    const Expr inside = ops::Maximum(ops::Minimum(places, ops::Subtract(in, Real(1))), Real(0));
    return node_.Typed(ops::Take(x, node_.Typed(ops::Cast(inside, Int64)),
                                 {.axis = static_cast<std::int64_t>(axis)}));
  }

  // A weight for each element along the axis.
  Expr Weight(const Expr& values, const Expr& x, std::size_t axis) const {
    Expr weight = node_.Typed(ops::Cast(values, DataTypeOf(x)));
    const std::int64_t rank = RankOf(values);
    for (std::int64_t d = RankOf(x) - 1; d > static_cast<std::int64_t>(axis); --d)
      weight = node_.Typed(ops::ExpandDims(weight, rank));
    return weight;
  }

  Expr Linear(const Expr& x, const Expr& first, const Expr& past, const Expr& in,
              std::size_t axis) const {
    const Expr low = Taken(x, first, in, axis);
    const Expr high = Taken(x, node_.Typed(ops::Add(first, Real(1))), in, axis);
    const Expr rest = node_.Typed(ops::Subtract(Real(1), past));
    return node_.Typed(ops::Add(ops::Multiply(low, Weight(rest, x, axis)),
                                ops::Multiply(high, Weight(past, x, axis))));
  }

  Expr Compared(const Expr& op, const Expr& a, const Expr& b) const {
    return node_.Typed(Call(op, a, b));
  }

  // How many taps reach from the last place before an element to those on either side.
  Dim TapsOf(const Resampling& by) const {
    if (!by.taps.is_any()) return by.taps;
    const double reach = how_.method == "cubic" ? 2 : 1;
    const Expr stretch = node_.Typed(ops::Divide(Real(reach), ops::Minimum(by.scale, Real(1))));
    const Expr bounded = ops::Minimum(Call(ops::Known().ceil, stretch), Real(0x1p40));
    // Without an element there is no scale.
    const Expr has_none = Compared(ops::Known().less_equal, by.count, Integer(0));
    const Expr half = node_.Typed(ops::Where(has_none, Real(1), bounded));
    return ExtentOf(node_, node_.Typed(ops::Multiply(ops::Cast(half, Int64), Integer(2))));
  }

  // Keys' kernel at a distance in steps, or the triangle of linear.
  Expr KernelAt(const Expr& distance) const {
    const auto& known = ops::Known();
    if (how_.method == "linear")
      return node_.Typed(ops::Maximum(ops::Subtract(Real(1), distance), Real(0)));
    const double a = how_.cubic_alpha;
    const Expr near = Polynomial(distance, {a + 2, -(a + 3), 0, 1}),
               far = Polynomial(distance, {a, -5 * a, 8 * a, -4 * a});
    const Expr beyond =
        node_.Typed(ops::Where(Compared(known.less, distance, Real(2)), node_.Typed(far), Real(0)));
    return node_.Typed(
        ops::Where(Compared(known.less_equal, distance, Real(1)), node_.Typed(near), beyond));
  }

  // As resize_antialias.cc has it for numbers.
  Expr Antialiased(const Expr& x, const Expr& at, const Resampling& by, const Expr& in) const {
    const auto& known = ops::Known();
    const Dim taps = TapsOf(by);
    const Expr half = node_.Typed(
        ops::Divide(node_.Typed(ops::Cast(ValueOfCount(node_, taps), Float64)), Real(2)));
    const Expr offsets = node_.Typed(
        ops::Add(node_.Typed(ops::Cast(node_.Typed(Places(node_.extents(), taps)), Float64)),
                 node_.Typed(ops::Subtract(Real(1), half))));
    const Expr rows = node_.Typed(ops::ExpandDims(at, 1));
    const Expr places =
        node_.Typed(ops::Add(node_.Typed(ops::Subtract(Call(known.ceil, rows), Real(1))), offsets));
    const Expr distance = node_.Typed(
        ops::Multiply(node_.Typed(Call(known.abs, node_.Typed(ops::Subtract(places, rows)))),
                      node_.Typed(ops::Minimum(by.scale, Real(1)))));
    Expr weights = KernelAt(distance);
    if (by_.excludes_outside) {
      const Expr is_inside =
          node_.Typed(Call(known.logical_and, Compared(known.greater_equal, places, Real(0)),
                           Compared(known.less, places, in)));
      weights = node_.Typed(ops::Where(is_inside, weights, Real(0)));
    }
    const Expr sum = node_.Typed(ops::Sum(weights, {.axis = Ints{1}, .keepdims = true}));
    const Expr is_none = Compared(known.equal, sum, Real(0));
    weights = node_.Typed(ops::Divide(weights, node_.Typed(ops::Where(is_none, Real(1), sum))));
    const Expr tap = Taken(x, places, in, by.axis);
    return node_.Typed(ops::Sum(node_.Typed(ops::Multiply(tap, Weight(weights, x, by.axis))),
                                {.axis = Ints{static_cast<std::int64_t>(by.axis) + 1}}));
  }

  static Expr Polynomial(const Expr& d, std::array<double, 4> c) {
    Expr sum = Real(c[0]);
    for (std::size_t i = 1; i < c.size(); ++i) sum = ops::Add(ops::Multiply(sum, d), Real(c[i]));
    return sum;
  }

  // Keys, "Cubic convolution interpolation for digital image processing", 1981.
  Expr Cubic(const Expr& x, const Expr& first, const Expr& past, const Expr& in,
             std::size_t axis) const {
    const double a = how_.cubic_alpha;
    const std::array<double, 4> near = {a + 2, -(a + 3), 0, 1}, far = {a, -5 * a, 8 * a, -4 * a};
    const Expr rest = node_.Typed(ops::Subtract(Real(1), past));
    std::array<Expr, 4> weights = {Polynomial(ops::Add(past, Real(1)), far), Polynomial(past, near),
                                   Polynomial(rest, near),
                                   Polynomial(ops::Add(rest, Real(1)), far)};
    std::array<Expr, 4> places;
    Expr total;
    for (std::size_t tap = 0; tap < weights.size(); ++tap) {
      places[tap] = node_.Typed(ops::Add(first, Real(static_cast<double>(tap) - 1)));
      if (how_.cubic_exclude == 0) continue;
      const auto& known = ops::Known();
      const Expr is_inside =
          Call(known.logical_and, Call(known.greater_equal, places[tap], Real(0)),
               Call(known.less, places[tap], in));
      weights[tap] = node_.Typed(ops::Where(is_inside, weights[tap], Real(0)));
      total = total ? node_.Typed(ops::Add(total, weights[tap])) : weights[tap];
    }
    Expr sum;
    for (std::size_t tap = 0; tap < weights.size(); ++tap) {
      Expr weight = weights[tap];
      if (total) weight = ops::Divide(weight, total);
      const Expr part =
          ops::Multiply(Taken(x, places[tap], in, axis), Weight(node_.Typed(weight), x, axis));
      sum = node_.Typed(sum ? ops::Add(sum, part) : part);
    }
    return sum;
  }

  const Node& node_;
  const ops::Resize3DAttrs& how_;
  const ResizeByValues& by_;
};

// The extent of a count, which a run refuses where it is not right.
Dim SizeOf(const Node& node, const Expr& count, const Expr& is_right, const std::string& rule) {
  const Expr checked = node.Typed(ops::Where(is_right, count, Integer(-1)));
  const auto* known = checked.As<ir::ConstantNode>();
  if (known == nullptr) return ExtentOf(node, checked, false, rule);
  const std::int64_t number = *known->data.data<std::int64_t>();
  if (number < 0) throw InvalidArgument("the node is one " + rule);
  return number;
}

Expr Resampled(const Node& node, const Expr& x, std::vector<Resampling> all, const Expr& is_right,
               const std::string& rule, const ResizeByValues& how) {
  const DataType type = DataTypeOf(x);
  const bool is_nearest = how.attrs.method == "nearest_neighbor";
  if (!is_nearest && !how.antialias && !type.is_float())
    throw Unimplemented(StrCat("the mode ", how.attrs.method,
                               " by scales that a run computes is not "
                               "supported of ",
                               type.ToString(), "; of floats it is"));
  // Sums of 16-bit floats are rounded once.
  const bool is_wide = is_nearest || (type.is_float() && type.bits() >= 32);
  Expr y = is_wide ? x : node.Typed(ops::Cast(x, Float32));
  const Resampler resampler(node, how);
  for (const Resampling& by : all) {
    y = resampler.Along(y, by, SizeOf(node, by.count, is_right, rule));
  }
  return AsElements(node, y, type);
}

// A product of floats as an int64. What is beyond all extents stays so.
Expr CountOf(const Node& node, const Expr& product) {
  const DataType type = DataTypeOf(product);
  const Expr most = ops::Scalar(0x1p40, type), least = ops::Scalar(-1, type);
  return node.Typed(
      ops::Cast(ops::Maximum(ops::Minimum(Call(ops::Known().floor, product), most), least), Int64));
}

Expr And(const Node& node, const Expr& a, const Expr& b) {
  return a ? node.Typed(Call(ops::Known().logical_and, a, b)) : b;
}

}  // namespace

Expr ResizedByScaleValues(const Node& node, const Expr& x, const Ints& axes, const Expr& scales,
                          const ResizeByValues& how) {
  const Shape count = ShapeOf(scales);
  if (count.size() != 1) throw InvalidArgument("the scales must have rank 1");
  RequireCount("scales", static_cast<std::size_t>(count[0]), axes.size());
  const auto& known = ops::Known();
  std::vector<Resampling> all;
  Expr is_right;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr scale = node.Typed(
        ops::Cast(node.Typed(ops::Reshape(ElementAt(node, scales, i), Ints{})), Float32));
    const auto* number = scale.As<ir::ConstantNode>();
    if (number != nullptr && *number->data.data<float>() == 1) continue;
    if (number == nullptr && RankOf(x) >= 3 && axes[i] < 2) {
      is_right = And(node, is_right, node.Typed(Call(known.equal, scale, ops::Scalar(1, Float32))));
      continue;
    }
    is_right = And(node, is_right, node.Typed(Call(known.greater, scale, ops::Scalar(0, Float32))));
    const auto axis = static_cast<std::size_t>(axes[i]);
    // Rounded to float32, as the standard's shape inference does.
    const Expr extent = node.Typed(ops::Cast(node.Typed(ExtentValue(x, axis)), Float32));
    all.push_back({.axis = axis,
                   .scale = node.Typed(ops::Cast(scale, Float64)),
                   .count = CountOf(node, node.Typed(ops::Multiply(extent, scale)))});
  }
  return Resampled(node, x, std::move(all), is_right,
                   "whose scales must be above 0, and 1 along the first two axes", how);
}

Expr ResizedInProportion(const Node& node, const Expr& x, const Ints& axes, const Expr& sizes,
                         const std::string& policy, const ResizeByValues& how) {
  const bool is_least = policy == "not_larger";
  if (!is_least && policy != "not_smaller")
    throw InvalidArgument(StrCat("keep_aspect_ratio_policy is ", policy,
                                 "; it must be stretch, not_larger or not_smaller"));
  const Shape count = ShapeOf(sizes);
  if (count.size() != 1) throw InvalidArgument("the sizes must have rank 1");
  RequireCount("sizes", static_cast<std::size_t>(count[0]), axes.size());
  const auto& known = ops::Known();
  std::vector<Expr> extents;
  Expr scale, is_right;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr size =
        ops::Cast(node.Typed(ops::Reshape(ElementAt(node, sizes, i), Ints{})), Float64);
    is_right = And(node, is_right, node.Typed(Call(known.greater_equal, size, Real(0))));
    extents.push_back(node.Typed(
        ops::Cast(node.Typed(ExtentValue(x, static_cast<std::size_t>(axes[i]))), Float64)));
    const Expr ratio = node.Typed(ops::Divide(size, extents.back()));
    scale = scale ? node.Typed(is_least ? ops::Minimum(scale, ratio) : ops::Maximum(scale, ratio))
                  : ratio;
  }
  // Of an axis without elements there may be none.
  is_right = And(node, is_right, node.Typed(Call(known.less, scale, Real(0x1p40))));
  std::vector<Resampling> all;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr rounded = ops::Add(ops::Multiply(extents[i], scale), Real(0.5));
    all.push_back({.axis = static_cast<std::size_t>(axes[i]),
                   .scale = scale,
                   .count = CountOf(node, node.Typed(rounded))});
  }
  return Resampled(node, x, std::move(all), is_right, "whose sizes must be at least 0", how);
}

Expr AntialiasedToSizes(const Node& node, const Expr& x, const Ints& axes,
                        const std::vector<Dim>& sizes, const ResizeByValues& how) {
  RequireCount("sizes", sizes.size(), axes.size());
  const DataType type = DataTypeOf(x);
  const bool is_wide = type.is_float() && type.bits() >= 32;
  Expr y = is_wide ? x : node.Typed(ops::Cast(x, Float32));
  const Resampler resampler(node, how);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const Dim extent = DimsOf(x)[axis], &size = sizes[i];
    if (size == extent) continue;
    if (size.is_static() && size.value() < 0)
      throw InvalidArgument(StrCat("a size is ", size.value()));
    const Expr count = ValueOfCount(node, size);
    const Expr ratio = node.Typed(
        ops::Divide(ops::Cast(count, Float64), ops::Cast(ValueOfCount(node, extent), Float64)));
    Resampling by = {.axis = axis, .scale = ratio, .count = count};
    const Dim reach = how.attrs.method == "cubic" ? 2 : 1;
    if (size.is_static() && size.value() > 0)
      by.taps = 2 * Max(CeilDiv(reach * extent, size.value()), reach);
    y = resampler.Along(y, by, size);
  }
  return AsElements(node, y, type);
}

}  // namespace tenon::onnx_import
