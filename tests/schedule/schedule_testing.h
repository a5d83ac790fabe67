// What the tests of schedules share: running a schedule against the interpreter of its unscheduled
// tensors, and the words of refusals.
#ifndef TENON_TESTS_SCHEDULE_SCHEDULE_TESTING_H_
#define TENON_TESTS_SCHEDULE_SCHEDULE_TESTING_H_

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"
#include "tenon/te/interpret.h"

namespace tenon::schedule {

inline NDArray RandomFloats(Shape shape, int seed) {
  NDArray array = NDArray::Empty(std::move(shape), Float32);
  std::mt19937 generator(static_cast<std::uint32_t>(seed));
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = values(generator);
  return array;
}

// The lowered loops, verified after each step.
inline std::string LoopsOf(const Schedule& s, const std::vector<Tensor>& args) {
  const loop::Function f = Lower(s, args, "f", {.pipeline = {.verify = true}});
  return loop::Print(f);
}

// Compiles and runs on random float32 inputs and compares every output with the interpreter's. No
// access may be outside of its memory. All extents must be constant. Outputs start as NaN, so an
// element that is not written shows.
inline void ExpectRight(const Schedule& s, const std::vector<Tensor>& inputs,
                        float tolerance = 1e-4F) {
  std::vector<Tensor> args = inputs;
  std::vector<NDArray> arrays;
  std::vector<std::pair<Tensor, NDArray>> given;
  int seed = 1;
  for (const Tensor& input : inputs) {
    Shape shape;
    for (const loop::Expr& extent : input.shape())
      shape.push_back(extent.As<loop::IntImmNode>()->value);
    arrays.push_back(RandomFloats(std::move(shape), seed++));
    given.emplace_back(input, arrays.back());
  }
  const std::vector<NDArray> expected = te::Interpret(s.outputs(), given);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    args.push_back(s.outputs()[i]);
    arrays.push_back(NDArray::Empty(expected[i].shape(), expected[i].dtype()));
    if (expected[i].dtype() != Float32) continue;
    for (std::int64_t k = 0; k < expected[i].size(); ++k) arrays.back().data<float>()[k] = NAN;
  }
  const loop::PipelineOptions verified = {.verify = true};
  const loop::Function f = Lower(s, args, "kernel", {.pipeline = verified});
  const auto kernel = jit::Compile(f, {.check_bounds = true, .pipeline = verified});
  ASSERT_TRUE(kernel.ok()) << kernel.status() << loop::Print(f);
  const absl::Status status = kernel->Run(arrays);
  ASSERT_TRUE(status.ok()) << status;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const NDArray& actual = arrays[inputs.size() + i];
    for (std::int64_t k = 0; k < expected[i].size(); ++k) {
      if (actual.dtype() == Float32) {
        // Infinities are equal, though their difference is NaN.
        if (actual.data<float>()[k] == expected[i].data<float>()[k]) continue;
        ASSERT_NEAR(actual.data<float>()[k], expected[i].data<float>()[k], tolerance)
            << "output " << i << " element " << k << "\n"
            << loop::Print(f);
      } else {
        ASSERT_EQ(actual.dtype(), Int32);
        ASSERT_EQ(actual.data<std::int32_t>()[k], expected[i].data<std::int32_t>()[k])
            << "output " << i << " element " << k << "\n"
            << loop::Print(f);
      }
    }
  }
}

// The words of the InvalidArgument that `body` throws.
template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace tenon::schedule

#endif  // TENON_TESTS_SCHEDULE_SCHEDULE_TESTING_H_
