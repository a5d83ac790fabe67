// Pooling over windows. An image whose results stay in registers is a tile, as in SmallImageConv.
// Others reduce one axis after the other.
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "tenon/ops/pool/pool_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/pool/pool.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

Expr LowestOf(DataType t) {
  if (t.is_float()) return loop::FloatImm(t, -std::numeric_limits<double>::infinity());
  if (t.is_int())
    return loop::IntImm(t, std::numeric_limits<std::int64_t>::min() >> (64 - t.bits()));
  return loop::IntImm(t, 0);
}

Tensor ForMeans(const Tensor& x, std::int64_t count) {
  return AsType(x, MeanType(x.dtype(), count));
}

namespace {

struct Window : ops::PoolRules {
  std::vector<Expr> extent;
  ops::Ints span;  // from the first tap to the last one
  bool overhangs;  // the last window may end past the padded image

  template <typename AttrsType>
  Window(const AttrsType& attrs, const Tensor& x)
      : PoolRules(ops::PoolRulesOf(attrs)), overhangs(attrs.ceil_mode) {
    for (std::size_t d = 0; d < dims; ++d) {
      extent.push_back(x.shape()[at[d]]);
      span.push_back(ops::WindowSpan(size[d], dilation[d]));
    }
  }

  // Whether the last window may lie past the padded image, maybe at any distance. It then begins
  // where that ends.
  bool MayLieBeyond(std::size_t d) const { return overhangs && strides[d] > span[d]; }

  // Where a tap of a result element reads along spatial axis `d`, counted from the start of the
  // padding.
  Expr Padded(const std::vector<Var>& i, std::size_t d, const Expr& tap) const {
    Expr first = i[at[d]] * strides[d];
    if (MayLieBeyond(d)) first = te::Min(first, extent[d] + (before[d] + after[d]));
    return first + tap * dilation[d];
  }
};

// The image with `value` around it, wide enough for windows that overhang in ceil_mode: exactly so
// wide where the extents are numbers.
Tensor Surrounded(const Tensor& x, const Window& w, const std::vector<Expr>& result,
                  const Expr& value) {
  ops::Ints after;
  for (std::size_t d = 0; d < w.dims; ++d) {
    const auto* count = result[w.at[d]].As<loop::IntImmNode>();
    const auto* extent = w.extent[d].As<loop::IntImmNode>();
    if (count == nullptr || extent == nullptr) {
      const std::int64_t past = !w.overhangs ? 0 : std::min(w.strides[d] - 1, w.span[d]);
      after.push_back(ops::PaddedExtent(w.before[d], w.after[d], past) - w.before[d]);
      continue;
    }
    const std::int64_t padded = ops::PaddedExtent(extent->value, w.before[d], w.after[d]);
    std::int64_t first = (count->value - 1) * w.strides[d];  // of the last window
    if (w.MayLieBeyond(d)) first = std::min(first, padded);
    const std::int64_t reach = ops::PaddedExtent(first, 0, w.span[d]);
    after.push_back(std::max<std::int64_t>(0, reach - w.before[d] - extent->value));
  }
  return PadImage(x, w.at, w.before, after, value);
}

// Reduces one spatial axis after the other: first over the rows of a window, then what that leaves
// along the row. This takes size[0] + size[1] reads rather than their product.
Tensor OverWindow(const TeCall& call, const Tensor& x, const Window& w, const Expr& outside,
                  Reducer reducer, const std::string& name) {
  Tensor reduced = Surrounded(x, w, call.te_shape(), outside);
  std::vector<Expr> shape = reduced.shape();
  const std::vector<IterVar> taps = TapAxes(w.size);
  for (std::size_t d = 0; d < w.dims; ++d) {
    shape[w.at[d]] = call.te_shape()[w.at[d]];
    const bool is_last = d + 1 == w.dims;
    if (w.size[d] == 1 && w.strides[d] == 1 && !is_last) continue;
    reduced = te::Compute(
        shape,
        [&](const std::vector<Var>& i) {
          std::vector<Expr> from = ToExprs(i);
          from[w.at[d]] = w.Padded(i, d, taps[d].var);
          return reducer(reduced[from], {taps[d]});
        },
        is_last ? name : StrCat(name, "_", taps[d].var.name()),
        te::Label("pool", te::ReadsRepeatedly{}));
  }
  return reduced;
}

template <typename AttrsType>
std::vector<Tensor> MaxPool(const TeCall& call) {
  const Window w(call.attrs.As<AttrsType>(), call.input(0));
  return {OverWindow(call, call.input(0), w, LowestOf(call.dtype()), te::Max,
                     StrCat("max_pool", w.dims, "d"))};
}

// Suits images whose results stay in registers, a row in each. Taps read the image itself under
// masks, which are the same for all channels.
std::optional<std::string> RefuseSmallMaxPool(const TeCall& call) {
  const Window w(call.attrs.As<ops::MaxPoolAttrs<2>>(), call.input(0));
  const Sizes shape = call.sizes();
  if (w.at != std::vector<std::size_t>{2, 3}) return "channels do not come first";
  if (call.input(0).ndim() != 4) return "channels are in blocks";
  if (call.dtype().bytes() != 4) return "elements are not 32 bits wide";
  if (!AreNumbers(std::span(shape).subspan(2))) return "rows and columns are no numbers";
  if (ElementsOf(shape).planned == 0) return "the result has no elements";
  if (w.strides[1] > 2) return "windows step by more than two columns";
  if (auto refusal = RefuseRowsInRegisters(call.target, shape[2].planned, shape[3].planned))
    return refusal;
  if (NumElements(w.size) > kMaxUnrolledTerms)
    return StrCat(NumElements(w.size), " elements of a window are more than ", kMaxUnrolledTerms,
                  ", which are written out");
  return std::nullopt;
}

// A tile is all rows of a channel's result, a vector each, as in SmallImageConv. 832 channels of 7
// x 7 by 3 x 3 take a tenth of the time of one axis after the other, and 528 of 14 x 14 a third.
std::vector<Tensor> SmallMaxPool(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Window w(call.attrs.As<ops::MaxPoolAttrs<2>>(), x);
  const Sizes shape = call.sizes();
  const std::vector<IterVar> taps = TapAxes(w.size);
  const Tensor tile = te::Compute(
      {shape[0].expr, shape[1].expr, shape[2].expr, 1, BitCeil(shape[3].planned)},
      [&](const std::vector<Var>& i) {
        const std::vector<Var> at = {i[0], i[1], i[2], i[4]};
        std::vector<Expr> from = ToExprs(at);
        for (std::size_t d = 0; d < w.dims; ++d)
          from[w.at[d]] = w.Padded(at, d, taps[d].var) - w.before[d];
        return te::Max(ReadPadded(x, from, w.at, LowestOf(call.dtype())), {taps[1], taps[0]});
      },
      "max_pool2d", te::RegisterTile{.rows = te::TileRows::kOfReader});
  return {te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return tile(n, c, y, 0, column);
      },
      "max_pool2d")};
}

// How many taps of the window at place `i` along spatial axis `d` count: those within the image or,
// when padding counts, within the padded image. Taps that ceil_mode lets overhang never count.
Expr CountedTaps(const Window& w, std::size_t d, bool counts_padding, const Expr& i) {
  const Expr first = i * w.strides[d];
  const std::int64_t low = counts_padding ? 0 : w.before[d];
  const Expr high = w.extent[d] + (w.before[d] + (counts_padding ? w.after[d] : 0));
  const Expr skipped =
      te::Max(te::FloorDiv(Expr(low) - first + (w.dilation[d] - 1), w.dilation[d]), Expr(0));
  const Expr reached =
      te::Min(te::FloorDiv(high - first + (w.dilation[d] - 1), w.dilation[d]), Expr(w.size[d]));
  return te::Max(reached - skipped, Expr(0));
}

// The number of counted taps of each window, as `type`. Where extents are numbers, loops are cut at
// the edges, and it is a constant between them. Where not, it is looked up in a row for each axis.
std::function<Expr(const std::vector<Var>& i)> CountsOf(const Window& w, bool counts_padding,
                                                        const std::vector<Expr>& result,
                                                        DataType type) {
  if (std::all_of(w.extent.begin(), w.extent.end(), IsNumber)) {
    return [=](const std::vector<Var>& i) {
      Expr count = 1;
      for (std::size_t d = 0; d < w.dims; ++d)
        count = count * CountedTaps(w, d, counts_padding, i[w.at[d]]);
      return te::Cast(type, te::Max(count, Expr(1)));
    };
  }
  std::vector<Tensor> rows;
  for (std::size_t d = 0; d < w.dims; ++d) {
    rows.push_back(te::Compute(
        {result[w.at[d]]},
        [&](const Var& i) { return te::Cast(type, CountedTaps(w, d, counts_padding, i)); },
        "counted_taps", te::Stored{}));
  }
  return [w, rows, type](const std::vector<Var>& i) {
    Expr count = te::Cast(type, 1);
    for (std::size_t d = 0; d < w.dims; ++d) count = count * rows[d](i[w.at[d]]);
    return te::Max(count, te::Cast(type, 1));
  };
}

template <typename AttrsType>
std::vector<Tensor> AvgPool(const TeCall& call) {
  const auto& attrs = call.attrs.As<AttrsType>();
  const Window w(attrs, call.input(0));
  const std::string name = StrCat("avg_pool", w.dims, "d");
  const Tensor x = ForMeans(call.input(0), NumElements(w.size));
  const Tensor sum = OverWindow(call, x, w, te::Cast(x.dtype(), 0), te::Sum, StrCat(name, "_sum"));
  const auto count = CountsOf(w, attrs.count_include_pad, call.te_shape(), sum.dtype());
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) { return te::Cast(call.dtype(), sum[ToExprs(i)] / count(i)); },
      name)};
}

template <std::size_t kDims>
TeCompute MaxPools() {
  const TeMake by_axes = MaxPool<ops::MaxPoolAttrs<kDims>>;
  if constexpr (kDims != 2) return {by_axes};
  return {
      .make = nullptr,
      .forms = {
          {.name = "max_pool2d.small_image", .refusal = RefuseSmallMaxPool, .make = SmallMaxPool},
          {.name = "max_pool2d.by_axes", .refusal = nullptr, .make = by_axes}}};
}

template <std::size_t kDims>
void AttachWindows(ops::OpRegistry& registry) {
  registry.Definition(StrCat("nn.max_pool", kDims, "d")).SetColumn(MaxPools<kDims>());
  registry.Definition(StrCat("nn.avg_pool", kDims, "d"))
      .SetColumn(TeCompute{AvgPool<ops::AvgPoolAttrs<kDims>>});
}

}  // namespace

void AttachWindowPools(ops::OpRegistry& registry) {
  AttachWindows<1>(registry);
  AttachWindows<2>(registry);
  AttachWindows<3>(registry);
}

}  // namespace tenon::strategies
