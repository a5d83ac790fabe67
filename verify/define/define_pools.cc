// Maxima and means of windows, of bins of nearly equal extents, and of whole images.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/verify/define/defined_windows.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

// The elements of one axis that belong to one place of the result.
struct Taps {
  std::vector<std::int64_t> from;
  std::int64_t divisor = 0;  // how many count in a mean
};
// Of depth, height and width.
using TapsByAxis = std::array<std::vector<Taps>, 3>;

void SetExtents(const PlacesByLayout& result, TapsByAxis* taps) {
  for (std::size_t d = 0; d < 3; ++d) (*taps)[d].resize(At(result.Extent(kSpatialLetters[d])));
}

// Windows may begin before the data and end after it. Padding is what the attributes name: of a
// last window that ceil_mode adds, elements after the padding belong to nothing.
template <typename Attrs>
TapsByAxis WindowTaps(const Attrs& attrs, const PlacesByLayout& data, const PlacesByLayout& result,
                      bool counts_padding) {
  const SpatialRule rule = SpatialRule::Of(attrs);
  const std::size_t dims = Attrs{}.strides.size();
  TapsByAxis made;
  SetExtents(result, &made);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t size = d + dims < 3 ? 1 : OfAxis(attrs.pool_size, d + dims - 3),
                       extent = data.Extent(kSpatialLetters[d]);
    for (std::size_t to = 0; to < made[d].size(); ++to) {
      Taps& taps = made[d][to];
      for (std::int64_t tap = 0; tap < size; ++tap) {
        const std::int64_t from = rule.From(d, static_cast<std::int64_t>(to), tap);
        const bool is_inside = from >= 0 && from < extent;
        if (is_inside) taps.from.push_back(from);
        if (is_inside || (counts_padding && from < extent + rule.after[d])) ++taps.divisor;
      }
    }
  }
  return made;
}

// Bin `to` of `count` begins at floor(to * extent / count) and ends before
// ceil((to + 1) * extent / count).
TapsByAxis BinTaps(const PlacesByLayout& data, const PlacesByLayout& result) {
  TapsByAxis made;
  SetExtents(result, &made);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t extent = data.Extent(kSpatialLetters[d]),
                       count = static_cast<std::int64_t>(made[d].size());
    for (std::int64_t to = 0; to < count; ++to) {
      Taps& taps = made[d][At(to)];
      for (std::int64_t from = 0; from < extent; ++from) {
        if (count * (from + 1) > to * extent && count * from < (to + 1) * extent)
          taps.from.push_back(from);
      }
      taps.divisor = static_cast<std::int64_t>(taps.from.size());
    }
  }
  return made;
}

// Calls `use` with the place of each element of the result, the taps that it has and the elements
// of the data that these are.
template <typename Use>
void ForEachWindow(const PlacesByLayout& data, const PlacesByLayout& result, const TapsByAxis& taps,
                   const Use& use) {
  ForEachElement(result, [&](std::int64_t n, std::int64_t c, const Spatial& to) {
    const Taps &ds = taps[0][At(to[0])], &hs = taps[1][At(to[1])], &ws = taps[2][At(to[2])];
    std::vector<std::int64_t> from;
    for (const std::int64_t d : ds.from)
      for (const std::int64_t h : hs.from)
        for (const std::int64_t w : ws.from) from.push_back(PlaceOf(data, n, c, {d, h, w}));
    use(At(PlaceOf(result, n, c, to)), from, ds.divisor * hs.divisor * ws.divisor);
  });
}

Definition OfResult(const NDArray& result) {
  Definition made;
  made.elements.resize(At(result.size()));
  made.tolerances.assign(made.elements.size(), 0);
  return made;
}

// A window without elements has the lowest number of the type.
std::vector<Definition> Maxima(const DefinedCall& call, const std::string& layout,
                               const TapsByAxis& taps) {
  const NDArray& result = call.results[0];
  const DataType type = result.dtype();
  const DataType whole = type.is_float() ? Int64 : type.is_bool() ? UInt8 : type;
  const Number lowest = {.whole = Saturated(-std::numeric_limits<Real>::infinity(), whole),
                         .real = -std::numeric_limits<Real>::infinity()};
  Definition made = OfResult(result);
  ForEachWindow({call.shape(0), layout}, {result.shape(), layout}, taps,
                [&](std::size_t to, const std::vector<std::int64_t>& from, std::int64_t) {
                  Number most = lowest;
                  for (const std::int64_t i : from) {
                    const Number x = ElementAt(call.args[0], i);
                    most.whole = std::max(most.whole, x.whole);
                    if (std::isnan(x.real) || x.real > most.real) most.real = x.real;
                    if (std::isnan(x.real)) break;
                  }
                  made.elements[to] = most;
                });
  return {made};
}

// Means of integers are rounded toward zero, and only sums of 64 bits wrap around. A window without
// elements has mean 0. That of bools is whether one of them is true.
std::vector<Definition> Means(const DefinedCall& call, const std::string& layout,
                              const TapsByAxis& taps) {
  const NDArray& result = call.results[0];
  const DataType type = result.dtype();
  const Real last_unit = static_cast<Real>(RoundingError(type)),
             unit = type.is_half() ? static_cast<Real>(RoundingError(Float32)) : last_unit;
  Definition made = OfResult(result);
  ForEachWindow({call.shape(0), layout}, {result.shape(), layout}, taps,
                [&](std::size_t to, const std::vector<std::int64_t>& from, std::int64_t divisor) {
                  Number sum;
                  Real magnitude = 0;
                  for (const std::int64_t i : from) {
                    const Number x = ElementAt(call.args[0], i);
                    sum = {sum.whole + x.whole, sum.real + x.real};
                    magnitude += std::abs(x.real);
                  }
                  if (type.bits() == 64 && !type.is_float()) sum.whole = Wrapped(sum.whole, type);
                  const auto count = static_cast<Real>(std::max<std::int64_t>(divisor, 1));
                  const bool is_any = sum.whole != 0;
                  sum = {sum.whole / std::max<std::int64_t>(divisor, 1), sum.real / count};
                  if (type.is_bool()) sum.whole = is_any ? 1 : 0;
                  made.elements[to] = sum;
                  made.tolerances[to] =
                      unit * static_cast<Real>(from.size() + 4) * magnitude / count +
                      2 * last_unit * std::abs(sum.real);
                });
  return {made};
}

// ceil_mode rounds up.
template <typename Attrs>
std::vector<Definition> WithShape(const DefinedCall& call, const Attrs& attrs,
                                  std::vector<Definition> made) {
  const SpatialRule rule = SpatialRule::Of(attrs);
  const PlacesByLayout data(call.shape(0), attrs.layout);
  const std::size_t dims = Attrs{}.strides.size();
  Shape shape = call.shape(0);
  // Upper-case letters stand for axes in the order of the layout.
  std::size_t axis = 0;
  for (const char letter : attrs.layout) {
    if (letter >= '0' && letter <= '9') continue;
    for (std::size_t d = 3 - dims; d < 3; ++d) {
      if (letter != kSpatialLetters[d]) continue;
      const std::int64_t room = data.Extent(letter) + rule.before[d] + rule.after[d] -
                                rule.Span(d, OfAxis(attrs.pool_size, d + dims - 3));
      const std::int64_t more = attrs.ceil_mode ? rule.strides[d] - 1 : 0;
      shape[axis] = (room + more) / rule.strides[d] + 1;
    }
    ++axis;
  }
  made[0].shape = shape;
  return made;
}

template <typename Attrs>
std::vector<Definition> MaxPool(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  const PlacesByLayout data(call.shape(0), attrs.layout),
      result(call.results[0].shape(), attrs.layout);
  return WithShape(call, attrs, Maxima(call, attrs.layout, WindowTaps(attrs, data, result, false)));
}
template <typename Attrs>
std::vector<Definition> AvgPool(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  const PlacesByLayout data(call.shape(0), attrs.layout),
      result(call.results[0].shape(), attrs.layout);
  return WithShape(
      call, attrs,
      Means(call, attrs.layout, WindowTaps(attrs, data, result, attrs.count_include_pad)));
}

using OfTaps = std::vector<Definition> (*)(const DefinedCall& call, const std::string& layout,
                                           const TapsByAxis& taps);
template <typename Attrs, OfTaps kOf>
std::vector<Definition> OfBins(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  return kOf(call, attrs.layout,
             BinTaps({call.shape(0), attrs.layout}, {call.results[0].shape(), attrs.layout}));
}

template <std::size_t kDims>
void AddOfAxes(DefinitionTable* table) {
  DefinitionTable& t = *table;
  const std::string name = std::to_string(kDims) + "d";
  t["nn.max_pool" + name] = MaxPool<ops::MaxPoolAttrs<kDims>>;
  t["nn.avg_pool" + name] = AvgPool<ops::AvgPoolAttrs<kDims>>;
  t["nn.adaptive_max_pool" + name] = OfBins<ops::AdaptivePoolAttrs<kDims>, Maxima>;
  t["nn.adaptive_avg_pool" + name] = OfBins<ops::AdaptivePoolAttrs<kDims>, Means>;
}

}  // namespace

void AddPoolDefinitions(DefinitionTable* table) {
  AddOfAxes<1>(table);
  AddOfAxes<2>(table);
  AddOfAxes<3>(table);
  (*table)["nn.global_max_pool2d"] = OfBins<ops::GlobalPool2DAttrs, Maxima>;
  (*table)["nn.global_avg_pool2d"] = OfBins<ops::GlobalPool2DAttrs, Means>;
}

}  // namespace tenon::verify
