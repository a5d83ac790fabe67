// A tensor expression, its schedule, the LLVM IR of the kernel that they make, and the same
// expression as a function that a graph calls.
#include <cmath>
#include <cstdio>

#include "tenon/tenon.h"

namespace te = tenon::te;
namespace ir = tenon::ir;
namespace jit = tenon::jit;
namespace ops = tenon::ops;
namespace strategies = tenon::strategies;
using tenon::Float32;
using tenon::Schedule;
using tenon::Tensor;

// exp(D + 1), where the addition is a function of the module.
bool CallFromAGraph() {
  te::Tensor D = te::Placeholder({8}, Float32, "D");
  te::Tensor E = te::Compute(
      {8}, [&](te::Var i) { return D(i) + 1.0F; }, "E");
  ir::Var x = ir::Var::Make("x", ir::TensorType({8}, Float32));
  ir::Expr sum = ir::Call::Make(ir::GlobalVar::Make("plus_one"), {x});
  ir::Module module = ir::Module::FromExpr(ops::Exp(sum));
  module = module.With("plus_one", strategies::TensorFunction("plus_one", {D}, {E}));
  tenon::Executable exe = tenon::Compile(module).value();
  Tensor y = exe.Run({{"x", Tensor::Zeros({8}, Float32)}}).value()[0];
  return exe.num_kernel_calls() == 1 && std::abs(y.data<float>()[7] - 2.7182818F) < 1e-6F;
}

int main() {
  te::Var n("n");
  te::Tensor A = te::Placeholder({n}, Float32, "A"), B = te::Placeholder({n}, Float32, "B");
  te::Tensor C = te::Compute(
      {n}, [&](te::Var i) { return A(i) + B(i); }, "C");
  Schedule s(C);
  auto [outer, inner] = s[C].Split(C.axis(0), 64);
  s[C].Parallel(outer);
  s[C].Vectorize(inner);
  jit::Kernel vadd = jit::Build(s, {A, B, C}, "vadd").value();

  // The extent is an argument: one kernel for every length.
  for (std::int64_t length : {1, 63, 64, 1000}) {
    Tensor a = Tensor::Empty({length}, Float32);
    Tensor b = Tensor::Empty({length}, Float32);
    Tensor c = Tensor::Zeros({length}, Float32);
    for (std::int64_t i = 0; i < length; ++i) {
      a.data<float>()[i] = static_cast<float>(i);
      b.data<float>()[i] = 0.5F;
    }
    if (!vadd(a, b, c).ok()) return 1;
    for (std::int64_t i = 0; i < length; ++i) {
      if (c.data<float>()[i] != static_cast<float>(i) + 0.5F) return 1;
    }
  }
  std::puts(vadd.LlvmIr().c_str());
  return CallFromAGraph() ? 0 : 1;
}
