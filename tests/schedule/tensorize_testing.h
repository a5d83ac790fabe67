// What the tests of Tensorize share: a compiled schedule against the interpreter, to the bit.
#ifndef TENON_TESTS_SCHEDULE_TENSORIZE_TESTING_H_
#define TENON_TESTS_SCHEDULE_TENSORIZE_TESTING_H_

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/te/interpret.h"

namespace tenon::schedule {

inline NDArray Random(const Tensor& like, unsigned seed) {
  Shape shape;
  for (const te::Expr& extent : like.shape()) shape.push_back(extent.As<loop::IntImmNode>()->value);
  NDArray array = NDArray::Empty(std::move(shape), like.dtype());
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (like.dtype() == BFloat16) {
      const float value = static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
      std::memcpy(static_cast<char*>(array.raw()) + 2 * i,
                  reinterpret_cast<const char*>(&value) + 2, 2);
    } else if (like.dtype() == Float32) {
      array.data<float>()[i] = static_cast<float>(random() % 100) / 8;
    } else if (like.dtype() == Int32) {
      array.data<std::int32_t>()[i] = static_cast<std::int32_t>(random());
    } else {
      static_cast<std::uint8_t*>(array.raw())[i] = static_cast<std::uint8_t>(random());
    }
  }
  return array;
}

inline jit::Kernel Compiled(const Schedule& s, const std::vector<Tensor>& args,
                            const jit::CompileOptions& options = {}) {
  absl::StatusOr<jit::Kernel> kernel = jit::Compile(Lower(s, args, "kernel"), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return std::move(kernel).value();
}

// The compiled schedule gives the interpreter's bits.
inline void ExpectLikeInterpreter(const Schedule& s, const std::vector<Tensor>& inputs,
                                  const jit::CompileOptions& options = {}) {
  const Tensor out = s.outputs()[0];
  std::vector<Tensor> args = inputs;
  std::vector<NDArray> arrays;
  std::vector<std::pair<Tensor, NDArray>> given;
  for (const Tensor& input : inputs) {
    arrays.push_back(Random(input, static_cast<unsigned>(arrays.size() + 1)));
    given.emplace_back(input, arrays.back());
  }
  const NDArray expected = te::Interpret({out}, given)[0];
  args.push_back(out);
  arrays.push_back(NDArray::Empty(expected.shape(), expected.dtype()));
  std::memset(arrays.back().raw(), 0xAA, arrays.back().bytes());
  const jit::Kernel kernel = Compiled(s, args, options);
  ASSERT_TRUE(kernel.Run(arrays).ok());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(static_cast<std::uint32_t*>(arrays.back().raw())[i],
              static_cast<std::uint32_t*>(expected.raw())[i])
        << "element " << i << "\n"
        << kernel.Loops();
  }
}

}  // namespace tenon::schedule

#endif  // TENON_TESTS_SCHEDULE_TENSORIZE_TESTING_H_
