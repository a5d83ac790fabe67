// What a kernel refuses, in which words.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using schedule::Lower;
using schedule::Schedule;
using te::Placeholder;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;

// The message of the InvalidArgument that a call gives.
std::string Refusal(const Kernel& kernel, const std::vector<NDArray>& arrays) {
  const absl::Status status = kernel.Run(arrays);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(KernelErrorTest, RefusesAWrongNumberOfArrays) {
  const Kernel kernel = VectorAdd(4);
  const NDArray x = Random({4});
  EXPECT_EQ(Refusal(kernel, {x, x}), "kernel vadd takes 3 arrays; 2 are given");
  EXPECT_EQ(Refusal(kernel, {x, x, x, x}), "kernel vadd takes 3 arrays; 4 are given");
}

TEST(KernelErrorTest, RefusesAWrongElementType) {
  const Kernel kernel = VectorAdd(4);
  const NDArray x = Random({4});
  EXPECT_EQ(Refusal(kernel, {x, NDArray::Zeros({4}, Int32), x}),
            "kernel vadd, argument 1 (B): holds int32; it must hold float32");
}

TEST(KernelErrorTest, RefusesANullArray) {
  const Kernel kernel = VectorAdd(4);
  const NDArray x = Random({4});
  EXPECT_EQ(Refusal(kernel, {x, x, NDArray()}),
            "kernel vadd, argument 2 (out): holds void; it must hold float32");
}

TEST(KernelErrorTest, RefusesAWrongRank) {
  const Kernel kernel = VectorAdd(4);
  const NDArray x = Random({4});
  EXPECT_EQ(Refusal(kernel, {Random({4, 1}), x, x}),
            "kernel vadd, argument 0 (A): has the shape (4, 1); it must have 1 dimensions");
}

TEST(KernelErrorTest, RefusesAWrongExtent) {
  const Kernel kernel = VectorAdd(4);
  const NDArray x = Random({4});
  EXPECT_EQ(Refusal(kernel, {x, Random({5}), x}),
            "kernel vadd, argument 1 (B): has the shape (5,); dimension 0 must be 4");
}

TEST(KernelErrorTest, RefusesSymbolicExtentsThatDisagree) {
  const Kernel kernel = VectorAdd(Var("n"));
  const NDArray x = Random({4});
  EXPECT_EQ(Refusal(kernel, {x, x, Random({3})}),
            "kernel vadd, argument 2 (out): has the shape (3,); dimension 0 must be 4");
}

TEST(KernelErrorTest, RefusesAnExtentThatDoesNotFollowFromTheSymbolicOnes) {
  const Var n("n");
  const Tensor a = Placeholder({n + 2}, Float32, "A");
  const Tensor b = te::Compute(
      {n}, [&](Var i) { return a(i) + a(i + 2); }, "B");
  const Kernel kernel = Compiled(Schedule(b), {a, b}, "blur");
  const NDArray four = NDArray::Zeros({4}, Float32);
  ASSERT_TRUE(kernel(Random({6}), four).ok());
  EXPECT_THAT(Refusal(kernel, {Random({5}), four}), HasSubstr("argument 0 (A)"));
}

TEST(KernelErrorTest, AKernelWithoutCodeSaysSo) {
  Kernel kernel = VectorAdd(4);
  const Kernel other = std::move(kernel);
  for (const Kernel& empty : {kernel, Kernel()}) {
    const absl::Status status = empty(Random({4}));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(),
              "the kernel has no code: it was not compiled, or has been moved from");
  }
}

TEST(KernelErrorTest, ARefusedCallWritesNothing) {
  const Kernel kernel = VectorAdd(4);
  const NDArray x = Random({4}), z = NDArray::Zeros({4}, Float32);
  Refusal(kernel, {x, Random({5}), z});
  EXPECT_TRUE(z.SameBytes(NDArray::Zeros({4}, Float32)));
}

TEST(KernelErrorTest, RefusesATargetThatTheHostCannotRun) {
  const Tensor a = Placeholder({4}, Float32, "A");
  const Tensor b = te::Compute(
      {4}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const auto refusal = [&](const auto& change) {
    CompileOptions options;
    change(options.target);
    const auto kernel = Compile(Lower(Schedule(b), {a, b}, "f"), options);
    EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(kernel.status().message());
  };
  EXPECT_THAT(refusal([](Target& target) { target.features.insert("warp"); }),
              HasSubstr("the target has warp, which the host, where kernels run, lacks"));
  EXPECT_THAT(refusal([](Target& target) { target.triple = "riscv64"; }),
              HasSubstr("the target's triple is 'riscv64'; kernels run on "));
  EXPECT_THAT(
      refusal([](Target& target) {
        target.vector_bytes = 24;
        target.vector_registers = 32;
      }),
      HasSubstr("the target has 32 vector registers of 24 bytes; there must be at least 16, "
                "of 16, 32 or 64 bytes"));
}

TEST(KernelErrorTest, AnArrayThatIsWrittenOverlapsNoOther) {
  const te::Tensor a = te::Placeholder({16}, Float32, "A");
  const te::Tensor b = te::Placeholder({16}, Float32, "B");
  const te::Tensor c = te::Compute(
      {16}, [&](te::Var i) { return a(i) + b(15 - i); }, "C");
  const Kernel kernel = Compiled(schedule::Schedule(c), {a, b, c}, "add");
  const NDArray whole = Random({24}), x = Random({16});
  const auto part = [&](std::int64_t first) {
    return NDArray::View({16}, Float32, whole.data<float>() + first,
                         std::make_shared<NDArray>(whole));
  };
  EXPECT_TRUE(kernel(x, x, NDArray::Zeros({16}, Float32)).ok());  // of inputs nothing changes
  EXPECT_EQ(kernel(x, part(0), part(8)).message(),
            "kernel add, argument 2 (C): is written and shares memory with argument 1 (B); arrays "
            "that are written must not overlap others");
  EXPECT_FALSE(kernel(x, part(0), x).ok());
}

}  // namespace
}  // namespace tenon::jit
