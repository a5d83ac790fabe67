// Whole graphs with CompileOptions::check_bounds: the same bits where all accesses fit, an error in
// words where an operator's compute reads outside its input.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/strategies/register_op.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

// Name and module. Their generated kernels have register tiles, tails under masks, packed and
// streamed operands, near loads, gathers, row transposes, sums over odd extents and local stages.
constexpr std::pair<const char*, const char*> kGraphs[] = {
    {"Matmul",
     "def @main(%x: Tensor[(37, 53), float32], %w: Tensor[(29, 53), float32]) { nn.relu("
     "nn.dense(%x, %w)) }"},
    {"MatmulOfConstants",
     "def @main(%x: Tensor[(64, 128), float32]) { nn.dense(%x, exp(ones(shape=[96, 128], "
     "dtype=\"float32\"))) }"},
    {"BatchMatmul",
     "def @main(%x: Tensor[(3, 17, 19), float32], %w: Tensor[(3, 19, 23), float32]) { "
     "nn.batch_matmul(%x, %w) }"},
    {"Convolution",
     "def @main(%x: Tensor[(1, 3, 19, 23), float32], %w: Tensor[(8, 3, 3, 3), float32]) { "
     "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], strides=[2, 2])) }"},
    {"Depthwise",
     "def @main(%x: Tensor[(1, 8, 15, 17), float32], %w: Tensor[(8, 1, 3, 3), float32]) { "
     "nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=8, channels=8, kernel_size=[3, 3]) }"},
    {"Softmax", "def @main(%x: Tensor[(7, 131), float32]) { nn.softmax(%x) }"},
    {"LayerNorm",
     "def @main(%x: Tensor[(5, 77), float32]) { subtract(%x, mean(%x, axis=[1], keepdims=True)) }"},
    {"Transposition", "def @main(%x: Tensor[(65, 130), float32]) { transpose(%x) }"},
    {"TransposedBytes",
     "def @main(%x: Tensor[(2, 67, 33), uint8]) { transpose(%x, axes=[0, 2, 1]) }"},
    {"SumOfAll", "def @main(%x: Tensor[(1, 1031), float32]) { sum(%x) }"},
    {"SumOfColumns", "def @main(%x: Tensor[(301, 37), float32]) { sum(%x, axis=[0]) }"},
    {"SumOfBytes", "def @main(%x: Tensor[(13, 517), int8]) { sum(%x, axis=[1]) }"},
    {"MaxPool",
     "def @main(%x: Tensor[(1, 5, 21, 21), float32]) { nn.max_pool2d(%x, pool_size=[3, 3], "
     "strides=[2, 2], padding=[1, 1, 1, 1]) }"},
    {"Gather",
     "def @main(%x: Tensor[(9, 33), float32], %i: Tensor[(21), int32]) { take(%x, %i, axis=0) }"},
    {"GatherOfElements",
     "def @main(%x: Tensor[(100), float32], %i: Tensor[(63), int64]) { take(%x, %i, axis=0) }"},
    {"Bfloat16",
     "def @main(%x: Tensor[(9, 70), float32], %w: Tensor[(11, 70), float32]) { cast(nn.dense("
     "cast(%x, dtype=\"bfloat16\"), cast(%w, dtype=\"bfloat16\")), dtype=\"float32\") }"},
    {"Float16",
     "def @main(%x: Tensor[(9, 70), float32]) { sqrt(exp(cast(%x, dtype=\"float16\"))) }"},
    {"Resize",
     "def @main(%x: Tensor[(1, 3, 9, 11), float32]) { image.resize2d(%x, size=[20, 23]) }"},
    {"Padding",
     "def @main(%x: Tensor[(3, 17), float32]) { nn.pad(%x, 0f, pad_width=[[1, 2], [9, 5]]) }"},
    {"Concatenation",
     "def @main(%x: Tensor[(3, 17), float32], %y: Tensor[(3, 5), float32]) { concatenate((%x, %y), "
     "axis=1) }"},
    {"CumulativeSum", "def @main(%x: Tensor[(3, 35), float32]) { cumsum(%x, axis=1) }"},
    {"TopK", "def @main(%x: Tensor[(3, 35), float32]) { topk(%x, k=4).0 }"},
    {"OneHot",
     "def @main(%i: Tensor[(5), int32]) { one_hot(%i, 1f, 0f, depth=7, axis=-1, "
     "dtype=\"float32\") }"},
};

class CheckBoundsGraphTest : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
};
INSTANTIATE_TEST_SUITE_P(Graphs, CheckBoundsGraphTest, ::testing::ValuesIn(kGraphs),
                         [](const auto& info) { return std::string(info.param.first); });

TEST_P(CheckBoundsGraphTest, ChecksChangeNoBit) {
  const ir::Module module = Parsed(GetParam().second);
  const runtime::Inputs inputs = RandomInputs(module, 1);
  for (const char* features : {"", "-avx512f", "-avx512f,-avx2,-avx"}) {
    SCOPED_TRACE(features);
    CompileOptions options = {.target = jit::HostTarget(features), .library = LibraryChoice::kTe};
    const std::vector<NDArray> plain = Outcome(module, inputs, options);
    options.check_bounds = true;
    const std::vector<NDArray> checked = Outcome(module, inputs, options);
    ASSERT_EQ(plain.size(), checked.size());
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(plain[i].SameBytes(checked[i])) << i;
  }
}

// By a number that nothing is known of, so that the read is refused nowhere before it is made.
TEST(CheckBoundsCompileTest, AnOperatorThatReadsOutsideItsInputEndsInWords) {
  strategies::OpRegistration("test.reads_far")
      .Argument("data", "Tensor", "input")
      .Argument("by", "Tensor", "one number")
      .TypeRelation(ops::Identity)
      .Compute([](const strategies::TeCall& call) -> std::vector<te::Tensor> {
        const te::Tensor& x = call.inputs[0];
        const te::Tensor& by = call.inputs[1];
        return {te::Compute(
            x.shape(), [&](te::Var i, te::Var j) { return x(i * by(0), j); }, "far")};
      });
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(4, 8), float32], %by: Tensor[(1), int64]) { "
      "test.reads_far(%x, %by) }");
  const Executable exe = Compile(module, {.check_bounds = true}).value();
  const auto run = [&](std::int64_t by) {
    return exe.Run({{"x", NDArray::Zeros({4, 8}, Float32)},
                    {"by", NDArray::FromVector<std::int64_t>({1}, {by})}});
  };
  EXPECT_TRUE(run(1).ok());
  const absl::Status status = run(100000000).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("fused_test_reads_far: p0 is read at element "),
                    HasSubstr(" of 32 (shape 4 x 8): index "), HasSubstr(", in the loops ")));
  EXPECT_TRUE(run(1).ok());
}

}  // namespace
}  // namespace tenon
