// Uses the new operator as any other: built in C++, called by name, fused, explained and run.
#include <cstdio>

#include "involution.h"

namespace {

namespace ir = tenon::ir;
namespace ops = tenon::ops;
using tenon::Float32;
using tenon::Tensor;

// The definition, element by element, for one group of channels.
float Expected(const Tensor& x, const Tensor& kernels, std::int64_t c, std::int64_t h,
               std::int64_t w) {
  const std::int64_t height = x.shape()[2];
  const std::int64_t width = x.shape()[3];
  float sum = 0;
  for (std::int64_t tap = 0; tap < 9; ++tap) {
    const std::int64_t y = h + tap / 3 - 1;
    const std::int64_t z = w + tap % 3 - 1;
    if (y < 0 || y >= height || z < 0 || z >= width) continue;
    sum += x.data<float>()[(c * height + y) * width + z] *
           kernels.data<float>()[(tap * height + h) * width + w];
  }
  return sum;
}

}  // namespace

int main() {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 4, 6, 5}, Float32));
  const ir::Var kernels = ir::Var::Make("kernels", ir::TensorType({1, 9, 6, 5}, Float32));
  const ir::Expr sums = involution::Involution(x, kernels, {.kernel_size = 3});
  const ir::Module module = ir::Module::FromExpr(ops::Relu(sums));

  const tenon::Lowered lowered = tenon::Lower(module).value();
  std::printf("%s", lowered.kernels[0].choice.Explanation().c_str());

  std::vector<float> image(120), taps(270);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 7) - 3;
  for (std::size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<float>(i % 5) - 2;
  const Tensor tx = Tensor::FromVector<float>({1, 4, 6, 5}, image);
  const Tensor tk = Tensor::FromVector<float>({1, 9, 6, 5}, taps);
  const tenon::Executable exe = tenon::Link(lowered).value();
  const Tensor y = exe.Run({{"x", tx}, {"kernels", tk}}).value()[0];
  bool is_right = exe.num_kernel_calls() == 1;
  for (std::int64_t i = 0; i < 120; ++i) {
    const float wanted = std::max(0.0F, Expected(tx, tk, i / 30, i / 5 % 6, i % 5));
    is_right = is_right && y.data<float>()[i] == wanted;
  }
  std::printf("%d kernel, %s\n", exe.num_kernel_calls(), is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
