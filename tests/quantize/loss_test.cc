// How far two modules are from each other, over values that are not finite and over halves.
#include "tenon/quantize/loss.h"

#include <cmath>
#include <limits>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::quantize {
namespace {

using testing_graphs::Parsed;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

SampleSource One(const NDArray& x) {
  return [x](std::size_t i) -> std::optional<runtime::Inputs> {
    if (i > 0) return std::nullopt;
    return runtime::Inputs{{"x", x}};
  };
}

// Of the candidate x * factor against x, in a type.
double Loss(const std::vector<float>& values, const char* factor, const char* type = "float32") {
  const auto module = [&](const std::string& body) {
    return Compile(Parsed(StrCat("def @main(%x: Tensor[(", values.size(), "), float32]) { cast(",
                                 body, ", dtype=\"", type, "\") }")))
        .value();
  };
  const NDArray x = NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
  return LossOf(module(StrCat("multiply(%x, ", factor, ")")), module("%x"), One(x)).at(0);
}

TEST(LossTest, InfinitiesThatBothHaveCountNothing) {
  EXPECT_EQ(Loss({3, -kInfinity, kInfinity, 4}, "1f"), 0);
  EXPECT_NEAR(Loss({3, -kInfinity, kInfinity, 4}, "1.5f"), 0.5, 1e-6);
  EXPECT_NEAR(Loss({3, kNan, 4}, "1.5f"), 0.5, 1e-6);
}

TEST(LossTest, AnInfinityThatOneHasIsInfinitelyFar) {
  EXPECT_EQ(Loss({3, kInfinity, 4}, "-1f"), kInfinity);
  EXPECT_EQ(Loss({3, 1e30F, 4}, "1e30f"), kInfinity);
  EXPECT_EQ(Loss({3, kInfinity, 4}, "0f"), kInfinity);
}

TEST(LossTest, HalvesDifferByTheirDistance) {
  for (const char* type : {"float16", "bfloat16"}) {
    EXPECT_NEAR(Loss({3, 0, -4}, "1.5f", type), 0.5, 1e-6) << type;
    EXPECT_EQ(Loss({3, kInfinity, -4}, "1f", type), 0) << type;
  }
  EXPECT_EQ(Loss({3, 0, -4, 5}, "2f", "int32"), 0.75);
}

}  // namespace
}  // namespace tenon::quantize
