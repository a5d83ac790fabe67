// Operators without weights to pack. A softmax or a layer norm has no epilogue. What follows it
// stays outside, so its composite is the operator alone.
#include <algorithm>

#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/onednn/operands.h"
#include "tenon/strategies/onednn/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {
namespace {

using ir::CallNode;

std::optional<std::string> RefuseAnchor(const Group& group) {
  if (const auto refusal = RefuseUnlessAsked(group)) return refusal;
  return RefuseOperands(*group.Anchor());
}

std::optional<std::string> RefuseMoreThanAnchor(const Group& group) {
  if (group.function->body.As<CallNode>() != group.Anchor())
    return "oneDNN has nothing else in this primitive";
  return std::nullopt;
}

// --- pooling

std::string LayoutOf(const CallNode& anchor) {
  const auto& known = ops::Known();
  if (anchor.callee == known.max_pool2d) return anchor.attrs.As<ops::MaxPool2DAttrs>().layout;
  if (anchor.callee == known.avg_pool2d) return anchor.attrs.As<ops::AvgPool2DAttrs>().layout;
  return anchor.attrs.As<ops::GlobalPool2DAttrs>().layout;
}

// Windows and padding as given; the padding at the end grows where the last window overhangs.
template <typename Attrs>
void DescribeWindows(const Attrs& attrs, Pooling* pooling) {
  const auto padding = ops::FourPaddings(attrs.padding);
  pooling->kernel = ops::Pair(attrs.pool_size, "pool_size");
  pooling->strides = ops::Pair(attrs.strides, "strides");
  pooling->dilation = ops::Pair(attrs.dilation, "dilation");
  for (std::size_t d = 0; d < 2; ++d) {
    pooling->pad_before[d] = padding[d];
    const std::int64_t reach = (pooling->out_size[d] - 1) * pooling->strides[d] +
                               ops::WindowSpan(pooling->kernel[d], pooling->dilation[d]);
    pooling->pad_after[d] =
        std::max(padding[d + 2], reach - pooling->in_size[d] - pooling->pad_before[d]);
  }
}

Pooling DescribePooling(const CallNode& anchor) {
  const auto& known = ops::Known();
  const bool nchw = LayoutOf(anchor) == "NCHW";
  const Shape data = ir::StaticShape(anchor.args[0].checked_type(), "the data");
  const Shape result = ir::StaticShape(anchor.checked_type, "the result");
  const std::size_t h = nchw ? 2 : 1;
  Pooling pooling{.batch = data[0],
                  .channels = data[nchw ? 1 : 3],
                  .in_size = {data[h], data[h + 1]},
                  .kernel = {data[h], data[h + 1]},
                  .out_size = {result[h], result[h + 1]},
                  .layout = nchw ? ActivationLayout::kNCHW : ActivationLayout::kNHWC};
  if (anchor.callee == known.max_pool2d) {
    DescribeWindows(anchor.attrs.As<ops::MaxPool2DAttrs>(), &pooling);
  } else if (anchor.callee == known.avg_pool2d) {
    const auto& attrs = anchor.attrs.As<ops::AvgPool2DAttrs>();
    pooling.kind = attrs.count_include_pad ? Pooling::Kind::kMeanWithPadding : Pooling::Kind::kMean;
    DescribeWindows(attrs, &pooling);
  } else if (anchor.callee == known.global_avg_pool2d) {
    pooling.kind = Pooling::Kind::kMean;
  }
  return pooling;
}

template <typename Attrs>
std::optional<std::string> RefuseStepsOf(const Attrs& attrs) {
  if (auto refusal = RefuseSteps(attrs.strides)) return refusal;
  return RefuseSteps(attrs.dilation);
}
std::optional<std::string> RefuseStepsOf(const CallNode& anchor) {
  const auto& known = ops::Known();
  if (anchor.callee == known.max_pool2d)
    return RefuseStepsOf(anchor.attrs.As<ops::MaxPool2DAttrs>());
  if (anchor.callee == known.avg_pool2d)
    return RefuseStepsOf(anchor.attrs.As<ops::AvgPool2DAttrs>());
  return std::nullopt;
}

std::optional<std::string> RefusePooling(const Group& group) {
  if (const auto refusal = RefuseAnchor(group)) return refusal;
  const CallNode& anchor = *group.Anchor();
  if (auto refusal = RefuseStepsOf(anchor)) return refusal;
  const std::string layout = LayoutOf(anchor);
  if (layout != "NCHW" && layout != "NHWC")
    return StrCat("it takes the layouts NCHW and NHWC, not ", layout);
  const Pooling pooling = DescribePooling(anchor);
  if (auto refusal = RefusePadded(pooling.in_size, pooling.pad_before, pooling.pad_after))
    return refusal;
  if (group.keep_nan && pooling.kind == Pooling::Kind::kMax)
    return "its maximum of a window drops NaN";
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t span = ops::WindowSpan(pooling.kernel[d], pooling.dilation[d]);
    if (std::max(pooling.pad_before[d], pooling.pad_after[d]) >= span)
      return "a window would lie in the padding";
    if (pooling.kind == Pooling::Kind::kMean && pooling.in_size[d] < pooling.dilation[d])
      return "the taps of a window might pass over the data";
    if (pooling.kind == Pooling::Kind::kMeanWithPadding &&
        (pooling.out_size[d] - 1) * pooling.strides[d] + span >
            pooling.pad_before[d] + pooling.in_size[d] +
                ops::FourPaddings(anchor.attrs.As<ops::AvgPool2DAttrs>().padding)[d + 2])
      return "taps that ceil_mode lets overhang would count";
  }
  const auto read = ReadEpilogue(*group.function, anchor, layout == "NCHW" ? 1 : 3);
  if (const auto* epilogue = std::get_if<Epilogue>(&read); epilogue != nullptr && group.keep_nan) {
    if (const auto loss = LossOfNan(*epilogue)) return loss;
  }
  if (const auto* problem = std::get_if<std::string>(&read)) return *problem;
  if (std::get<Epilogue>(read).bias) return "a pooling takes no bias";
  return RefuseTensors(std::get<Epilogue>(read), pooling.layout);
}

BuildResult BuildPooling(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  Pooling pooling = DescribePooling(anchor);
  const Epilogue epilogue = std::get<Epilogue>(
      ReadEpilogue(*group.function, anchor, pooling.layout == ActivationLayout::kNCHW ? 1 : 3));
  pooling.post_ops = epilogue.post_ops;
  return WithArguments(MakePooling(pooling), Arguments(group, anchor, epilogue));
}

// --- rows

std::optional<std::string> RefuseSoftmax(const Group& group) {
  if (const auto refusal = RefuseAnchor(group)) return refusal;
  if (group.keep_nan) return "numbers beside a NaN become 0, not NaN";
  return RefuseMoreThanAnchor(group);
}

BuildResult BuildSoftmax(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const Shape shape = ir::StaticShape(anchor.checked_type, "the result");
  const auto axis = static_cast<std::size_t>(
      ops::NormalAxis(anchor.attrs.As<ops::SoftmaxAttrs>().axis, shape.size()));
  // The library has no tensors of more than 12 axes. Three say all that it needs.
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const Shape joined = {NumElements({shape.begin(), at}), *at, NumElements({at + 1, shape.end()})};
  const bool logarithm = ops::OpOf(anchor)->name == "nn.log_softmax";
  return WithArguments(MakeSoftmax({.shape = joined, .axis = 1, .logarithm = logarithm}),
                       Arguments(group, anchor, {}));
}

std::optional<std::string> RefuseLayerNorm(const Group& group) {
  if (const auto refusal = RefuseAnchor(group)) return refusal;
  const CallNode& anchor = *group.Anchor();
  const std::size_t rank = anchor.checked_type.As<ir::TensorTypeNode>()->shape.size();
  if (ops::NormalAxis(anchor.attrs.As<ops::LayerNormAttrs>().axis, rank) + 1 !=
      static_cast<int>(rank))
    return "it normalises the last axis only";
  return RefuseMoreThanAnchor(group);
}

BuildResult BuildLayerNorm(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  const auto& attrs = anchor.attrs.As<ops::LayerNormAttrs>();
  const Shape shape = ir::StaticShape(anchor.checked_type, "the result");
  const LayerNormalization norm{.rows = NumElements(shape) / shape.back(),
                                .columns = shape.back(),
                                .epsilon = attrs.epsilon,
                                .scale = attrs.scale,
                                .shift = attrs.center};
  const NDArray gamma = KnownValue(group, anchor.args[1]);
  const NDArray beta = KnownValue(group, anchor.args[2]);
  std::vector<int> arguments = {ParameterIndex(group, anchor.args[0])};
  if (norm.scale && !gamma.defined()) arguments.push_back(ParameterIndex(group, anchor.args[1]));
  if (norm.shift && !beta.defined()) arguments.push_back(ParameterIndex(group, anchor.args[2]));
  return WithArguments(MakeLayerNormalization(norm, gamma, beta), std::move(arguments));
}

}  // namespace

void AttachRowStrategies(ops::OpRegistry& registry) {
  const auto attach = [&](const char* name, const auto& refusal, const auto& build) {
    registry.Definition(name).SetColumn(Strategy{{OnTarget(
        {.name = "onednn", .maker = Maker::kOneDnn, .refusal = refusal, .build = build})}});
  };
  for (const char* name :
       {"nn.max_pool2d", "nn.avg_pool2d", "nn.global_max_pool2d", "nn.global_avg_pool2d"})
    attach(name, RefusePooling, BuildPooling);
  for (const char* name : {"nn.softmax", "nn.log_softmax"})
    attach(name, RefuseSoftmax, BuildSoftmax);
  attach("nn.layer_norm", RefuseLayerNorm, BuildLayerNorm);
}

}  // namespace tenon::strategies::onednn
