// Grids of coordinates, and images sampled at them, as in PyTorch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tenon/ops/image/image_attrs.h"
#include "tenon/ops/image/warp_attrs.h"
#include "tenon/verify/define/defined_sums.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

constexpr Real kAny = std::numeric_limits<Real>::infinity();

Real StepOf(DataType type) {
  return static_cast<Real>(RoundingError(type.is_half() ? Float32 : type));
}
Real LastOf(DataType type) { return 2 * static_cast<Real>(RoundingError(type)); }

std::vector<Definition> AffineGrid(const DefinedCall& call) {
  const ops::Ints& size = call.call.attrs.As<ops::AffineGridAttrs>().target_shape;
  const std::int64_t height = size[0], width = size[size.size() == 1 ? 0 : 1];
  const DataType type = call.results[0].dtype();
  Definition made;
  for (std::int64_t n = 0; n < call.shape(0)[0]; ++n)
    for (std::int64_t of = 0; of < 2; ++of)
      for (std::int64_t h = 0; h < height; ++h)
        for (std::int64_t w = 0; w < width; ++w) {
          const Real x = 2 * static_cast<Real>(w) / static_cast<Real>(width - 1) - 1,
                     y = 2 * static_cast<Real>(h) / static_cast<Real>(height - 1) - 1;
          const auto map = [&](std::int64_t k) { return call.Arg(0, (n * 2 + of) * 3 + k); };
          const Real value = map(0) * x + map(1) * y + map(2);
          const Real magnitude = std::abs(map(0)) + std::abs(map(1)) + std::abs(map(2));
          made.Add({.real = value}, 8 * StepOf(type) * magnitude + LastOf(type) * std::abs(value));
        }
  made.shape = Shape{call.shape(0)[0], 2, height, width};
  return {made};
}

// One axis of the data.
struct Axis {
  std::int64_t extent;
  const ops::GridSampleAttrs& attrs;

  // -1 and 1 are the middles of the outermost elements, or their sides.
  Real PlaceOf(Real g) const {
    const auto n = static_cast<Real>(extent);
    return attrs.align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
  }
  // Brought into the data, except where what lies outside is zero.
  Real Within(Real at) const {
    if (attrs.padding_mode == "zeros") return at;
    const auto n = static_cast<Real>(extent);
    if (attrs.padding_mode == "reflection") {
      const Real low = attrs.align_corners ? 0 : -0.5L,
                 high = attrs.align_corners ? n - 1 : n - 0.5L;
      if (low == high) return 0;
      while (at < low || at > high) at = at < low ? 2 * low - at : 2 * high - at;
    }
    return std::clamp<Real>(at, 0, n - 1);
  }
};

struct Taps {
  std::vector<Real> at, weights;
  bool is_doubtful = false;
};

Real CubicAt(Real distance, Real alpha) {
  const Real t = std::abs(distance);
  return t <= 1  ? (alpha + 2) * t * t * t - (alpha + 3) * t * t + 1
         : t < 2 ? alpha * (t * t * t - 5 * t * t + 8 * t - 4)
                 : 0;
}

// `doubt`: how far rounding may move a coordinate.
Taps TapsOf(const Axis& axis, Real g, Real doubt) {
  const ops::GridSampleAttrs& attrs = axis.attrs;
  const Real place = axis.PlaceOf(g);
  Taps made;
  if (attrs.method == "nearest") {
    const Real at = axis.Within(place), to_tie = std::abs(at - std::floor(at) - 0.5L);
    // Halfway, the even element is nearest.
    made.is_doubtful = to_tie > 0 && to_tie < doubt;
    made.at = {std::nearbyint(at)};
    made.weights = {1};
  } else if (attrs.method == "bilinear") {
    const Real at = axis.Within(place), down = std::floor(at);
    made.at = {down, down + 1};
    made.weights = {1 - (at - down), at - down};
  } else {
    // Each tap is brought into the data for itself.
    const Real down = std::floor(place);
    for (Real tap = down - 1; tap <= down + 2; ++tap) {
      made.at.push_back(axis.Within(tap));
      made.weights.push_back(CubicAt(place - tap, attrs.cubic_alpha));
    }
  }
  return made;
}

std::vector<Definition> GridSample(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::GridSampleAttrs>();
  const Shape &x = call.shape(0), &grid = call.shape(1), &to = call.results[0].shape();
  const DataType type = call.results[0].dtype();
  const Real largest = LargestOf(call.args[0]), farthest = LargestOf(call.args[1]);
  const Real doubt = 16 * std::max(StepOf(type), StepOf(call.args[1].dtype())) * (farthest + 2) *
                     static_cast<Real>(std::max(x[2], x[3]) + 1);
  // Weights of cubic taps are up to 1 + |alpha| in all, and change by a few times that.
  const Real slope = attrs.method == "bicubic" ? 8 * (2 + std::abs(Real{attrs.cubic_alpha})) : 2;
  Definition made;
  for (std::int64_t i = 0; i < call.results[0].size(); ++i) {
    const std::int64_t image = i / (to[1] * to[2] * to[3]), place = i % (to[2] * to[3]),
                       plane = i / (to[2] * to[3]), points = grid[2] * grid[3];
    const auto taps_of = [&](std::int64_t coordinate, std::size_t d) {
      return TapsOf({x[d], attrs}, call.Arg(1, (image * 2 + coordinate) * points + place), doubt);
    };
    const Taps columns = taps_of(0, 3), rows = taps_of(1, 2);
    Real sum = 0;
    for (std::size_t r = 0; r < rows.at.size(); ++r)
      for (std::size_t c = 0; c < columns.at.size(); ++c) {
        const auto row = static_cast<std::int64_t>(rows.at[r]),
                   column = static_cast<std::int64_t>(columns.at[c]);
        if (row < 0 || column < 0 || row >= x[2] || column >= x[3]) continue;
        sum += rows.weights[r] * columns.weights[c] *
               call.Arg(0, (plane * x[2] + row) * x[3] + column);
      }
    const bool is_copy = attrs.method == "nearest";
    const Real error = is_copy ? 0 : doubt * largest * slope * slope + LastOf(type) * std::abs(sum);
    made.Add({.real = sum}, rows.is_doubtful || columns.is_doubtful ? kAny : error);
  }
  made.shape = Shape{x[0], x[1], grid[2], grid[3]};
  return {made};
}

}  // namespace

void AddSampledDefinitions(DefinitionTable* table) {
  (*table)["image.affine_grid"] = AffineGrid;
  (*table)["image.grid_sample"] = GridSample;
}

}  // namespace tenon::verify
