// Along each axis, a tile and a tap read the elements from that of the first pixel to that of the
// last one. They meet the image where this range does. The zeros that a tile reads beside the image
// are added, as in the plain sum.
#include "tenon/strategies/te/conv/tile_taps.h"

#include <algorithm>

#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;

// Whether the coordinates along axis `d` of a tile's pixels lie between those of its first and its
// last one. They do not where a tile goes on at the beginning of the axis.
bool IsRange(const Shape& spatial, std::size_t d, std::int64_t pixels) {
  if (d == 0) return true;
  std::int64_t span = 1;
  for (std::size_t i = d; i < spatial.size(); ++i) span *= spatial[i];
  return span % pixels == 0 || pixels % span == 0;
}

Shape SpatialOf(const ConvSum& conv) {
  Shape spatial;
  for (const Size& size : conv.Spatial()) spatial.push_back(size.planned);
  return spatial;
}

// Which part of the taps along axis `d` the pixels between two coordinates need.
double PartAlong(const ConvSum& conv, std::size_t d, std::int64_t first, std::int64_t last) {
  // The first tap that reaches `place` from pixel `at`.
  const auto tap_at = [&](std::int64_t place, std::int64_t at) {
    const std::int64_t way = place - at * conv.strides[d];
    return way <= 0 ? std::int64_t{0} : std::min(conv.taps[d], CeilDiv(way, conv.dilation[d]));
  };
  const std::int64_t end = tap_at(conv.inside[d].end, first);
  const std::int64_t needed = std::max<std::int64_t>(0, end - tap_at(conv.inside[d].begin, last));
  return static_cast<double>(needed) / static_cast<double>(conv.taps[d]);
}

// Of very many, some are asked that lie evenly among them.
std::int64_t StepThrough(std::int64_t count) {
  constexpr std::int64_t kMaxAsked = 1 << 16;
  return CeilDiv(count, kMaxAsked);
}

// The axes along which tiles may lie outside the image.
std::vector<std::size_t> AxesOfTiles(const ConvSum& conv, std::int64_t pixels) {
  const Shape spatial = SpatialOf(conv);
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d < conv.inside.size(); ++d) {
    if (IsRange(spatial, d, pixels)) axes.push_back(d);
  }
  return axes;
}

}  // namespace

double LeastPartOfTaps(const ConvSum& conv) {
  double part = 1;
  const Shape spatial = SpatialOf(conv);
  for (std::size_t d = 0; d < conv.inside.size(); ++d) {
    double needed = 0, asked = 0;
    for (std::int64_t i = 0; i < spatial[d]; i += StepThrough(spatial[d])) {
      needed += PartAlong(conv, d, i, i);
      ++asked;
    }
    part *= needed / asked;
  }
  return part;
}

double PartOfTaps(const ConvSum& conv, std::int64_t pixels) {
  if (conv.inside.empty()) return 1;
  const Shape spatial = SpatialOf(conv);
  const std::int64_t all = NumElements(spatial), tiles = CeilDiv(all, pixels);
  const std::vector<std::size_t> axes = AxesOfTiles(conv, pixels);
  double needed = 0, asked = 0;
  for (std::int64_t tile = 0; tile < tiles; tile += StepThrough(tiles)) {
    ++asked;
    std::int64_t first = tile * pixels, last = std::min(first + pixels, all) - 1;
    double part = 1;
    for (std::size_t d = spatial.size(); d-- > 0;) {
      if (std::ranges::find(axes, d) != axes.end())
        part *= PartAlong(conv, d, first % spatial[d], last % spatial[d]);
      first /= spatial[d];
      last /= spatial[d];
    }
    needed += part;
  }
  return needed / asked;
}

Expr MeetsImage(const ConvSum& conv, std::int64_t pixels, const std::vector<Expr>& first,
                const std::vector<Expr>& last, const std::vector<te::IterVar>& taps) {
  Expr meets = loop::True();
  for (const std::size_t d : AxesOfTiles(conv, pixels)) {
    const Expr at = taps[d].var * conv.dilation[d];
    meets = meets && first[d] * conv.strides[d] + at < Expr(conv.inside[d].end) &&
            last[d] * conv.strides[d] + at >= Expr(conv.inside[d].begin);
  }
  return meets;
}

}  // namespace tenon::strategies
