// Calls that a target replaces.
#include "tenon/passes/legalize.h"

#include "tenon/ops/builders.h"
#include "tenon/passes/pipeline.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Takes the column away at the end: other tests share the registry.
class LegalizeTest : public ::testing::Test {
 protected:
  static void Fill(LegalizeCall legalize) {
    ops::OpRegistry::Global().Definition("nn.relu").SetColumn(Legalization{std::move(legalize)});
  }
  void TearDown() override {
    Fill([](const ir::CallNode&, const std::vector<ir::Expr>&, const Target&) {
      return ir::Expr();
    });
  }
  static ir::Expr AsMaximum(const ir::CallNode&, const std::vector<ir::Expr>& args,
                            const Target& target) {
    return target.cpu == "mine" ? ops::Maximum(args[0], ops::Scalar(0)) : ir::Expr();
  }
  const Module module_ = WithConstants("%x: Tensor[(3, 5), float32]", "nn.relu(exp(nn.relu(%x)))");
};

TEST_F(LegalizeTest, AColumnReplacesCallsForItsTarget) {
  Fill(AsMaximum);
  const Module legal = Legalize(module_, {.cpu = "mine"});
  EXPECT_THAT(Body(legal), Not(HasSubstr("nn.relu")));
  EXPECT_THAT(Body(legal), HasSubstr("maximum("));
  ExpectSameValues(module_, legal, 0);
  EXPECT_EQ(InferType(legal), legal);
  EXPECT_EQ(Legalize(module_, {.cpu = "another"}), module_);
}

TEST_F(LegalizeTest, CompilingLegalizesFromLevelOne) {
  Fill(AsMaximum);
  const auto fused = [&](int level) {
    return Body(
        RunPasses(DefaultPipeline(strategies::EvaluateCall, level, {.target = {.cpu = "mine"}}),
                  module_, {.opt_level = level}));
  };
  EXPECT_THAT(fused(0), HasSubstr("nn.relu"));
  EXPECT_THAT(fused(1), Not(HasSubstr("nn.relu")));
}

TEST_F(LegalizeTest, AColumnThatChangesTheTypeIsRefusedByName) {
  Fill([](const ir::CallNode&, const std::vector<ir::Expr>& args, const Target&) {
    return ops::Cast(args[0], Float64);
  });
  const Module module = WithConstants("%x: Tensor[(3), float32]", "add(nn.relu(%x), %x)");
  try {
    Legalize(module, {});
    FAIL() << "a sum of two types";
  } catch (const Error& error) {
    EXPECT_THAT(error.notes(), Contains("in what Legalization made of nn.relu"));
  }
}

}  // namespace
}  // namespace tenon::passes
