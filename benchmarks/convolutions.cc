// Convolutions with a relu behind them, in the layout that a user writes (NCHW) and with constant
// weights, against oneDNN in the layout that it likes best.
#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/benchmarks/onednn_peer.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Kind {
  const char* name;
  std::int64_t kernel, stride, padding;
  bool depthwise;
};

constexpr Kind kKinds[] = {{"3x3", 3, 1, 1, false},
                           {"3x3 stride 2", 3, 2, 1, false},
                           {"1x1", 1, 1, 0, false},
                           {"depthwise 3x3", 3, 1, 1, true}};

struct Image {
  std::int64_t channels, size;
};

constexpr Image kImages[] = {{64, 56}, {128, 28}, {256, 14}};

// Tenon's contestant, checked, with oneDNN and the floor beside it. `result` gives what `tenon`
// computes of `x` and `w`, channels first.
Contestants WithOthers(const ConvolutionShape& s, int threads, const Tensor& x, const Tensor& w,
                       const Contestant& tenon, const std::function<Tensor()>& result) {
  auto peer = std::make_shared<OneDnnConvolution>(s, x, w);
  tenon.call();
  peer->Call();
  RequireClose(result(), peer->Result(), 1e-3);
  Contestants contestants = {
      tenon, {Role::kPeer, StrCat("oneDNN ", peer->implementation()), [peer] { peer->Call(); }}};
  if (s.groups > 1) {
    // Two flops a byte: what costs is moving the image.
    const Tensor copy = Tensor::Zeros(x.shape(), Float32);
    contestants.push_back({Role::kFloor, "copy loop", [=] {
                             CopyArray(copy.data<float>(), x.data<float>(), x.size(), threads);
                           }});
  } else {
    contestants.push_back({Role::kFloor, "FMA loop", [=] { MultiplyAdds(s.flops(), threads); }});
  }
  return contestants;
}

Contestants Prepare(const ConvolutionShape& s, int threads) {
  const Tensor x = RandomArray({1, s.in_channels, s.size, s.size});
  const Tensor w = RandomArray({s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, 2);
  const ir::Expr image = Input("x", x.shape());
  const ir::Expr conv = ops::Conv2D(image, ir::Constant::Make(w),
                                    {.strides = {s.stride, s.stride},
                                     .padding = {s.padding, s.padding},
                                     .groups = s.groups,
                                     .channels = s.out_channels,
                                     .kernel_size = ops::Ints{s.kernel, s.kernel}});
  auto graph = std::make_shared<CompiledGraph>(ir::Module::FromExpr(ops::Relu(conv)),
                                               runtime::Inputs{{"x", x}});
  return WithOthers(
      s, threads, x, w,
      {Role::kTenon, StrCat("NCHW, kernels: ", graph->num_kernels()), [graph] { graph->Call(); }},
      [graph] { return graph->result(); });
}

}  // namespace

void AddConvolutions(std::vector<Race>& races) {
  for (const Kind& kind : kKinds) {
    for (const Image& image : kImages) {
      const ConvolutionShape shape{.in_channels = image.channels,
                                   .out_channels = image.channels,
                                   .size = image.size,
                                   .kernel = kind.kernel,
                                   .stride = kind.stride,
                                   .padding = kind.padding,
                                   .groups = kind.depthwise ? image.channels : 1};
      for (const int threads : {1, 2}) {
        races.push_back({.table = "conv2d",
                         .name = StrCat(kind.name, ", ", image.channels, " channels of ",
                                        image.size, " x ", image.size),
                         .threads = threads,
                         .flops = shape.flops(),
                         .aim = {.of_peer = 0.75},
                         .prepare = [=] { return Prepare(shape, threads); }});
      }
    }
  }
}

}  // namespace tenon::benchmarks
