// Primitives without weights to pack: pooling, softmax and layer normalisation.
#include <utility>

#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/primitive.h"

namespace tenon::strategies::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

memory::dims Pair(const std::array<std::int64_t, 2>& v) { return {v[0], v[1]}; }

algorithm AlgorithmOf(Pooling::Kind kind) {
  switch (kind) {
    case Pooling::Kind::kMax:
      return algorithm::pooling_max;
    case Pooling::Kind::kMean:
      return algorithm::pooling_avg_exclude_padding;
    case Pooling::Kind::kMeanWithPadding:
      return algorithm::pooling_avg_include_padding;
  }
  Unreachable("all kinds of pooling are listed");
}

// Row-major.
memory::desc Plain(const Shape& shape) {
  memory::dims strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return {memory::dims(shape.begin(), shape.end()), kFloat, strides};
}

}  // namespace

MadeKernel MakePooling(const Pooling& pooling) {
  const auto make = [=](const Knowns&) -> Made {
    const auto tag = pooling.layout == ActivationLayout::kNCHW ? memory::format_tag::nchw
                                                               : memory::format_tag::nhwc;
    const memory::desc src(
        {pooling.batch, pooling.channels, pooling.in_size[0], pooling.in_size[1]}, kFloat, tag);
    const memory::desc dst(
        {pooling.batch, pooling.channels, pooling.out_size[0], pooling.out_size[1]}, kFloat, tag);
    Chosen chosen = ChoosePooling({.algorithm = AlgorithmOf(pooling.kind),
                                   .source = src,
                                   .result = dst,
                                   .strides = Pair(pooling.strides),
                                   .kernel = Pair(pooling.kernel),
                                   .dilation = {pooling.dilation[0] - 1, pooling.dilation[1] - 1},
                                   .pad_before = Pair(pooling.pad_before),
                                   .pad_after = Pair(pooling.pad_after)},
                                  MakeAttr(pooling.post_ops, dst), Engine());
    std::vector<Argument> arguments = {Buffer(DNNL_ARG_SRC, src)};
    AddTensorOperands(pooling.post_ops, dst, &arguments);
    arguments.push_back(Buffer(DNNL_ARG_DST, dst));
    return {std::move(chosen), std::move(arguments)};
  };
  return MakeKernel("pooling", make, {});
}

MadeKernel MakeSoftmax(const Softmax& softmax) {
  const auto make = [=](const Knowns&) -> Made {
    const memory::desc data = Plain(softmax.shape);
    return {ChooseSoftmax(softmax.logarithm, data, static_cast<int>(softmax.axis),
                          MakeAttr({}, data), Engine()),
            {Buffer(DNNL_ARG_SRC, data), Buffer(DNNL_ARG_DST, data)}};
  };
  return MakeKernel(softmax.logarithm ? "logarithm of a softmax" : "softmax", make, {});
}

MadeKernel MakeLayerNormalization(const LayerNormalization& norm, const NDArray& gamma,
                                  const NDArray& beta) {
  RequireElements(gamma, norm.columns, "layer normalisation's scale");
  RequireElements(beta, norm.columns, "layer normalisation's shift");
  const memory::desc along({norm.columns}, kFloat, memory::format_tag::a);
  Knowns known;
  AddKnown(DNNL_ARG_SCALE, along, gamma, &known);
  AddKnown(DNNL_ARG_SHIFT, along, beta, &known);
  const auto make = [=](const Knowns& weights) -> Made {
    const memory::desc data({norm.rows, norm.columns}, kFloat, memory::format_tag::ab);
    dnnl::normalization_flags flags = dnnl::normalization_flags::none;
    if (norm.scale) flags = flags | dnnl::normalization_flags::use_scale;
    if (norm.shift) flags = flags | dnnl::normalization_flags::use_shift;
    Chosen chosen = ChooseLayerNormalization(data, static_cast<float>(norm.epsilon), flags,
                                             MakeAttr({}, data), Engine());
    std::vector<Argument> arguments = {Buffer(DNNL_ARG_SRC, data)};
    if (norm.scale) arguments.push_back(Weight(DNNL_ARG_SCALE, along, along, weights));
    if (norm.shift) arguments.push_back(Weight(DNNL_ARG_SHIFT, along, along, weights));
    arguments.push_back(Buffer(DNNL_ARG_DST, data));
    return {std::move(chosen), std::move(arguments)};
  };
  return MakeKernel("layer normalisation", make, known);
}

}  // namespace tenon::strategies::onednn
