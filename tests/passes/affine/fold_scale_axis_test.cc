// Backward, forward and constants in a row.
#include "tenon/passes/affine/fold_scale_axis.h"

#include "tenon/ops/builders.h"
#include "tenon/passes/affine/backward_fold_scale_axis.h"
#include "tenon/passes/pipeline.h"
#include "tenon/passes/simplify/canonicalize_ops.h"
#include "tenon/passes/simplify/simplify_expr.h"
#include "tenon/passes/simplify/simplify_inference.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

Module Folded(const Module& m) { return FoldScaleAxis(m, strategies::EvaluateCall); }

std::vector<float> ConstantOf(const ir::Expr& call, std::size_t arg) {
  return call.As<ir::CallNode>()->args[arg].As<ir::ConstantNode>()->data.ToVector<float>();
}

constexpr char kExample[] =
    "%x: Tensor[(1, 1, 10, 10), float32], %k_w: Tensor[(2, 1, 3, 3), "
    "float32], %k_s: Tensor[(2, 1, 1), float32]";
constexpr char kConv[] =
    "nn.conv2d(%x, %k_w, padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3])";

// The example, made by builders from one number of padding and one of the kernel's size.
TEST(FoldScaleAxisTest, S001_48_BuildersMakeTheExampleAndWidenItsPadding) {
  const Module before = WithConstants(kExample, "multiply(" + std::string(kConv) + ", %k_s)");
  const auto& product = *before.Main().body.As<ir::CallNode>();
  const ir::Expr weight = product.args[0].As<ir::CallNode>()->args[1];
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1, 10, 10}, Float32));
  const ir::Expr conv =
      ops::Conv2D(x, weight, {.padding = {1}, .channels = 2, .kernel_size = ops::Ints{3}});
  const Module built = InferType(Module::FromExpr(ops::Multiply(conv, product.args[1])));
  EXPECT_EQ(Print(built), Print(before));
  EXPECT_THAT(Print(built), ::testing::HasSubstr("padding=[1, 1, 1, 1], channels=2"));
}

// The lines of the example before, and after the backward fold.
TEST(FoldScaleAxisTest, S001_48_S001_49_TheExamplePrintsItsSteps) {
  const Module before = WithConstants(kExample, "multiply(" + std::string(kConv) + ", %k_s)");
  const std::string head =
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(1, 1, 10, 10), float32]) -> Tensor[(1, 2, 10, 10), float32] {\n";
  EXPECT_EQ(
      Print(before),
      head +
          R"(  %0 = nn.conv2d(%x, meta[relay.Constant][0] /* ty=Tensor[(2, 1, 3, 3), float32] */, padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3]) /* ty=Tensor[(1, 2, 10, 10), float32] */;
  multiply(%0, meta[relay.Constant][1] /* ty=Tensor[(2, 1, 1), float32] */) /* ty=Tensor[(1, 2, 10, 10), float32] */
}
)");
  EXPECT_EQ(
      Print(InferType(BackwardFoldScaleAxis(before))),
      head +
          R"(  %0 = squeeze(meta[relay.Constant][1] /* ty=Tensor[(2, 1, 1), float32] */, axis=[1, 2]) /* ty=Tensor[(2), float32] */;
  %1 = expand_dims(%0, axis=1, num_newaxis=3) /* ty=Tensor[(2, 1, 1, 1), float32] */;
  %2 = multiply(meta[relay.Constant][0] /* ty=Tensor[(2, 1, 3, 3), float32] */, %1) /* ty=Tensor[(2, 1, 3, 3), float32] */;
  nn.conv2d(%x, %2, padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3]) /* ty=Tensor[(1, 2, 10, 10), float32] */
}
)");
}

// One convolution is left, its weight multiplied by the scale of each output.
TEST(FoldScaleAxisTest, S001_50_AScaleAfterAConvolutionLeavesAConvolution) {
  const Module before = WithConstants(kExample, "multiply(" + std::string(kConv) + ", %k_s)");
  const Module after = Folded(before);
  EXPECT_EQ(Print(after),
            "#[version = \"0.0.5\"]\n"
            "def @main(%x: Tensor[(1, 1, 10, 10), float32]) -> Tensor[(1, 2, 10, 10), float32] {\n"
            "  nn.conv2d(%x, meta[relay.Constant][0] /* ty=Tensor[(2, 1, 3, 3), float32] */, "
            "padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3]) "
            "/* ty=Tensor[(1, 2, 10, 10), float32] */\n}\n");
  const ir::Expr conv = before.Main().body.As<ir::CallNode>()->args[0];
  std::vector<float> expected = ConstantOf(conv, 1);
  const std::vector<float> scale = ConstantOf(before.Main().body, 1);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= scale[i / 9];
  EXPECT_EQ(ConstantOf(after.Main().body, 1), expected);
  ExpectSameValues(before, after);
}

TEST(FoldScaleAxisTest, S001_51_EitherOperandOfTheMultiplicationCanBeTheScale) {
  const Module before = WithConstants(kExample, "multiply(%k_s, " + std::string(kConv) + ")");
  EXPECT_EQ(Body(Folded(before)), std::string(kConv).replace(14, 4, "k0") + "\n");
  ExpectSameValues(before, Folded(before));
}

// Backward comes before forward: the scale between two convolutions goes into the first one, whose
// weight then also takes the scale before it. The second weight stays as it is.
TEST(FoldScaleAxisTest, S001_46_BackwardThenForwardThenConstants) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 2, 4, 4), float32], %k_a: Tensor[(3, 2, 1, 1), float32], "
      "%k_b: Tensor[(2, 3, 1, 1), float32], %k_s: Tensor[(3, 1, 1), float32]",
      "%0 = nn.conv2d(multiply(%x, 2f), %k_a);\nnn.conv2d(multiply(%0, %k_s), %k_b)");
  const Module after = Folded(before);
  EXPECT_EQ(Body(after), "%0 = nn.conv2d(%x, k0);\nnn.conv2d(%0, k1)\n");
  const ir::Expr scaled = before.Main().body.As<ir::CallNode>()->args[0];
  const std::vector<float> scale = ConstantOf(scaled, 1);
  std::vector<float> first = ConstantOf(scaled.As<ir::CallNode>()->args[0], 1);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] *= scale[i / 2] * 2;
  EXPECT_EQ(ConstantOf(after.Main().body.As<ir::CallNode>()->args[0], 1), first);
  EXPECT_EQ(ConstantOf(after.Main().body, 1), ConstantOf(before.Main().body, 1));
  ExpectSameValues(before, after);
}

// The first block of VGG with batch norm.
constexpr char kBlock[] =
    "%x: Tensor[(1, 3, 8, 8), float32], %k_w: Tensor[(64, 3, 3, 3), float32], "
    "%kn_b: Tensor[(64), float32], %k_g: Tensor[(64), float32], %k_h: Tensor[(64), float32], "
    "%kn_m: Tensor[(64), float32], %k_v: Tensor[(64), float32]";
constexpr std::size_t kChannels = 64;
constexpr char kBlockBody[] =
    "%0 = nn.conv2d(%x, %k_w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);\n"
    "%1 = nn.bias_add(%0, %kn_b);\n"
    "%2 = nn.batch_norm(%1, %k_g, %k_h, %kn_m, %k_v);\nnn.relu(%2.0)";

// Of the constant that a call has second.
Shape ShapeOf(const ir::Expr& call) {
  return call.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data.shape();
}

Pipeline ReferencePipeline() {
  const auto typed = [](auto pass) {
    return [pass](const Module& m) { return InferType(pass(m)); };
  };
  return {{"CanonicalizeOps", 3, typed(CanonicalizeOps)},
          {"SimplifyInference", 0, typed(SimplifyInference)},
          {"FoldConstant", 2,
           [](const Module& m) { return FoldConstant(m, strategies::EvaluateCall); }},
          {"FoldScaleAxis", 3, Folded}};
}

// Scale in the weight and the first bias; the shift is a second addition.
TEST(FoldScaleAxisTest, S001_47_S003_03_S003_04_ABlockOfVggKeepsTwoAdditions) {
  const Module before = WithConstants(kBlock, kBlockBody);
  const Module after = RunPasses(ReferencePipeline(), before, {.opt_level = 3});
  EXPECT_EQ(Body(after),
            "%0 = nn.conv2d(%x, k0, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);\n"
            "%1 = add(%0, k1);\n%2 = add(%1, k2);\nnn.relu(%2)\n");
  ExpectSameValues(before, after);
  const auto* norm = before.Main()
                         .body.As<ir::CallNode>()
                         ->args[0]
                         .As<ir::TupleGetItemNode>()
                         ->tuple.As<ir::CallNode>();
  const ir::Expr biased = norm->args[0];
  const auto constant = [&](std::size_t i) {
    return i == 0 ? ConstantOf(biased, 1)
                  : norm->args[i].As<ir::ConstantNode>()->data.ToVector<float>();
  };
  const ir::Expr second = after.Main().body.As<ir::CallNode>()->args[0];
  const ir::Expr first = second.As<ir::CallNode>()->args[0];
  EXPECT_EQ(ShapeOf(second), (Shape{64, 1, 1}));
  EXPECT_EQ(ShapeOf(first), (Shape{64, 1, 1}));
  const ir::Expr conv = first.As<ir::CallNode>()->args[0];
  EXPECT_EQ(ShapeOf(conv), (Shape{64, 3, 3, 3}));
  const std::vector<float> weight = ConstantOf(biased.As<ir::CallNode>()->args[0], 1);
  const std::vector<float> new_weight = ConstantOf(conv, 1);
  const std::size_t each = weight.size() / kChannels;
  for (std::size_t c = 0; c < kChannels; ++c) {
    const float s = constant(1)[c] / std::sqrt(constant(4)[c] + 1e-5F);
    EXPECT_NEAR(ConstantOf(first, 1)[c], constant(0)[c] * s, 1e-5);
    EXPECT_NEAR(ConstantOf(second, 1)[c], constant(2)[c] - constant(3)[c] * s, 1e-5);
    for (std::size_t i = c * each; i < (c + 1) * each; ++i)
      EXPECT_NEAR(new_weight[i], weight[i] * s, 1e-5);
  }
}

TEST(FoldScaleAxisTest, S003_05_BelowLevelThreeScaleAndShiftStay) {
  const Module before = WithConstants(kBlock, kBlockBody);
  const Module after = RunPasses(ReferencePipeline(), before, {.opt_level = 2});
  EXPECT_EQ(Body(after),
            "%0 = nn.conv2d(%x, k0, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);\n"
            "%1 = nn.bias_add(%0, k1);\n%2 = multiply(%1, k2);\n%3 = add(%2, k3);\n"
            "nn.relu(%3)\n");
  const ir::Expr shift = after.Main().body.As<ir::CallNode>()->args[0];
  EXPECT_EQ(ShapeOf(shift), (Shape{64, 1, 1}));
  EXPECT_EQ(ShapeOf(shift.As<ir::CallNode>()->args[0]), (Shape{64, 1, 1}));
}

TEST(FoldScaleAxisTest, S003_07_SimplifyExprAndFoldConstantLeaveOneAddition) {
  const Module before = WithConstants(kBlock, kBlockBody);
  Pipeline pipeline = ReferencePipeline();
  pipeline.push_back(
      {.name = "SimplifyExpr", .function = [](const Module& m) { return SimplifyExpr(m); }});
  pipeline.push_back({.name = "FoldAgain", .function = [](const Module& m) {
                        return FoldConstant(m, strategies::EvaluateCall);
                      }});
  const Module after = RunPasses(pipeline, before, {.opt_level = 3});
  EXPECT_EQ(Body(after),
            "%0 = nn.conv2d(%x, k0, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);\n"
            "%1 = add(%0, k1);\nnn.relu(%1)\n");
  ExpectSameValues(before, after);
}

}  // namespace
}  // namespace tenon::passes
