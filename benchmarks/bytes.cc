// Convolutions and matrix products of uint8 by constant int8, made uint8 again, beside Tenon's own
// ones of float32 as the floor to beat: generated alone, and as they run by default, which is by
// oneDNN between generated kernels where the CPU has matrix instructions.
#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/convolution_kinds.h"
#include "tenon/benchmarks/families.h"
#include "tenon/ops/qnn_builders.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

constexpr float kScale = 1.0F / 4096;

ir::Expr Zero(DataType type) { return ops::Scalar(0, type); }

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

std::shared_ptr<CompiledGraph> Requantized(const ir::Expr& sums, const Tensor& x,
                                           LibraryChoice library) {
  const ir::Expr bytes = ops::QnnRequantize(sums, ops::Scalar(kScale), Zero(Int32), ops::Scalar(1),
                                            Zero(UInt8), {.out_dtype = UInt8});
  return std::make_shared<CompiledGraph>(ir::Module::FromExpr(bytes), runtime::Inputs{{"x", x}},
                                         library);
}

std::shared_ptr<CompiledGraph> OfFloats(const ir::Expr& sums, const Tensor& x) {
  return std::make_shared<CompiledGraph>(ir::Module::FromExpr(ops::Relu(sums)),
                                         runtime::Inputs{{"x", x}});
}

Contestant Ours(const std::shared_ptr<CompiledGraph>& graph) {
  return {Role::kTenon, StrCat("kernels: ", graph->num_kernels()), [graph] { graph->Call(); }};
}

Contestants Prepare(const ConvolutionShape& s, LibraryChoice library) {
  const Tensor x = RandomBytes<std::uint8_t>({1, s.in_channels, s.size, s.size}, UInt8);
  const Tensor w = RandomBytes<std::int8_t>(
      {s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, Int8);
  const ops::Conv2DAttrs attrs{.strides = {s.stride, s.stride},
                               .padding = {s.padding, s.padding},
                               .groups = s.groups,
                               .channels = s.out_channels,
                               .kernel_size = ops::Ints{s.kernel, s.kernel}};
  const ir::Var image = ir::Var::Make("x", ir::TensorTypeOf(x.shape(), UInt8));
  const auto graph =
      Requantized(ops::QnnConv2D(image, ir::Constant::Make(w), Zero(UInt8), Zero(Int8),
                                 ops::Scalar(1), ops::Scalar(kScale), attrs),
                  x, library);
  const Tensor float_x = RandomArray(x.shape());
  const auto floats = OfFloats(
      ops::Conv2D(Input("x", x.shape()), ir::Constant::Make(RandomArray(w.shape(), 2)), attrs),
      float_x);
  auto peer = std::make_shared<OneDnnConvolution>(s, x, w, kScale);
  graph->Call();
  peer->Call();
  RequireNeighbours(graph->result(), peer->Result());
  return {Ours(graph),
          {Role::kFloor, "the same of float32", [floats] { floats->Call(); }},
          {Role::kPeer, StrCat("oneDNN ", peer->implementation()), [peer] { peer->Call(); }}};
}

Contestants Prepare(const Product& product, LibraryChoice library) {
  const auto [rows, columns, depth] = product;
  const Tensor x = RandomBytes<std::uint8_t>({rows, depth}, UInt8);
  const Tensor w = RandomBytes<std::int8_t>({columns, depth}, Int8);
  const ir::Var left = ir::Var::Make("x", ir::TensorTypeOf(x.shape(), UInt8));
  const ir::Expr sums = ops::QnnDense(left, ir::Constant::Make(w), Zero(UInt8), Zero(Int8),
                                      ops::Scalar(1), ops::Scalar(kScale), {.units = columns});
  const auto graph = Requantized(sums, x, library);
  const auto generated = Requantized(sums, x, LibraryChoice::kTe);
  const Tensor float_x = RandomArray(x.shape());
  const auto floats = OfFloats(
      ops::Dense(Input("x", x.shape()), ir::Constant::Make(RandomArray(w.shape(), 2))), float_x);
  graph->Call();
  generated->Call();
  RequireNeighbours(graph->result(), generated->result());
  return {Ours(graph), {Role::kFloor, "the same of float32", [floats] { floats->Call(); }}};
}

}  // namespace

void AddBytes(std::vector<Race>& races) {
  ForEachNarrowWork([&](const std::string& name, const auto& work, LibraryChoice library) {
    races.push_back({.table = "bytes",
                     .name = name,
                     .flops = work.flops(),
                     .aim = {.of_floor = 1.0},
                     .prepare = [=] { return Prepare(work, library); }});
  });
}

}  // namespace tenon::benchmarks
