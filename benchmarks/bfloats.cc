// Convolutions and matrix products of bfloat16 with constant weights, beside Tenon's own ones of
// float32 as the floor to beat and oneDNN's of bfloat16: generated alone, and as they run by
// default, which is by oneDNN between generated kernels where the CPU has matrix instructions.
#include <bit>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/convolution_kinds.h"
#include "tenon/benchmarks/families.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

// A result is rounded to 8 bits of mantissa.
constexpr double kTolerance = 1.0 / 128;

Tensor Narrowed(const Tensor& floats) {
  Tensor halves = Tensor::Zeros(floats.shape(), BFloat16);
  for (std::int64_t i = 0; i < floats.size(); ++i) {
    static_cast<std::uint16_t*>(halves.raw())[i] =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(floats.data<float>()[i]) >> 16);
  }
  return halves;
}

Tensor Widened(const Tensor& halves) {
  Tensor floats = Tensor::Zeros(halves.shape(), Float32);
  for (std::int64_t i = 0; i < floats.size(); ++i) {
    const std::uint32_t bits = static_cast<const std::uint16_t*>(halves.raw())[i];
    floats.data<float>()[i] = std::bit_cast<float>(bits << 16);
  }
  return floats;
}

// The graph that `make` builds of an image and weights, followed by relu.
template <typename Make>
std::shared_ptr<CompiledGraph> Compiled(const Tensor& x, const Tensor& w, LibraryChoice library,
                                        const Make& make) {
  const ir::Var image = ir::Var::Make("x", ir::TensorTypeOf(x.shape(), x.dtype()));
  const ir::Expr sums = make(image, ir::Constant::Make(w));
  return std::make_shared<CompiledGraph>(ir::Module::FromExpr(ops::Relu(sums)),
                                         runtime::Inputs{{"x", x}}, library);
}

// Both results are compared.
template <typename Make>
Contestants Pair(const Tensor& x, const Tensor& w, LibraryChoice library, const Make& make) {
  const auto halves = Compiled(x, w, library, make);
  const auto floats = Compiled(Widened(x), Widened(w), LibraryChoice::kTe, make);
  halves->Call();
  floats->Call();
  RequireClose(Widened(halves->result()), floats->result(), kTolerance);
  return {{Role::kTenon, StrCat("kernels: ", halves->num_kernels()), [halves] { halves->Call(); }},
          {Role::kFloor, "the same of float32", [floats] { floats->Call(); }}};
}

Contestants Prepare(const ConvolutionShape& s, LibraryChoice library) {
  const Tensor x = Narrowed(RandomArray({1, s.in_channels, s.size, s.size}));
  const Tensor w =
      Narrowed(RandomArray({s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, 2));
  const ops::Conv2DAttrs attrs{
      .strides = {s.stride, s.stride}, .padding = {s.padding, s.padding}, .groups = s.groups};
  Contestants contestants = Pair(x, w, library, [&](const ir::Expr& image, const ir::Expr& weight) {
    return ops::Conv2D(image, weight, attrs);
  });
  auto peer = std::make_shared<OneDnnConvolution>(s, x, w);
  contestants.push_back(
      {Role::kPeer, StrCat("oneDNN ", peer->implementation()), [peer] { peer->Call(); }});
  return contestants;
}

Contestants Prepare(const Product& product, LibraryChoice library) {
  const auto [rows, columns, depth] = product;
  return Pair(Narrowed(RandomArray({rows, depth})), Narrowed(RandomArray({columns, depth}, 2)),
              library,
              [](const ir::Expr& left, const ir::Expr& right) { return ops::Dense(left, right); });
}

}  // namespace

void AddBFloats(std::vector<Race>& races) {
  ForEachNarrowWork([&](const std::string& name, const auto& work, LibraryChoice library) {
    races.push_back({.table = "bfloats",
                     .name = name,
                     .flops = work.flops(),
                     .aim = {.of_floor = 1.0},
                     .prepare = [=] { return Prepare(work, library); }});
  });
}

}  // namespace tenon::benchmarks
