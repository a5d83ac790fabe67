// Convolutions over one to three axes, transposed ones, and correlation. Operands are converted to
// the element type of the result first.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/conv/correlation_attrs.h"
#include "tenon/verify/define/defined_sums.h"
#include "tenon/verify/define/defined_windows.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

// The definition of one result: its sums, and extents by letter.
std::vector<Definition> WithShape(const DefinedSums& sums, const std::string& layout,
                                  const std::map<char, std::int64_t>& extents) {
  std::vector<Definition> made = sums.Take();
  made[0].shape.emplace();
  for (const char letter : layout) made[0].shape->push_back(extents.at(letter));
  return made;
}

template <typename Attrs>
std::string ResultLayout(const Attrs& attrs) {
  return attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
}

// Sums of a convolution by Winograd's algorithm have errors of all its elements.
DefinedSums ConvolutionSums(const DefinedCall& call) {
  return DefinedSums(call.results[0], LargestOf(call.args[0]) * LargestOf(call.args[1]));
}

template <typename Attrs>
std::vector<Definition> Convolution(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  const SpatialRule rule = SpatialRule::Of(attrs);
  const DataType type = call.results[0].dtype();
  const PlacesByLayout data(call.shape(0), attrs.data_layout),
      weight(call.shape(1), attrs.kernel_layout),
      result(call.results[0].shape(), ResultLayout(attrs));
  const std::int64_t filters = weight.Extent('O'), of_group = filters / attrs.groups,
                     channels = data.Extent('C') / attrs.groups;
  DefinedSums sums = ConvolutionSums(call);
  ForEachElement(result, [&](std::int64_t n, std::int64_t o, const Spatial& to) {
    ForEachPlace(ExtentsOf(weight), [&](const Spatial& tap) {
      Spatial from;
      for (std::size_t d = 0; d < 3; ++d) {
        from[d] = rule.From(d, to[d], tap[d]);
        if (from[d] < 0 || from[d] >= data.Extent(kSpatialLetters[d])) return;
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t x = PlaceOf(data, n, o / of_group * channels + c, from),
                           w = weight.At("OIDHW", {o, c, tap[0], tap[1], tap[2]});
        sums.Add(PlaceOf(result, n, o, to),
                 Product(ElementAs(call.args[0], x, type), ElementAs(call.args[1], w, type)));
      }
    });
  });
  std::map<char, std::int64_t> extents = {{'N', data.Extent('N')}, {'C', filters}};
  for (std::size_t d = 0; d < 3; ++d) {
    const char letter = kSpatialLetters[d];
    const std::int64_t padded = data.Extent(letter) + rule.before[d] + rule.after[d];
    extents[letter] = (padded - rule.Span(d, weight.Extent(letter))) / rule.strides[d] + 1;
  }
  return WithShape(sums, ResultLayout(attrs), extents);
}

// Each element adds its kernel to the result, of which the padding is dropped.
template <typename Attrs>
std::vector<Definition> Transposed(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  const SpatialRule rule = SpatialRule::Of(attrs);
  const DataType type = call.results[0].dtype();
  const PlacesByLayout data(call.shape(0), attrs.data_layout),
      weight(call.shape(1), attrs.kernel_layout),
      result(call.results[0].shape(), ResultLayout(attrs));
  const std::int64_t filters = weight.Extent('O'), channels = data.Extent('C') / attrs.groups;
  DefinedSums sums = ConvolutionSums(call);
  ForEachElement(data, [&](std::int64_t n, std::int64_t c, const Spatial& from) {
    ForEachPlace(ExtentsOf(weight), [&](const Spatial& tap) {
      Spatial to;
      for (std::size_t d = 0; d < 3; ++d) {
        to[d] = rule.From(d, from[d], tap[d]);
        if (to[d] < 0 || to[d] >= result.Extent(kSpatialLetters[d])) return;
      }
      const Number x = ElementAs(call.args[0], PlaceOf(data, n, c, from), type);
      for (std::int64_t o = 0; o < filters; ++o) {
        const std::int64_t w = weight.At("OIDHW", {o, c, tap[0], tap[1], tap[2]});
        sums.Add(PlaceOf(result, n, c / channels * filters + o, to),
                 Product(x, ElementAs(call.args[1], w, type)));
      }
    });
  });
  std::map<char, std::int64_t> extents = {{'N', data.Extent('N')}, {'C', filters * attrs.groups}};
  const std::size_t dims =
      attrs.output_padding.size() == 1 ? Attrs{}.strides.size() : attrs.output_padding.size();
  for (std::size_t d = 0; d < 3; ++d) {
    const char letter = kSpatialLetters[d];
    extents[letter] = (data.Extent(letter) - 1) * rule.strides[d] +
                      rule.Span(d, weight.Extent(letter)) - rule.before[d] - rule.after[d];
    if (d + dims >= 3) extents[letter] += OfAxis(attrs.output_padding, d + dims - 3);
    // No elements add nothing.
    if (data.Extent(letter) == 0) extents[letter] = result.Extent(letter);
  }
  return WithShape(sums, ResultLayout(attrs), extents);
}

// Patches lie within the padded first image, as far from its sides as the second ones go.
std::vector<Definition> Correlation(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::CorrelationAttrs>();
  const Shape &in = call.shape(0), &out = call.results[0].shape();
  const std::int64_t top = attrs.padding[0],
                     left = attrs.padding[attrs.padding.size() == 1 ? 0 : 1];
  const std::int64_t steps = attrs.max_displacement / attrs.stride2, wide = 2 * steps + 1,
                     half = attrs.kernel_size / 2;
  const auto at = [&](std::size_t arg, std::int64_t n, std::int64_t c, std::int64_t y,
                      std::int64_t x) -> Real {
    if (y < 0 || x < 0 || y >= in[2] || x >= in[3]) return 0;
    return call.Arg(arg, ((n * in[1] + c) * in[2] + y) * in[3] + x);
  };
  const Real count = static_cast<Real>(attrs.kernel_size * attrs.kernel_size * in[1]);
  const Real unit = static_cast<Real>(RoundingError(call.results[0].dtype()));
  Definition made;
  for (std::int64_t i = 0; i < call.results[0].size(); ++i) {
    const std::int64_t n = i / (out[1] * out[2] * out[3]), shift = i / (out[2] * out[3]) % out[1];
    const std::int64_t border = attrs.max_displacement + half;
    const std::int64_t y = i / out[3] % out[2] * attrs.stride1 + border - top,
                       x = i % out[3] * attrs.stride1 + border - left;
    const std::int64_t dy = (shift / wide - steps) * attrs.stride2,
                       dx = (shift % wide - steps) * attrs.stride2;
    Real sum = 0, magnitude = 0;
    for (std::int64_t c = 0; c < in[1]; ++c)
      for (std::int64_t ky = -half; ky <= half; ++ky)
        for (std::int64_t kx = -half; kx <= half; ++kx) {
          const Real a = at(0, n, c, y + ky, x + kx), b = at(1, n, c, y + dy + ky, x + dx + kx);
          const Real term = attrs.is_multiply ? a * b : std::abs(a - b);
          sum += term;
          magnitude += std::abs(term);
        }
    made.Add({.real = sum / count}, unit * (count + 8) * magnitude / count);
  }
  return {made};
}

}  // namespace

void AddConvolutionDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["nn.conv1d"] = Convolution<ops::Conv1DAttrs>;
  t["nn.conv2d"] = Convolution<ops::Conv2DAttrs>;
  t["nn.conv3d"] = Convolution<ops::Conv3DAttrs>;
  t["nn.conv1d_transpose"] = Transposed<ops::Conv1DTransposeAttrs>;
  t["nn.conv2d_transpose"] = Transposed<ops::Conv2DTransposeAttrs>;
  t["nn.conv3d_transpose"] = Transposed<ops::Conv3DTransposeAttrs>;
  t["nn.correlation"] = Correlation;
}

}  // namespace tenon::verify
