// What differs between the major versions of oneDNN: how a primitive is described, post-ops, and
// the bits of instruction sets.
//
// v2/library.cc and v3/library.cc define the same functions; the build compiles the one that fits
// the installed headers. Whatever both versions spell alike is in adapter*.cc and primitive.cc. All
// throw dnnl::error where the library has no code for the case.
#ifndef TENON_STRATEGIES_ONEDNN_LIBRARY_H_
#define TENON_STRATEGIES_ONEDNN_LIBRARY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dnnl.hpp>

namespace tenon::strategies::onednn {

// A primitive with the code that the library chose for it.
struct Chosen {
  dnnl::primitive primitive;
  dnnl::memory::desc source, weights, result;  // the layouts that it takes; an empty one is none
  dnnl::memory::desc scratchpad;
  std::string implementation;  // oneDNN's name of the code
};

// Whether the name of an implementation, "conv+ref:any" for instance, has reference code in it.
bool IsReference(std::string_view implementation);

// For v2/ and v3/: the first implementation that has no reference code, or else the last one.
template <typename Primitive>
Chosen ChosenOf(typename Primitive::primitive_desc desc) {
  while (IsReference(desc.impl_info_str()) && desc.next_impl()) {
  }
  return {.primitive = Primitive(desc),
          .source = desc.query_md(dnnl::query::src_md),
          .weights = desc.query_md(dnnl::query::weights_md),
          .result = desc.query_md(dnnl::query::dst_md),
          .scratchpad = desc.scratchpad_desc(),
          .implementation = desc.impl_info_str()};
}

// A convolution, or a transposed one. A weight of the format `any` is laid out as the library
// likes; an empty bias is none. A dilation of 0 leaves no gaps.
struct WindowsCase {
  bool transposed = false;
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
  dnnl::memory::desc source, weights, bias, result;
  dnnl::memory::dims strides, dilation, pad_before, pad_after;
};
Chosen ChooseWindows(const WindowsCase& windows, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine);

// result = source x weights + bias; an empty bias is none.
struct ProductCase {
  dnnl::memory::desc source, weights, bias, result;
};
Chosen ChooseProduct(const ProductCase& product, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine);

// Makes a product of weights that are integers multiply them by scales of float32: one for each
// column and each `block` of rows, or 0, for all rows. `as_bfloats`: they are multiplied as
// bfloat16. Only where Facts() have scales_weights.
void ScaleWeights(std::int64_t block, bool as_bfloats, dnnl::primitive_attr* attr);
int ScalesArgument();  // its number

struct PoolingCase {
  dnnl::algorithm algorithm = dnnl::algorithm::pooling_max;
  dnnl::memory::desc source, result;
  dnnl::memory::dims strides, kernel, dilation, pad_before, pad_after;
};
Chosen ChoosePooling(const PoolingCase& pooling, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine);

// The result has the layout of `data`.
Chosen ChooseSoftmax(bool logarithm, const dnnl::memory::desc& data, int axis,
                     const dnnl::primitive_attr& attr, const dnnl::engine& engine);
Chosen ChooseLayerNormalization(const dnnl::memory::desc& data, float epsilon,
                                dnnl::normalization_flags flags, const dnnl::primitive_attr& attr,
                                const dnnl::engine& engine);

// Applies a function to each result.
void AppendFunction(dnnl::algorithm function, float alpha, float beta, dnnl::post_ops* chain);
// x * min(max(x + 3, 0), 6) / 6.
void AppendHardSwish(dnnl::post_ops* chain);

// Whether the library's reorder from one layout into the other is right.
bool ReordersRight(const dnnl::memory::desc& from, const dnnl::memory::desc& to);
// The same element by element, for layouts where the library's reorder is wrong. `from` is plain,
// and `to` has blocks, whose rest becomes 0.
void PackByElement(const dnnl::memory& from, const dnnl::memory& to);

// Bits of dnnl_cpu_isa_t that a step up adds, and the features that code of this step may use.
struct IsaStep {
  int bits;
  std::vector<const char*> features;
};
std::span<const IsaStep> IsaSteps();

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_LIBRARY_H_
