// Widening casts are repeated for each elementwise reader.
#include "tenon/passes/precision/canonicalize_cast.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

constexpr char kBytes[] = "%x: Tensor[(2, 3), int32], %f: Tensor[(2, 3), float64]";

std::size_t CastsIn(const Module& module) {
  std::size_t casts = 0;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    casts += call != nullptr && call->op() != nullptr && call->op()->name == "cast" ? 1 : 0;
  });
  return casts;
}

TEST(CanonicalizeCastTest, EachElementwiseReaderGetsOne) {
  const Module before = WithConstants(
      kBytes, "%0 = cast(%x, dtype=\"float64\");\n(exp(%0), add(%0, %0), multiply(%f, %0))");
  const Module after = CanonicalizeCast(before);
  EXPECT_EQ(CastsIn(before), 1U);
  EXPECT_EQ(CastsIn(after), 3U);
  ExpectSameValues(before, after, 0);
  EXPECT_EQ(InferType(after), after);
}

class CanonicalizeCastLeavesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(CanonicalizeCastLeavesTest, TheSameNodes) {
  const Module before = WithConstants(GetParam());
  EXPECT_EQ(CanonicalizeCast(before), before);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, CanonicalizeCastLeavesTest,
    ::testing::Values(PassCase{"OneReader", kBytes, "exp(cast(%x, dtype=\"float64\"))"},
                      PassCase{"ANarrowingCast", kBytes,
                               "%0 = cast(%f, dtype=\"float32\");\n(exp(%0), tanh(%0))"},
                      PassCase{"ACastOfEqualBits", kBytes,
                               "%0 = cast(%x, dtype=\"float32\");\n(exp(%0), tanh(%0))"},
                      PassCase{"ReadersThatReduce", kBytes,
                               "%0 = cast(%x, dtype=\"float64\");\n(sum(%0), max(%0))"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::passes
