// What ToMixedPrecision makes of a network differs from it by the accuracy of the low type.
#include "tenon/compiler/array_values.h"
#include "tenon/passes/to_mixed_precision.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct Net {
  const char* name;
  const char* text;
  friend void PrintTo(const Net& net, std::ostream* out) { *out << net.name; }
};
class MixedPrecisionTest : public ::testing::TestWithParam<Net> {};

TEST_P(MixedPrecisionTest, IsAsAccurateAsTheType) {
  const ir::Module module = passes::InferType(Parsed(GetParam().text));
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const std::vector<NDArray> exact = Outcome(module, inputs);
  // Three roundings of a value, each by half a unit of its last place.
  for (const auto& [type, accuracy] : {std::pair(BFloat16, 3.0 / 256), {Float16, 3.0 / 2048}}) {
    SCOPED_TRACE(type.ToString());
    const ir::Module mixed = passes::ToMixedPrecision(module, {.type = type});
    EXPECT_FALSE(mixed == module);
    for (const int level : {0, 3}) {
      const std::vector<NDArray> got = Outcome(mixed, inputs, {.opt_level = level});
      ASSERT_EQ(got.size(), exact.size());
      const double allowed = accuracy * compiler::LargestMagnitude(exact[0]);
      EXPECT_FALSE(compiler::FirstDifference(got[0], exact[0], allowed).has_value());
      // It is not float32 after all.
      EXPECT_TRUE(compiler::FirstDifference(got[0], exact[0], allowed / 1000).has_value());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, MixedPrecisionTest,
    ::testing::Values(
        Net{"Dense",
            "def @main(%x: Tensor[(15, 63), float32], %w: Tensor[(17, 63), float32], %b: "
            "Tensor[(17), float32]) { nn.relu(nn.bias_add(nn.dense(%x, %w), %b)) }"},
        Net{"Conv",
            "def @main(%x: Tensor[(1, 17, 9, 9), float32], %w: Tensor[(16, 17, 3, 3), float32]) { "
            "nn.max_pool2d(nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])), pool_size=[2, 2]) }"},
        // A thousand products would be lost in a bfloat16 sum.
        Net{"LongSum",
            "def @main(%x: Tensor[(3, 1025), float32], %w: Tensor[(5, 1025), float32]) "
            "{ nn.dense(%x, %w) }"},
        Net{"Attention",
            "def @main(%q: Tensor[(2, 16, 8), float32], %k: Tensor[(2, 16, 8), float32]) { "
            "nn.batch_matmul(nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True)), %k) }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon
