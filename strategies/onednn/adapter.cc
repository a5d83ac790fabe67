// Primitives with weights. Known weights are reordered into the layout that the primitive asks for.
#include "tenon/strategies/onednn/adapter.h"

#include <utility>

#include "tenon/jit/host_target.h"
#include "tenon/strategies/onednn/primitive.h"

namespace tenon::strategies::onednn {
namespace {

using dnnl::memory;

memory::dims Pair(const std::array<std::int64_t, 2>& v) { return {v[0], v[1]}; }

// The element types of a primitive's operands.
struct Types {
  memory::data_type source, weight, result;
};
constexpr Types kFloats = {kFloat, kFloat, kFloat};

memory::data_type TypeOf(DataType type) {
  if (type == UInt8) return memory::data_type::u8;
  if (type == Int8) return memory::data_type::s8;
  if (type == Int32) return memory::data_type::s32;
  if (type == BFloat16) return memory::data_type::bf16;
  CheckInvariant(type == Float32, "oneDNN has the types of narrow sums");
  return kFloat;
}
Types TypesOf(const NarrowTypes& types) {
  return {TypeOf(types.data), TypeOf(types.weight), TypeOf(types.result)};
}

std::int64_t WeightElements(const Convolution& conv) {
  return conv.out_channels * (conv.in_channels / conv.groups) * conv.kernel[0] * conv.kernel[1];
}

// A convolution or a transposed one. The latter's weight has its input channels first.
MadeKernel MakeWindows(const Convolution& conv, const Types& types, bool transposed,
                       memory::format_tag plain, memory::format_tag in_groups,
                       const NDArray& weight, const NDArray& bias, bool has_bias,
                       std::string_view what) {
  RequireElements(bias, conv.out_channels, StrCat(what, "'s bias"));
  memory::dims weight_dims = {conv.out_channels / conv.groups, conv.in_channels / conv.groups,
                              conv.kernel[0], conv.kernel[1]};
  const bool grouped = conv.groups > 1;
  if (grouped) weight_dims.insert(weight_dims.begin(), conv.groups);
  const memory::desc given(weight_dims, types.weight, grouped ? in_groups : plain);
  const bool with_bias = has_bias || bias.defined();
  const memory::desc bias_desc =
      with_bias ? memory::desc({conv.out_channels}, kFloat, memory::format_tag::a) : memory::desc();
  Knowns known;
  AddKnown(DNNL_ARG_WEIGHTS, given, weight, &known);
  AddKnown(DNNL_ARG_BIAS, bias_desc, bias, &known);
  const auto make = [=](const Knowns& weights) -> Made {
    const auto tag = conv.layout == ActivationLayout::kNCHW ? memory::format_tag::nchw
                                                            : memory::format_tag::nhwc;
    const memory::desc src({conv.batch, conv.in_channels, conv.in_size[0], conv.in_size[1]},
                           types.source, tag);
    const memory::desc dst({conv.batch, conv.out_channels, conv.out_size[0], conv.out_size[1]},
                           types.result, tag);
    const memory::desc any(weight_dims, types.weight, memory::format_tag::any);
    Chosen chosen = ChooseWindows({.transposed = transposed,
                                   .algorithm = transposed ? dnnl::algorithm::deconvolution_direct
                                                           : dnnl::algorithm::convolution_direct,
                                   .source = src,
                                   .weights = any,
                                   .bias = bias_desc,
                                   .result = dst,
                                   .strides = Pair(conv.strides),
                                   .dilation = {conv.dilation[0] - 1, conv.dilation[1] - 1},
                                   .pad_before = Pair(conv.pad_before),
                                   .pad_after = Pair(conv.pad_after)},
                                  MakeAttr(conv.post_ops, dst), Engine());
    std::vector<Argument> arguments = {Buffer(DNNL_ARG_SRC, src),
                                       Weight(DNNL_ARG_WEIGHTS, given, chosen.weights, weights)};
    if (with_bias) arguments.push_back(Weight(DNNL_ARG_BIAS, bias_desc, bias_desc, weights));
    AddTensorOperands(conv.post_ops, dst, &arguments);
    arguments.push_back(Buffer(DNNL_ARG_DST, dst));
    return {std::move(chosen), std::move(arguments)};
  };
  return MakeKernel(what, make, known);
}

MadeKernel MakeProduct(const MatrixProduct& product, const Types& types, const NDArray& rhs,
                       const NDArray& bias, bool has_bias, std::string_view what) {
  RequireElements(bias, product.columns, StrCat(what, "'s bias"));
  using tag = memory::format_tag;
  const memory::dims rhs_dims = {product.rhs_batch, product.depth, product.columns};
  const memory::desc given(rhs_dims, types.weight, product.rhs_transposed ? tag::acb : tag::abc);
  // A right side that changes from call to call is read as it is; packing it each time would not
  // pay.
  const memory::desc wanted =
      rhs.defined() ? memory::desc(rhs_dims, types.weight, tag::any) : given;
  const bool with_bias = has_bias || bias.defined();
  const memory::desc bias_desc =
      with_bias ? memory::desc({1, 1, product.columns}, kFloat, tag::abc) : memory::desc();
  Knowns known;
  AddKnown(DNNL_ARG_WEIGHTS, given, rhs, &known);
  AddKnown(DNNL_ARG_BIAS, bias_desc, bias, &known);
  const auto make = [=](const Knowns& weights) -> Made {
    const memory::desc src({product.batch, product.rows, product.depth}, types.source,
                           product.lhs_transposed ? tag::acb : tag::abc);
    const memory::desc dst({product.batch, product.rows, product.columns}, types.result, tag::abc);
    Chosen chosen =
        ChooseProduct({.source = src, .weights = wanted, .bias = bias_desc, .result = dst},
                      MakeAttr(product.post_ops, dst), Engine());
    std::vector<Argument> arguments = {Buffer(DNNL_ARG_SRC, src),
                                       Weight(DNNL_ARG_WEIGHTS, given, chosen.weights, weights)};
    if (with_bias) arguments.push_back(Weight(DNNL_ARG_BIAS, bias_desc, bias_desc, weights));
    AddTensorOperands(product.post_ops, dst, &arguments);
    arguments.push_back(Buffer(DNNL_ARG_DST, dst));
    return {std::move(chosen), std::move(arguments)};
  };
  return MakeKernel(what, make, known);
}

}  // namespace

MadeKernel MakeConvolution(const Convolution& conv, const NDArray& weight, const NDArray& bias,
                           bool has_bias) {
  RequireElements(weight, WeightElements(conv), "convolution's weight");
  return MakeWindows(conv, kFloats, /*transposed=*/false, memory::format_tag::oihw,
                     memory::format_tag::goihw, weight, bias, has_bias, "convolution");
}

MadeKernel MakeNarrowConvolution(const Convolution& conv, const NarrowTypes& types,
                                 const NDArray& weight) {
  const std::string what = StrCat("convolution of ", types.weight.ToString());
  RequireElements(weight, WeightElements(conv), StrCat("weight of a ", what), types.weight);
  Convolution in_nhwc = conv;  // for which there is optimised code
  in_nhwc.layout = ActivationLayout::kNHWC;
  return MakeWindows(in_nhwc, TypesOf(types), /*transposed=*/false, memory::format_tag::oihw,
                     memory::format_tag::goihw, weight, {}, false, what);
}

MadeKernel MakeDeconvolution(const Convolution& conv, const NDArray& weight, const NDArray& bias,
                             bool has_bias) {
  RequireElements(weight, WeightElements(conv), "transposed convolution's weight");
  return MakeWindows(conv, kFloats, /*transposed=*/true, memory::format_tag::iohw,
                     memory::format_tag::giohw, weight, bias, has_bias, "transposed convolution");
}

MadeKernel MakeMatrixProduct(const MatrixProduct& product, const NDArray& rhs, const NDArray& bias,
                             bool has_bias) {
  RequireElements(rhs, product.rhs_batch * product.depth * product.columns,
                  "matrix product's right side");
  return MakeProduct(product, kFloats, rhs, bias, has_bias, "matrix product");
}

MadeKernel MakeNarrowMatrixProduct(const MatrixProduct& product, const NarrowTypes& types,
                                   const NDArray& rhs) {
  const std::string what = StrCat("matrix product of ", types.weight.ToString());
  RequireElements(rhs, product.rhs_batch * product.depth * product.columns,
                  StrCat("right side of a ", what), types.weight);
  return MakeProduct(product, TypesOf(types), rhs, {}, false, what);
}

MadeKernel MakeScaledMatrixProduct(const MatrixProduct& product, const NarrowTypes& types,
                                   const NDArray& values, const NDArray& scales) {
  const std::string what = StrCat("product of ", types.data.ToString(), " by scaled bytes");
  RequireElements(values, product.depth * product.columns, StrCat("right side of a ", what), Int8);
  RequireElements(scales, scales.shape().at(0) * product.columns, StrCat("scales of a ", what));
  using tag = memory::format_tag;
  const Types of = TypesOf(types);
  const std::int64_t blocks = scales.shape()[0];
  const memory::dims extents = {product.depth, product.columns};
  const memory::desc given(extents, of.weight, tag::ab), any(extents, of.weight, tag::any);
  const memory::desc scales_desc = blocks == 1
                                       ? memory::desc({product.columns}, kFloat, tag::a)
                                       : memory::desc({blocks, product.columns}, kFloat, tag::ab);
  Knowns known;
  AddKnown(DNNL_ARG_WEIGHTS, given, values, &known);
  AddKnown(ScalesArgument(), scales_desc, scales, &known);
  const auto make = [=](const Knowns& weights) -> Made {
    const memory::desc src({product.rows, product.depth}, of.source,
                           product.lhs_transposed ? tag::ba : tag::ab);
    const memory::desc dst({product.rows, product.columns}, of.result, tag::ab);
    dnnl::primitive_attr attr = MakeAttr({}, dst);
    ScaleWeights(blocks == 1 ? 0 : product.depth / blocks, of.source == memory::data_type::bf16,
                 &attr);
    Chosen chosen =
        ChooseProduct({.source = src, .weights = any, .bias = {}, .result = dst}, attr, Engine());
    std::vector<Argument> arguments = {
        Buffer(DNNL_ARG_SRC, src), Weight(DNNL_ARG_WEIGHTS, given, chosen.weights, weights),
        Weight(ScalesArgument(), scales_desc, scales_desc, weights), Buffer(DNNL_ARG_DST, dst)};
    return {std::move(chosen), std::move(arguments)};
  };
  return MakeKernel(what, make, known);
}

std::optional<std::string> FeatureBeyond(const Target& target) {
  const auto used = static_cast<int>(dnnl::get_effective_cpu_isa());
  for (const IsaStep& step : IsaSteps()) {
    if ((used & step.bits) != step.bits) continue;
    for (const char* feature : step.features) {
      if (jit::HostTarget().Has(feature) && !target.Has(feature)) return feature;
    }
  }
  return std::nullopt;
}

bool IsPresent() { return true; }

std::string LibraryVersion() {
  const dnnl_version_t* version = dnnl_version();
  return StrCat(version->major, ".", version->minor, ".", version->patch);
}

}  // namespace tenon::strategies::onednn
