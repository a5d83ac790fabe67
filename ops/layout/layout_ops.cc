// Operators on blocked layouts, which layout passes insert: layout_transform, and convolutions over
// blocks of channels.
#include <algorithm>

#include "tenon/ops/builtin.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_attrs.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Extents of the whole axes, in the order of `layout`'s letters.
std::vector<Dim> WholeExtents(const std::vector<Dim>& shape, const Layout& layout,
                              const Layout& order) {
  std::vector<Dim> whole;
  for (const LayoutAxis& axis : order.axes()) {
    if (axis.block > 0) continue;
    const Dim& count = shape[layout.PositionOf(axis.letter)];
    whole.push_back(count * layout.BlockOf(axis.letter));
  }
  return whole;
}

void LayoutTransform(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<LayoutTransformAttrs>();
  const Layout from = Layout::Parse(attrs.src_layout, "src_layout");
  const Layout to = Layout::Parse(attrs.dst_layout, "dst_layout");
  std::string from_axes = from.Whole();
  std::string to_axes = to.Whole();
  std::sort(from_axes.begin(), from_axes.end());
  std::sort(to_axes.begin(), to_axes.end());
  if (from_axes != to_axes)
    call.Refuse(StrCat("src_layout \"", attrs.src_layout, "\" and dst_layout \"", attrs.dst_layout,
                       "\" must name the same axes"));
  if (x->shape.size() != from.rank())
    call.Refuse(StrCat("the data has rank ", x->shape.size(), " and src_layout \"",
                       attrs.src_layout, "\" ", from.rank()));
  for (std::size_t i = 0; i < from.rank(); ++i) {
    const LayoutAxis& axis = from.axes()[i];
    if (axis.block > 0 && call.Differ(x->shape[i], axis.block))
      call.Refuse(StrCat("dimension ", i, " of the data is ", x->shape[i].ToString(),
                         " and src_layout says blocks of ", axis.block));
  }
  const std::vector<Dim> whole = WholeExtents(x->shape, from, to);
  std::vector<Dim> shape;
  std::size_t next = 0;
  for (const LayoutAxis& axis : to.axes()) {
    if (axis.block > 0) {
      shape.emplace_back(axis.block);
      continue;
    }
    const Dim& extent = whole[next++];
    shape.push_back(CeilDiv(extent, to.BlockOf(axis.letter)));
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

// data NCHW{b}c; weight OIHW{b}i{v}o or, depthwise, OIHW1i{b}o; result NCHW{v}c.
void BlockedConv2D(TypeCall& call, bool depthwise) {
  const auto* x = call.tensor(0);
  const auto* w = call.tensor(1);
  if (x == nullptr || w == nullptr) return;
  const auto& attrs = call.attrs<Conv2DAttrs>();
  const Layout data = Layout::Parse(attrs.data_layout, "data_layout");
  const Layout kernel = Layout::Parse(attrs.kernel_layout, "kernel_layout");
  const std::int64_t block = data.BlockOf('C');
  const std::int64_t out_block = kernel.BlockOf('O');
  const std::int64_t in_block = depthwise ? 1 : block;
  const std::string data_wanted = StrCat("NCHW", block, "c");
  const std::string kernel_wanted = StrCat("OIHW", in_block, "i", out_block, "o");
  if (attrs.data_layout != data_wanted)
    call.Refuse(StrCat("data_layout is \"", attrs.data_layout, "\"; it must be NCHW{n}c"));
  if (attrs.kernel_layout != kernel_wanted || (depthwise && out_block != block))
    call.Refuse(StrCat("kernel_layout is \"", attrs.kernel_layout, "\"; with the data_layout \"",
                       data_wanted, "\" it must be OIHW", in_block, "i",
                       depthwise ? StrCat(block) : "{n}", "o"));
  const std::string out_wanted = StrCat("NCHW", out_block, "c");
  if (!attrs.out_layout.empty() && attrs.out_layout != out_wanted)
    call.Refuse(StrCat("out_layout is \"", attrs.out_layout, "\"; it must be ", out_wanted));
  if (x->shape.size() != 5) call.Refuse("the data must have rank 5");
  if (w->shape.size() != 6) call.Refuse("the weight must have rank 6");
  if (x->dtype != w->dtype)
    call.Refuse(
        StrCat("the data is ", x->dtype.ToString(), " and the weight ", w->dtype.ToString()));
  const auto is_static = [](const Dim& d) { return d.is_static(); };
  if (!std::all_of(x->shape.begin() + 1, x->shape.end(), is_static) ||
      !std::all_of(w->shape.begin(), w->shape.end(), is_static))
    call.Refuse("the extents must be known, except for the batch");
  const auto at = [](const ir::TensorTypeNode& t, std::size_t i) { return t.shape[i].value(); };
  if (at(*x, 4) != block || at(*w, 4) != in_block || at(*w, 5) != out_block)
    call.Refuse("the last extents of data and weight must be the block sizes of their layouts");
  const std::int64_t groups = attrs.groups;
  const std::int64_t channels = at(*x, 1) * block;
  const std::int64_t filters = at(*w, 0) * out_block;
  if (depthwise) {
    if (groups != channels || filters != channels || at(*w, 1) != 1)
      call.Refuse(StrCat("a depthwise convolution of ", channels,
                         " channels takes as many groups (", groups, ") and filters (", filters,
                         ") of one channel each"));
  } else if (channels % groups != 0 || channels / groups % block != 0 || filters % groups != 0 ||
             filters / groups % out_block != 0 || at(*w, 1) * block != channels / groups) {
    call.Refuse(StrCat("the ", channels, " channels and ", filters, " filters of ",
                       at(*w, 1) * block, " channels do not make ", groups,
                       " groups of whole blocks"));
  }
  const auto strides = Pair(attrs.strides, "strides");
  const auto dilation = Pair(attrs.dilation, "dilation");
  const auto padding = FourPaddings(attrs.padding);
  std::vector<Dim> shape = {x->shape[0], Dim(at(*w, 0)), Dim(), Dim(), Dim(out_block)};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t padded = PaddedExtent(at(*x, i + 2), padding[i], padding[i + 2]);
    const std::int64_t window = WindowSpan(at(*w, i + 2), dilation[i]);
    if (window > padded)
      call.Refuse(StrCat("the kernel spans ", window, " elements of ", i == 0 ? "height" : "width",
                         " and the padded data has ", padded));
    shape[i + 2] = Dim((padded - window) / strides[i] + 1);
  }
  call.LearnResult(
      ir::TensorType(std::move(shape), attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype));
}

}  // namespace

void RegisterLayoutOps(OpRegistry& registry) {
  registry.Register("layout_transform")
      .Describe(
          "copies the elements into another layout; axes that blocks do not divide are filled "
          "up with zeros")
      .Argument("data", "Tensor", "input in src_layout")
      .Attrs<LayoutTransformAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(LayoutTransform, "LayoutTransform")
      .Column(PrecisionRule::kFollow);
  registry.Register("nn.contrib_conv2d_NCHWc")
      .Describe("2-D convolution over blocks of channels")
      .Argument("data", "Tensor", "images, NCHW{b}c")
      .Argument("weight", "Tensor", "kernels, OIHW{b}i{v}o")
      .Attrs<Conv2DAttrs>()
      .Level(10)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation([](TypeCall& call) { BlockedConv2D(call, false); }, "Conv2DNCHWc")
      .Column(PrecisionRule::kAlways)
      .Column(HalfSums::kPlain);
  registry.Register("nn.contrib_depthwise_conv2d_NCHWc")
      .Describe("2-D convolution of each channel by itself, over blocks of channels")
      .Argument("data", "Tensor", "images, NCHW{b}c")
      .Argument("weight", "Tensor", "kernels, OIHW1i{b}o")
      .Attrs<Conv2DAttrs>()
      .Level(10)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation([](TypeCall& call) { BlockedConv2D(call, true); }, "DepthwiseConv2DNCHWc")
      .Column(HalfSums::kPlain);
}

}  // namespace tenon::ops
