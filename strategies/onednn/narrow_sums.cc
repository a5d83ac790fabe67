// oneDNN sums products of bytes in int32 and of bfloat16 in float32, in NHWC, by the matrix
// instructions (AMX) of CPUs that have them. Generated kernels bring the image into that order
// (four times as fast as oneDNN's own reorder) and compute what the group has after the sums
// (scales, roundings, clips) step by step as the generated convolution does, where oneDNN would not
// round between them. Sums of bytes are exact; those of bfloat16 are added up in another order.
#include "tenon/strategies/onednn/narrow_sums.h"

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/onednn/generated_sides.h"
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

constexpr const char* kName = "onednn_narrow";

// The sizes from which the matrix instructions make up for reordering the image and for sums that
// go through memory, measured on Sapphire Rapids against generated code.
struct Threshold {
  std::int64_t products;  // for each element of image and result
  std::int64_t rows;      // of a matrix product
};
// With 64 channels of 56 x 56, 1 x 1 taps (32 products) take 77 us against 89, 3 x 3 taps (288) 126
// against 332. By 768 x 768, 16 rows take 27 us against 26, 128 take 80 against 205.
constexpr Threshold kOfBytes = {.products = 32, .rows = 32};
// With 16 channels of 56 x 56, 1 x 1 taps (8 products) take 13 us against 18. By 256 x 256, 8 rows
// take as long, 16 take 6.5 us against 11.8; by 768 x 768, 8 take 47 us against 75.
constexpr Threshold kOfBFloats = {.products = 8, .rows = 8};

constexpr const char* kNotKnown = "the weights are not known";

std::int64_t ProductsAnElement(const Convolution& conv) {
  const std::int64_t out = conv.batch * conv.out_channels * conv.out_size[0] * conv.out_size[1];
  const std::int64_t in = conv.batch * conv.in_channels * conv.in_size[0] * conv.in_size[1];
  return out * (conv.in_channels / conv.groups) * conv.kernel[0] * conv.kernel[1] / (in + out);
}

bool IsOfBFloats(const CallNode& anchor) {
  return ElementsOf(anchor.args[0].checked_type()) == BFloat16;
}

const Threshold& ThresholdOf(const CallNode& anchor) {
  return IsOfBFloats(anchor) ? kOfBFloats : kOfBytes;
}

bool IsNarrow(const CallNode& anchor) {
  const DataType data = ElementsOf(anchor.args[0].checked_type());
  const DataType weight = ElementsOf(anchor.args[1].checked_type());
  const DataType sums = ElementsOf(anchor.checked_type);
  return (data == UInt8 && weight == Int8 && sums == Int32) ||
         (data == BFloat16 && weight == BFloat16 && sums == Float32);
}

NarrowTypes TypesOf(const CallNode& anchor, const CallNode& made) {
  return {ElementsOf(anchor.args[0].checked_type()), ElementsOf(anchor.args[1].checked_type()),
          ElementsOf(made.checked_type)};
}

// The image in NHWC.
Side Before(const Group& group, const Convolution& conv) {
  const Shape shape = {conv.batch, conv.in_size[0], conv.in_size[1], conv.in_channels};
  const Tensor image = te::Placeholder(ToExprs(Shape{shape[0], shape[3], shape[1], shape[2]}),
                                       ElementsOf(group.Anchor()->args[0].checked_type()), "image");
  const Tensor in_nhwc = te::Compute(
      ToExprs(shape),
      [&](const Var& n, const Var& y, const Var& x, const Var& c) { return image(n, c, y, x); },
      "image_in_nhwc", "injective");
  return {
      .function = LowerOutputs({image}, {in_nhwc}, StrCat(group.name, "_before"), group.lowering),
      .arguments = 1,
      .bytes = static_cast<std::size_t>(BytesOf(in_nhwc))};
}

std::optional<std::string> RefuseNarrow(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  if (!IsNarrow(anchor)) return "it sums uint8 by int8 in int32 and bfloat16 in float32";
  if (const auto refusal = RefuseShape(anchor)) return refusal;
  const bool is_auto = group.library == LibraryChoice::kAuto;
  const Target& target = group.lowering.target;
  if (IsOfBFloats(anchor)) {
    if (!target.Has("avx512bf16")) return "the CPU has no instruction for bfloat16";
  } else if (!target.Has("avx512vnni")) {
    return "the CPU has no instruction whose sums of bytes are exact";
  }
  if (is_auto && !target.Has(IsOfBFloats(anchor) ? "amx-bf16" : "amx-int8"))
    return "the CPU has no matrix instructions, without which it gains nothing";
  return std::nullopt;
}

std::optional<std::string> RefuseNarrowConvolution(const Group& group) {
  if (const auto refusal = RefuseNarrow(group)) return refusal;
  const CallNode& anchor = *group.Anchor();
  if (!KnownValue(group, anchor.args[1]).defined()) return kNotKnown;
  const auto& attrs = anchor.attrs.As<ops::Conv2DAttrs>();
  if (const auto refusal = RefuseLayouts(attrs, "OIHW")) return refusal;
  for (const ops::Ints* steps : {&attrs.strides, &attrs.dilation}) {
    if (const auto refusal = RefuseSteps(*steps)) return refusal;
  }
  const Convolution conv = DescribeWindows<ops::Conv2DAttrs>(anchor);
  if (auto refusal = RefusePadded(conv.in_size, conv.pad_before, conv.pad_after)) return refusal;
  // With channels last there is no detour.
  if (group.library != LibraryChoice::kAuto || conv.layout == ActivationLayout::kNHWC)
    return std::nullopt;
  if (conv.groups == conv.in_channels && conv.groups > 1)
    return "there is a kernel for each channel, of which matrix instructions make no use";
  const std::int64_t products = ProductsAnElement(conv);
  const std::int64_t least = ThresholdOf(anchor).products;
  if (products < least)
    return StrCat(products, " products an element are fewer than ", least,
                  ", for which the detour through its layout does not pay");
  return std::nullopt;
}

BuildResult BuildNarrowConvolution(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const CallNode& made = MadeByLibrary(group);
  const NarrowTypes types = TypesOf(anchor, made);
  const Convolution conv = DescribeWindows<ops::Conv2DAttrs>(anchor);
  MadeKernel kernel = MakeNarrowConvolution(conv, types, KnownValue(group, anchor.args[1]));
  if (auto* refused = std::get_if<Refused>(&kernel)) return std::move(*refused);
  Built built{.kernel = std::get<KernelPointer>(std::move(kernel)),
              .arguments = {ParameterIndex(group, anchor.args[0])}};
  const Shape shape = {conv.batch, conv.out_size[0], conv.out_size[1], conv.out_channels};
  const Tensor sums = te::Placeholder(ToExprs(shape), types.result, "sums");
  if (conv.layout == ActivationLayout::kNCHW) {
    built.before = Before(group, conv);
    const Tensor in_nchw = te::Compute(
        ToExprs(Shape{shape[0], shape[3], shape[1], shape[2]}),
        [&](const Var& n, const Var& c, const Var& y, const Var& x) { return sums(n, y, x, c); },
        "sums_in_nchw", "injective");
    built.after = After(group, sums, made, in_nchw, &built.arguments);
  } else if (group.function->body.get() != &made) {
    built.after = After(group, sums, made, sums, &built.arguments);
  }
  return built;
}

std::optional<std::string> RefuseNarrowProduct(const Group& group) {
  if (const auto refusal = RefuseNarrow(group)) return refusal;
  const CallNode& anchor = *group.Anchor();
  if (!IsOfBFloats(anchor) && !KnownValue(group, anchor.args[1]).defined()) return kNotKnown;
  const MatrixProduct product = DescribeProduct(anchor);
  if (const auto refusal = RefuseExtents(product)) return refusal;
  const std::int64_t least = ThresholdOf(anchor).rows;
  if (group.library == LibraryChoice::kAuto && product.rows < least)
    return StrCat(product.rows, " rows are fewer than ", least,
                  ", which generated code multiplies faster");
  return std::nullopt;
}

BuildResult BuildNarrowProduct(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const CallNode& made = MadeByLibrary(group);
  const NarrowTypes types = TypesOf(anchor, made);
  MadeKernel kernel =
      MakeNarrowMatrixProduct(DescribeProduct(anchor), types, KnownValue(group, anchor.args[1]));
  if (auto* refused = std::get_if<Refused>(&kernel)) return std::move(*refused);
  Built built{.kernel = std::get<KernelPointer>(std::move(kernel)),
              .arguments = {ParameterIndex(group, anchor.args[0])}};
  if (!KnownValue(group, anchor.args[1]).defined())
    built.arguments.push_back(ParameterIndex(group, anchor.args[1]));
  if (group.function->body.get() != &made) {
    const Tensor sums = te::Placeholder(ToExprs(ir::StaticShape(anchor.checked_type, "the sums")),
                                        types.result, "sums");
    built.after = After(group, sums, made, sums, &built.arguments);
  }
  return built;
}

}  // namespace

Implementation NarrowConvolution() {
  return OnTarget({.name = kName,
                   .maker = Maker::kOneDnnNarrow,
                   .refusal = RefuseNarrowConvolution,
                   .build = BuildNarrowConvolution});
}

Implementation NarrowProduct() {
  return OnTarget({.name = kName,
                   .maker = Maker::kOneDnnNarrow,
                   .refusal = RefuseNarrowProduct,
                   .build = BuildNarrowProduct});
}

}  // namespace tenon::strategies::onednn
