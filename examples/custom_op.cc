// A custom operator in one place: attributes, type, computation. It fuses with its neighbours like
// any other.
#include <cmath>
#include <cstdio>

#include "tenon/tenon.h"

namespace te = tenon::te;
namespace ops = tenon::ops;
using tenon::Tensor;

struct SwishAttrs {
  double beta = 1.0;
  static constexpr auto Fields() {
    return tenon::attrs::Fields(
        tenon::attrs::Field("beta", &SwishAttrs::beta, "slope inside the sigmoid"));
  }
};

TENON_REGISTER_OP("my.swish")
    .Describe("x * sigmoid(beta * x)")
    .Attrs<SwishAttrs>()
    .Argument("data", "Tensor", "input")
    .TypeRelation(ops::Identity)
    .Elementwise([](const SwishAttrs& a, te::Expr x) {
      return x * te::Sigmoid(te::Cast(x.dtype(), a.beta) * x);
    });

int main() {
  const char* text = R"(
    def @main(%x: Tensor[(2, 3), float32]) {
      %0 = add(%x, 1f);
      %1 = my.swish(%0, beta=2f);
      nn.relu(%1)
    })";
  const tenon::ir::Module module =
      tenon::ir::ParseModule(text, ops::OpRegistry::Global().Resolver()).value();
  const tenon::Executable exe = tenon::Compile(module).value();
  const Tensor x = Tensor::FromVector<float>({2, 3}, {-3, -2, -1, 0, 1, 2});
  const Tensor y = exe.Run({{"x", x}}).value()[0];

  std::printf("%d kernel\n", exe.num_kernel_calls());
  for (int i = 0; i < 6; ++i) {
    const float v = x.data<float>()[i] + 1;
    const float expected = std::max(0.0F, v / (1 + std::exp(-2 * v)));
    std::printf("%g -> %g\n", x.data<float>()[i], y.data<float>()[i]);
    if (std::fabs(y.data<float>()[i] - expected) > 1e-5F) return 1;
  }
  return exe.num_kernel_calls() == 1 ? 0 : 1;
}
