#include "tenon/ops/builders.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/module_drawers.h"
#include "tenon/verify/draw/random_layout.h"

namespace tenon::verify {

using ir::Expr;

namespace {

// A convolution of a value of rank 5, whose last axis counts as a block of channels, or of a
// value that is brought to this form.
Expr DrawBlockedConv2D(ModuleDraft& draft) {
  Random& random = draft.random();
  const bool is_blocked = random.Chance(50);
  Expr x = draft.SomeOf(is_blocked ? 5 : 4, Float32);
  Shape shape = draft.ShapeOf(x);
  if (!is_blocked) {
    const std::int64_t block = std::int64_t{1} << (1 + random.Below(4));
    if (shape[1] % block != 0) throw InvalidArgument("the block does not divide the channels");
    x = ops::CallOp(
        "layout_transform", {x},
        attrs::Attrs::Make(ops::LayoutTransformAttrs{"NCHW", StrCat("NCHW", block, "c")}));
    shape = {shape[0], shape[1] / block, shape[2], shape[3], block};
  }
  const std::int64_t block = shape[4];
  const std::int64_t channels = shape[1] * block;
  const bool depthwise = random.Chance(25);
  const std::int64_t kernel = random.Chance(50) ? 1 : 3;
  const std::int64_t out_block = depthwise ? block : 1 + random.Below(8);
  const std::int64_t out_blocks = depthwise ? shape[1] : 1 + random.Below(2);
  const std::int64_t in_block = depthwise ? 1 : block;
  const Expr weight = draft.Leaf(
      {out_blocks, depthwise ? 1 : shape[1], kernel, kernel, in_block, out_block}, Float32);
  const ops::Conv2DAttrs attrs{.padding = {random.Below(2), random.Below(2)},
                               .groups = depthwise ? channels : 1,
                               .channels = out_blocks * out_block,
                               .kernel_size = ops::Ints{kernel, kernel},
                               .data_layout = StrCat("NCHW", block, "c"),
                               .kernel_layout = StrCat("OIHW", in_block, "i", out_block, "o")};
  return ops::CallOp(depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc",
                     {x, weight}, attrs::Attrs::Make(attrs));
}

}  // namespace

Expr DrawConv2D(ModuleDraft& draft) {
  Random& random = draft.random();
  if (random.Chance(30)) return DrawBlockedConv2D(draft);
  const Expr x = draft.SomeOf(4, Float32);
  const std::string layout = RandomOrder("NCHW", random);
  const std::int64_t channels = draft.ShapeOf(x)[layout.find('C')];
  const bool depthwise = random.Chance(25);
  const std::int64_t kernel = random.Chance(50) ? 1 : 3;
  const std::int64_t outputs = depthwise ? channels : 1 + random.Below(8);
  const std::string kernel_layout = RandomOrder("OIHW", random);
  const Shape extents = {outputs, depthwise ? 1 : channels, kernel, kernel};
  const Expr weight = draft.Leaf(InOrder(extents, "OIHW", kernel_layout), Float32);
  ops::Conv2DAttrs attrs{.padding = {random.Below(2), random.Below(2)},
                         .groups = depthwise ? channels : 1,
                         .channels = outputs,
                         .kernel_size = ops::Ints{kernel, kernel},
                         .data_layout = layout,
                         .kernel_layout = kernel_layout};
  if (random.Chance(20)) attrs.out_layout = RandomOrder("NCHW", random);
  if (random.Chance(20)) attrs.strides = {2, 1};
  return ops::Conv2D(x, weight, attrs);
}

Expr DrawBatchNorm(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.SomeOf(4, Float32);
  const std::int64_t axis = random.Chance(30) ? 3 : 1;
  const Shape channels = {draft.ShapeOf(x)[static_cast<std::size_t>(axis)]};
  const auto statistic = [&](bool positive) {
    return ir::Constant::Make(draft.Draw(channels, Float32, positive));
  };
  return ir::TupleGetItem::Make(ops::BatchNorm(x, statistic(false), statistic(false),
                                               statistic(false), statistic(true), {.axis = axis}),
                                0);
}

Expr DrawScale(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  if (draft.TypeOf(x).is_bool()) throw InvalidArgument("no arithmetic on bool");
  const Shape shape = draft.ShapeOf(x);
  // Along the channel axis of an image; along the last axis of any other value.
  Shape scale;
  if (shape.size() == 4) {
    scale = {shape[1], 1, 1};
  } else if (!shape.empty()) {
    scale = {shape.back()};
  }
  const Expr c = draft.Leaf(scale, draft.TypeOf(x), random.Chance(60));
  return random.Chance(60) ? ops::Multiply(x, c) : ops::Add(c, x);
}

Expr DrawPool(ModuleDraft& draft) {
  Random& random = draft.random();
  const bool blocked = random.Chance(20);
  const Expr x = draft.SomeOf(blocked ? 5 : 4, Float32);
  const std::string layout =
      blocked ? StrCat("NCHW", draft.ShapeOf(x)[4], "c") : RandomOrder("NCHW", random);
  const ops::Ints size = {1 + random.Below(3), 1 + random.Below(3)};
  if (random.Chance(30)) return ops::GlobalAvgPool2D(x, {.layout = layout});
  if (random.Chance(50)) return ops::MaxPool2D(x, {.pool_size = size, .layout = layout});
  return ops::AvgPool2D(x, {.pool_size = size, .layout = layout});
}

Expr DrawLayout(ModuleDraft& draft) {
  Random& random = draft.random();
  const bool blocked = random.Chance(40);
  const Expr x = draft.SomeOf(blocked ? 5 : 4, Float32);
  ops::LayoutTransformAttrs attrs;
  attrs.src_layout =
      blocked ? StrCat("NCHW", draft.ShapeOf(x)[4], "c") : RandomOrder("NCHW", random);
  attrs.dst_layout = RandomOrder("NCHW", random);
  if (random.Chance(50)) {
    attrs.dst_layout = StrCat("NCHW", std::int64_t{1} << (1 + random.Below(4)), "c");
    const std::int64_t channels = blocked ? draft.ShapeOf(x)[1] * draft.ShapeOf(x)[4]
                                          : draft.ShapeOf(x)[attrs.src_layout.find('C')];
    // Filling with zeros would add channels.
    if (channels % ops::Layout::Parse(attrs.dst_layout, "layout").BlockOf('C') != 0)
      throw InvalidArgument("the block does not divide the channels");
  }
  return ops::CallOp("layout_transform", {x}, attrs::Attrs::Make(attrs));
}

}  // namespace tenon::verify
