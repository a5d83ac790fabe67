// Convolutions with a relu behind them, in the layout that a user writes (NCHW) and with constant
// weights, against oneDNN in the layout that it likes best.
#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/benchmarks/onednn_peer.h"
#include "tenon/ops/qnn_builders.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Kind {
  const char* name;
  std::int64_t kernel, stride, padding;
  bool depthwise = false;
  bool winograd = false;
};

constexpr Kind kKinds[] = {{"3x3", 3, 1, 1},
                           {"3x3 stride 2", 3, 2, 1},
                           {"1x1", 1, 1, 0},
                           {"depthwise 3x3", 3, 1, 1, true}};
// As it runs unless plain sums are asked for.
constexpr Kind kByWinograd = {"3x3 by Winograd", 3, 1, 1, false, true};

struct Image {
  std::int64_t channels, size;
};

constexpr Image kImages[] = {{64, 56}, {128, 28}, {256, 14}};

ConvolutionShape ShapeOf(const Kind& kind, const Image& image) {
  return {.in_channels = image.channels,
          .out_channels = image.channels,
          .size = image.size,
          .kernel = kind.kernel,
          .stride = kind.stride,
          .padding = kind.padding,
          .groups = kind.depthwise ? image.channels : 1,
          .winograd = kind.winograd};
}

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

// --- bytes

template <typename T>
Tensor RandomBytes(const Shape& shape, DataType type) {
  Tensor bytes = Tensor::Zeros(shape, type);
  for (std::int64_t i = 0; i < bytes.size(); ++i)
    bytes.data<T>()[i] = static_cast<T>((i * 7919 + i / 13) % 251);
  return bytes;
}

// Both round a sum once, of factors that differ in the last bit.
void RequireNeighbours(const Tensor& ours, const Tensor& expected) {
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    const int difference = ours.data<std::uint8_t>()[i] - expected.data<std::uint8_t>()[i];
    Require(difference >= -1 && difference <= 1, StrCat("element ", i, " differs by ", difference));
  }
}

// uint8 by int8, made uint8 again, beside Tenon's own convolution of float32 as the floor to beat.
Contestants PrepareBytes(const ConvolutionShape& s) {
  const Tensor x = RandomBytes<std::uint8_t>({1, s.in_channels, s.size, s.size}, UInt8);
  const Tensor w = RandomBytes<std::int8_t>(
      {s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, Int8);
  const ops::Conv2DAttrs attrs{.strides = {s.stride, s.stride},
                               .padding = {s.padding, s.padding},
                               .groups = s.groups,
                               .channels = s.out_channels,
                               .kernel_size = ops::Ints{s.kernel, s.kernel}};
  constexpr float kScale = 1.0F / 4096;
  const auto zero = [](DataType type) { return ops::Scalar(0, type); };
  const ir::Var image = ir::Var::Make("x", ir::TensorTypeOf(x.shape(), UInt8));
  const ir::Expr sums = ops::QnnConv2D(image, ir::Constant::Make(w), zero(UInt8), zero(Int8),
                                       ops::Scalar(1), ops::Scalar(kScale), attrs);
  const ir::Expr bytes = ops::QnnRequantize(sums, ops::Scalar(kScale), zero(Int32), ops::Scalar(1),
                                            zero(UInt8), {.out_dtype = UInt8});
  auto graph =
      std::make_shared<CompiledGraph>(ir::Module::FromExpr(bytes), runtime::Inputs{{"x", x}});
  const Tensor float_x = RandomArray(x.shape());
  auto floats = std::make_shared<CompiledGraph>(
      ir::Module::FromExpr(ops::Relu(ops::Conv2D(
          Input("x", x.shape()), ir::Constant::Make(RandomArray(w.shape(), 2)), attrs))),
      runtime::Inputs{{"x", float_x}});
  auto peer = std::make_shared<OneDnnConvolution>(s, x, w, kScale);
  graph->Call();
  peer->Call();
  RequireNeighbours(graph->result(), peer->Result());
  return {{Role::kTenon, StrCat("kernels: ", graph->num_kernels()), [graph] { graph->Call(); }},
          {Role::kFloor, "the same of float32", [floats] { floats->Call(); }},
          {Role::kPeer, StrCat("oneDNN ", peer->implementation()), [peer] { peer->Call(); }}};
}

}  // namespace

void AddByteConvolutions(std::vector<Race>& races) {
  for (const Kind& kind : kKinds) {
    for (const Image& image : kImages) {
      const ConvolutionShape shape = ShapeOf(kind, image);
      races.push_back({.table = "byte_conv2d",
                       .name = StrCat(kind.name, ", ", image.channels, " channels of ", image.size,
                                      " x ", image.size),
                       .flops = shape.flops(),
                       .aim = {.of_floor = 1.0},
                       .prepare = [=] { return PrepareBytes(shape); }});
    }
  }
}

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
