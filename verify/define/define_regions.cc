// Regions of images. At the edges of an image the results jump: what rounding may move across one
// is not defined.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/ops/image/warp_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

constexpr Real kAny = std::numeric_limits<Real>::infinity();
// Of a place in an image of up to 100 elements, in float32.
constexpr Real kError = 1e-4L;

// Near the place of a jump. `is_exact`: where nothing rounds, it may be exactly there.
bool IsDoubtful(Real place, Real jump, bool is_exact) {
  return std::abs(place - jump) < kError && !(is_exact && place == jump);
}
bool IsPower(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

std::int64_t Whole64(Real x) { return static_cast<std::int64_t>(x); }

Real LargestOf(const DefinedCall& call) {
  Real largest = 0;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i)
    largest = std::max(largest, std::abs(call.Arg(0, i)));
  return largest;
}

// The image that a number names, or the nearest one.
std::int64_t ImageOf(Real index, std::int64_t images) {
  return std::clamp<std::int64_t>(Whole64(index), 0, images - 1);
}

std::vector<Definition> CropAndResize(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::CropAndResizeAttrs>();
  const NDArray& result = call.results[0];
  const PlacesByLayout from(call.shape(0), attrs.layout), to(result.shape(), attrs.layout);
  const bool is_nearest = attrs.method == "nearest_neighbor";
  const Real tolerance = kError * LargestOf(call) +
                         4 * static_cast<Real>(RoundingError(result.dtype())) * LargestOf(call);
  struct Place {
    Real at;
    bool is_inside, is_doubtful;
    std::int64_t first, second;
  };
  const auto place = [&](std::int64_t box, std::int64_t d, std::int64_t i, std::int64_t count,
                         std::int64_t extent) {
    const Real start = call.Arg(1, box * 4 + d), end = call.Arg(1, box * 4 + d + 2);
    const auto last = static_cast<Real>(extent - 1);
    const Real at = count == 1 ? (start + end) / 2 * last
                               : start * last + static_cast<Real>(i) * (end - start) * last /
                                                    static_cast<Real>(count - 1);
    Place made{.at = at, .is_inside = at >= 0 && at <= last};
    const bool is_exact = count == 1 || IsPower(count - 1);
    made.is_doubtful = IsDoubtful(at, 0, is_exact) || IsDoubtful(at, last, is_exact) ||
                       (is_nearest && IsDoubtful(at - std::floor(at), 0.5L, is_exact));
    if (!made.is_inside) return made;
    made.first = Whole64(is_nearest ? std::round(at) : std::floor(at));
    made.second = Whole64(std::ceil(at));
    return made;
  };
  std::vector<Real> values(static_cast<std::size_t>(result.size())), tolerances(values.size());
  for (std::int64_t box = 0; box < to.Extent('N'); ++box)
    for (std::int64_t h = 0; h < to.Extent('H'); ++h)
      for (std::int64_t w = 0; w < to.Extent('W'); ++w) {
        const std::int64_t image = ImageOf(call.Arg(2, box), from.Extent('N'));
        const Place y = place(box, 0, h, to.Extent('H'), from.Extent('H')),
                    x = place(box, 1, w, to.Extent('W'), from.Extent('W'));
        for (std::int64_t c = 0; c < to.Extent('C'); ++c) {
          const auto at = static_cast<std::size_t>(to.At("NCHW", {box, c, h, w}));
          const auto pixel = [&](std::int64_t row, std::int64_t column) {
            return call.Arg(0, from.At("NCHW", {image, c, row, column}));
          };
          tolerances[at] = y.is_doubtful || x.is_doubtful ? kAny : tolerance;
          if (!y.is_inside || !x.is_inside) {
            values[at] = Rounded(attrs.extrapolation_value, Float32);
            continue;
          }
          const Real down = y.at - std::floor(y.at), across = x.at - std::floor(x.at);
          const auto line = [&](std::int64_t row) {
            return pixel(row, x.first) * (1 - across) + pixel(row, x.second) * across;
          };
          values[at] = is_nearest ? pixel(y.first, x.first)
                                  : line(y.first) * (1 - down) + line(y.second) * down;
        }
      }
  Definition made;
  for (std::size_t i = 0; i < values.size(); ++i)
    AddConverted(values[i], tolerances[i], result.dtype(), &made);
  return {made};
}

// Regions are rows of image, x1, y1, x2 and y2; results are NCHW.
struct Region {
  const DefinedCall& call;
  const std::int64_t row;

  Real Corner(std::int64_t which, double scale) const {
    return Rounded(call.Arg(1, row * 5 + 1 + which), Float32) * Rounded(scale, Float32);
  }
  std::int64_t Image() const { return ImageOf(call.Arg(1, row * 5), call.shape(0)[0]); }
  Real Pixel(std::int64_t channel, std::int64_t y, std::int64_t x) const {
    const Shape& shape = call.shape(0);
    return call.Arg(0, ((Image() * shape[1] + channel) * shape[2] + y) * shape[3] + x);
  }
};

// The two elements between which a place lies, and the part of the second.
struct Sample {
  std::int64_t low = 0, high = 0;
  Real above = 0;
  bool is_inside = false;

  static Sample At(Real place, std::int64_t extent) {
    Sample made{.is_inside = place >= -1 && place <= static_cast<Real>(extent)};
    if (!made.is_inside) return made;
    const Real at = std::clamp<Real>(place, 0, static_cast<Real>(extent - 1));
    made.low = Whole64(std::floor(at));
    made.high = std::min(made.low + 1, extent - 1);
    made.above = at - static_cast<Real>(made.low);
    return made;
  }
};

std::vector<Definition> RoiAlign(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::RoiAlignAttrs>();
  const NDArray& result = call.results[0];
  const Shape& to = result.shape();
  const Real unit = kError + 4 * static_cast<Real>(RoundingError(result.dtype()));
  const Real tolerance = unit * LargestOf(call), offset = attrs.aligned ? 0.5L : 0;
  Definition made;
  for (std::int64_t r = 0; r < to[0]; ++r) {
    const Region region{call, r};
    Real start[2], bin[2];  // of y, of x
    std::int64_t samples[2];
    for (std::int64_t d = 0; d < 2; ++d) {
      start[d] = region.Corner(1 - d, attrs.spatial_scale) - offset;
      Real size = region.Corner(3 - d, attrs.spatial_scale) - offset - start[d];
      if (!attrs.aligned) size = std::max(size, Real{1});
      bin[d] = size / static_cast<Real>(to[static_cast<std::size_t>(d) + 2]);
      samples[d] = attrs.sample_ratio > 0 ? attrs.sample_ratio
                                          : std::max<std::int64_t>(Whole64(std::ceil(bin[d])), 0);
    }
    const std::int64_t count = samples[0] * samples[1];
    for (std::int64_t c = 0; c < to[1]; ++c)
      for (std::int64_t h = 0; h < to[2]; ++h)
        for (std::int64_t w = 0; w < to[3]; ++w) {
          Real sum = 0, most = count > 0 ? -kAny : 0;
          bool is_doubtful = false;
          const auto sample = [&](std::int64_t d, std::int64_t i) {
            const std::int64_t extent = call.shape(0)[static_cast<std::size_t>(d) + 2];
            const Real place =
                start[d] + static_cast<Real>(d == 0 ? h : w) * bin[d] +
                (static_cast<Real>(i) + 0.5L) * bin[d] / static_cast<Real>(samples[d]);
            const bool is_exact =
                IsPower(to[static_cast<std::size_t>(d) + 2]) && IsPower(samples[d]);
            is_doubtful |= IsDoubtful(place, -1, is_exact) ||
                           IsDoubtful(place, static_cast<Real>(extent), is_exact);
            return Sample::At(place, extent);
          };
          for (std::int64_t i = 0; i < samples[0]; ++i)
            for (std::int64_t j = 0; j < samples[1]; ++j) {
              const Sample y = sample(0, i), x = sample(1, j);
              for (const bool is_low : {true, false})
                for (const bool is_left : {true, false}) {
                  const Real part =
                      (is_low ? 1 - y.above : y.above) * (is_left ? 1 - x.above : x.above);
                  const Real term = y.is_inside && x.is_inside
                                        ? part * region.Pixel(c, is_low ? y.low : y.high,
                                                              is_left ? x.low : x.high)
                                        : 0;
                  sum += term;
                  most = std::max(most, term);
                }
            }
          const Real mean = sum / static_cast<Real>(std::max<std::int64_t>(count, 1));
          made.Add({.real = attrs.mode == "max" ? most : mean}, is_doubtful ? kAny : tolerance);
        }
  }
  return {made};
}

// Bins of whole pixels, which overlap by one where they share it.
std::vector<Definition> RoiPool(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ROIPoolAttrs>();
  const NDArray& result = call.results[0];
  const Shape &from = call.shape(0), &to = result.shape();
  Definition made;
  for (std::int64_t r = 0; r < to[0]; ++r) {
    const Region region{call, r};
    const auto corner = [&](std::int64_t which) {
      return Whole64(std::round(region.Corner(which, attrs.spatial_scale)));
    };
    // Of bin `i` of the axis; the end is past the last pixel.
    const auto bounds = [&](std::size_t d, std::int64_t i) {
      const auto which = static_cast<std::int64_t>(d);
      const std::int64_t first = corner(1 - which), bins = to[d + 2];
      const std::int64_t extent = std::max<std::int64_t>(corner(3 - which) - first + 1, 1);
      const auto within = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(first + at, 0, from[d + 2]);
      };
      return std::pair(within(i * extent / bins), within(((i + 1) * extent + bins - 1) / bins));
    };
    for (std::int64_t c = 0; c < to[1]; ++c)
      for (std::int64_t h = 0; h < to[2]; ++h)
        for (std::int64_t w = 0; w < to[3]; ++w) {
          const auto [top, bottom] = bounds(0, h);
          const auto [left, right] = bounds(1, w);
          Real most = top < bottom && left < right ? -kAny : 0;
          for (std::int64_t y = top; y < bottom; ++y)
            for (std::int64_t x = left; x < right; ++x)
              most = std::max(most, region.Pixel(c, y, x));
          made.Add({.real = most}, 0);
        }
  }
  return {made};
}

}  // namespace

void AddRegionDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["image.crop_and_resize"] = CropAndResize;
  t["vision.roi_align"] = RoiAlign;
  t["vision.roi_pool"] = RoiPool;
}

}  // namespace tenon::verify
