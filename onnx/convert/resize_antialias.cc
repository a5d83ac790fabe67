// The filters are separable: along each axis an element of the result is a sum of taps, whose
// places and weights are tables made at import. The standard's reference says which: the kernel is
// stretched by 1 / scale where that is more than 1, and the weights add up to 1.
#include "tenon/onnx/convert/resize_antialias.h"

#include <algorithm>
#include <cmath>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Where element `i` of the result lies in the data.
double Coordinate(const AntialiasedResize& resize, std::size_t axis, std::int64_t extent,
                  std::int64_t i) {
  const std::string& mode = resize.transformation;
  const double scale = resize.scale[axis], at = static_cast<double>(i);
  const auto in = static_cast<double>(extent), out = static_cast<double>(resize.size[axis]);
  const double middle = (at + 0.5) / scale - 0.5;
  if (mode == "half_pixel") return middle;
  if (mode == "asymmetric") return at / scale;
  if (mode == "align_corners") return out == 1 ? 0 : at * (in - 1) / (out - 1);
  // 0 is the standard's text and what ONNX Runtime does; its reference implementation has -0.5.
  if (mode == "pytorch_half_pixel") return out == 1 ? 0 : middle;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (in * scale)) + middle;
  throw Unimplemented(StrCat("antialias with coordinate_transformation_mode ", mode,
                             " is not supported; half_pixel, asymmetric, align_corners, "
                             "pytorch_half_pixel and half_pixel_symmetric are"));
}

// Of a tap at a distance, in steps of the stretched kernel (Keys, 1981, for cubic).
double Weight(const AntialiasedResize& resize, double distance) {
  const double x = std::fabs(distance), a = resize.alpha;
  if (!resize.cubic) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

Expr AlongAxis(const Node& node, const Expr& x, std::size_t axis, const AntialiasedResize& resize) {
  const Shape shape = ShapeOf(x);
  const std::int64_t extent = shape[axis], size = resize.size[axis];
  if (extent == 0) throw InvalidArgument(StrCat("axis ", axis, " has no elements to resize"));
  const double narrowed = std::min(resize.scale[axis], 1.0), reach = resize.cubic ? 2 : 1;
  const double first_tap = std::floor(-reach / narrowed) + 1;
  const double taps = 2 - 2 * first_tap;
  RequireConstantSize(taps * static_cast<double>(std::max<std::int64_t>(size, 1)));
  std::vector<std::int64_t> places;
  std::vector<float> weights;
  for (std::int64_t i = 0; i < size; ++i) {
    const double at = Coordinate(resize, axis, extent, i);
    // The tap 0 is the last one before the coordinate.
    const double base = std::ceil(at) - 1;
    std::vector<double> row;
    double sum = 0;
    for (double k = first_tap; k < first_tap + taps; ++k) {
      const double place = base + k;
      const bool is_outside = place < 0 || place >= static_cast<double>(extent);
      const double weight =
          resize.excludes_outside && is_outside ? 0 : Weight(resize, narrowed * (place - at));
      row.push_back(weight);
      sum += weight;
      places.push_back(
          static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(extent - 1))));
    }
    for (const double weight : row)
      weights.push_back(static_cast<float>(sum == 0 ? 0 : weight / sum));
  }
  const auto count = static_cast<std::int64_t>(taps);
  const Expr table = ir::Constant::Make(NDArray::FromVector({size, count}, places));
  const DataType type = DataTypeOf(x), computed = type == Float64 ? Float64 : Float32;
  Shape by_axis(shape.size() + 1, 1);
  by_axis[axis] = size;
  by_axis[axis + 1] = count;
  const Expr factors =
      node.Typed(ops::Cast(ir::Constant::Make(NDArray::FromVector(by_axis, weights)), computed));
  const Expr tap = node.Typed(ops::Take(type == computed ? x : node.Typed(ops::Cast(x, computed)),
                                        table, {.axis = static_cast<std::int64_t>(axis)}));
  return node.Typed(
      ops::Sum(ops::Multiply(tap, factors), {.axis = Ints{static_cast<std::int64_t>(axis) + 1}}));
}

}  // namespace

Expr AsElements(const Node& node, const Expr& sums, DataType type) {
  if (DataTypeOf(sums) == type) return sums;
  const Expr y =
      type.is_float() ? sums : node.Typed(ir::Call::Make(ops::Known().nearbyint, {sums}));
  return node.Typed(ops::Cast(y, type));
}

Expr Antialiased(const Node& node, const Expr& x, const AntialiasedResize& resize) {
  const Shape shape = ShapeOf(x);
  Expr y = x;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (resize.size[axis] != shape[axis] || resize.scale[axis] != 1)
      y = AlongAxis(node, y, axis, resize);
  }
  return AsElements(node, y, DataTypeOf(x));
}

}  // namespace tenon::onnx_import
