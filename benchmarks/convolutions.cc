// Convolutions followed by a relu, in the layout that a user writes (NCHW) and with constant
// weights, against oneDNN in the layout that it likes best.
#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/convolution_kinds.h"
#include "tenon/benchmarks/families.h"
#include "tenon/benchmarks/onednn_peer.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

// The layers of ResNet-50 whose numbers of channels in and out differ, or whose images are small.
struct Layer {
  std::int64_t in, out, size, kernel, stride;
};

constexpr Layer kResNetLayers[] = {
    {3, 64, 224, 7, 2},    {64, 256, 56, 1, 1},    {256, 64, 56, 1, 1},   {256, 128, 56, 1, 1},
    {256, 512, 56, 1, 2},  {128, 512, 28, 1, 1},   {512, 128, 28, 1, 1},  {512, 256, 28, 1, 1},
    {512, 1024, 28, 1, 2}, {256, 1024, 14, 1, 1},  {1024, 256, 14, 1, 1}, {1024, 512, 14, 1, 1},
    {512, 512, 14, 3, 2},  {1024, 2048, 14, 1, 2}, {512, 2048, 7, 1, 1},  {2048, 512, 7, 1, 1},
    {512, 512, 7, 3, 1}};

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
  auto graph = std::make_shared<CompiledGraph>(
      ir::Module::FromExpr(ops::Relu(conv)), runtime::Inputs{{"x", x}},
      CompileOptions{.library = LibraryChoice::kTe, .winograd = s.winograd});
  return WithOthers(
      s, threads, x, w,
      {Role::kTenon, StrCat("NCHW, kernels: ", graph->num_kernels()), [graph] { graph->Call(); }},
      [graph] { return graph->result(); });
}

}  // namespace

void AddConvolutions(std::vector<Race>& races) {
  const auto race = [&](const char* table, const std::string& layer,
                        const ConvolutionShape& shape) {
    for (const int threads : {1, 2}) {
      races.push_back({.table = table,
                       .name = StrCat(layer, " channels of ", shape.size, " x ", shape.size),
                       .threads = threads,
                       .flops = shape.flops(),
                       .aim = {.of_peer = 0.75},
                       .prepare = [=] { return Prepare(shape, threads); }});
    }
  };
  const auto add = [&](const Kind& kind) {
    for (const Image& image : kImages)
      race("conv2d", StrCat(kind.name, ", ", image.channels), ShapeOf(kind, image));
  };
  add(kByWinograd);
  for (const Kind& kind : kKinds) add(kind);
  for (const Layer& layer : kResNetLayers) {
    const ConvolutionShape shape{.in_channels = layer.in,
                                 .out_channels = layer.out,
                                 .size = layer.size,
                                 .kernel = layer.kernel,
                                 .stride = layer.stride,
                                 .padding = layer.kernel / 2,
                                 .groups = 1,
                                 .winograd = true};
    race("resnet50_layers",
         StrCat(layer.kernel, "x", layer.kernel, layer.stride > 1 ? " stride 2" : "", ", ",
                layer.in, " to ", layer.out),
         shape);
  }
}

}  // namespace tenon::benchmarks
