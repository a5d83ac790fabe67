#include "tenon/benchmarks/onednn_peer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "tenon/benchmarks/onednn_scale.h"
#include "tenon/strategies/onednn/library.h"

namespace tenon::benchmarks {
namespace {

using dnnl::memory;

constexpr int kTrials = 10;

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Streams of a CPU engine run what they are given at once: nobody need wait.
const dnnl::stream& Stream() {
  thread_local const dnnl::stream stream(Engine());
  return stream;
}

struct Layout {
  const char* name;
  memory::format_tag activation;
};

constexpr Layout kLayouts[] = {{"blocked", memory::format_tag::any},
                               {"nChw16c", memory::format_tag::nChw16c},
                               {"NHWC", memory::format_tag::nhwc},
                               {"NCHW", memory::format_tag::nchw}};

memory Reordered(const memory& from, const memory::desc& desc) {
  memory to(desc, Engine());
  memory source = from;
  dnnl::reorder(source, to).execute(Stream(), source, to);
  return to;
}

memory::data_type TypeOf(const NDArray& array) {
  if (array.dtype() == UInt8) return memory::data_type::u8;
  if (array.dtype() == BFloat16) return memory::data_type::bf16;
  return array.dtype() == Int8 ? memory::data_type::s8 : memory::data_type::f32;
}

memory Borrowed(const NDArray& array, const memory::dims& dims, memory::format_tag tag) {
  return memory({dims, TypeOf(array), tag}, Engine(), array.raw());
}

}  // namespace

struct OneDnnConvolution::Candidate {
  std::string implementation;
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;

  void Call() const { primitive.execute(Stream(), arguments); }

  double BestSeconds() const {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTrials; ++i) {
      const auto start = std::chrono::steady_clock::now();
      Call();
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  }

  // Throws dnnl::error when there is no code for the layout.
  static std::unique_ptr<Candidate> Make(const ConvolutionShape& s, const NDArray& x,
                                         const NDArray& w, const Layout& layout,
                                         dnnl::algorithm algorithm, float scale) {
    const memory::dims in = {1, s.in_channels, s.size, s.size};
    const memory::dims out = {1, s.out_channels, s.out_size(), s.out_size()};
    const memory::dims weight =
        s.groups == 1 ? memory::dims{s.out_channels, s.in_channels, s.kernel, s.kernel}
                      : memory::dims{s.groups, s.out_channels / s.groups, s.in_channels / s.groups,
                                     s.kernel, s.kernel};
    dnnl::primitive_attr attr;
    if (x.dtype() == UInt8) {
      ScaleResults(scale, &attr);
    } else {
      dnnl::post_ops relu;
      strategies::onednn::AppendFunction(dnnl::algorithm::eltwise_relu, 0, 0, &relu);
      attr.set_post_ops(relu);
    }
    const strategies::onednn::Chosen chosen =
        strategies::onednn::ChooseWindows({.algorithm = algorithm,
                                           .source = {in, TypeOf(x), layout.activation},
                                           .weights = {weight, TypeOf(w), memory::format_tag::any},
                                           .bias = {},
                                           .result = {out, TypeOf(x), layout.activation},
                                           .strides = {s.stride, s.stride},
                                           .dilation = {0, 0},
                                           .pad_before = {s.padding, s.padding},
                                           .pad_after = {s.padding, s.padding}},
                                          attr, Engine());
    auto candidate = std::make_unique<Candidate>();
    candidate->implementation = std::string(layout.name) + " " + chosen.implementation;
    candidate->primitive = chosen.primitive;
    const auto weight_tag = s.groups == 1 ? memory::format_tag::oihw : memory::format_tag::goihw;
    candidate->arguments = {
        {DNNL_ARG_SRC, Reordered(Borrowed(x, in, memory::format_tag::nchw), chosen.source)},
        {DNNL_ARG_WEIGHTS, Reordered(Borrowed(w, weight, weight_tag), chosen.weights)},
        {DNNL_ARG_DST, memory(chosen.result, Engine())}};
    if (x.dtype() == UInt8) AddScale(scale, Engine(), &candidate->arguments);
    return candidate;
  }
};

OneDnnConvolution::OneDnnConvolution(const ConvolutionShape& shape, const NDArray& x,
                                     const NDArray& w, float scale)
    : shape_(shape), dtype_(x.dtype()) {
  double best = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Layout& layout, dnnl::algorithm algorithm) {
    try {
      std::unique_ptr<Candidate> candidate = Candidate::Make(shape, x, w, layout, algorithm, scale);
      if (candidate->implementation.find("ref") != std::string::npos) return;
      const double seconds = candidate->BestSeconds();
      if (seconds >= best) return;
      best = seconds;
      best_ = std::move(candidate);
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
  };
  for (const Layout& layout : kLayouts) {
    consider(layout, dnnl::algorithm::convolution_direct);
    if (shape.winograd) consider(layout, dnnl::algorithm::convolution_winograd);
  }
  if (best_ == nullptr) throw std::runtime_error("oneDNN has no code for this convolution");
}

OneDnnConvolution::~OneDnnConvolution() = default;

void OneDnnConvolution::Call() const { best_->Call(); }

std::string OneDnnConvolution::implementation() const { return best_->implementation; }

NDArray OneDnnConvolution::Result() const {
  const std::int64_t out = shape_.out_size();
  NDArray result = NDArray::Empty({1, shape_.out_channels, out, out}, dtype_);
  memory plain =
      Reordered(best_->arguments.at(DNNL_ARG_DST),
                {{1, shape_.out_channels, out, out}, TypeOf(result), memory::format_tag::nchw});
  std::memcpy(result.raw(), plain.get_data_handle(), result.bytes());
  return result;
}

void OneDnnSgemm(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* a,
                 const float* b, bool b_transposed, float* c) {
  const dnnl::status status =
      dnnl::sgemm('N', b_transposed ? 'T' : 'N', rows, columns, depth, 1.0F, a, depth, b,
                  b_transposed ? depth : columns, 0.0F, c, columns);
  if (status != dnnl::status::success) throw std::runtime_error("dnnl_sgemm refuses");
}

}  // namespace tenon::benchmarks
