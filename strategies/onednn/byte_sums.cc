// oneDNN sums products of bytes in int32, in NHWC. Generated kernels bring the image into that
// order (four times as fast as oneDNN's own reorder) and compute what the group has behind the sums
// (scales, roundings, clips), bit-equal to the generated convolution; oneDNN would scale in
// float32.
#include "tenon/strategies/onednn/byte_sums.h"

#include "tenon/jit/cpu_features.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/onednn/operands.h"
#include "tenon/strategies/onednn/products.h"
#include "tenon/strategies/onednn/windows.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies::onednn {
namespace {

using ir::CallNode;
using te::Tensor;
using te::Var;

// Products for each element of image and result from which the matrix instructions make up for
// reordering the image and for sums that go through memory. With 64 channels of 56 x 56, 1 x 1 taps
// (32 products) take 77 us against 89 of generated code, 3 x 3 taps (288) 126 against 332.
constexpr std::int64_t kLeastProducts = 32;
// Rows of a matrix product, likewise: by 768 x 768, 16 take 27 us against 26, 128 take 80 against
// 205.
constexpr std::int64_t kLeastRows = 32;

std::int64_t ProductsAnElement(const Convolution& conv) {
  const std::int64_t out = conv.batch * conv.out_channels * conv.out_size[0] * conv.out_size[1];
  const std::int64_t in = conv.batch * conv.in_channels * conv.in_size[0] * conv.in_size[1];
  return out * (conv.in_channels / conv.groups) * conv.kernel[0] * conv.kernel[1] / (in + out);
}

DataType TypeOf(const ir::Type& type) { return type.As<ir::TensorTypeNode>()->dtype; }

// The image in NHWC.
Side Before(const Group& group, const Convolution& conv) {
  const Shape shape = {conv.batch, conv.in_size[0], conv.in_size[1], conv.in_channels};
  const Tensor image =
      te::Placeholder(ToExprs(Shape{shape[0], shape[3], shape[1], shape[2]}), UInt8, "image");
  const Tensor in_nhwc = te::Compute(
      ToExprs(shape),
      [&](const Var& n, const Var& y, const Var& x, const Var& c) { return image(n, c, y, x); },
      "image_in_nhwc", "injective");
  return {
      .function = LowerOutputs({image}, {in_nhwc}, StrCat(group.name, "_before"), group.lowering),
      .arguments = 1,
      .bytes = static_cast<std::size_t>(BytesOf(in_nhwc))};
}

// The group's results, of its parameters (which are added to `arguments`) and of `sums`, which are
// `anchor_value` in another order, or not.
Side Behind(const Group& group, const Tensor& sums, const Tensor& anchor_value,
            std::vector<int>* arguments) {
  LowerFunctionOptions options;
  options.given = group.Anchor();
  options.given_value = anchor_value;
  const TeFunction function = LowerFunction(*group.function, options);
  std::vector<Tensor> args = ParamsReadBy(function.outputs, function.params, arguments);
  const std::size_t count = args.size();
  args.push_back(sums);
  return {.function = LowerOutputs(std::move(args), function.outputs, StrCat(group.name, "_behind"),
                                   group.lowering),
          .arguments = count,
          .bytes = static_cast<std::size_t>(BytesOf(sums))};
}

std::optional<std::string> RefuseBytes(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  if (const auto refusal = RefuseShape(anchor)) return refusal;
  if (!KnownValue(group, anchor.args[1]).defined()) return "the weights are not known";
  const jit::CpuFeatures& cpu = jit::CpuFeatures::Host();
  if (!cpu.Has("avx512vnni")) return "the CPU has no instruction whose sums of bytes are exact";
  if (group.library == LibraryChoice::kAuto && !cpu.Has("amx-int8"))
    return "the CPU has no matrix instructions, without which it gains nothing";
  return std::nullopt;
}

}  // namespace

bool IsOfBytes(const CallNode& anchor) {
  return TypeOf(anchor.args[0].checked_type()) == UInt8 &&
         TypeOf(anchor.args[1].checked_type()) == Int8 && TypeOf(anchor.checked_type) == Int32;
}

std::optional<std::string> RefuseByteConvolution(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  if (const auto refusal = RefuseBytes(group)) return refusal;
  if (const auto refusal = RefuseLayouts(anchor.attrs.As<ops::Conv2DAttrs>(), "OIHW"))
    return refusal;
  if (group.library != LibraryChoice::kAuto) return std::nullopt;
  const std::int64_t products = ProductsAnElement(DescribeWindows<ops::Conv2DAttrs>(anchor));
  if (products < kLeastProducts)
    return StrCat(products, " products an element are fewer than ", kLeastProducts,
                  ", for which the detour through its layout does not pay");
  return std::nullopt;
}

Built BuildByteConvolution(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const Convolution conv = DescribeWindows<ops::Conv2DAttrs>(anchor);
  Built built{.kernel = std::shared_ptr<const jit::Callable>(
                  MakeByteConvolution(conv, KnownValue(group, anchor.args[1]))),
              .arguments = {ParameterIndex(group, anchor.args[0])}};
  const Shape shape = {conv.batch, conv.out_size[0], conv.out_size[1], conv.out_channels};
  const Tensor sums = te::Placeholder(ToExprs(shape), Int32, "sums");
  if (conv.layout == ActivationLayout::kNCHW) {
    built.before = Before(group, conv);
    const Tensor in_nchw = te::Compute(
        ToExprs(Shape{shape[0], shape[3], shape[1], shape[2]}),
        [&](const Var& n, const Var& c, const Var& y, const Var& x) { return sums(n, y, x, c); },
        "sums_in_nchw", "injective");
    built.behind = Behind(group, sums, in_nchw, &built.arguments);
  } else if (group.function->body.get() != &anchor) {
    built.behind = Behind(group, sums, sums, &built.arguments);
  }
  return built;
}

std::optional<std::string> RefuseByteProduct(const Group& group) {
  if (const auto refusal = RefuseBytes(group)) return refusal;
  const MatrixProduct product = DescribeProduct(*group.Anchor());
  if (const auto refusal = RefuseExtents(product)) return refusal;
  if (group.library == LibraryChoice::kAuto && product.rows < kLeastRows)
    return StrCat(product.rows, " rows are fewer than ", kLeastRows,
                  ", which generated code multiplies faster");
  return std::nullopt;
}

Built BuildByteProduct(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  Built built{.kernel = std::shared_ptr<const jit::Callable>(MakeByteMatrixProduct(
                  DescribeProduct(anchor), KnownValue(group, anchor.args[1]))),
              .arguments = {ParameterIndex(group, anchor.args[0])}};
  if (group.function->body.get() != &anchor) {
    const Tensor sums =
        te::Placeholder(ToExprs(ir::StaticShape(anchor.checked_type, "the sums")), Int32, "sums");
    built.behind = Behind(group, sums, sums, &built.arguments);
  }
  return built;
}

}  // namespace tenon::strategies::onednn
