#include "tenon/compiler/remade_kernels.h"

#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::Parsed;
using testing_graphs::Random;

std::size_t RemadeBy(const Executable& exe, const runtime::Inputs& inputs) {
  const std::size_t before = RemadeKernels();
  EXPECT_TRUE(exe.Run(inputs).ok());
  return RemadeKernels() - before;
}

TEST(RemadeKernelsTest, KernelsForAllShapesAreMadeOnce) {
  const Executable exe = ValueOrThrow(
      Compile(Parsed("def @main(%x: Tensor[(n, #m), float32]) { nn.softmax(exp(%x)) }")));
  for (const std::int64_t n : {1, 2, 17, 300}) {
    for (const std::int64_t m : {1, 5, 0})
      EXPECT_EQ(RemadeBy(exe, {{"x", Random({n, m}, 1)}}), 0U) << n << " " << m;
  }
}

// Kernels read the rows of both as equal in number.
TEST(RemadeKernelsTest, AnExtentOfOneBesideAnotherTakesAKernelMoreOnce) {
  const Executable exe = ValueOrThrow(Compile(Parsed(
      "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) { add(%x, %y) }")));
  const auto rows = [](std::int64_t n, std::int64_t m) {
    return runtime::Inputs{{"x", Random({n, 4}, 1)}, {"y", Random({m, 4}, 2)}};
  };
  EXPECT_EQ(RemadeBy(exe, rows(3, 3)), 0U);
  EXPECT_EQ(RemadeBy(exe, rows(1, 3)), 1U);
  EXPECT_EQ(RemadeBy(exe, rows(1, 3)), 0U);
}

}  // namespace
}  // namespace tenon
