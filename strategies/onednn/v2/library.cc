// oneDNN 2.6: a primitive descriptor is made from an operation descriptor.
#include "tenon/strategies/onednn/library.h"

#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/error.h"

namespace tenon::strategies::onednn {
namespace {

constexpr auto kInference = dnnl::prop_kind::forward_inference;

template <typename Primitive>
Chosen Windows(const WindowsCase& c, const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  const typename Primitive::desc desc(kInference, c.algorithm, c.source, c.weights, c.bias,
                                      c.result, c.strides, c.dilation, c.pad_before, c.pad_after);
  const typename Primitive::primitive_desc chosen(desc, attr, engine);
  return ChosenOf<Primitive>(chosen);
}

template <typename Primitive>
Chosen Rows(const dnnl::memory::desc& data, int axis, const dnnl::primitive_attr& attr,
            const dnnl::engine& engine) {
  const typename Primitive::desc desc(kInference, data, axis);
  return ChosenOf<Primitive>({desc, attr, engine});
}

}  // namespace

Chosen ChooseWindows(const WindowsCase& windows, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine) {
  return windows.transposed ? Windows<dnnl::deconvolution_forward>(windows, attr, engine)
                            : Windows<dnnl::convolution_forward>(windows, attr, engine);
}

Chosen ChooseProduct(const ProductCase& product, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine) {
  const dnnl::matmul::desc desc(product.source, product.weights, product.bias, product.result);
  const dnnl::matmul::primitive_desc chosen(desc, attr, engine);
  return ChosenOf<dnnl::matmul>(chosen);
}

Chosen ChoosePooling(const PoolingCase& pooling, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine) {
  const dnnl::pooling_v2_forward::desc desc(
      kInference, pooling.algorithm, pooling.source, pooling.result, pooling.strides,
      pooling.kernel, pooling.dilation, pooling.pad_before, pooling.pad_after);
  return ChosenOf<dnnl::pooling_v2_forward>({desc, attr, engine});
}

Chosen ChooseSoftmax(bool logarithm, const dnnl::memory::desc& data, int axis,
                     const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  return logarithm ? Rows<dnnl::logsoftmax_forward>(data, axis, attr, engine)
                   : Rows<dnnl::softmax_forward>(data, axis, attr, engine);
}

Chosen ChooseLayerNormalization(const dnnl::memory::desc& data, float epsilon,
                                dnnl::normalization_flags flags, const dnnl::primitive_attr& attr,
                                const dnnl::engine& engine) {
  const dnnl::layer_normalization_forward::desc desc(kInference, data, epsilon, flags);
  return ChosenOf<dnnl::layer_normalization_forward>({desc, attr, engine});
}

void AppendFunction(dnnl::algorithm function, float alpha, float beta, dnnl::post_ops* chain) {
  chain->append_eltwise(1.0F, function, alpha, beta);
}

void AppendHardSwish(dnnl::post_ops* chain) {
  AppendFunction(dnnl::algorithm::eltwise_hardswish, 0, 0, chain);
}

LibraryFacts Facts() {
  return {.functions_keep_parameters = false, .nchw_takes_tensors = true, .scales_weights = false};
}

void ScaleWeights(std::int64_t /*block*/, bool /*as_bfloats*/, dnnl::primitive_attr* /*attr*/) {
  Unreachable("oneDNN 2 has no scales of weights");
}
int ScalesArgument() { Unreachable("oneDNN 2 has no scales of weights"); }

bool ReordersRight(const dnnl::memory::desc& /*from*/, const dnnl::memory::desc& /*to*/) {
  return true;
}
void PackByElement(const dnnl::memory& /*from*/, const dnnl::memory& /*to*/) {
  Unreachable("oneDNN 2 packs all weights itself");
}

std::span<const IsaStep> IsaSteps() {
  static const IsaStep kSteps[] = {
      {0x1, {"sse4.1"}},
      {0x2, {"avx"}},
      {0x4, {"avx2", "fma"}},
      {0x20, {"avx512f", "avx512bw", "avx512vl", "avx512dq"}},
      {0x40, {"avx512vnni"}},
      {0x80, {"avx512bf16"}},
      {0x300, {"amx-tile", "amx-int8", "amx-bf16"}},
      {0x400, {"avxvnni"}},
  };
  return kSteps;
}

}  // namespace tenon::strategies::onednn
