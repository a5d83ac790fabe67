// nn.conv2d.
#include "tenon/ops/builtin.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Learns the weight's type from the attributes where they say enough.
void LearnWeight(TypeCall& call, const Conv2DAttrs& attrs, const Dim& in_channels, DataType dtype) {
  if (!attrs.channels || !attrs.kernel_size || !in_channels.is_static()) return;
  const auto kernel = Pair(*attrs.kernel_size, "kernel_size");
  const std::vector<std::size_t> at = LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  std::vector<Dim> shape(4);
  shape[at[0]] = Dim(*attrs.channels);
  shape[at[1]] = Dim(in_channels.value() / attrs.groups);
  shape[at[2]] = Dim(kernel[0]);
  shape[at[3]] = Dim(kernel[1]);
  call.LearnInput(1, ir::TensorType(std::move(shape), dtype));
}

void CheckAgainstWeight(const TypeCall& call, const Conv2DAttrs& attrs, const Dim& in_channels,
                        const Dim& out, const Dim& in, const Dim& height, const Dim& width) {
  if (attrs.channels && out.is_static() && out.value() != *attrs.channels)
    call.Refuse(StrCat("channels is ", *attrs.channels, " and the weight has ", out.value(),
                       " output channels"));
  if (attrs.kernel_size) {
    const auto kernel = Pair(*attrs.kernel_size, "kernel_size");
    if ((height.is_static() && height.value() != kernel[0]) ||
        (width.is_static() && width.value() != kernel[1]))
      call.Refuse(StrCat("kernel_size is [", kernel[0], ", ", kernel[1], "] and the weight has ",
                         height.ToString(), " x ", width.ToString(), " taps"));
  }
  if (out.is_static() && out.value() % attrs.groups != 0)
    call.Refuse(StrCat("the ", out.value(), " output channels cannot be divided into ",
                       attrs.groups, " groups"));
  if (in.is_static() && in_channels.is_static() && in.value() != in_channels.value() / attrs.groups)
    call.Refuse(StrCat("the data has ", in_channels.value(), " channels, which in ", attrs.groups,
                       attrs.groups == 1 ? " group makes " : " groups makes ",
                       in_channels.value() / attrs.groups, " each; the weight takes ", in.value()));
}

void Conv2D(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<Conv2DAttrs>();
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  const std::vector<std::size_t> at = LayoutPositions(attrs.data_layout, "NCHW", "data_layout");
  const auto dim = [&](std::size_t i) { return x->shape[at[i]]; };
  const Dim in_channels = dim(1);
  if (in_channels.is_static() && in_channels.value() % attrs.groups != 0)
    call.Refuse(StrCat("the ", in_channels.value(), " input channels cannot be divided into ",
                       attrs.groups, " groups"));
  LearnWeight(call, attrs, in_channels, x->dtype);
  const auto strides = Pair(attrs.strides, "strides");
  const auto dilation = Pair(attrs.dilation, "dilation");
  const auto padding = FourPaddings(attrs.padding);

  Dim channels = attrs.channels ? Dim(*attrs.channels) : Dim();
  std::array<Dim, 2> kernel;
  if (attrs.kernel_size) {
    const auto size = Pair(*attrs.kernel_size, "kernel_size");
    kernel = {Dim(size[0]), Dim(size[1])};
  }
  if (const auto* w = call.tensor(1)) {
    if (w->shape.size() != 4) call.Refuse("the weight must have rank 4");
    if (w->dtype != x->dtype)
      call.Refuse(
          StrCat("the data is ", x->dtype.ToString(), " and the weight ", w->dtype.ToString()));
    const std::vector<std::size_t> w_at =
        LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
    const auto w_dim = [&](std::size_t i) { return w->shape[w_at[i]]; };
    CheckAgainstWeight(call, attrs, in_channels, w_dim(0), w_dim(1), w_dim(2), w_dim(3));
    // What the attributes say is not lost to a weight that is not fully known.
    if (channels.is_any()) channels = w_dim(0);
    for (std::size_t i = 0; i < 2; ++i) {
      if (kernel[i].is_any()) kernel[i] = w_dim(i + 2);
    }
  } else if (!attrs.channels || !attrs.kernel_size) {
    return;
  }

  std::array<Dim, 2> size;
  for (std::size_t i = 0; i < 2; ++i) {
    const Dim in = dim(i + 2);
    if (!in.is_static() || !kernel[i].is_static()) continue;
    const std::int64_t padded = PaddedExtent(in.value(), padding[i], padding[i + 2]);
    const std::int64_t window = WindowSpan(kernel[i].value(), dilation[i]);
    if (window > padded)
      call.Refuse(StrCat("the kernel spans ", window, " elements of ", i == 0 ? "height" : "width",
                         " and the padded data has ", padded));
    size[i] = Dim(PaddedExtent((padded - window) / strides[i], 0, 1));
  }
  const std::vector<std::size_t> out_at = LayoutPositions(
      attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout, "NCHW", "out_layout");
  std::vector<Dim> shape(4);
  shape[out_at[0]] = dim(0);
  shape[out_at[1]] = channels;
  shape[out_at[2]] = size[0];
  shape[out_at[3]] = size[1];
  call.LearnResult(
      ir::TensorType(std::move(shape), attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype));
}

}  // namespace

void RegisterConvOps(OpRegistry& registry) {
  registry.Register("nn.conv2d")
      .Describe("2-D convolution (cross-correlation) with groups, dilation and padding")
      .Argument("data", "Tensor", "batch of images, in data_layout")
      .Argument("weight", "Tensor", "kernels, in kernel_layout")
      .Attrs<Conv2DAttrs>()
      .Level(2)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Conv2D, "Conv2D");
}

}  // namespace tenon::ops
