// Convolutions, transposed convolutions and pooling, in ONNX's one layout.
#include <algorithm>

#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_export {
namespace {

void RequireLayout(const CallToWrite& call, const char* what, const std::string& layout,
                   const std::string& wanted) {
  call.Require(layout == wanted, StrCat("the ", what, " ", layout));
}

Ints Joined(Ints before, const Ints& after) {
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

template <typename AttrsType>
Names Conv(CallToWrite& call) {
  const auto& attrs = call.attrs<AttrsType>();
  const AttrsType defaults;
  RequireLayout(call, "data_layout", attrs.data_layout, defaults.data_layout);
  RequireLayout(call, "kernel_layout", attrs.kernel_layout, defaults.kernel_layout);
  if (!attrs.out_layout.empty())
    RequireLayout(call, "out_layout", attrs.out_layout, defaults.data_layout);
  call.Require(call.result_dtype() == call.dtype(0), "an out_dtype other than the data's");
  const ops::ConvRules rules = ops::ConvRulesOf(attrs);
  const Shape weight = call.shape(1);
  NodeAttributes attributes = {{"dilations", rules.dilation},
                               {"group", rules.groups},
                               {"kernel_shape", Ints(weight.begin() + 2, weight.end())},
                               {"pads", Joined(rules.before, rules.after)},
                               {"strides", rules.strides}};
  if (rules.transposed) attributes.push_back({"output_padding", rules.output_padding});
  return {call.graph.AddNode(rules.transposed ? "ConvTranspose" : "Conv",
                             {call.input(0), call.input(1)}, attributes)};
}

// Padding before and after each axis, and whether the last windows may reach past it.
struct PoolPads {
  Ints before, after;
  bool ceil = false;
};

// ONNX drops a window that would start in the padding after the data; such a window is kept here by
// padding that ends with it.
PoolPads PadsFor(const CallToWrite& call, PoolPads pads, const Ints& spans, const Ints& strides) {
  bool drops_some = false;
  Ints after = pads.after;
  for (std::size_t d = 0; d < spans.size(); ++d) {
    const std::int64_t extent = call.shape(0)[d + 2];
    const std::int64_t start = (call.result_shape()[d + 2] - 1) * strides[d];
    drops_some = drops_some || start >= extent + pads.before[d];
    after[d] = std::max(after[d], start + spans[d] - extent - pads.before[d]);
  }
  return pads.ceil && drops_some ? PoolPads{pads.before, after, false} : pads;
}

template <typename AttrsType>
Names Pool(CallToWrite& call) {
  const auto& attrs = call.attrs<AttrsType>();
  RequireLayout(call, "layout", attrs.layout, "NCHW");
  if (!attrs.out_layout.empty()) RequireLayout(call, "out_layout", attrs.out_layout, "NCHW");
  const auto sides = ops::FourPaddings(attrs.padding);
  const auto pair = [](const Ints& values, const char* attribute) {
    const auto both = ops::Pair(values, attribute);
    return Ints(both.begin(), both.end());
  };
  const Ints kernel = pair(attrs.pool_size, "pool_size"), strides = pair(attrs.strides, "strides");
  const Ints dilation = pair(attrs.dilation, "dilation");
  const Ints spans = {ops::WindowSpan(kernel[0], dilation[0]),
                      ops::WindowSpan(kernel[1], dilation[1])};
  const PoolPads pads =
      PadsFor(call, {{sides[0], sides[1]}, {sides[2], sides[3]}, attrs.ceil_mode}, spans, strides);
  NodeAttributes attributes = {{"ceil_mode", std::int64_t{pads.ceil}},
                               {"kernel_shape", kernel},
                               {"pads", Joined(pads.before, pads.after)},
                               {"strides", strides}};
  if constexpr (requires { attrs.count_include_pad; }) {
    call.Require(dilation == Ints{1, 1}, "dilation");  // only since opset 19
    call.Require(pads.ceil == attrs.ceil_mode || !attrs.count_include_pad,
                 "a window in the padding after the data, with count_include_pad,");
    attributes.emplace_back("count_include_pad", std::int64_t{attrs.count_include_pad});
    return {call.graph.AddNode("AveragePool", {call.input(0)}, attributes)};
  } else {
    attributes.emplace_back("dilations", dilation);
    return {call.graph.AddNode("MaxPool", {call.input(0)}, attributes)};
  }
}

Exporter GlobalPool(const char* type) {
  return [type](CallToWrite& call) {
    const auto& attrs = call.attrs<ops::GlobalPool2DAttrs>();
    RequireLayout(call, "layout", attrs.layout, "NCHW");
    if (!attrs.out_layout.empty()) RequireLayout(call, "out_layout", attrs.out_layout, "NCHW");
    return Names{call.graph.AddNode(type, {call.input(0)})};
  };
}

}  // namespace

void AddConvExporters(ExporterTable* table) {
  const auto& known = ops::Known();
  ExporterTable& t = *table;
  t[known.conv1d] = Conv<ops::Conv1DAttrs>;
  t[known.conv2d] = Conv<ops::Conv2DAttrs>;
  t[known.conv3d] = Conv<ops::Conv3DAttrs>;
  t[known.conv1d_transpose] = Conv<ops::Conv1DTransposeAttrs>;
  t[known.conv2d_transpose] = Conv<ops::Conv2DTransposeAttrs>;
  t[known.conv3d_transpose] = Conv<ops::Conv3DTransposeAttrs>;
  t[known.max_pool2d] = Pool<ops::MaxPool2DAttrs>;
  t[known.avg_pool2d] = Pool<ops::AvgPool2DAttrs>;
  t[known.global_avg_pool2d] = GlobalPool("GlobalAveragePool");
  t[known.global_max_pool2d] = GlobalPool("GlobalMaxPool");
}

}  // namespace tenon::onnx_export
