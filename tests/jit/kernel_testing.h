// What tests of kernels share: random arrays and compiled schedules.
//
//   const Kernel kernel = VectorAdd(17);
//   kernel(Random({17}), Random({17}, 2), NDArray::Zeros({17}, Float32));
#ifndef TENON_TESTS_JIT_KERNEL_TESTING_H_
#define TENON_TESTS_JIT_KERNEL_TESTING_H_

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::jit {

inline NDArray Random(Shape shape, int seed = 1) {
  NDArray array = NDArray::Empty(std::move(shape), Float32);
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = values(generator);
  return array;
}

inline Kernel Compiled(const schedule::Schedule& s, const std::vector<te::Tensor>& args,
                       const std::string& name, CompileOptions options = {}) {
  options.pipeline.verify = true;
  absl::StatusOr<Kernel> kernel =
      Compile(schedule::Lower(s, args, name, {.pipeline = options.pipeline}), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return std::move(kernel).value();
}

// One output that is `body` of the elements of inputs A, B, ... of `n` elements, 16 at a time.
template <typename Body>
Kernel Elementwise(const loop::Expr& n, const std::vector<DataType>& types, const Body& body,
                   const std::string& name = "kernel", const CompileOptions& options = {}) {
  std::vector<te::Tensor> args;
  for (std::size_t i = 0; i < types.size(); ++i)
    args.push_back(te::Placeholder({n}, types[i], std::string(1, static_cast<char>('A' + i))));
  const te::Tensor out = te::Compute(
      {n},
      [&](te::Var i) {
        std::vector<loop::Expr> elements;
        for (const te::Tensor& arg : args) elements.push_back(arg(i));
        return body(elements);
      },
      "out");
  schedule::Schedule s(out);
  s[out].Vectorize(s[out].Split(out.axis(0), 16).second);
  args.push_back(out);
  return Compiled(s, args, name, options);
}

inline Kernel VectorAdd(const loop::Expr& n) {
  return Elementwise(
      n, {Float32, Float32}, [](const std::vector<loop::Expr>& x) { return x[0] + x[1]; }, "vadd");
}

// Reductions, an epilogue and a parallel outer loop of odd extent.
inline Kernel ParallelKernel() {
  const te::Tensor a = te::Placeholder({37, 203}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 203);
  const te::Tensor b = te::Compute(
      {37}, [&](te::Var i) { return te::Sum(a(i, k.var) * a(i, k.var), {k}); }, "B");
  const te::Tensor c = te::Compute(
      {37}, [&](te::Var i) { return te::Exp(-b(i)) * 3.0F; }, "C");
  schedule::Schedule s(c);
  s[c].Parallel(c.axis(0));
  s[b].ComputeAt(s[c], c.axis(0));
  return Compiled(s, {a, c}, "parallel");
}

}  // namespace tenon::jit

#endif  // TENON_TESTS_JIT_KERNEL_TESTING_H_
