// A convolution's attributes in the adapter's terms, for all operators that have such attributes.
#ifndef TENON_STRATEGIES_ONEDNN_WINDOWS_H_
#define TENON_STRATEGIES_ONEDNN_WINDOWS_H_

#include <optional>
#include <string>

#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {

// `kernel_layout` is the only one that is taken.
template <typename ConvAttrs>
std::optional<std::string> RefuseLayouts(const ConvAttrs& attrs, const std::string& kernel_layout) {
  if (attrs.data_layout != "NCHW" && attrs.data_layout != "NHWC")
    return StrCat("it takes the layouts NCHW and NHWC, not ", attrs.data_layout);
  if (!attrs.out_layout.empty() && attrs.out_layout != attrs.data_layout)
    return "it keeps the layout of the data";
  if (attrs.kernel_layout != kernel_layout)
    return StrCat("it takes kernels in ", kernel_layout, ", not ", attrs.kernel_layout);
  return std::nullopt;
}

template <typename ConvAttrs>
Convolution DescribeWindows(const ir::CallNode& anchor) {
  const auto& attrs = anchor.attrs.As<ConvAttrs>();
  const bool nchw = attrs.data_layout == "NCHW";
  const Shape data = ir::StaticShape(anchor.args[0].checked_type(), "the data");
  const Shape weight = ir::StaticShape(anchor.args[1].checked_type(), "the weight");
  const Shape result = ir::StaticShape(anchor.checked_type, "the result");
  const auto padding = ops::FourPaddings(attrs.padding);
  const std::size_t h = nchw ? 2 : 1, c = nchw ? 1 : 3;
  return {.batch = data[0],
          .in_channels = data[c],
          .out_channels = result[c],
          .groups = attrs.groups,
          .in_size = {data[h], data[h + 1]},
          .kernel = {weight[2], weight[3]},
          .out_size = {result[h], result[h + 1]},
          .strides = ops::Pair(attrs.strides, "strides"),
          .dilation = ops::Pair(attrs.dilation, "dilation"),
          .pad_before = {padding[0], padding[1]},
          .pad_after = {padding[2], padding[3]},
          .layout = nchw ? ActivationLayout::kNCHW : ActivationLayout::kNHWC};
}

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_WINDOWS_H_
