// The padded image is a stage of its own, so that the sum reads without conditions.
#include "tenon/strategies/te/conv/conv_sum.h"

#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/strategies/te/conv/filter_tiles.h"
#include "tenon/strategies/te/conv/packed_weights.h"
#include "tenon/strategies/te/conv/tile_taps.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// Where a tap reads: result coordinates times strides plus taps times dilations.
std::vector<Expr> Window(const ConvSum& conv, const std::vector<Expr>& at,
                         const std::vector<IterVar>& taps) {
  std::vector<Expr> read;
  for (std::size_t d = 0; d < conv.dims(); ++d)
    read.push_back(at[d] * conv.strides[d] + taps[d].var * conv.dilation[d]);
  return read;
}

std::vector<Expr> VarsOf(const std::vector<IterVar>& axes) {
  std::vector<Expr> vars;
  for (const IterVar& axis : axes) vars.emplace_back(axis.var);
  return vars;
}

// The input channel and then the taps.
std::vector<IterVar> ReduceAxes(const IterVar& channel, const std::vector<IterVar>& taps) {
  std::vector<IterVar> axes = {channel};
  axes.insert(axes.end(), taps.begin(), taps.end());
  return axes;
}

// The axes in the order in which the data has them, so that neighbouring terms lie together.
std::vector<IterVar> AxesAsInMemory(const ConvSum& conv, const IterVar& channel,
                                    const std::vector<IterVar>& taps) {
  std::vector<std::pair<std::size_t, IterVar>> axes = {{conv.data[1], channel}};
  for (std::size_t d = 0; d < taps.size(); ++d) axes.emplace_back(conv.data[d + 2], taps[d]);
  std::sort(axes.begin(), axes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<IterVar> ordered;
  for (const auto& [position, axis] : axes) ordered.push_back(axis);
  return ordered;
}

}  // namespace

Tensor PlainSum(const ConvSum& plain, const TeCall& call, const std::string& name) {
  ConvSum conv = plain;
  if (conv.is_stored) {
    std::vector<Expr> shape = {conv.shape[conv.out[1]].expr, conv.group_inputs};
    shape.insert(shape.end(), conv.taps.begin(), conv.taps.end());
    const Tensor stored = call.Prepared(te::Compute(
        shape,
        [&](const std::vector<Var>& i) {
          return plain.weight(i[0], i[1], std::vector<Expr>(i.begin() + 2, i.end()));
        },
        "weights", te::Stored{}));
    conv.weight = [stored](const Expr& filter, const Expr& channel, const std::vector<Expr>& taps) {
      std::vector<Expr> at = {filter, channel};
      at.insert(at.end(), taps.begin(), taps.end());
      return stored[at];
    };
  }
  const IterVar rc = te::ReduceAxis(0, conv.group_inputs, "rc");
  const std::vector<IterVar> taps = TapAxes(conv.taps);
  return te::Compute(
      ExprsOf(conv.shape),
      [&](const std::vector<Var>& i) {
        const Var& filter = i[conv.out[1]];
        Expr channel = rc.var;
        if (conv.groups > 1)
          channel = te::FloorDiv(filter, conv.group_outputs) * conv.group_inputs + rc.var;
        std::vector<Expr> at;
        for (std::size_t d = 0; d < conv.dims(); ++d) at.emplace_back(i[conv.out[d + 2]]);
        return te::Sum(conv.Pixel(i[conv.out[0]], channel, Window(conv, at, taps)) *
                           conv.weight(filter, rc.var, VarsOf(taps)),
                       call.keeps_order ? ReduceAxes(rc, taps) : AxesAsInMemory(conv, rc, taps));
      },
      name, te::Label(name, te::ReadsRepeatedly{}));
}

namespace {

// Element `i` of a word, as the result's type.
Expr ElementOf(const Expr& word, const Expr& i, DataType dtype) {
  return dtype == Int32 ? te::ByteOfWord(word, i) : te::Cast(dtype, te::BFloatOfWord(word, i));
}

te::RegisterTile HintOf(const ConvSum& conv, std::int64_t pixels, std::int64_t channels_at_once) {
  if (conv.channels_of_word > 1) return {.sum = te::TileSum::kWordDot};
  return {.rows = FitsRows(conv, pixels) ? te::TileRows::kEven : te::TileRows::kUneven,
          .terms_at_once = channels_at_once};
}

// Whether most of the image is never read, with one tap and steps.
bool ReadsFewPixels(const ConvSum& conv) {
  // Vectors of filters that pay for a copy of the others.
  constexpr std::int64_t kMinVectors = 8;
  const bool steps = std::any_of(conv.strides.begin(), conv.strides.end(),
                                 [](std::int64_t stride) { return stride > 1; });
  return steps && conv.groups == 1 && NumElements(conv.taps) <= 1 &&
         conv.shape[conv.out[1]].planned >= kMinVectors * conv.lanes();
}

// The convolution over a copy of the pixels that are read. They lie together, so that all filters
// read lines of nothing else.
ConvSum WithReadPixelsOnly(const ConvSum& plain) {
  if (!ReadsFewPixels(plain)) return plain;
  ConvSum conv = plain;
  std::vector<Expr> shape(plain.data.size());
  shape[plain.data[0]] = plain.shape[plain.out[0]].expr;
  shape[plain.data[1]] = plain.group_inputs;
  for (std::size_t d = 0; d < plain.dims(); ++d)
    shape[plain.data[d + 2]] = plain.shape[plain.out[d + 2]].expr;
  conv.image = te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at(i.begin(), i.end());
        for (std::size_t d = 0; d < plain.dims(); ++d)
          at[plain.data[d + 2]] = at[plain.data[d + 2]] * plain.strides[d];
        return plain.image[at];
      },
      "pixels", te::Stored{});
  conv.strides.assign(plain.dims(), 1);
  return conv;
}

// How the pixels of a result are taken in tiles. They are counted row by row, so that tiles go on
// in the next row. If extents are expressions, each row is cut into tiles of its own, so that no
// place is a quotient of these.
struct PixelTiles {
  std::vector<Size> rows;  // axes before the one that is cut
  Size cut;                // elements of the axis that tiles cut
  std::int64_t tall;       // pixels of a tile

  std::size_t axes() const { return rows.size() + 1; }  // of the grid
  // The spatial coordinates of pixel `t` of the tile at `grid`. Past the last pixel it is that.
  std::vector<Expr> At(const std::vector<Expr>& grid, const Expr& t,
                       const std::vector<Expr>& spatial) const {
    Expr pixel = grid.back() * tall + t;
    if (!cut.IsMultipleOf(tall)) pixel = te::Min(pixel, cut.expr - 1);
    if (rows.empty()) return Unflatten(pixel, spatial);
    std::vector<Expr> at(grid.begin(), grid.end() - 1);
    at.push_back(pixel);
    return at;
  }
};

// Whether pixel `p` of the result reads pixel `p` of the image, both counted row by row. Then no
// place is a quotient, whatever the extents.
bool ReadsInOrder(const ConvSum& conv) {
  bool same = NumElements(conv.taps) == 1;
  for (std::size_t d = 0; d < conv.dims(); ++d)
    same = same && conv.strides[d] == 1 &&
           loop::StructuralEqual(conv.image.shape()[conv.data[d + 2]],
                                 conv.shape[conv.out[d + 2]].expr);
  return same;
}

PixelTiles PixelTilesOf(const ConvSum& conv, std::int64_t tall) {
  const Sizes spatial = conv.Spatial();
  if (AreNumbers(spatial) || spatial.size() == 1 || ReadsInOrder(conv))
    return {{}, ElementsOf(spatial), tall};
  return {{spatial.begin(), spatial.end() - 1}, spatial.back(), tall};
}

// A register tile is a few pixels of the result by a few vectors of filters.
struct SumTiles {
  std::int64_t filters;
  std::int64_t blocks;   // vectors of filters of a tile
  std::int64_t at_once;  // channels; 0: all
  PixelTiles pixels;

  std::int64_t tall() const { return pixels.tall; }
  // Of filters, filled up to whole tiles.
  std::int64_t vectors(const ConvSum& conv) const {
    return RoundUp(CeilDiv(filters, conv.lanes()), blocks);
  }
};

SumTiles SumTilesOf(const ConvSum& conv, Config* config) {
  const std::int64_t filters = conv.shape[conv.out[1]].planned;
  const std::int64_t vectors = CeilDiv(filters, conv.lanes());
  const auto [blocks, tall] =
      FilterTileOf(conv, vectors, ElementsOf(conv.Spatial()).planned, config);
  return {filters, blocks, ChannelsAtOnce(conv, vectors, config), PixelTilesOf(conv, tall)};
}

// The sums of all tiles: (image, filters, pixels..., vector, pixel, lane).
Tensor SumsOfTiles(const ConvSum& conv, const SumTiles& tiles, const PackedOrder& order,
                   const Tensor& packed, const std::string& name) {
  const PixelTiles& pixels = tiles.pixels;
  const std::int64_t blocks = tiles.blocks, tall = tiles.tall();
  const std::vector<Expr> spatial = ExprsOf(conv.Spatial());
  const IterVar rc = te::ReduceAxis(0, conv.group_inputs, "rc");
  const std::vector<IterVar> taps = TapAxes(conv.taps);
  const IterVar g = te::ReduceAxis(0, conv.channels_of_word, "g");
  std::vector<IterVar> axes = ReduceAxes(rc, taps);
  if (conv.channels_of_word > 1) axes.push_back(g);
  std::vector<Expr> grid = {conv.shape[conv.out[0]].expr, tiles.vectors(conv) / blocks};
  for (const Size& row : pixels.rows) grid.push_back(row.expr);
  grid.push_back(BlocksOf(pixels.cut, tall).expr);
  grid.insert(grid.end(), {blocks, tall, conv.lanes()});
  const std::size_t first = 2, tile = first + pixels.axes();
  return te::Compute(
      grid,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> place(i.begin() + first,
                                      i.begin() + static_cast<std::ptrdiff_t>(tile));
        Expr channel = rc.var;
        if (conv.groups > 1)
          channel =
              te::FloorDiv(i[1], conv.group_outputs / (conv.lanes() * blocks)) * conv.group_inputs +
              rc.var;
        std::vector<Expr> weight = {i[1] * blocks + i[tile]};
        const std::vector<Expr> at = order.At(rc.var, VarsOf(taps));
        weight.insert(weight.end(), at.begin(), at.end());
        weight.emplace_back(i[tile + 2]);
        const Expr element =
            conv.Pixel(i[0], channel, Window(conv, pixels.At(place, i[tile + 1], spatial), taps));
        if (conv.channels_of_word == 1) {
          const te::Reduction sum = te::Sum(element * packed[weight], axes);
          if (conv.inside.empty()) return sum;
          return te::Where(sum, MeetsImage(conv, tall, pixels.At(place, 0, spatial),
                                           pixels.At(place, tall - 1, spatial), taps));
        }
        weight.emplace_back(g.var);
        return te::Sum(ElementOf(element, g.var, conv.dtype) * te::Cast(conv.dtype, packed[weight]),
                       axes);
      },
      name, HintOf(conv, tall, tiles.at_once));
}

}  // namespace

Tensor TiledSum(const ConvSum& plain, const TeCall& call, const std::string& name) {
  const ConvSum conv = WithReadPixelsOnly(plain);
  const SumTiles tiles = SumTilesOf(conv, call.config);
  const PixelTiles& pixels = tiles.pixels;
  const std::int64_t blocks = tiles.blocks, tall = tiles.tall();
  const PackedOrder order = PackedOrderOf(conv, tiles.at_once);
  const Tensor packed =
      call.Prepared(PackedWeights(conv, order, tiles.filters, tiles.vectors(conv)));
  const Tensor sums = SumsOfTiles(conv, tiles, order, packed, name);
  const std::vector<Expr> spatial = ExprsOf(conv.Spatial());
  return te::Compute(
      ExprsOf(conv.shape),
      [&](const std::vector<Var>& i) {
        const Var& filter = i[conv.out[1]];
        std::vector<Expr> at = {i[conv.out[0]], te::FloorDiv(filter, blocks * conv.lanes())};
        for (std::size_t d = 0; d < pixels.rows.size(); ++d) at.emplace_back(i[conv.out[d + 2]]);
        Expr pixel = i[conv.out[pixels.rows.size() + 2]];
        for (std::size_t d = pixels.rows.size() + 1; d < conv.dims(); ++d)
          pixel = pixel * spatial[d] + i[conv.out[d + 2]];
        at.insert(at.end(), {te::FloorDiv(pixel, tall),
                             te::FloorMod(te::FloorDiv(filter, conv.lanes()), blocks),
                             te::FloorMod(pixel, tall), te::FloorMod(filter, conv.lanes())});
        return sums[at];
      },
      name, conv.is_stored ? te::Stored{} : te::Label());
}

// Refuses too few results to fill tiles or to pay for packing the weights, and depthwise
// convolutions, whose lanes share nothing.
std::optional<std::string> RefuseTiledSum(const ConvSum& conv) {
  const Size& channels = conv.shape[conv.out[1]];
  if (!channels.is_number()) return "the number of filters is not known";
  const std::int64_t filters = channels.planned, lanes = conv.lanes();
  if (conv.dtype.bytes() != 4)
    return StrCat("sums of ", conv.dtype.ToString(), " are not 32 bits wide");
  if (ElementsOf(conv.shape).planned == 0) return "the result has no elements";
  if (filters < lanes / 2)
    return StrCat(filters, " filters fill less than half of the ", lanes, " lanes");
  if (filters < lanes && conv.shape[conv.out.back()].IsMultipleOf(lanes))
    return StrCat(filters, " filters leave lanes empty that the pixels of a row fill");
  if (conv.groups > 1 && conv.group_outputs % lanes != 0)
    return StrCat("the ", conv.group_outputs, " filters of a group do not fill vectors of ", lanes);
  const std::int64_t pixels = ElementsOf(conv.Spatial()).planned;
  if (!conv.weight_is_constant && pixels < kMinPixelsToPack)
    return StrCat("the weights are not constant, and ", pixels,
                  " pixels do not pay for packing them at each run");
  return std::nullopt;
}

ConvSum Skipping(ConvSum conv, const Tensor& x, const ops::Ints& before, const ops::Ints& after) {
  const auto is_zero = [](std::int64_t width) { return width == 0; };
  const bool is_padded =
      !std::ranges::all_of(before, is_zero) || !std::ranges::all_of(after, is_zero);
  if (!is_padded || !AreNumbers(conv.Spatial())) return conv;
  for (std::size_t d = 0; d < conv.dims(); ++d)
    conv.inside.push_back({before[d], before[d] + ExtentOf(x, conv.data[d + 2])});
  return conv;
}

std::optional<std::string> RefuseSkippingSum(const ConvSum& conv) {
  // The questions cost about a twelfth of the time, and more where few channels share one.
  constexpr std::int64_t kMinChannels = 48;
  constexpr double kMaxPart = 0.88;
  if (auto refusal = RefuseTiledSum(conv)) return refusal;
  if (!AreNumbers(conv.Spatial())) return "extents are not known";
  if (conv.inside.empty()) return "there is no padding";
  if (NumElements(conv.taps) == 1) return "there is one tap";
  if (conv.group_inputs < kMinChannels)
    return StrCat("a group's ", conv.group_inputs, " channels are fewer than ", kMinChannels,
                  ", which pay for asking which taps a tile needs");
  if (LeastPartOfTaps(conv) > kMaxPart) return "nearly all results need all taps";
  return std::nullopt;
}

double TiledSumCycles(const ConvSum& plain) {
  constexpr double kMultiplyAddsACycle = 2;
  ConvSum conv = plain;
  if (ReadsFewPixels(conv)) conv.strides.assign(conv.dims(), 1);
  const std::int64_t vectors = CeilDiv(conv.shape[conv.out[1]].planned, conv.lanes());
  const std::int64_t pixels = ElementsOf(conv.Spatial()).planned;
  const double time = FilterTileTime(conv, vectors, pixels);
  return static_cast<double>(conv.shape[conv.out[0]].planned) * time / kMultiplyAddsACycle;
}

Sizes ConvSum::Spatial() const {
  Sizes spatial;
  for (std::size_t d = 0; d < dims(); ++d) spatial.push_back(shape[out[d + 2]]);
  return spatial;
}

Expr ConvSum::Pixel(const Expr& n, const Expr& channel, const std::vector<Expr>& at) const {
  std::vector<Expr> from(data.size());
  from[data[0]] = n;
  from[data[1]] = channel;
  for (std::size_t d = 0; d < at.size(); ++d) from[data[d + 2]] = at[d];
  return channels_of_word > 1 ? image[from] : te::Cast(dtype, image[from]);
}

}  // namespace tenon::strategies
