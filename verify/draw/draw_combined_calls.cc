// Calls that passes look at together. Calls that are drawn one by one rarely meet like that.
#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/module_drawers.h"
#include "tenon/verify/draw/random_layout.h"

namespace tenon::verify {

using ir::Expr;

namespace {

// What may follow a branch, with one value per channel of `axis`.
Expr Following(ModuleDraft& draft, int which, const Expr& x, std::int64_t channels,
               std::int64_t axis) {
  switch (which) {
    case 0:
      return ops::CallOp("nn.prelu", {x, draft.Leaf({channels}, Float32)},
                         attrs::Attrs::Make(ops::PReluAttrs{.axis = axis}));
    case 1:
      return ops::BiasAdd(x, draft.Leaf({channels}, Float32), {.axis = axis});
    case 2:
      return ops::CallOp("trilu", {x, ops::Scalar(0, Int32)});
    default:
      return ops::Relu(x);
  }
}

// The constants of a scale, one for all or one for each of `channels`.
ops::QnnParameters Parameters(Random& random, std::int64_t channels) {
  const auto scale = [&] { return 0.25F * static_cast<float>(1 + random.Below(4)); };
  const auto zero_point = [&] { return static_cast<std::int32_t>(random.Below(8)); };
  if (random.Chance(40))
    return {ops::Scalar(scale()), ops::Scalar(static_cast<double>(zero_point()), Int32)};
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  for (std::int64_t c = 0; c < channels; ++c) {
    scales.push_back(scale());
    zero_points.push_back(zero_point());
  }
  return {ir::Constant::Make(NDArray::FromVector<float>({channels}, scales)),
          ir::Constant::Make(NDArray::FromVector<std::int32_t>({channels}, zero_points))};
}

}  // namespace

Expr DrawBranches(ModuleDraft& draft) {
  Random& random = draft.random();
  const bool is_image = random.Chance(50), channels_last = random.Chance(50);
  const Expr x = draft.SomeOf(is_image ? 4 : 2, Float32);
  const std::int64_t axis = is_image && !channels_last ? 1 : is_image ? 3 : 1;
  const std::int64_t in = draft.ShapeOf(x)[static_cast<std::size_t>(axis)];
  const int following = static_cast<int>(random.Below(4));
  // Stacked branches are of one size. With as many channels as rows, either axis takes a vector.
  const std::int64_t all = random.Chance(50)   ? draft.ShapeOf(x)[0]
                           : random.Chance(50) ? 1 + random.Below(6)
                                               : 0;
  std::vector<Expr> branches;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t channels = all > 0 ? all : 1 + random.Below(6);
    Expr branch;
    if (is_image) {
      const Expr weight = draft.Leaf(
          channels_last ? Shape{1, 1, in, channels} : Shape{channels, in, 1, 1}, Float32);
      branch = ops::Conv2D(x, weight,
                           {.data_layout = channels_last ? "NHWC" : "NCHW",
                            .kernel_layout = channels_last ? "HWIO" : "OIHW"});
    } else {
      branch = ops::Dense(x, draft.Leaf({channels, in}, Float32));
    }
    branches.push_back(Following(draft, following, branch, channels, axis));
  }
  return ops::Concatenate(branches, axis);
}

Expr DrawPadded(ModuleDraft& draft) {
  Random& random = draft.random();
  const bool blocked = random.Chance(40);
  const Expr x = draft.SomeOf(blocked ? 5 : 4, Float32);
  const std::string layout =
      blocked ? StrCat("NCHW", draft.ShapeOf(x)[4], "c") : RandomOrder("NCHW", random);
  std::vector<ops::Ints> widths(layout.size() > 4 ? 5 : 4, ops::Ints{0, 0});
  for (const char axis : {'H', 'W'}) widths[layout.find(axis)] = {random.Below(3), random.Below(2)};
  const bool is_max = random.Chance(40);
  const Expr padded = ops::Pad(x, widths, is_max ? -std::numeric_limits<double>::infinity() : 0);
  const ops::Ints size = {1 + random.Below(3), 1 + random.Below(3)},
                  strides = {1 + random.Below(2), 1 + random.Below(2)};
  if (is_max || random.Chance(20))
    return ops::MaxPool2D(padded, {.pool_size = size, .strides = strides, .layout = layout});
  return ops::AvgPool2D(padded, {.pool_size = size, .strides = strides, .layout = layout});
}

Expr DrawPerChannel(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const DataType type = draft.TypeOf(x);
  if (type != Int8 && type != UInt8) throw InvalidArgument("no quantised type");
  const Shape shape = draft.ShapeOf(x);
  const std::int64_t axis = draft.SomeAxis(x);
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  const auto parameters = [&] { return Parameters(random, channels); };
  const ops::QnnParameters from = parameters(), to = random.Chance(30) ? from : parameters();
  Expr real = ops::QnnDequantize(x, from.scale, from.zero_point, {.axis = axis});
  if (random.Chance(50)) real = ops::Relu(real);
  if (shape.size() == 4 && random.Chance(50))
    real = ops::MaxPool2D(real, {.pool_size = {1, 1}, .layout = RandomOrder("NCHW", random)});
  return ops::QnnQuantize(real, to.scale, to.zero_point, {.out_dtype = type, .axis = axis});
}

}  // namespace tenon::verify
