// nn.conv1d and nn.conv3d as a direct sum over input channels and kernel taps.
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/strategies/te/conv/blocked_sum.h"
#include "tenon/strategies/te/conv/conv_sum.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;

// All fields except the image.
ConvSum Describe(const TeCall& call, const ops::ConvRules& rules) {
  const Tensor& weight = call.input(1);
  const DataType dtype = call.dtype();
  ConvSum conv{.data = rules.data,
               .out = rules.out,
               .strides = rules.strides,
               .dilation = rules.dilation,
               .groups = rules.groups,
               .group_inputs = ExtentOf(weight, rules.kernel[1]),
               .group_outputs = ExtentOf(weight, rules.kernel[0]) / rules.groups,
               .taps = {},
               .image = {},
               .weight = {},
               .weight_is_constant = call.IsConstant(1),
               .dtype = dtype,
               .shape = call.sizes(),
               .target = call.target};
  for (std::size_t d = 0; d < rules.dims; ++d)
    conv.taps.push_back(ExtentOf(weight, rules.kernel[d + 2]));
  conv.weight = [weight, dtype, kernel = rules.kernel](const Expr& filter, const Expr& channel,
                                                       const std::vector<Expr>& taps) {
    std::vector<Expr> at(kernel.size());
    at[kernel[0]] = filter;
    at[kernel[1]] = channel;
    for (std::size_t d = 0; d < taps.size(); ++d) at[kernel[d + 2]] = taps[d];
    return te::Cast(dtype, weight[at]);
  };
  return conv;
}

template <typename AttrsType>
bool HasBlocks(const TeCall& call) {
  return ops::HasBlocks(call.attrs.As<AttrsType>());
}

// Convolutions over blocks of channels, in the layouts that AlterOpLayout and ConvertLayout give.
template <typename AttrsType>
TeForm FormOfBlocks(const std::string& name) {
  return {.name = StrCat(name, ".", AttrsType{}.data_layout, "c"),
          .refusal = [](const TeCall& call) -> std::optional<std::string> {
            const auto& attrs = call.attrs.As<AttrsType>();
            if (auto refusal = RefuseBlockLayouts(attrs)) return refusal;
            return RefuseBlockedSum(call, attrs.groups, call.shape()[1],
                                    ExtentOf(call.input(1), 1) * attrs.groups);
          },
          .make = [=](const TeCall& call) -> std::vector<Tensor> {
            const auto rules = ops::ConvRulesOf(OfWholeAxes(call.attrs.As<AttrsType>()));
            const std::vector<std::size_t> spatial(rules.data.begin() + 2, rules.data.end());
            return {SumOfBlocks(
                {.strides = rules.strides,
                 .dilation = rules.dilation,
                 .groups = rules.groups,
                 .image = PadImage(call.input(0), spatial, rules.before, rules.after, te::Stored{}),
                 .weight = call.input(1),
                 .dtype = call.dtype(),
                 .shape = call.shape(),
                 .target = call.target},
                name)};
          }};
}

template <typename AttrsType>
TeCompute FormsOf(const std::string& name) {
  const auto describe = [](const TeCall& call) {
    return Describe(call, ops::ConvRulesOf(call.attrs.As<AttrsType>()));
  };
  const auto describe_skipping = [](const TeCall& call) {
    const ops::ConvRules rules = ops::ConvRulesOf(call.attrs.As<AttrsType>());
    return Skipping(Describe(call, rules), call.input(0), rules.before, rules.after);
  };
  const auto with_image = [](ConvSum conv, const TeCall& call) {
    const ops::ConvRules rules = ops::ConvRulesOf(call.attrs.As<AttrsType>());
    const std::vector<std::size_t> spatial(rules.data.begin() + 2, rules.data.end());
    conv.image = PadImage(call.input(0), spatial, rules.before, rules.after);
    return conv;
  };
  const TeMake make_plain = [=](const TeCall& call) -> std::vector<Tensor> {
    return {PlainSum(with_image(describe(call), call), call, name)};
  };
  const auto tiled = [=](const char* suffix, const auto& sum_of, const auto& refuse) {
    return TeForm{.name = StrCat(name, suffix),
                  .refusal = [=](const TeCall& call) -> std::optional<std::string> {
                    if (HasBlocks<AttrsType>(call)) return kHasBlocks;
                    return refuse(sum_of(call));
                  },
                  .make = [=](const TeCall& call) -> std::vector<Tensor> {
                    return {TiledSum(with_image(sum_of(call), call), call, name)};
                  },
                  .cycles = [=](const TeCall& call) { return TiledSumCycles(sum_of(call)); }};
  };
  TeForm skipping = tiled(".skipping", describe_skipping, RefuseSkippingSum);
  skipping.rounds_differently = true;
  TeForm plain{.name = StrCat(name, ".plain"), .refusal = nullptr, .make = [=](const TeCall& call) {
                 return HasBlocks<AttrsType>(call) ? OverWholeAxes<AttrsType>(call, make_plain)
                                                   : make_plain(call);
               }};
  return {.make = nullptr,
          .forms = {std::move(skipping), tiled(".tiled", describe, RefuseTiledSum),
                    FormOfBlocks<AttrsType>(name), std::move(plain)}};
}

}  // namespace

void AttachConvNdComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv1d").SetColumn(FormsOf<ops::Conv1DAttrs>("conv1d"));
  registry.Definition("nn.conv3d").SetColumn(FormsOf<ops::Conv3DAttrs>("conv3d"));
}

}  // namespace tenon::strategies
