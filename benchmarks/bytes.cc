// Convolutions and matrix products of uint8 by constant int8, made uint8 again, beside Tenon's own
// ones of float32 as the floor to beat: generated alone, and as they run by default, which is by
// oneDNN between generated kernels where the CPU has matrix instructions.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/convolution_kinds.h"
#include "tenon/benchmarks/families.h"
#include "tenon/ops/quantize/qnn_builders.h"
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

// The first element that differs by more than one from that of `expected`, in words; empty where
// none does. Both round a sum once, of factors that differ in the last bit.
std::string FirstDifference(const Tensor& actual, const Tensor& expected) {
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    const int difference = actual.data<std::uint8_t>()[i] - expected.data<std::uint8_t>()[i];
    if (difference < -1 || difference > 1) return StrCat("element ", i, " differs by ", difference);
  }
  return "";
}

void RequireNeighbours(const Tensor& actual, const Tensor& expected) {
  const std::string difference = FirstDifference(actual, expected);
  Require(difference.empty(), difference);
}

// The convolution by its definition, with sums that nothing can overflow.
Tensor Expected(const ConvolutionShape& s, const Tensor& x, const Tensor& w) {
  const std::int64_t size = (s.size + 2 * s.padding - s.kernel) / s.stride + 1;
  const std::int64_t of_group = s.in_channels / s.groups;
  Tensor result = Tensor::Zeros({1, s.out_channels, size, size}, UInt8);
  std::vector<std::int64_t> sums(size * size);
  for (std::int64_t out = 0; out < s.out_channels; ++out) {
    const std::int64_t first = out / (s.out_channels / s.groups) * of_group;
    std::fill(sums.begin(), sums.end(), 0);
    for (std::int64_t tap = 0; tap < of_group * s.kernel * s.kernel; ++tap) {
      const std::int64_t channel = tap / (s.kernel * s.kernel);
      const std::int64_t row = tap / s.kernel % s.kernel, column = tap % s.kernel;
      const std::int64_t factor = w.data<std::int8_t>()[out * of_group * s.kernel * s.kernel + tap];
      const std::uint8_t* image = x.data<std::uint8_t>() + (first + channel) * s.size * s.size;
      for (std::int64_t y = 0; y < size; ++y) {
        const std::int64_t at_row = y * s.stride + row - s.padding;
        if (at_row < 0 || at_row >= s.size) continue;
        for (std::int64_t at = 0; at < size; ++at) {
          const std::int64_t at_column = at * s.stride + column - s.padding;
          if (at_column >= 0 && at_column < s.size)
            sums[y * size + at] += factor * image[at_row * s.size + at_column];
        }
      }
    }
    for (std::int64_t i = 0; i < size * size; ++i) {
      const double scaled = std::round(static_cast<double>(sums[i]) * kScale);
      result.data<std::uint8_t>()[out * size * size + i] =
          static_cast<std::uint8_t>(std::clamp(scaled, 0.0, 255.0));
    }
  }
  return result;
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
  const Tensor expected = Expected(s, x, w);
  graph->Call();
  RequireNeighbours(graph->result(), expected);
  Contestants contestants = {Ours(graph),
                             {Role::kFloor, "the same of float32", [floats] { floats->Call(); }}};
  // Without VNNI oneDNN adds pairs of products in 16 bits, which saturate. Wrong sums are no peer.
  peer->Call();
  if (FirstDifference(peer->Result(), expected).empty()) {
    contestants.push_back(
        {Role::kPeer, StrCat("oneDNN ", peer->implementation()), [peer] { peer->Call(); }});
  }
  return contestants;
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
