// oneDNN 3: a primitive descriptor is made from its operands. The logarithm of a softmax is an
// algorithm of softmax, pooling has dilation, and functions among the post-ops have no scale.
#include "tenon/strategies/onednn/library.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/error.h"

namespace tenon::strategies::onednn {
namespace {

constexpr auto kInference = dnnl::prop_kind::forward_inference;

template <typename Primitive>
Chosen Windows(const WindowsCase& c, const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  const typename Primitive::primitive_desc chosen(engine, kInference, c.algorithm, c.source,
                                                  c.weights, c.bias, c.result, c.strides,
                                                  c.dilation, c.pad_before, c.pad_after, attr);
  return ChosenOf<Primitive>(chosen);
}

// Whether the library divides by 0 while it plans the convolution, which ends the process. oneDNN
// 3.7.2 (est_eff_1x1 in its jit_brgemm_conv_utils.cpp) counts blocks of tiles, which only CPUs with
// AMX have, for five pairs of channels: ResNet-50 has four of them. For blocked images it takes
// other code first. A transposed convolution may be planned as the gradient of another one, whose
// channels are the other way round.
bool PlansByNoTiles(const WindowsCase& c) {
  using Pair = std::pair<dnnl::memory::dim, dnnl::memory::dim>;
  constexpr Pair kPairs[] = {{1024, 2048}, {1024, 512}, {256, 1024}, {512, 1024}, {512, 2048}};
  // Their numbers are sets of bits.
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto has = [&](dnnl::cpu_isa part) {
    return (isa & static_cast<unsigned>(part)) == static_cast<unsigned>(part);
  };
  const bool is_wide = c.source.get_data_type() == dnnl::memory::data_type::f32;
  if (!has(dnnl::cpu_isa::avx512_core) || (!is_wide && has(dnnl::cpu_isa::avx512_core_amx)))
    return false;
  const bool is_blocked = c.source.get_format_kind() == dnnl::memory::format_kind::blocked &&
                          c.source.get_inner_nblks() > 0;
  if (is_blocked && !c.transposed) return false;
  // Of each group, the result's channels, the source's and the taps of the window.
  dnnl::memory::dims dims = c.weights.get_dims();
  if (dims.size() > c.source.get_dims().size()) dims.erase(dims.begin());
  if (std::any_of(dims.begin() + 2, dims.end(), [](auto taps) { return taps != 1; })) return false;
  // Channels are filled up to whole vectors.
  const auto filled = [](dnnl::memory::dim channels) { return (channels + 15) / 16 * 16; };
  const Pair given(filled(dims[1]), filled(dims[0])), back(given.second, given.first);
  return std::any_of(std::begin(kPairs), std::end(kPairs), [&](const Pair& pair) {
    return pair == given || (c.transposed && pair == back);
  });
}

// How far each index of an axis moves an element. In a layout of blocks the place of an element is
// the sum of what its indices say ("Understanding Memory Formats" of the library's guide).
dnnl::memory::dims PlacesAlong(const dnnl::memory::desc& layout, std::size_t axis) {
  const dnnl::memory::dims blocks = layout.get_inner_blks(), axes = layout.get_inner_idxs();
  const dnnl::memory::dim stride = layout.get_strides()[axis];
  dnnl::memory::dims places;
  for (dnnl::memory::dim index = 0; index < layout.get_dims()[axis]; ++index) {
    dnnl::memory::dim place = 0, block_size = 1, rest = index;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      if (static_cast<std::size_t>(axes[b]) == axis) {
        place += rest % blocks[b] * block_size;
        rest /= blocks[b];
      }
      block_size *= blocks[b];
    }
    places.push_back(place + rest * stride);
  }
  return places;
}

// Copies all elements. PlacesAlong gives their places along each axis.
template <typename T>
void CopyTo(const std::vector<dnnl::memory::dims>& sources,
            const std::vector<dnnl::memory::dims>& places, const dnnl::memory& from,
            const dnnl::memory& to) {
  const auto* given = static_cast<const T*>(from.get_data_handle());
  auto* wanted = static_cast<T*>(to.get_data_handle());
  const std::size_t last = places.size() - 1;
  std::vector<std::size_t> at(last);  // on all axes but the last
  while (true) {
    dnnl::memory::dim source = 0, place = 0;
    for (std::size_t axis = 0; axis < last; ++axis) {
      source += sources[axis][at[axis]];
      place += places[axis][at[axis]];
    }
    for (std::size_t i = 0; i < places[last].size(); ++i)
      wanted[place + places[last][i]] = given[source + sources[last][i]];
    std::size_t axis = last;
    while (axis > 0 && ++at[axis - 1] == places[axis - 1].size()) at[--axis] = 0;
    if (axis == 0) return;
  }
}

// Not in the first versions of oneDNN 3.
template <typename Attr>
constexpr bool HasScalesOfBlocks = requires(Attr attr) {
  attr.set_fpmath_mode(dnnl::fpmath_mode::strict, true);
  attr.set_scales(DNNL_ARG_WEIGHTS, 0, dnnl::memory::dims(), dnnl::memory::data_type::f32);
};

template <typename Attr>
void ScaleWeightsBy(std::int64_t block, bool as_bfloats, Attr* attr) {
  if constexpr (HasScalesOfBlocks<Attr>) {
    constexpr int kRows = 1 << 0, kColumns = 1 << 1;
    attr->set_fpmath_mode(as_bfloats ? dnnl::fpmath_mode::bf16 : dnnl::fpmath_mode::strict,
                          /*apply_to_int=*/true);
    if (block == 0) {
      attr->set_scales_mask(DNNL_ARG_WEIGHTS, kColumns);
    } else {
      attr->set_scales(DNNL_ARG_WEIGHTS, kRows | kColumns, {block, 1},
                       dnnl::memory::data_type::f32);
    }
  } else {
    Unreachable("the facts say that there are no scales");
  }
}

}  // namespace

Chosen ChooseWindows(const WindowsCase& windows, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine) {
  if (PlansByNoTiles(windows))
    throw dnnl::error(dnnl_unimplemented, "the library divides by 0 for these channels");
  return windows.transposed ? Windows<dnnl::deconvolution_forward>(windows, attr, engine)
                            : Windows<dnnl::convolution_forward>(windows, attr, engine);
}

Chosen ChooseProduct(const ProductCase& product, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine) {
  const dnnl::matmul::primitive_desc chosen(engine, product.source, product.weights, product.bias,
                                            product.result, attr);
  return ChosenOf<dnnl::matmul>(chosen);
}

Chosen ChoosePooling(const PoolingCase& pooling, const dnnl::primitive_attr& attr,
                     const dnnl::engine& engine) {
  return ChosenOf<dnnl::pooling_forward>(
      {engine, kInference, pooling.algorithm, pooling.source, pooling.result, pooling.strides,
       pooling.kernel, pooling.dilation, pooling.pad_before, pooling.pad_after, attr});
}

Chosen ChooseSoftmax(bool logarithm, const dnnl::memory::desc& data, int axis,
                     const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  const auto algorithm =
      logarithm ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  return ChosenOf<dnnl::softmax_forward>({engine, kInference, algorithm, data, data, axis, attr});
}

Chosen ChooseLayerNormalization(const dnnl::memory::desc& data, float epsilon,
                                dnnl::normalization_flags flags, const dnnl::primitive_attr& attr,
                                const dnnl::engine& engine) {
  return ChosenOf<dnnl::layer_normalization_forward>(
      {engine, kInference, data, data, epsilon, flags, attr});
}

void AppendFunction(dnnl::algorithm function, float alpha, float beta, dnnl::post_ops* chain) {
  chain->append_eltwise(function, alpha, beta);
}

// Here it is x * min(max(alpha * x + beta, 0), 1).
void AppendHardSwish(dnnl::post_ops* chain) {
  AppendFunction(dnnl::algorithm::eltwise_hardswish, 1.0F / 6, 0.5F, chain);
}

// The facts of 3.7; too little is known of older versions.
LibraryFacts Facts() {
  const bool is_known = dnnl_version()->minor >= 7;
  return {.functions_keep_parameters = is_known,
          .nchw_takes_tensors = false,
          .scales_weights = is_known && HasScalesOfBlocks<dnnl::primitive_attr>};
}

void ScaleWeights(std::int64_t block, bool as_bfloats, dnnl::primitive_attr* attr) {
  ScaleWeightsBy(block, as_bfloats, attr);
}
int ScalesArgument() { return DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS; }

// oneDNN 3.7.2, jit:uni: from ba to AB16a64b and the like, elements of blocks that are not full are
// wrong on CPUs with AVX-512.
bool ReordersRight(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  constexpr auto kBlocked = dnnl::memory::format_kind::blocked;
  const bool is_copy = from.get_data_type() == to.get_data_type() &&
                       from.get_format_kind() == kBlocked && to.get_format_kind() == kBlocked &&
                       from.get_inner_nblks() == 0;
  if (!is_copy || to.get_padded_dims() == to.get_dims()) return true;
  // If the memory is larger, it has sums of the weights at its end.
  std::size_t bytes = dnnl::memory::data_type_size(to.get_data_type());
  for (const dnnl::memory::dim extent : to.get_padded_dims())
    bytes *= static_cast<std::size_t>(extent);
  return to.get_size() != bytes;
}

void PackByElement(const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::memory::desc given = from.get_desc(), wanted = to.get_desc();
  std::vector<dnnl::memory::dims> sources, places;
  for (std::size_t axis = 0; axis < wanted.get_dims().size(); ++axis) {
    sources.push_back(PlacesAlong(given, axis));
    places.push_back(PlacesAlong(wanted, axis));
  }
  std::memset(to.get_data_handle(), 0, wanted.get_size());
  if (std::ranges::any_of(places, &dnnl::memory::dims::empty)) return;
  switch (dnnl::memory::data_type_size(wanted.get_data_type())) {
    case 1:
      return CopyTo<std::uint8_t>(sources, places, from, to);
    case 2:
      return CopyTo<std::uint16_t>(sources, places, from, to);
    case 4:
      return CopyTo<std::uint32_t>(sources, places, from, to);
    default:
      Unreachable("weights have elements of 1, 2 or 4 bytes");
  }
}

std::span<const IsaStep> IsaSteps() {
  static const IsaStep kSteps[] = {
      {0x1, {"sse4.1"}},
      {0x2, {"avx"}},
      {0x4, {"avx2", "fma"}},
      {0x8, {"avxvnni"}},
      {0x10, {"avxvnniint8", "avxneconvert"}},
      {0x20, {"avx512f", "avx512bw", "avx512vl", "avx512dq"}},
      {0x40, {"avx512vnni"}},
      {0x80, {"avx512bf16"}},
      {0x100, {"avx512fp16"}},
      {0xe00, {"amx-tile", "amx-int8", "amx-bf16"}},
      {0x1000, {"amx-fp16"}},
  };
  return kSteps;
}

}  // namespace tenon::strategies::onednn
