// Arithmetic of int64 on data wraps around in kernels as it does in the interpreter.
#include <gtest/gtest.h>

#include "tenon/te/interpret.h"
#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

using Body = Expr (*)(const Expr& x, const Expr& i);

struct Case {
  const char* name;
  Body body;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class WrapTest : public ::testing::TestWithParam<Case> {};

TEST_P(WrapTest, AKernelWrapsAroundAsTheInterpreterDoes) {
  const std::vector<std::int32_t> values = {0, 1, 2, 3, -1, 8388608, INT32_MIN, INT32_MAX};
  const auto n = static_cast<std::int64_t>(values.size());
  const Tensor a = te::Placeholder({n}, Int32, "A");
  const Tensor b = te::Compute(
      {n}, [&](const Var& i) { return te::Cast(Int64, GetParam().body(te::Cast(Int64, a(i)), i)); },
      "B");
  const NDArray x = NDArray::FromVector<std::int32_t>({n}, values), y = NDArray::Zeros({n}, Int64);
  ASSERT_TRUE(Compiled(schedule::Schedule(b), {a, b}, "wrap")(x, y).ok());
  const NDArray expected = te::Interpret({b}, {{a, x}})[0];
  EXPECT_EQ(y.ToVector<std::int64_t>(), expected.ToVector<std::int64_t>());
}

INSTANTIATE_TEST_SUITE_P(
    All, WrapTest,
    ::testing::Values(
        Case{"AProductAndItsQuotient",
             [](const Expr& x, const Expr&) {
               return te::FloorDiv(x * (std::int64_t{1} << 40), std::int64_t{1} << 40);
             }},
        Case{"AHash",
             [](const Expr& x, const Expr&) {
               return te::FloorMod(
                   x * std::int64_t{6364136223846793005} + std::int64_t{1442695040888963407}, 1000);
             }},
        Case{"AComparisonOfAProduct",
             [](const Expr& x, const Expr&) { return x * (std::int64_t{1} << 62) > 0; }},
        Case{"ASumNextToItself",
             [](const Expr& x, const Expr&) {
               const Expr large = x * std::int64_t{4294967298};
               return large + 1 > large;
             }},
        Case{"ASumThatIsLeftOfAQuotient",
             [](const Expr& x, const Expr&) {
               constexpr std::int64_t kMost = std::int64_t{1} << 62;
               const Expr large = x * (std::int64_t{1} << 32);
               return te::FloorDiv(te::Clamp(large, 0, kMost) + te::Clamp(large, 1, kMost) - kMost,
                                   4);
             }},
        Case{"AQuotientByANegativeAndARemainder",
             [](const Expr& x, const Expr&) {
               return te::FloorDiv(x, -4) * -2 + te::FloorMod(te::FloorDiv(x, 2), -2);
             }},
        Case{"AProductOfAVariable",
             [](const Expr&, const Expr& i) { return i * (std::int64_t{1} << 62) > 0; }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::jit
