// Results of integers that doubles or narrow sums would not hold, in kernels and in the
// interpreter.
#include <vector>

#include <gtest/gtest.h>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

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

// Of all pairs, in the type of the base; the exponent goes down by one each time.
template <typename T>
void ExpectPowers(const char* type, const std::vector<T>& bases, const std::vector<T>& exponents) {
  const auto count = static_cast<std::int64_t>(exponents.size());
  const auto rows = static_cast<std::int64_t>(bases.size());
  const ir::Module module =
      Parsed(StrCat("def @main(%x: Tensor[(", rows, ", 1), ", type, "], %y: Tensor[(", count, "), ",
                    type, "]) { power(%x, %y) }"));
  const runtime::Inputs inputs = {{"x", NDArray::FromVector<T>({rows, 1}, bases)},
                                  {"y", NDArray::FromVector<T>({count}, exponents)}};
  const std::vector<T> compiled = Outcome(module, inputs)[0].ToVector<T>();
  EXPECT_EQ(compiled, Interpreted(module, inputs)[0].ToVector<T>()) << type;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    for (std::size_t j = 0; j < exponents.size(); ++j) {
      std::uint64_t product = 1;
      const auto base = static_cast<std::uint64_t>(bases[i]);
      if (exponents[j] >= 0) {
        for (T k = 0; k < exponents[j]; ++k) product *= base;
      } else {
        const bool is_odd = exponents[j] % 2 != 0;
        const bool has_inverse = base == 1 || base == ~std::uint64_t{0};
        product = has_inverse ? (is_odd ? base : 1) : 0;
      }
      ASSERT_EQ(compiled[i * exponents.size() + j], static_cast<T>(product))
          << type << ": " << +bases[i] << " to the power of " << +exponents[j];
    }
  }
}

TEST(IntegersTest, PowersWrapAroundAsProductsDo) {
  ExpectPowers<std::int8_t>("int8", {-128, -127, -3, -1, 0, 1, 2, 3, 7, 127},
                            {-128, -127, -2, -1, 0, 1, 2, 3, 6, 7, 8, 126, 127});
  ExpectPowers<std::uint8_t>("uint8", {0, 1, 2, 3, 128, 254, 255}, {0, 1, 7, 8, 9, 254, 255});
  ExpectPowers<std::int16_t>("int16", {-32768, -5, -1, 0, 1, 6, 181, 32767}, {-1, 0, 5, 15, 32767});
  ExpectPowers<std::int32_t>("int32", {INT32_MIN, -46341, -1, 0, 1, 3, 46341, INT32_MAX},
                             {INT32_MIN, -3, 0, 2, 20, 31, 32, 1001});
  ExpectPowers<std::uint32_t>("uint32", {0, 1, 3, 65536, UINT32_MAX}, {0, 1, 2, 31, 32, 100000});
  ExpectPowers<std::int64_t>("int64", {INT64_MIN, -3, -1, 0, 1, 3, 94906267, INT64_MAX},
                             {INT64_MIN, -1, 0, 2, 39, 40, 63, 64, 123457});
  ExpectPowers<std::uint64_t>("uint64", {0, 1, 3, kHalf, UINT64_MAX}, {0, 1, 2, 40, 41, 100003});
}

// More products than a loop over the exponent would do in a lifetime: 3 is of the order 2^62.
TEST(IntegersTest, ExponentsOfAllBitsCount) {
  const std::string text =
      "def @main(%x: Tensor[(3), uint64]) { power(cast(3, dtype=\"uint64\"), %x) }";
  const std::vector<std::uint64_t> exponents = {std::uint64_t{1} << 62, kHalf + 2, UINT64_MAX};
  // The last one is the inverse of 3, as 2^64 - 1 is 1 less than a multiple of the order.
  EXPECT_EQ(ResultOf<std::uint64_t>(text, NDArray::FromVector<std::uint64_t>({3}, exponents)),
            (std::vector<std::uint64_t>{1, 9, 0xAAAAAAAAAAAAAAAB}));
}

TEST(IntegersTest, ConstantExponentsGiveTheSamePowers) {
  const std::vector<std::int32_t> values = {INT32_MIN, -7, -1, 0, 1, 3, 65537};
  const NDArray x = NDArray::FromVector<std::int32_t>({7}, values);
  for (const std::int32_t exponent : {-5, -2, 0, 1, 2, 3, 5, 10, 64}) {
    const std::string text =
        StrCat("def @main(%x: Tensor[(7), int32]) { power(%x, ", exponent, ") }");
    const std::vector<std::int32_t> powers = ResultOf<std::int32_t>(text, x);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t product = 1;
      for (std::int32_t k = 0; k < std::abs(exponent); ++k)
        product *= static_cast<std::uint32_t>(values[i]);
      const bool has_inverse = values[i] == 1 || values[i] == -1;
      if (exponent < 0 && !has_inverse) product = 0;
      EXPECT_EQ(powers[i], static_cast<std::int32_t>(product)) << values[i] << "^" << exponent;
    }
  }
}

TEST(IntegersTest, AMeanOf32BitsIsSummedUpIn64) {
  for (const std::int32_t v : {INT32_MAX, INT32_MIN, INT32_MAX - 7}) {
    const NDArray x = NDArray::FromVector<std::int32_t>({33}, std::vector<std::int32_t>(33, v));
    EXPECT_EQ(ResultOf<std::int32_t>("def @main(%x: Tensor[(33), int32]) { mean(%x) }", x)[0], v);
  }
  const NDArray x =
      NDArray::FromVector<std::uint32_t>({33}, std::vector<std::uint32_t>(33, UINT32_MAX));
  EXPECT_EQ(ResultOf<std::uint32_t>("def @main(%x: Tensor[(33), uint32]) { mean(%x) }", x)[0],
            UINT32_MAX);
}

TEST(IntegersTest, AClipOfBoolsHasBoundsBelowZeroAndAboveOne) {
  for (const bool v : {false, true}) {
    const NDArray x = NDArray::Scalar(v);
    const auto clipped = [&](const char* bounds) {
      const std::string text = StrCat("def @main(%x: bool) { clip(%x, ", bounds, ") }");
      return *Outcome(Parsed(text), {{"x", x}})[0].data<bool>();
    };
    EXPECT_FALSE(clipped("a_min=-3f64, a_max=-2f64"));
    EXPECT_TRUE(clipped("a_min=2f64, a_max=300f64"));
    EXPECT_EQ(clipped("a_min=-1f64, a_max=7f64"), v);
  }
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
