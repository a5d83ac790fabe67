// How windows lie along depth, height and width, as the attributes of an operator say it. Axes that
// the data lacks have one element. Only verify/define_*.cc and tests include this header.
//
//   const SpatialRule rule = SpatialRule::Of(attrs);
//   const std::int64_t row = rule.From(1, h, kh);  // what tap `kh` reads for row `h` of the result
#ifndef TENON_VERIFY_DEFINE_DEFINED_WINDOWS_H_
#define TENON_VERIFY_DEFINE_DEFINED_WINDOWS_H_

#include <array>
#include <cstdint>

#include "tenon/ops/ints.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {

// Of depth, height and width.
using Spatial = std::array<std::int64_t, 3>;
inline constexpr std::array<char, 3> kSpatialLetters = {'D', 'H', 'W'};

inline Spatial ExtentsOf(const PlacesByLayout& places) {
  return {places.Extent('D'), places.Extent('H'), places.Extent('W')};
}
inline std::int64_t PlaceOf(const PlacesByLayout& places, std::int64_t n, std::int64_t c,
                            const Spatial& at) {
  return places.At("NCDHW", {n, c, at[0], at[1], at[2]});
}

// Calls `use` with each place of a box of these extents.
template <typename Use>
void ForEachPlace(const Spatial& extents, const Use& use) {
  for (std::int64_t d = 0; d < extents[0]; ++d)
    for (std::int64_t h = 0; h < extents[1]; ++h)
      for (std::int64_t w = 0; w < extents[2]; ++w) use(Spatial{d, h, w});
}
// Calls `use` with image, channel and place of each element.
template <typename Use>
void ForEachElement(const PlacesByLayout& places, const Use& use) {
  for (std::int64_t n = 0; n < places.Extent('N'); ++n)
    for (std::int64_t c = 0; c < places.Extent('C'); ++c)
      ForEachPlace(ExtentsOf(places), [&](const Spatial& at) { use(n, c, at); });
}

struct SpatialRule {
  Spatial strides = {1, 1, 1}, dilation = {1, 1, 1}, before = {}, after = {};

  // A list has a value for all axes, one for each, or, of padding, one for each side.
  template <typename Attrs>
  static SpatialRule Of(const Attrs& attrs) {
    SpatialRule rule;
    const std::size_t dims = Attrs{}.strides.size();
    const ops::Ints& padding = attrs.padding;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::size_t to = 3 - dims + d;
      rule.strides[to] = OfAxis(attrs.strides, d);
      rule.dilation[to] = OfAxis(attrs.dilation, d);
      rule.before[to] = OfAxis(padding, d);
      rule.after[to] = OfAxis(padding, padding.size() == 2 * dims ? dims + d : d);
    }
    return rule;
  }
  // Below 0 and from the extent on there is padding.
  std::int64_t From(std::size_t d, std::int64_t to, std::int64_t tap) const {
    return to * strides[d] + tap * dilation[d] - before[d];
  }
  // Elements that a window of this many taps covers.
  std::int64_t Span(std::size_t d, std::int64_t taps) const { return (taps - 1) * dilation[d] + 1; }
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_DEFINED_WINDOWS_H_
