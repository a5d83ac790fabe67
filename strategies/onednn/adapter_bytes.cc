// Convolutions of bytes, for which oneDNN has optimised code in NHWC, and matrix products of them.
#include <utility>

#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/primitive.h"

namespace tenon::strategies::onednn {

using dnnl::memory;

std::unique_ptr<jit::Callable> MakeByteConvolution(const Convolution& conv, const NDArray& weight) {
  constexpr std::string_view kWhat = "convolution of bytes";
  const std::int64_t group_inputs = conv.in_channels / conv.groups;
  RequireElements(weight, conv.out_channels * group_inputs * conv.kernel[0] * conv.kernel[1],
                  StrCat("weight of a ", kWhat), Int8);
  return Guard(kWhat, [&]() -> std::unique_ptr<jit::Callable> {
    using tag = memory::format_tag;
    using type = memory::data_type;
    const memory::desc src({conv.batch, conv.in_channels, conv.in_size[0], conv.in_size[1]},
                           type::u8, tag::nhwc);
    const memory::desc dst({conv.batch, conv.out_channels, conv.out_size[0], conv.out_size[1]},
                           type::s32, tag::nhwc);
    memory::dims weight_dims = {conv.out_channels / conv.groups, group_inputs, conv.kernel[0],
                                conv.kernel[1]};
    const bool grouped = conv.groups > 1;
    if (grouped) weight_dims.insert(weight_dims.begin(), conv.groups);
    const memory::desc plain(weight_dims, type::s8, grouped ? tag::goihw : tag::oihw);
    const memory::desc any(weight_dims, type::s8, tag::any);
    const auto pair = [](const auto& v) { return memory::dims{v[0], v[1]}; };
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src, any,
        memory::desc(), dst, pair(conv.strides), {conv.dilation[0] - 1, conv.dilation[1] - 1},
        pair(conv.pad_before), pair(conv.pad_after));
    const dnnl::convolution_forward::primitive_desc chosen(desc, MakeAttr({}, dst), Engine());
    std::string name = CheckedImplementation(chosen.impl_info_str(), kWhat);
    return MakeKernel(
        dnnl::convolution_forward(chosen),
        {Buffer(DNNL_ARG_SRC, src), Weight(DNNL_ARG_WEIGHTS, plain, chosen.weights_desc(), weight),
         Buffer(DNNL_ARG_DST, dst)},
        chosen.scratchpad_desc(), std::move(name));
  });
}

std::unique_ptr<jit::Callable> MakeByteMatrixProduct(const MatrixProduct& product,
                                                     const NDArray& rhs) {
  constexpr std::string_view kWhat = "matrix product of bytes";
  RequireElements(rhs, product.rhs_batch * product.depth * product.columns,
                  StrCat("right side of a ", kWhat), Int8);
  return Guard(kWhat, [&]() -> std::unique_ptr<jit::Callable> {
    using tag = memory::format_tag;
    using type = memory::data_type;
    const memory::desc src({product.batch, product.rows, product.depth}, type::u8,
                           product.lhs_transposed ? tag::acb : tag::abc);
    const memory::desc dst({product.batch, product.rows, product.columns}, type::s32, tag::abc);
    const memory::dims rhs_dims = {product.rhs_batch, product.depth, product.columns};
    const memory::desc plain(rhs_dims, type::s8, product.rhs_transposed ? tag::acb : tag::abc);
    const dnnl::matmul::desc desc(src, memory::desc(rhs_dims, type::s8, tag::any), dst);
    const dnnl::matmul::primitive_desc chosen(desc, MakeAttr({}, dst), Engine());
    std::string name = CheckedImplementation(chosen.impl_info_str(), kWhat);
    return MakeKernel(
        dnnl::matmul(chosen),
        {Buffer(DNNL_ARG_SRC, src), Weight(DNNL_ARG_WEIGHTS, plain, chosen.weights_desc(), rhs),
         Buffer(DNNL_ARG_DST, dst)},
        chosen.scratchpad_desc(), std::move(name));
  });
}

}  // namespace tenon::strategies::onednn
