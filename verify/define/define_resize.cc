// Resampled data, as ONNX's Resize has it: the sum over the taps of all axes. The nearest element
// and the region of tf_crop_and_resize jump: what rounding may decide is not defined.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tenon/ops/image/image_attrs.h"
#include "tenon/ops/image/resize_to_extents_attrs.h"
#include "tenon/ops/image/upsampling_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

constexpr Real kAny = std::numeric_limits<Real>::infinity();
// Of coordinates, which are computed in float64.
constexpr Real kError = 1e-9L;
// Coordinates this close to a whole number count as that number where they are rounded down or up.
constexpr Real kNudge = 1e-5L;

struct Axis {
  Real in = 1, out = 1;
  Real scale = 0;  // 0: that of the extents
  Real start = 0, end = 1;
};

struct Resizing {
  std::string method, coordinates, rounding;
  Real alpha = 0;
  bool excludes = false;
  Real extrapolation = 0;
  // Whether coordinates are divided by the rounded quotient of the extents.
  bool by_ratio = false;
};

Real CoordinateOf(const Axis& a, const std::string& mode, Real i) {
  // Divided last, so that quotients that are exact stay so.
  const auto scaled = [&](Real at) { return a.scale == 0 ? at * a.in / a.out : at / a.scale; };
  if (mode == "asymmetric") return scaled(i);
  if (mode == "align_corners") return a.out == 1 ? 0 : i * (a.in - 1) / (a.out - 1);
  if (mode == "tf_crop_and_resize")
    return a.out > 1 ? i * (a.end - a.start) * (a.in - 1) / (a.out - 1) + a.start * (a.in - 1)
                     : (a.start + a.end) / 2 * (a.in - 1);
  if (mode == "pytorch_half_pixel" && a.out == 1) return 0;
  const Real at = scaled(i + 0.5L);
  if (mode == "tf_half_pixel_for_nn") return at;
  if (mode == "half_pixel_symmetric" && a.scale != 0)
    return at - 0.5L + a.in / 2 * (1 - a.out / (a.scale * a.in));
  return at - 0.5L;
}

// The elements of an axis that make one of the result.
struct Taps {
  std::vector<std::int64_t> from;
  std::vector<Real> weights;
  bool is_outside = false, is_doubtful = false;
  Real gain = 1;  // of errors, by weights that cancel
};

void AddNearest(Real at, const Axis& a, const Resizing& how, Taps* to) {
  const std::string rounding = !how.rounding.empty()                ? how.rounding
                               : how.coordinates == "align_corners" ? "round"
                                                                    : "floor";
  const Real shift = rounding == "floor"                ? kNudge
                     : rounding == "ceil"               ? -kNudge
                     : rounding == "round_prefer_floor" ? -0.5L
                                                        : 0.5L;
  const bool goes_up = rounding == "ceil" || rounding == "round_prefer_floor";
  const Real moved = at + shift, near = std::round(moved);
  to->is_doubtful |= std::abs(moved - near) < kError && (how.by_ratio || moved != near);
  const Real index = goes_up ? std::ceil(moved) : std::floor(moved);
  to->from = {static_cast<std::int64_t>(std::clamp<Real>(index, 0, a.in - 1))};
  to->weights = {1};
}

// Keys's kernel.
Real CubicAt(Real distance, Real alpha) {
  const Real t = std::abs(distance);
  if (t >= 2) return 0;
  return t <= 1 ? (alpha + 2) * t * t * t - (alpha + 3) * t * t + 1
                : alpha * (t * t * t - 5 * t * t + 8 * t - 4);
}

Taps TapsOf(const Axis& a, const Resizing& how, std::int64_t i) {
  const Real at = CoordinateOf(a, how.coordinates, static_cast<Real>(i));
  Taps made;
  if (how.coordinates == "tf_crop_and_resize") {
    made.is_outside = at < 0 || at > a.in - 1;
    for (const Real edge : {Real{0}, a.in - 1})
      made.is_doubtful |= at != edge && std::abs(at - edge) < kError;
  }
  if (how.method == "nearest_neighbor") {
    AddNearest(at, a, how, &made);
    return made;
  }
  const bool is_cubic = how.method == "cubic";
  made.is_doubtful |= is_cubic && !(std::abs(how.alpha) < 1e9L);
  const Real first = std::floor(at) - (is_cubic ? 1 : 0);
  Real sum = 0, magnitude = 0;
  for (int tap = 0; tap < (is_cubic ? 4 : 2); ++tap) {
    const Real from = first + tap;
    Real weight = is_cubic ? CubicAt(at - from, how.alpha) : 1 - std::abs(at - from);
    if (is_cubic && how.excludes && (from < 0 || from >= a.in)) weight = 0;
    sum += weight;
    magnitude += std::abs(weight);
    made.from.push_back(static_cast<std::int64_t>(std::clamp<Real>(from, 0, a.in - 1)));
    made.weights.push_back(weight);
  }
  if (is_cubic && how.excludes) {
    for (Real& weight : made.weights) weight /= sum;
    made.is_doubtful |= !(std::abs(sum) > 1e-3L * magnitude);
    magnitude /= std::abs(sum);
  }
  made.gain = std::max(magnitude, Real{1});
  return made;
}

// `axes` are of the axes at `at`; others stay.
std::vector<Definition> Resized(const DefinedCall& call, const std::vector<std::size_t>& at,
                                const std::vector<Axis>& axes, const Resizing& how) {
  const NDArray &x = call.args[0], &result = call.results[0];
  const DataType type = result.dtype();
  const Shape &from = x.shape(), &to = result.shape();
  const bool is_copy = how.method == "nearest_neighbor";
  const bool keeps_kind = is_copy && x.dtype().is_float() == type.is_float();
  Real largest = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(call.Arg(0, i)));
  const Real unit =
      (x.dtype() == Float64 ? 1e-12L : 1e-5L) + 4 * static_cast<Real>(RoundingError(type));
  std::vector<std::vector<Taps>> taps(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    for (std::int64_t i = 0; i < to[at[d]]; ++i) taps[d].push_back(TapsOf(axes[d], how, i));
  }
  Definition made;
  for (std::int64_t i = 0; i < result.size(); ++i) {
    Shape index(to.size());
    for (std::int64_t rest = i, d = static_cast<std::int64_t>(to.size()); d-- > 0;) {
      index[static_cast<std::size_t>(d)] = rest % to[static_cast<std::size_t>(d)];
      rest /= to[static_cast<std::size_t>(d)];
    }
    bool is_outside = false;
    Real tolerance = is_copy ? 0 : unit * largest;
    std::vector<std::pair<Shape, Real>> terms = {{index, 1}};
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const Taps& of = taps[d][static_cast<std::size_t>(index[at[d]])];
      is_outside |= of.is_outside;
      tolerance = of.is_doubtful ? kAny : tolerance * of.gain;
      std::vector<std::pair<Shape, Real>> more;
      for (const auto& [place, weight] : terms) {
        for (std::size_t tap = 0; tap < of.from.size(); ++tap) {
          more.emplace_back(place, weight * of.weights[tap]);
          more.back().first[at[d]] = of.from[tap];
        }
      }
      terms = std::move(more);
    }
    Number sum;
    for (const auto& [place, weight] : terms) {
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < from.size(); ++d) flat = flat * from[d] + place[d];
      if (keeps_kind) {
        sum = ElementAt(x, flat);
      } else {
        sum.real += weight * call.Arg(0, flat);
      }
    }
    if (std::isinf(tolerance)) {
      made.Add({}, kAny);
    } else if (is_outside) {
      AddConverted(how.extrapolation, 0, type, &made);
    } else if (keeps_kind) {
      made.Add(sum, tolerance);
    } else {
      AddConverted(sum.real, tolerance, type, &made);
    }
  }
  return {made};
}

template <typename AttrsType>
std::vector<Definition> Resize(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<AttrsType>();
  const std::string letters = std::string(AttrsType::kLetters).substr(2);
  std::vector<std::size_t> at;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < letters.size(); ++d) {
    at.push_back(attrs.layout.find(letters[d]));
    Axis axis{.in = static_cast<Real>(call.shape(0)[at[d]]),
              .out = static_cast<Real>(call.results[0].shape()[at[d]])};
    if (!attrs.scales.empty()) axis.scale = attrs.scales[d];
    if (!attrs.roi.empty()) {
      axis.start = attrs.roi[d];
      axis.end = attrs.roi[d + letters.size()];
    }
    axes.push_back(axis);
  }
  return Resized(call, at, axes,
                 {.method = attrs.method,
                  .coordinates = attrs.coordinate_transformation_mode,
                  .rounding = attrs.rounding_method,
                  .alpha = attrs.cubic_alpha,
                  .excludes = attrs.cubic_exclude != 0,
                  .extrapolation = attrs.extrapolation_value});
}

std::vector<Definition> ResizeToExtents(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ResizeToExtentsAttrs>();
  const Shape &from = call.shape(0), &to = call.results[0].shape();
  std::vector<std::size_t> at;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < to.size(); ++d) {
    Axis axis{.in = static_cast<Real>(from[d]), .out = static_cast<Real>(to[d])};
    if (!attrs.roi.empty()) {
      axis.start = attrs.roi[d];
      axis.end = attrs.roi[d + to.size()];
    }
    if (from[d] == to[d] && axis.start == 0 && axis.end == 1) continue;
    at.push_back(d);
    axes.push_back(axis);
  }
  return Resized(call, at, axes,
                 {.method = attrs.method,
                  .coordinates = attrs.coordinate_transformation_mode,
                  .rounding = attrs.rounding_method,
                  .alpha = attrs.cubic_alpha,
                  .excludes = attrs.cubic_exclude != 0,
                  .extrapolation = attrs.extrapolation_value,
                  .by_ratio = true});
}

// Places are scaled by the quotient of the extents. `letters` are of the axes to scale.
std::vector<Definition> UpSampled(const DefinedCall& call, const std::string& layout,
                                  const std::string& letters, const std::string& method,
                                  const std::string& coordinates) {
  std::vector<std::size_t> at;
  std::vector<Axis> axes;
  for (const char letter : letters) {
    at.push_back(layout.find(letter));
    axes.push_back({.in = static_cast<Real>(call.shape(0)[at.back()]),
                    .out = static_cast<Real>(call.results[0].shape()[at.back()])});
  }
  return Resized(call, at, axes,
                 {.method = method == "nearest_neighbor" ? method
                            : method == "bicubic"        ? "cubic"
                                                         : "linear",
                  .coordinates = coordinates,
                  .alpha = -0.5L});
}

std::vector<Definition> UpSampling(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::UpSamplingAttrs>();
  return UpSampled(call, attrs.layout, "HW", attrs.method,
                   attrs.align_corners ? "align_corners" : "asymmetric");
}
std::vector<Definition> UpSampling3D(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::UpSampling3DAttrs>();
  return UpSampled(call, attrs.layout, "DHW", attrs.method, attrs.coordinate_transformation_mode);
}

}  // namespace

void AddResizeDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["image.resize1d"] = Resize<ops::Resize1DAttrs>;
  t["image.resize2d"] = Resize<ops::Resize2DAttrs>;
  t["image.resize3d"] = Resize<ops::Resize3DAttrs>;
  t["image.resize_to_extents"] = ResizeToExtents;
  t["nn.upsampling"] = UpSampling;
  t["nn.upsampling3d"] = UpSampling3D;
}

}  // namespace tenon::verify
