// A tensor expression, its schedule, and the LLVM IR of the kernel that they make.
#include <cstdio>

#include "tenon/tenon.h"

namespace te = tenon::te;
namespace jit = tenon::jit;
using tenon::Float32;
using tenon::Schedule;
using tenon::Tensor;

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
  return 0;
}
