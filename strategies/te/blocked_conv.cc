// Convolutions over blocks of channels: the lanes of a vector are the output channels of a block,
// and a register tile is a few of a row's results by one or a few such blocks (Georganas et al.,
// "Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures", SC 2018).
#include <algorithm>

#include "tenon/ops/alter_layout.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te/conv.h"
#include "tenon/strategies/te_compute.h"
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

struct TileShape {
  std::int64_t blocks, columns;
};

// Channels of the widest blocks, whatever the target: layouts are named after them.
constexpr std::int64_t kMaxBlock = 16;

// The least estimated time, that for columns past the end counted in. Blocks of one tile read the
// same image: they are of one group. A block may fill several vectors.
TileShape ChooseTile(const Target& target, std::int64_t group_blocks, std::int64_t columns,
                     std::int64_t block) {
  const std::int64_t vectors = CeilDiv(block, target.Lanes(4));
  const std::int64_t most_sums = EnoughSums(target) / vectors;
  const std::int64_t most_columns = (target.vector_registers - 4) / vectors;
  TileShape best{1, 1};
  double least = -1;
  for (const std::int64_t blocks : {1, 2, 4}) {
    if (group_blocks % blocks != 0) continue;
    for (std::int64_t wide = 1; wide <= std::min(columns, most_columns); ++wide) {
      const std::int64_t sums = blocks * wide;
      if (sums > (blocks == 1 ? most_columns : most_sums)) break;
      const auto tiles = static_cast<double>(CeilDiv(columns, wide) * (group_blocks / blocks));
      const double time = tiles * TileStepTime(blocks, wide);
      if (least < 0 || time < least) {
        least = time;
        best = {blocks, wide};
      }
    }
  }
  return best;
}

}  // namespace

std::vector<Tensor> BlockedConv2D(const TeCall& call, bool depthwise) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const auto strides = ops::Pair(attrs.strides, "strides");
  const auto dilation = ops::Pair(attrs.dilation, "dilation");
  const Tensor& weight = call.input(1);
  const Tensor image =
      PadImage(call.input(0), 2, 3, ops::FourPaddings(attrs.padding), te::Stored{});
  const Shape shape = call.shape();
  const std::int64_t in_blocks = ExtentOf(weight, 1);
  const std::int64_t group_blocks = depthwise ? 1 : shape[1] / attrs.groups;
  const TileShape tile = ChooseTile(call.target, group_blocks, shape[3], shape[4]);
  const std::int64_t blocks = tile.blocks;
  std::vector<IterVar> axes;
  if (!depthwise) axes.push_back(te::ReduceAxis(0, in_blocks, "rcb"));
  axes.push_back(te::ReduceAxis(0, ExtentOf(weight, 2), "ry"));
  axes.push_back(te::ReduceAxis(0, ExtentOf(weight, 3), "rx"));
  if (!depthwise) axes.push_back(te::ReduceAxis(0, ExtentOf(weight, 4), "rc"));
  const Expr tap_y = axes[depthwise ? 0 : 1].var;
  const Expr tap_x = axes[depthwise ? 1 : 2].var;
  const std::int64_t tiles_wide = CeilDiv(shape[3], tile.columns);
  const DataType dtype = call.dtype();
  const Tensor sums = te::Compute(
      ToExprs(
          Shape{shape[0], shape[1] / blocks, shape[2], tiles_wide, blocks, tile.columns, shape[4]}),
      [&](const std::vector<Var>& i) {
        Expr column = i[3] * tile.columns + i[5];
        // Columns past the last one are computed from it and dropped.
        if (shape[3] % tile.columns != 0) column = te::Min(column, shape[3] - 1);
        const Expr y = i[2] * strides[0] + tap_y * dilation[0];
        const Expr x = column * strides[1] + tap_x * dilation[1];
        const Expr filter = i[1] * blocks + i[4];
        const auto product = [&](const Expr& pixel, const Expr& factor) {
          return te::Sum(te::Cast(dtype, pixel) * te::Cast(dtype, factor), axes);
        };
        if (depthwise)
          return product(image(i[0], filter, y, x, i[6]), weight(filter, 0, tap_y, tap_x, 0, i[6]));
        Expr channels = axes[0].var;
        if (attrs.groups > 1)
          channels = te::FloorDiv(i[1], group_blocks / blocks) * in_blocks + channels;
        const Expr channel = axes[3].var;
        return product(image(i[0], channels, y, x, channel),
                       weight(filter, axes[0].var, tap_y, tap_x, channel, i[6]));
      },
      "conv2d_NCHWc", te::RegisterTile{});
  return {te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& o, const Var& y, const Var& x, const Var& lane) {
        return sums(n, te::FloorDiv(o, blocks), y, te::FloorDiv(x, tile.columns),
                    te::FloorMod(o, blocks), te::FloorMod(x, tile.columns), lane);
      },
      "conv2d_NCHWc")};
}

bool IsBlockedDepthwise(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::int64_t channels = ExtentOf(call.input(0), 1) * ExtentOf(call.input(0), 4);
  return attrs.groups == channels && channels > 1 && ExtentOf(call.input(1), 4) == 1;
}

Refusal RefuseBlocks(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  if (!ops::HasBlocks(attrs)) return "its layouts have no blocks";
  const ops::Layout data = ops::Layout::Parse(attrs.data_layout, "data_layout");
  const ops::Layout kernel = ops::Layout::Parse(attrs.kernel_layout, "kernel_layout");
  const std::int64_t in = data.BlockOf('C'), out = kernel.BlockOf('O');
  const std::int64_t weight_in = kernel.BlockOf('I');
  if (attrs.data_layout != StrCat("NCHW", in, "c") ||
      attrs.kernel_layout != StrCat("OIHW", weight_in, "i", out, "o"))
    return StrCat("it takes NCHW{n}c and OIHW{n}i{m}o, not ", attrs.data_layout, " and ",
                  attrs.kernel_layout);
  const std::string& result = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  if (result != StrCat("NCHW", out, "c")) return StrCat("its result is in NCHW", out, "c");
  if (call.dtype().bytes() != 4)
    return StrCat("sums of ", call.dtype().ToString(), " are not 32 bits wide");
  if (NumElements(call.shape()) == 0) return "the result has no elements";
  const std::int64_t groups = attrs.groups, channels = ExtentOf(call.input(0), 1) * in;
  if (IsBlockedDepthwise(call)) {
    if (in == out && call.shape()[1] * out == channels) return std::nullopt;
    return "kernels of each channel take blocks of one size";
  }
  if (weight_in != in) return "blocks of the data and of the weight differ";
  if (channels % (groups * in) != 0 || call.shape()[1] % groups != 0)
    return "groups are no whole blocks";
  return std::nullopt;
}

namespace {

// A block of channels: a vector of them or, of few, half or a quarter; images of fewer have one.
std::int64_t BlockOf(std::int64_t channels) {
  for (std::int64_t block = kMaxBlock; block >= 4; block /= 2) {
    if (channels % block == 0) return block;
  }
  return channels <= 4 ? channels : 0;
}

std::optional<ops::ChannelBlocks> ChooseBlocks(const ir::CallNode& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const auto* data = call.args[0].checked_type().As<ir::TensorTypeNode>();
  const auto* result = call.checked_type.As<ir::TensorTypeNode>();
  if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW" || data == nullptr ||
      result == nullptr || data->dtype.bits() == 8 || !data->shape[1].is_static() ||
      !result->shape[1].is_static())
    return std::nullopt;
  const std::int64_t in = data->shape[1].value();
  const std::int64_t out = result->shape[1].value();
  const bool is_depthwise = attrs.groups == in && in == out && in > 1;
  if (is_depthwise) return ops::ChannelBlocks{BlockOf(in), BlockOf(in)};
  if (attrs.groups != 1) return std::nullopt;
  return ops::ChannelBlocks{BlockOf(in), BlockOf(out)};
}

}  // namespace

void AttachBlockedConvComputes(ops::OpRegistry& registry) {
  registry.Definition(ops::OpOf(ops::Known().conv2d)->name)
      .SetColumn(ops::AlterLayout{ChooseBlocks});
  registry.Definition("nn.contrib_conv2d_NCHWc").SetColumn(TeCompute{[](const TeCall& call) {
    return BlockedConv2D(call, false);
  }});
  registry.Definition("nn.contrib_depthwise_conv2d_NCHWc")
      .SetColumn(TeCompute{[](const TeCall& call) { return BlockedConv2D(call, true); }});
}

}  // namespace tenon::strategies
