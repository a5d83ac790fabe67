// The least program that compiles and runs a graph.
#include <cstdio>

#include "tenon/tenon.h"

int main() {
  namespace ir = tenon::ir;
  const ir::Var x = ir::Var::Make("x", ir::TensorType({3}, tenon::Float32));
  const ir::Module module =
      ir::Module::FromExpr(tenon::ops::Exp(tenon::ops::Multiply(x, tenon::ops::Scalar(0))));
  const tenon::Executable exe = tenon::Compile(module).value();
  const tenon::Tensor tx = tenon::Tensor::FromVector<float>({3}, {1, 2, 3});
  const tenon::Tensor y = exe.Run({{"x", tx}}).value()[0];
  std::printf("%g %g %g\n", y.data<float>()[0], y.data<float>()[1], y.data<float>()[2]);
  return y.data<float>()[0] == 1.0F ? 0 : 1;
}
