// Operators of windows: convolutions over blocks of channels, morphology, local response
// normalisation.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/dilation_rules.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/verify/define/defined_sums.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

// Calls `use` with image, channel, row and column of each element.
template <typename Use>
void ForEachElement(const PlacesByLayout& places, const Use& use) {
  for (std::int64_t n = 0; n < places.Extent('N'); ++n)
    for (std::int64_t c = 0; c < places.Extent('C'); ++c)
      for (std::int64_t h = 0; h < places.Extent('H'); ++h)
        for (std::int64_t w = 0; w < places.Extent('W'); ++w) use(n, c, h, w);
}

// What the taps of a weight read of an image.
struct Window {
  const PlacesByLayout& data;
  const PlacesByLayout& weight;
  const ops::Ints& strides;
  const ops::Ints& dilation;
  const ops::Ints& padding;

  // Calls `use` with row and column of each tap, and with those of the element that it reads for
  // the result at (h, w), if there is one.
  template <typename Use>
  void ForEachTap(std::int64_t h, std::int64_t w, const Use& use) const {
    for (std::int64_t kh = 0; kh < weight.Extent('H'); ++kh)
      for (std::int64_t kw = 0; kw < weight.Extent('W'); ++kw) {
        const std::int64_t y = At(0, h, kh), x = At(1, w, kw);
        if (y >= 0 && x >= 0 && y < data.Extent('H') && x < data.Extent('W')) use(kh, kw, y, x);
      }
  }
  std::int64_t At(std::size_t d, std::int64_t place, std::int64_t tap) const {
    return place * OfAxis(strides, d) + tap * OfAxis(dilation, d) - OfAxis(padding, d);
  }
};

std::vector<Definition> BlockedConvolution(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::Conv2DAttrs>();
  const std::string blocks = attrs.kernel_layout.substr(attrs.kernel_layout.find('i') + 1);
  const PlacesByLayout data(call.shape(0), attrs.data_layout),
      weight(call.shape(1), attrs.kernel_layout),
      result(call.results[0].shape(), "NCHW" + blocks.substr(0, blocks.size() - 1) + "c");
  const std::int64_t channels = data.Extent('C') / attrs.groups,
                     filters = result.Extent('C') / attrs.groups;
  const Window window{data, weight, attrs.strides, attrs.dilation, attrs.padding};
  DefinedSums sums(call.results[0]);
  ForEachElement(result, [&](std::int64_t n, std::int64_t o, std::int64_t h, std::int64_t w) {
    const std::int64_t to = result.At("NCHW", {n, o, h, w});
    window.ForEachTap(h, w, [&](std::int64_t kh, std::int64_t kw, std::int64_t y, std::int64_t x) {
      for (std::int64_t c = 0; c < channels; ++c)
        sums.Add(to, Product(ElementAt(call.args[0],
                                       data.At("NCHW", {n, o / filters * channels + c, y, x})),
                             ElementAt(call.args[1], weight.At("OIHW", {o, c, kh, kw}))));
    });
  });
  return sums.Take();
}

// Integers wrap. A window of padding alone has no greatest sum.
std::vector<Definition> Dilation2D(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::Dilation2DAttrs>();
  const NDArray& result = call.results[0];
  const DataType type = result.dtype();
  const PlacesByLayout data(call.shape(0), attrs.data_layout),
      weight(call.shape(1), attrs.kernel_layout), to(result.shape(), attrs.data_layout);
  const Window window{data, weight, attrs.strides, attrs.dilations, attrs.padding};
  Definition made;
  made.elements.resize(static_cast<std::size_t>(result.size()));
  made.tolerances.assign(made.elements.size(), 0);
  ForEachElement(to, [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    const auto at = static_cast<std::size_t>(to.At("NCHW", {n, c, h, w}));
    Number& most = made.elements[at];
    bool is_first = true;
    window.ForEachTap(h, w, [&](std::int64_t kh, std::int64_t kw, std::int64_t y, std::int64_t x) {
      const Number a = ElementAt(call.args[0], data.At("NCHW", {n, c, y, x})),
                   b = ElementAt(call.args[1], weight.At("IHW", {c, kh, kw}));
      const Number sum = {Wrapped(a.whole + b.whole, type), a.real + b.real};
      most =
          is_first ? sum : Number{std::max(most.whole, sum.whole), std::max(most.real, sum.real)};
      is_first = false;
    });
    made.tolerances[at] = is_first ? std::numeric_limits<Real>::infinity()
                                   : static_cast<Real>(RoundingError(type)) * std::abs(most.real);
  });
  return {made};
}

// The mean of squares counts elements beyond the ends of the axis as 0.
std::vector<Definition> LocalResponse(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::LRNAttrs>();
  const Shape& shape = call.shape(0);
  const auto axis = static_cast<std::size_t>(
      attrs.axis < 0 ? attrs.axis + static_cast<std::int64_t>(shape.size()) : attrs.axis);
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  const Real unit = static_cast<Real>(RoundingError(call.results[0].dtype()));
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const std::int64_t at = i / inner % shape[axis];
    Real squares = 0;
    const std::int64_t before = (attrs.size - 1) / 2, after = attrs.size / 2;
    for (std::int64_t k = 0; k < shape[axis]; ++k) {
      if (at - k > before || k - at > after) continue;
      const Real x = call.Arg(0, i + (k - at) * inner);
      squares += x * x;
    }
    const Real divisor = attrs.bias + attrs.alpha * squares / static_cast<Real>(attrs.size);
    const Real value = call.Arg(0, i) / std::pow(divisor, static_cast<Real>(attrs.beta));
    made.Add({.real = value}, unit * static_cast<Real>(shape[axis] + 32) * std::abs(value));
  }
  return {made};
}

}  // namespace

void AddWindowDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["image.dilation2d"] = Dilation2D;
  t["nn.lrn"] = LocalResponse;
  t["nn.contrib_conv2d_NCHWc"] = BlockedConvolution;
  t["nn.contrib_depthwise_conv2d_NCHWc"] = BlockedConvolution;
}

}  // namespace tenon::verify
