// Products of quantised operands without their zero points, summed up in int32, which wraps around.
#include <algorithm>
#include <string>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

// Element `i` of operand 0 or 1, without the zero point, which is argument operand + 2; `channel`
// counts where there are several of these.
Whole Centered(const DefinedCall& call, std::size_t operand, std::int64_t i,
               std::int64_t channel = 0) {
  const NDArray& zero_points = call.args[operand + 2];
  return IndexAt(call.args[operand], i) -
         IndexAt(zero_points, zero_points.shape().empty() ? 0 : channel);
}

std::vector<Definition> Dense(const DefinedCall& call) {
  const std::int64_t units = call.shape(1)[0], depth = call.shape(1)[1];
  Definition made;
  for (std::int64_t i = 0; i < call.results[0].size(); ++i) {
    const std::int64_t row = i / units, unit = i % units;
    Whole sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += Centered(call, 0, row * depth + k) * Centered(call, 1, unit * depth + k, unit);
    made.Add({.whole = sum}, 0);
  }
  return {made};
}

std::vector<Definition> BatchMatmul(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::BatchMatmulAttrs>();
  const Shape &a = call.shape(0), &b = call.shape(1), &to = call.results[0].shape();
  const std::int64_t depth = a[attrs.transpose_a ? 1 : 2];
  Definition made;
  for (std::int64_t i = 0; i < call.results[0].size(); ++i) {
    const std::int64_t batch = i / (to[1] * to[2]), row = i / to[2] % to[1], column = i % to[2];
    const std::int64_t left = (a[0] == 1 ? 0 : batch) * a[1] * a[2],
                       right = (b[0] == 1 ? 0 : batch) * b[1] * b[2];
    Whole sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += Centered(call, 0, left + (attrs.transpose_a ? k * a[2] + row : row * a[2] + k)) *
             Centered(call, 1, right + (attrs.transpose_b ? column * b[2] + k : k * b[2] + column));
    made.Add({.whole = sum}, 0);
  }
  return {made};
}

// Of one axis: the place in the data from which tap `k` of the kernel makes place `to` of the
// result; -1 where there is none.
using Source = std::function<std::int64_t(std::size_t axis, std::int64_t to, std::int64_t k)>;

// `is_transposed`: the weight's I counts all channels, and O those of a group.
template <typename Attrs>
std::vector<Definition> Convolved(const DefinedCall& call, bool is_transposed,
                                  const Source& source) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  const PlacesByLayout data(call.shape(0), attrs.data_layout),
      weight(call.shape(1), attrs.kernel_layout),
      result(call.results[0].shape(),
             attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout);
  const std::int64_t results = result.Extent('C') / attrs.groups,
                     channels = data.Extent('C') / attrs.groups;
  Definition made;
  made.elements.resize(static_cast<std::size_t>(call.results[0].size()));
  made.tolerances.assign(made.elements.size(), 0);
  for (std::int64_t n = 0; n < result.Extent('N'); ++n)
    for (std::int64_t o = 0; o < result.Extent('C'); ++o)
      for (std::int64_t h = 0; h < result.Extent('H'); ++h)
        for (std::int64_t w = 0; w < result.Extent('W'); ++w) {
          Whole sum = 0;
          for (std::int64_t kh = 0; kh < weight.Extent('H'); ++kh)
            for (std::int64_t kw = 0; kw < weight.Extent('W'); ++kw) {
              const std::int64_t y = source(0, h, kh), x = source(1, w, kw);
              if (y < 0 || x < 0 || y >= data.Extent('H') || x >= data.Extent('W')) continue;
              for (std::int64_t c = 0; c < channels; ++c) {
                const std::int64_t channel = o / results * channels + c;
                const std::int64_t filter = is_transposed ? o % results : o;
                sum += Centered(call, 0, data.At("NCHW", {n, channel, y, x})) *
                       Centered(call, 1,
                                weight.At("OIHW", {filter, is_transposed ? channel : c, kh, kw}),
                                filter);
              }
            }
          made.elements[static_cast<std::size_t>(result.At("NCHW", {n, o, h, w}))] = {.whole = sum};
        }
  return {made};
}

std::vector<Definition> Conv2D(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::Conv2DAttrs>();
  return Convolved<ops::Conv2DAttrs>(
      call, false, [&](std::size_t d, std::int64_t to, std::int64_t k) {
        return to * OfAxis(attrs.strides, d) + k * OfAxis(attrs.dilation, d) -
               OfAxis(attrs.padding, d);
      });
}

std::vector<Definition> Conv2DTranspose(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::Conv2DTransposeAttrs>();
  return Convolved<ops::Conv2DTransposeAttrs>(
      call, true, [&](std::size_t d, std::int64_t to, std::int64_t k) -> std::int64_t {
        const std::int64_t at = to + OfAxis(attrs.padding, d) - k * OfAxis(attrs.dilation, d);
        return at < 0 || at % OfAxis(attrs.strides, d) != 0 ? -1 : at / OfAxis(attrs.strides, d);
      });
}

}  // namespace

void AddQuantizedProductDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["qnn.batch_matmul"] = BatchMatmul;
  t["qnn.conv2d"] = Conv2D;
  t["qnn.conv2d_transpose"] = Conv2DTranspose;
  t["qnn.dense"] = Dense;
}

}  // namespace tenon::verify
