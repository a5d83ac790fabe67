// Results of integers that doubles or narrow sums would not hold, in kernels and in the
// interpreter.
#include <vector>

#include <gtest/gtest.h>

#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;

constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

// The result of both for one input, which must be the same.
template <typename T>
std::vector<T> ResultOf(const std::string& text, const NDArray& x) {
  const ir::Module module = Parsed(text);
  const std::vector<T> compiled = Outcome(module, {{"x", x}})[0].ToVector<T>();
  EXPECT_EQ(compiled, Interpreted(module, {{"x", x}})[0].ToVector<T>());
  return compiled;
}

TEST(IntegersTest, AClipOfUInt64KeepsWhatItsBoundsDoNotCut) {
  const std::vector<std::uint64_t> values = {0, 1, kHalf - 1, kHalf + 5, UINT64_MAX};
  const NDArray x = NDArray::FromVector<std::uint64_t>({5}, values);
  for (const char* high : {"inf", "1.8446744073709552e19"}) {
    const std::string text = std::string(
                                 "def @main(%x: Tensor[(5), uint64]) { clip(%x, a_min=0f64, "
                                 "a_max=") +
                             high + ") }";
    EXPECT_EQ(ResultOf<std::uint64_t>(text, x), values) << high;
  }
}

TEST(IntegersTest, AClipOfInt64KeepsWhatItsBoundsDoNotCut) {
  const std::vector<std::int64_t> values = {INT64_MIN, -1, 0, INT64_MAX};
  EXPECT_EQ(ResultOf<std::int64_t>("def @main(%x: Tensor[(4), int64]) { clip(%x, a_min=-inf, "
                                   "a_max=inf) }",
                                   NDArray::FromVector<std::int64_t>({4}, values)),
            values);
}

struct MeanCase {
  const char* name;
  const char* text;
};
void PrintTo(const MeanCase& c, std::ostream* out) { *out << c.name; }

class MeanOfIntegersTest : public ::testing::TestWithParam<MeanCase> {};

TEST_P(MeanOfIntegersTest, OfTheHighestNumberIsThatNumber) {
  const std::vector<std::uint8_t> bytes(2 * 16 * 32, 255);
  const NDArray x = NDArray::FromVector<std::uint8_t>({1, 2, 16, 32}, bytes);
  for (const std::uint8_t v : ResultOf<std::uint8_t>(GetParam().text, x)) ASSERT_EQ(v, 255);
}

INSTANTIATE_TEST_SUITE_P(
    All, MeanOfIntegersTest,
    ::testing::Values(
        MeanCase{"Mean", "def @main(%x: Tensor[(1, 2, 16, 32), uint8]) { mean(%x) }"},
        MeanCase{"AvgPool",
                 "def @main(%x: Tensor[(1, 2, 16, 32), uint8]) { nn.avg_pool2d(%x, "
                 "pool_size=[16, 17], strides=[1, 5]) }"},
        MeanCase{"PaddedAvgPool",
                 "def @main(%x: Tensor[(1, 2, 16, 32), uint8]) { nn.avg_pool2d(%x, "
                 "pool_size=[16, 17], padding=[3, 3]) }"},
        MeanCase{"AdaptiveAvgPool",
                 "def @main(%x: Tensor[(1, 2, 16, 32), uint8]) { nn.adaptive_avg_pool2d(%x, "
                 "output_size=[1, 1]) }"},
        MeanCase{"UnevenBins",
                 "def @main(%x: Tensor[(1, 2, 16, 32), uint8]) { nn.adaptive_avg_pool2d(%x, "
                 "output_size=[1, 3]) }"},
        MeanCase{"GlobalAvgPool",
                 "def @main(%x: Tensor[(1, 2, 16, 32), uint8]) { nn.global_avg_pool2d(%x) }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::strategies
