#include "tenon/strategies/onednn/strategy.h"

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/onednn/narrow_sums.h"
#include "tenon/strategies/onednn/operands.h"
#include "tenon/strategies/onednn/products.h"
#include "tenon/strategies/onednn/scaled_weights.h"
#include "tenon/strategies/onednn/windows.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {
namespace {

using ir::CallNode;
using ir::TensorTypeNode;

// --- convolution

// Ways of the library that are slower than generated code, found by a part of the name of its code.
struct Detour {
  std::string_view name;
  const char* what;
};
constexpr Detour kDetours[] = {
    // An unrolled image and a matrix product. With 64 channels of 56 x 56 and 3 x 3 taps this takes
    // 1.2 ms, and generated tiles take 1.0 ms; small images lose by a factor of ten.
    {"gemm", "take the detour of a matrix product"},
    // NCHW in oneDNN 3. All of mobilenet_v2 takes 19.3 ms instead of 12.2, and all of resnet50 84
    // instead of 68.
    {"uni_ncsp", "reorder the image before and after"},
};

std::optional<std::string> RefuseDetour(const jit::Callable& kernel) {
  const std::string name = kernel.implementation();
  for (const Detour& detour : kDetours) {
    if (name.find(detour.name) != std::string::npos)
      return StrCat("it would ", detour.what, " (", name, ")");
  }
  return std::nullopt;
}

// Why a convolution's attributes or the operators after it do not suit, or nothing. `kernel_layout`
// is the only one that is taken.
template <typename ConvAttrs>
std::optional<std::string> RefuseWindows(const Group& group, const std::string& kernel_layout) {
  const CallNode& anchor = *group.Anchor();
  if (const auto refusal = RefuseOperands(anchor)) return refusal;
  const auto& attrs = anchor.attrs.As<ConvAttrs>();
  if (const auto refusal = RefuseLayouts(attrs, kernel_layout)) return refusal;
  for (const ops::Ints* steps : {&attrs.strides, &attrs.dilation}) {
    if (const auto refusal = RefuseSteps(*steps)) return refusal;
  }
  const bool nchw = attrs.data_layout == "NCHW";
  const auto epilogue = ReadEpilogue(*group.function, anchor, nchw ? 1 : 3);
  if (const auto* problem = std::get_if<std::string>(&epilogue)) return *problem;
  const auto layout = nchw ? ActivationLayout::kNCHW : ActivationLayout::kNHWC;
  if (const auto refusal = RefuseTensors(std::get<Epilogue>(epilogue), layout)) return refusal;
  return group.keep_nan ? LossOfNan(std::get<Epilogue>(epilogue)) : std::nullopt;
}

Epilogue EpilogueOf(const Group& group, ActivationLayout layout) {
  return std::get<Epilogue>(
      ReadEpilogue(*group.function, *group.Anchor(), layout == ActivationLayout::kNCHW ? 1 : 3));
}

std::optional<std::string> RefuseConvolution(const Group& group) {
  if (auto refusal = RefuseWindows<ops::Conv2DAttrs>(group, "OIHW")) return refusal;
  const Convolution conv = DescribeWindows<ops::Conv2DAttrs>(*group.Anchor());
  return RefusePadded(conv.in_size, conv.pad_before, conv.pad_after);
}

// Where the data has channels last, the library multiplies and adds in two vectors a cycle and does
// little else: 234 to 245 of the 235 GFLOP/s that two threads have (oneDNN 2.6.3, 1 x 1 and 3 x 3
// taps).
constexpr double kVectorsACycle = 2;
// What its detours cost where channels come first: see kDetours, of which this is the better.
constexpr double kDetourCost = 1.2;

double ConvolutionCycles(const Group& group) {
  const Convolution conv = DescribeWindows<ops::Conv2DAttrs>(*group.Anchor());
  const std::int64_t lanes = group.lowering.target.Lanes(4);
  const std::int64_t pixels = conv.batch * conv.out_size[0] * conv.out_size[1];
  const std::int64_t terms = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  const double cycles = static_cast<double>(CeilDiv(conv.out_channels, lanes) * pixels) *
                        static_cast<double>(terms) / kVectorsACycle;
  return conv.layout == ActivationLayout::kNCHW ? kDetourCost * cycles : cycles;
}

BuildResult BuildConvolution(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  Convolution conv = DescribeWindows<ops::Conv2DAttrs>(anchor);
  const Epilogue epilogue = EpilogueOf(group, conv.layout);
  conv.post_ops = epilogue.post_ops;
  const NDArray bias = epilogue.bias ? KnownValue(group, epilogue.bias) : NDArray();
  MadeKernel made = MakeConvolution(conv, KnownValue(group, anchor.args[1]), bias,
                                    static_cast<bool>(epilogue.bias) && !bias.defined());
  const auto* kernel = std::get_if<KernelPointer>(&made);
  if (kernel != nullptr && group.library == LibraryChoice::kAuto) {
    if (auto refusal = RefuseDetour(**kernel)) return Refused{*std::move(refusal)};
  }
  return WithArguments(std::move(made), Arguments(group, anchor, epilogue));
}

// --- transposed convolution

// The padding at the end is what leaves the result's extent: output_padding takes from it.
Convolution DescribeDeconvolution(const CallNode& anchor) {
  Convolution conv = DescribeWindows<ops::Conv2DTransposeAttrs>(anchor);
  for (std::size_t d = 0; d < 2; ++d)
    conv.pad_after[d] = (conv.in_size[d] - 1) * conv.strides[d] +
                        ops::WindowSpan(conv.kernel[d], conv.dilation[d]) - conv.out_size[d] -
                        conv.pad_before[d];
  return conv;
}

std::optional<std::string> RefuseDeconvolution(const Group& group) {
  if (const auto refusal = RefuseUnlessAsked(group)) return refusal;
  if (const auto refusal = RefuseWindows<ops::Conv2DTransposeAttrs>(group, "IOHW")) return refusal;
  const Convolution conv = DescribeDeconvolution(*group.Anchor());
  if (conv.pad_after[0] < 0 || conv.pad_after[1] < 0)
    return "output_padding goes beyond the padding at the end";
  return RefusePadded(conv.out_size, conv.pad_before, conv.pad_after);
}

BuildResult BuildDeconvolution(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  Convolution conv = DescribeDeconvolution(anchor);
  const Epilogue epilogue = EpilogueOf(group, conv.layout);
  conv.post_ops = epilogue.post_ops;
  const NDArray bias = epilogue.bias ? KnownValue(group, epilogue.bias) : NDArray();
  return WithArguments(MakeDeconvolution(conv, KnownValue(group, anchor.args[1]), bias,
                                         static_cast<bool>(epilogue.bias) && !bias.defined()),
                       Arguments(group, anchor, epilogue));
}

// --- matrix products

int LastAxis(const CallNode& anchor) {
  return static_cast<int>(anchor.checked_type.As<TensorTypeNode>()->shape.size()) - 1;
}

std::optional<std::string> RefuseProduct(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  if (const auto refusal = RefuseOperands(anchor)) return refusal;
  const MatrixProduct product = DescribeProduct(anchor);
  if (const auto refusal = RefuseExtents(product)) return refusal;
  if (group.library == LibraryChoice::kAuto) {
    const bool is_constant = KnownValue(group, anchor.args[1]).defined();
    if (const auto refusal = RefuseSlower(product, is_constant)) return refusal;
  }
  const auto epilogue = ReadEpilogue(*group.function, anchor, LastAxis(anchor));
  if (const auto* problem = std::get_if<std::string>(&epilogue)) return *problem;
  // Generated products are as fast, so nothing is lost without the library.
  if (group.keep_nan || group.library == LibraryChoice::kAuto)
    return LossOfNan(std::get<Epilogue>(epilogue));
  return std::nullopt;
}

BuildResult BuildProduct(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const Epilogue epilogue =
      std::get<Epilogue>(ReadEpilogue(*group.function, anchor, LastAxis(anchor)));
  MatrixProduct product = DescribeProduct(anchor);
  product.post_ops = epilogue.post_ops;
  const NDArray bias = epilogue.bias ? KnownValue(group, epilogue.bias) : NDArray();
  return WithArguments(MakeMatrixProduct(product, KnownValue(group, anchor.args[1]), bias,
                                         static_cast<bool>(epilogue.bias) && !bias.defined()),
                       Arguments(group, anchor, epilogue));
}

}  // namespace

void AttachStrategies(ops::OpRegistry& registry) {
  registry.Definition(ops::OpOf(ops::Known().conv2d)->name)
      .SetColumn(Strategy{{NarrowConvolution(), OnTarget({.name = "onednn",
                                                          .maker = Maker::kOneDnn,
                                                          .refusal = RefuseConvolution,
                                                          .cycles = ConvolutionCycles,
                                                          .build = BuildConvolution})}});
  registry.Definition("nn.conv2d_transpose")
      .SetColumn(Strategy{{OnTarget({.name = "onednn",
                                     .maker = Maker::kOneDnn,
                                     .refusal = RefuseDeconvolution,
                                     .build = BuildDeconvolution})}});
  AttachRowStrategies(registry);
  for (const char* name : {"nn.dense", "nn.matmul", "nn.batch_matmul"})
    registry.Definition(name).SetColumn(Strategy{{NarrowProduct(),
                                                  OnTarget({.name = "onednn",
                                                            .maker = Maker::kOneDnn,
                                                            .refusal = RefuseProduct,
                                                            .build = BuildProduct}),
                                                  ScaledProduct()}});
}

}  // namespace tenon::strategies::onednn
