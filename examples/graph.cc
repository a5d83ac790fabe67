// A graph built in C++, compiled and run: a convolution and what follows it become one kernel.
#include <cmath>
#include <cstdio>

#include "tenon/tenon.h"

namespace ir = tenon::ir;
namespace ops = tenon::ops;
using tenon::Compile;
using tenon::Executable;
using tenon::Float32;
using tenon::Target;
using tenon::Tensor;

Tensor Filled(const tenon::Shape& shape, float value) {
  Tensor tensor = Tensor::Empty(shape, Float32);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = value;
  return tensor;
}

int main() {
  ir::Var x = ir::Var::Make("x", ir::TensorType({1, 64, 56, 56}, Float32));
  ir::Var w = ir::Var::Make("w", ir::TensorType({64, 64, 3, 3}, Float32));
  ir::Module m = ir::Module::FromExpr(ops::Relu(ops::Conv2D(x, w, {.padding = {1, 1}})));
  Executable exe = Compile(m, {.target = Target::Host(), .opt_level = 3}).value();
  Tensor tx = Filled({1, 64, 56, 56}, 0.5F);
  Tensor tw = Filled({64, 64, 3, 3}, 0.25F);
  Tensor y = exe.Run({{"x", tx}, {"w", tw}}).value()[0];

  // In the middle 64 channels of 9 taps are summed, in the corner 4 taps lie inside.
  const float middle = y.data<float>()[28 * 56 + 28];
  const float corner = y.data<float>()[0];
  std::printf("%d kernel (%s), middle %g, corner %g\n", exe.num_kernel_calls(),
              exe.kernels()[0]->implementation().c_str(), middle, corner);
  const bool right =
      std::fabs(middle - 64 * 9 * 0.125F) < 1e-2F && std::fabs(corner - 64 * 4 * 0.125F) < 1e-2F;
  return right && exe.num_kernel_calls() == 1 ? 0 : 1;
}
