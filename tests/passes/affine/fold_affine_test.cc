// Scales and shifts around convolutions and matrix products end in a weight and one addition.
#include "tenon/passes/affine/fold_affine.h"

#include <memory>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/affine/fold_affine_weights.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/simplify/simplify_inference.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kConv[] =
    "%x: Tensor[(1, 3, 5, 5), float32], %k_w: Tensor[(4, 3, 3, 3), float32], "
    "%kn_b: Tensor[(4, 1, 1), float32], %k_s: Tensor[(4, 1, 1), float32], "
    "%kn_t: Tensor[(4, 1, 1), float32], %k_v: Tensor[(4), float32]";

class FoldAffineChangesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(FoldAffineChangesTest, ToFewerOperators) {
  const Module before = WithConstants(GetParam());
  const Module after = FoldAffine(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
  EXPECT_EQ(FoldAffine(after), after) << "a second run finds more";
}

constexpr char kBare[] = "nn.conv2d(%x, k0)\n";
constexpr char kOneAdd[] = "%0 = nn.conv2d(%x, k0);\nadd(%0, k1)\n";

// Any order and either operand.
INSTANTIATE_TEST_SUITE_P(
    After, FoldAffineChangesTest,
    ::testing::Values(
        PassCase{"AScale", kConv, "multiply(nn.conv2d(%x, %k_w), %k_s)", kBare},
        PassCase{"ANegativeScale", kConv, "multiply(nn.conv2d(%x, %k_w), %kn_t)", kBare},
        PassCase{"AScaleInFront", kConv, "multiply(%k_s, nn.conv2d(%x, %k_w))", kBare},
        PassCase{"ADivision", kConv, "divide(nn.conv2d(%x, %k_w), %k_s)", kBare},
        PassCase{"ANegation", kConv, "negative(nn.conv2d(%x, %k_w))", kBare},
        PassCase{"AScalar", kConv, "multiply(nn.conv2d(%x, %k_w), -3f)", kBare},
        PassCase{"S003_06_TwoAdditions", kConv, "add(add(nn.conv2d(%x, %k_w), %kn_b), %kn_t)",
                 kOneAdd},
        PassCase{"S003_07_EitherOperand", kConv, "add(%kn_t, add(%kn_b, nn.conv2d(%x, %k_w)))",
                 kOneAdd},
        PassCase{"ScaleThenShift", kConv, "add(multiply(nn.conv2d(%x, %k_w), %k_s), %kn_b)",
                 kOneAdd},
        PassCase{"ShiftThenScale", kConv, "multiply(add(nn.conv2d(%x, %k_w), %kn_b), %kn_t)",
                 kOneAdd},
        PassCase{"BiasAddAndScale", kConv,
                 "multiply(nn.bias_add(nn.conv2d(%x, %k_w), %k_v), %kn_t)", kOneAdd},
        PassCase{"ALongChain", kConv,
                 "%0 = nn.bias_add(nn.conv2d(%x, %k_w), %k_v);\n"
                 "%1 = subtract(%kn_b, divide(multiply(%0, %k_s), %kn_t));\n"
                 "negative(subtract(multiply(2f, %1), %k_s))",
                 kOneAdd},
        PassCase{"ConstantsThatAreCalculated", kConv,
                 "%0 = expand_dims(%k_v, axis=1, num_newaxis=2);\n"
                 "multiply(nn.conv2d(%x, %k_w), divide(1f, sqrt(add(%0, %k_s))))",
                 kBare},
        PassCase{"ThroughRelu", kConv, "multiply(nn.relu(add(nn.conv2d(%x, %k_w), %kn_b)), %k_s)",
                 "%0 = nn.conv2d(%x, k0);\n%1 = add(%0, k1);\nnn.relu(%1)\n"},
        PassCase{"ThroughLeakyReluWithAShift", kConv,
                 "%0 = nn.leaky_relu(add(nn.conv2d(%x, %k_w), %kn_b), alpha=-0.5f);\n"
                 "add(multiply(add(%0, %k_s), %k_s), %kn_t)",
                 "%0 = nn.conv2d(%x, k0);\n%1 = add(%0, k1);\n"
                 "%2 = nn.leaky_relu(%1, alpha=-0.5f);\nadd(%2, k2)\n"},
        PassCase{"NegativeScalesBehindReluJoin", kConv,
                 "%0 = nn.relu(nn.conv2d(%x, %k_w));\nmultiply(multiply(%0, %kn_t), %k_s)",
                 "%0 = nn.conv2d(%x, k0);\n%1 = nn.relu(%0);\nmultiply(%1, k1)\n"}),
    [](const auto& info) { return info.param.name; });

constexpr char kLine[] =
    "%x: Tensor[(2, 4, 7), float32], %k_w: Tensor[(6, 2, 3), float32], "
    "%k_t: Tensor[(4, 3, 3), float32], %k_s: Tensor[(6, 1), float32], "
    "%kn_b: Tensor[(6, 1), float32], %kn_i: Tensor[(4, 1), float32]";
constexpr char kTransposed[] =
    "%x: Tensor[(1, 4, 5, 3), float32], %k_w: Tensor[(4, 3, 2, 3), float32], "
    "%k_s: Tensor[(6, 1, 1), float32], %kn_b: Tensor[(6, 1, 1), float32], "
    "%k_u: Tensor[(3, 1, 1), float32], %kn_c: Tensor[(3, 1, 1), float32], "
    "%kn_i: Tensor[(4, 1, 1), float32], %k_j: Tensor[(4, 1, 1), float32]";
constexpr char kVolume[] =
    "%x: Tensor[(1, 2, 4, 3, 5), float32], %k_w: Tensor[(3, 2, 2, 2, 2), float32], "
    "%k_t: Tensor[(2, 3, 2, 2, 2), float32], %k_s: Tensor[(3, 1, 1, 1), float32], "
    "%kn_b: Tensor[(3, 1, 1, 1), float32], %kn_i: Tensor[(2, 1, 1, 1), float32]";
constexpr char kNhwc[] =
    "%x: Tensor[(1, 5, 5, 3), float32], %k_w: Tensor[(3, 3, 3, 4), float32], "
    "%kn_b: Tensor[(4), float32], %k_s: Tensor[(4), float32]";
constexpr char kGroups[] =
    "%x: Tensor[(2, 4, 5, 5), float32], %k_w: Tensor[(6, 2, 3, 3), "
    "float32], %kn_b: Tensor[(6, 1, 1), float32], "
    "%k_s: Tensor[(1, 6, 1, 1), float32], %kn_i: Tensor[(4, 1, 1), "
    "float32]";
constexpr char kDepthwise[] =
    "%x: Tensor[(1, 4, 5, 5), float32], %k_w: Tensor[(8, 1, 3, 3), "
    "float32], %kn_b: Tensor[(8, 1, 1), float32], "
    "%kn_s: Tensor[(8, 1, 1), float32], %kn_i: Tensor[(4, 1, 1), "
    "float32]";
constexpr char kDense[] =
    "%x: Tensor[(2, 3), float32], %k_w: Tensor[(4, 3), float32], "
    "%kn_b: Tensor[(4), float32], %kn_s: Tensor[(1, 4), float32], "
    "%kn_i: Tensor[(3), float32], %k_j: Tensor[(3), float32]";

INSTANTIATE_TEST_SUITE_P(
    Kinds, FoldAffineChangesTest,
    ::testing::Values(
        PassCase{"NHWC", kNhwc,
                 "add(multiply(nn.conv2d(%x, %k_w, data_layout=\"NHWC\", "
                 "kernel_layout=\"HWIO\"), %k_s), %kn_b)",
                 "%0 = nn.conv2d(%x, k0, data_layout=\"NHWC\", kernel_layout=\"HWIO\");\n"
                 "add(%0, k1)\n"},
        PassCase{"CHWN",
                 "%x: Tensor[(3, 5, 5, 2), float32], %k_w: Tensor[(3, 2, 4, 3), float32], "
                 "%k_s: Tensor[(4, 1, 1, 1), float32], %kn_b: Tensor[(4, 1, 1, 1), float32]",
                 "add(multiply(nn.conv2d(%x, %k_w, data_layout=\"CHWN\", "
                 "kernel_layout=\"IHOW\"), %k_s), %kn_b)",
                 "%0 = nn.conv2d(%x, k0, data_layout=\"CHWN\", kernel_layout=\"IHOW\");\n"
                 "add(%0, k1)\n"},
        PassCase{"Groups", kGroups, "add(multiply(nn.conv2d(%x, %k_w, groups=2), %k_s), %kn_b)",
                 "%0 = nn.conv2d(%x, k0, groups=2);\nadd(%0, k1)\n"},
        PassCase{"GroupsForward", kGroups,
                 "nn.conv2d(add(multiply(%x, %kn_i), %kn_i), %k_w, groups=2)",
                 "%0 = nn.conv2d(%x, k0, groups=2);\nadd(%0, k1)\n"},
        PassCase{"Depthwise", kDepthwise,
                 "multiply(add(nn.conv2d(%x, %k_w, groups=4), %kn_b), %kn_s)",
                 "%0 = nn.conv2d(%x, k0, groups=4);\nadd(%0, k1)\n"},
        PassCase{"DepthwiseForward", kDepthwise,
                 "nn.conv2d(add(multiply(%x, %kn_i), %kn_i), %k_w, groups=4)",
                 "%0 = nn.conv2d(%x, k0, groups=4);\nadd(%0, k1)\n"},
        PassCase{"Dense", kDense, "add(multiply(nn.dense(%x, %k_w, units=None), %kn_s), %kn_b)",
                 "%0 = nn.dense(%x, k0, units=None);\nadd(%0, k1)\n"},
        PassCase{"DenseForward", kDense,
                 "nn.bias_add(nn.dense(subtract(%kn_i, multiply(%x, %k_j)), %k_w, units=None), "
                 "%kn_b)",
                 "%0 = nn.dense(%x, k0, units=None);\nadd(%0, k1)\n"},
        PassCase{"Matmul",
                 "%x: Tensor[(3, 2), float32], %k_w: Tensor[(3, 4), float32], "
                 "%kn_b: Tensor[(4), float32], %kn_i: Tensor[(3, 1), float32]",
                 "multiply(add(nn.matmul(multiply(%x, %kn_i), %k_w, units=None, "
                 "transpose_a=True), %kn_b), 2f)",
                 "%0 = nn.matmul(%x, k0, units=None, transpose_a=True);\nadd(%0, k1)\n"},
        PassCase{"Conv1D", kLine, "add(multiply(nn.conv1d(%x, %k_w, groups=2), %k_s), %kn_b)",
                 "%0 = nn.conv1d(%x, k0, groups=2);\nadd(%0, k1)\n"},
        PassCase{"Conv1DForward", kLine,
                 "nn.conv1d(add(multiply(%x, %kn_i), %kn_i), %k_w, groups=2)",
                 "%0 = nn.conv1d(%x, k0, groups=2);\nadd(%0, k1)\n"},
        PassCase{"Conv1DTransposeOfGroups", kLine,
                 "multiply(add(nn.conv1d_transpose(%x, %k_t, groups=2, strides=[2]), %kn_b), %k_s)",
                 "%0 = nn.conv1d_transpose(%x, k0, strides=[2], groups=2);\nadd(%0, k1)\n"},
        PassCase{"Conv2DTranspose", kTransposed,
                 "add(multiply(nn.conv2d_transpose(%x, %k_w, strides=[2, 1]), %k_u), %kn_c)",
                 "%0 = nn.conv2d_transpose(%x, k0, strides=[2, 1]);\nadd(%0, k1)\n"},
        PassCase{"Conv2DTransposeThroughRelu", kTransposed,
                 "multiply(nn.relu(nn.conv2d_transpose(%x, %k_w, groups=2)), %k_s)",
                 "%0 = nn.conv2d_transpose(%x, k0, groups=2);\nnn.relu(%0)\n"},
        PassCase{"Conv2DTransposeForward", kTransposed,
                 "nn.conv2d_transpose(nn.relu(multiply(%x, %k_j)), %k_w, groups=2)",
                 "%0 = nn.relu(%x);\nnn.conv2d_transpose(%0, k0, groups=2)\n"},
        PassCase{"Conv3D", kVolume, "add(multiply(nn.conv3d(%x, %k_w), %k_s), %kn_b)",
                 "%0 = nn.conv3d(%x, k0);\nadd(%0, k1)\n"},
        PassCase{"Conv3DForward", kVolume, "nn.conv3d(add(multiply(%x, %kn_i), %kn_i), %k_w)",
                 "%0 = nn.conv3d(%x, k0);\nadd(%0, k1)\n"},
        PassCase{"Conv3DTranspose", kVolume,
                 "add(multiply(nn.conv3d_transpose(%x, %k_t), %k_s), %kn_b)",
                 "%0 = nn.conv3d_transpose(%x, k0);\nadd(%0, k1)\n"},
        PassCase{"Float64",
                 "%x: Tensor[(2, 3), float64], %k_w: Tensor[(4, 3), float64], "
                 "%k_s: Tensor[(4), float64]",
                 "multiply(nn.dense(%x, %k_w, units=None), %k_s)",
                 "nn.dense(%x, k0, units=None)\n"}),
    [](const auto& info) { return info.param.name; });

constexpr char kTwo[] =
    "%x: Tensor[(1, 3, 5, 5), float32], %k_v: Tensor[(4, 3, 3, 3), float32], "
    "%k_w: Tensor[(2, 4, 3, 3), float32], %kn_b: Tensor[(4, 1, 1), float32], "
    "%kn_s: Tensor[(4, 1, 1), float32], %k_i: Tensor[(3, 1, 1), float32], "
    "%kn_i: Tensor[(3, 1, 1), float32]";

INSTANTIATE_TEST_SUITE_P(
    Before, FoldAffineChangesTest,
    ::testing::Values(
        PassCase{"AScale", kTwo, "nn.conv2d(multiply(%x, %kn_i), %k_v, padding=[1, 1, 1, 1])",
                 "nn.conv2d(%x, k0, padding=[1, 1, 1, 1])\n"},
        PassCase{"AShiftWithoutPadding", kTwo, "nn.conv2d(add(%x, %kn_i), %k_v)",
                 "%0 = nn.conv2d(%x, k0);\nadd(%0, k1)\n"},
        PassCase{"AnImageThatIsNormalised", kTwo,
                 "nn.conv2d(divide(subtract(%x, %kn_i), %k_i), %k_v)",
                 "%0 = nn.conv2d(%x, k0);\nadd(%0, k1)\n"},
        // Around padding the shift stays before the convolution.
        PassCase{"AnImageThatIsNormalisedAndPadded", kTwo,
                 "nn.conv2d(divide(subtract(%x, %kn_i), %k_i), %k_v, padding=[1, 1, 1, 1])",
                 "%0 = add(%x, k0);\nnn.conv2d(%0, k1, padding=[1, 1, 1, 1])\n"},
        PassCase{"ThroughRelu", kTwo, "nn.conv2d(nn.relu(add(multiply(%x, %k_i), %kn_i)), %k_v)",
                 "%0 = add(%x, k0);\n%1 = nn.relu(%0);\nnn.conv2d(%1, k1)\n"},
        // The first convolution cannot take the negative scale through relu; the second can.
        PassCase{"BetweenConvolutions", kTwo,
                 "%0 = nn.relu(nn.conv2d(%x, %k_v));\n"
                 "nn.conv2d(multiply(%0, %kn_s), %k_w, padding=[1, 1, 1, 1])",
                 "%0 = nn.conv2d(%x, k0);\n%1 = nn.relu(%0);\n"
                 "nn.conv2d(%1, k1, padding=[1, 1, 1, 1])\n"},
        PassCase{"OneBiasForTwoConvolutions", kTwo,
                 "nn.conv2d(add(nn.conv2d(%x, %k_v), %kn_b), %k_w)",
                 "%0 = nn.conv2d(%x, k0);\n%1 = nn.conv2d(%0, k1);\nadd(%1, k2)\n"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    WeightThatIsNoConstant, FoldAffineChangesTest,
    ::testing::Values(PassCase{
        "OneScaleAndOneShift",
        "%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], "
        "%kn_b: Tensor[(4), float32], %kn_s: Tensor[(4), float32]",
        "%0 = multiply(nn.dense(%x, %w, units=None), %kn_s);\n"
        "add(multiply(add(%0, %kn_b), %kn_s), %kn_b)",
        "%0 = nn.dense(%x, %w, units=None);\n%1 = multiply(%0, k0);\nadd(%1, k1)\n"}),
    [](const auto& info) { return info.param.name; });

class FoldAffineLeavesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(FoldAffineLeavesTest, TheSameNodesAndSaysWhy) {
  const Module before = WithConstants(GetParam());
  FoldAffineReport report;
  EXPECT_EQ(FoldAffine(before, &report), before);
  EXPECT_EQ(report.folded, 0);
  if (GetParam().expected[0] == '\0') {
    EXPECT_THAT(report.refusals, IsEmpty());
  } else {
    EXPECT_THAT(report.refusals, ElementsAre(HasSubstr(GetParam().expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, FoldAffineLeavesTest,
    ::testing::Values(
        PassCase{"OneAddition", kConv, "add(nn.conv2d(%x, %k_w), %kn_b)"},
        PassCase{"OneBiasAdd", kConv, "nn.bias_add(nn.conv2d(%x, %k_w), %k_v)"},
        PassCase{"BiasBetweenConvolutionAndRelu", kConv,
                 "add(nn.relu(add(nn.conv2d(%x, %k_w), %kn_b)), %kn_b)"},
        PassCase{"OneSubtraction", kConv, "subtract(%kn_b, nn.conv2d(%x, %k_w))"},
        PassCase{"NoConvolution", kConv, "multiply(multiply(%x, 2f), 3f)"},
        PassCase{"ANegativeScaleBehindRelu", kConv, "multiply(nn.relu(nn.conv2d(%x, %k_w)), %kn_t)",
                 "multiply after nn.conv2d stays: a scale that is not above zero cannot pass "
                 "nn.relu"},
        PassCase{"TwoReaders", kConv, "%0 = nn.conv2d(%x, %k_w);\n(multiply(%0, %k_s), %0)",
                 "multiply after nn.conv2d stays: the value before it has other readers"},
        PassCase{"AScaleOfEveryElement",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%k_w: Tensor[(4, 3, 1, 1), float32], %k_s: Tensor[(4, 5, 5), float32]",
                 "multiply(nn.conv2d(%x, %k_w), %k_s)",
                 "multiply after nn.conv2d stays: the constant differs along another axis"},
        PassCase{"AScaleThatIsNoConstant",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%k_w: Tensor[(4, 3, 1, 1), float32], %s: Tensor[(4, 1, 1), float32]",
                 "multiply(nn.conv2d(%x, %k_w), %s)",
                 "multiply after nn.conv2d stays: the other operand is not a constant"},
        PassCase{"AWeightThatIsNoConstant",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(4, 3, 1, 1), float32]",
                 "multiply(nn.conv2d(%x, %w), 2f)",
                 "multiply after nn.conv2d stays: the weight is not a constant"},
        PassCase{"AShiftThatCancels", kConv, "subtract(add(nn.conv2d(%x, %k_w), %kn_b), %kn_b)",
                 "subtract after nn.conv2d stays: its shift subtracts what was added before"},
        PassCase{"ARoundingAfterTheConvolution", kConv,
                 "subtract(add(nn.conv2d(%x, %k_w), 12582912f), 12582912f)",
                 "add after nn.conv2d stays: its shift is so large that it rounds"},
        PassCase{"AShiftThatRoundsBeforeTheConvolution", kConv,
                 "nn.conv2d(add(%x, 12582912f), %k_w)"},
        PassCase{"ARoundingBeforeTheConvolution", kConv,
                 "nn.conv2d(subtract(add(%x, 12582912f), 12582912f), %k_w)"},
        PassCase{"ADivisionByZero", kConv, "divide(nn.conv2d(%x, %k_w), 0f)", "divides by zero"},
        PassCase{"ADivisionOfAConstant", kConv, "divide(2f, nn.conv2d(%x, %k_w))",
                 "it divides by the value"},
        PassCase{"AScaleBeyondTheRange", kConv, "multiply(nn.conv2d(%x, %k_w), 3e38f)",
                 "multiply after nn.conv2d stays: the scaled weight is beyond the range"},
        PassCase{"AZeroScaleAndAShiftBeforePadding", kTwo,
                 "nn.conv2d(add(multiply(%x, 0f), %kn_i), %k_v, padding=[1, 1, 1, 1])",
                 "with padding, a shift can pass only a scale without zeros"},
        PassCase{"MoreChannels",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%k_w: Tensor[(1, 3, 1, 1), float32], %k_s: Tensor[(4, 1, 1), float32]",
                 "multiply(nn.conv2d(%x, %k_w), %k_s)",
                 "the other operand gives the result its shape"},
        PassCase{"Integers", "%x: Tensor[(2, 3), int32], %k_w: Tensor[(4, 3), int32]",
                 "multiply(nn.dense(%x, %k_w, units=None), 2)"}),
    [](const auto& info) { return info.param.name; });

// The constants are rounded once, from double precision.
TEST(FoldAffineTest, S003_07_ABatchNormBlockKeepsOneAdditionOfConstantsRoundedOnce) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 3, 8, 8), float32], %k_w: Tensor[(6, 3, 3, 3), float32], "
      "%kn_b: Tensor[(6), float32], %k_g: Tensor[(6), float32], %k_h: Tensor[(6), float32], "
      "%kn_m: Tensor[(6), float32], %k_v: Tensor[(6), float32]",
      "%0 = nn.bias_add(nn.conv2d(%x, %k_w, padding=[1, 1, 1, 1]), %kn_b);\n"
      "nn.relu(nn.batch_norm(%0, %k_g, %k_h, %kn_m, %k_v).0)");
  FoldAffineReport report;
  const Module after = FoldAffine(InferType(SimplifyInference(before)), &report);
  EXPECT_EQ(Body(after),
            "%0 = nn.conv2d(%x, k0, padding=[1, 1, 1, 1]);\n%1 = add(%0, k1);\nnn.relu(%1)\n");
  EXPECT_EQ(report.folded, 1);
  EXPECT_THAT(report.refusals, IsEmpty());
  ExpectSameValues(before, after);

  const auto* norm = before.Main()
                         .body.As<ir::CallNode>()
                         ->args[0]
                         .As<ir::TupleGetItemNode>()
                         ->tuple.As<ir::CallNode>();
  const auto data = [](const ir::Expr& e) {
    return e.As<ir::ConstantNode>()->data.ToVector<float>();
  };
  const auto bias = data(norm->args[0].As<ir::CallNode>()->args[1]);
  const auto gamma = data(norm->args[1]), beta = data(norm->args[2]), mean = data(norm->args[3]),
             var = data(norm->args[4]);
  const auto* add = after.Main().body.As<ir::CallNode>()->args[0].As<ir::CallNode>();
  const auto folded = data(add->args[1]);
  for (std::size_t c = 0; c < 6; ++c) {
    // epsilon is a constant of the data's type.
    const double s = gamma[c] / std::sqrt(var[c] + static_cast<double>(1e-5F));
    EXPECT_FLOAT_EQ(folded[c],
                    static_cast<float>((bias[c] - static_cast<double>(mean[c])) * s + beta[c]));
  }
}

// The extents of other axes than those of channels may be variables.
TEST(FoldAffineTest, ImagesOfAnySizeFoldAsThoseOfOneSize) {
  const Module before = WithConstants(
      "%x: Tensor[(n, 3, h, w), float32], %k_w: Tensor[(4, 3, 3, 3), float32], "
      "%k_s: Tensor[(4, 1, 1), float32], %kn_b: Tensor[(4, 1, 1), float32]",
      "%0 = add(multiply(nn.conv2d(%x, %k_w, padding=[1, 1]), %k_s), %kn_b);\n"
      "nn.relu(multiply(%0, %k_s))");
  EXPECT_EQ(Body(FoldAffine(before)),
            "%0 = nn.conv2d(%x, k0, padding=[1, 1]);\n%1 = add(%0, k1);\nnn.relu(%1)\n");
  const Module channels =
      WithConstants("%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(m, 3, 3, 3), float32]",
                    "multiply(multiply(nn.conv2d(%x, %w), 2f), 3f)");
  EXPECT_EQ(FoldAffine(channels), channels) << "how many channels there are is not known";
}

TEST(FoldAffineTest, AWeightThatConstantFoldingMakesTakesScalesAtTheDefaultLevel) {
  const Module before =
      WithConstants("%x: Tensor[(2, 3), float32], %k_w: Tensor[(3, 4), float32]",
                    "multiply(nn.dense(%x, transpose(%k_w, axes=[1, 0]), units=None), 2f)");
  const Lowered lowered = ValueOrThrow(Lower(before));
  EXPECT_EQ(lowered.kernels.size(), 1U);
  EXPECT_THAT(Print(lowered.module), ::testing::Not(HasSubstr("multiply")));
}

// The whole block is one kernel, which writes no intermediate values.
TEST(FoldAffineTest, S003_08_AFoldedBlockIsOneKernel) {
  const Module block = WithConstants(kConv,
                                     "%0 = nn.bias_add(nn.conv2d(%x, %k_w), %k_v);\n"
                                     "nn.relu(add(multiply(%0, %k_s), %kn_b))");
  const Module fused = FuseOps(FoldAffine(block));
  EXPECT_EQ(Body(fused),
            "%2 = fn (%p0: Tensor[(1, 3, 5, 5), float32], %p1: Tensor[(4, 3, 3, 3), float32], "
            "%p2: Tensor[(4, 1, 1), float32], Primitive=1) -> Tensor[(1, 4, 3, 3), float32] {\n"
            "  %0 = nn.conv2d(%p0, %p1);\n  %1 = add(%0, %p2);\n  nn.relu(%1)\n};\n"
            "%2(%x, k0, k1)\n");
  EXPECT_EQ(ValueOrThrow(Lower(block, {.opt_level = 0})).kernels.size(), 5U);
  EXPECT_EQ(ValueOrThrow(Lower(block, {.opt_level = 3})).kernels.size(), 1U);
}

// Without folding of the two additions: both run on the sums of the convolution before they are
// stored, and nothing in between is.
TEST(FoldAffineTest, S003_08_TwoAdditionsAndTheActivationAreOneLoopAfterTheConvolution) {
  const Module block = WithConstants(
      "%x: Tensor[(1, 3, 5, 5), float32], %k_w: Tensor[(4, 3, 3, 3), float32], "
      "%k_a: Tensor[(4, 1, 1), float32], %k_b: Tensor[(4, 1, 1), float32]",
      "nn.relu(add(add(nn.conv2d(%x, %k_w), %k_a), %k_b))");
  EXPECT_EQ(Body(FuseOps(block)),
            "%3 = fn (%p0: Tensor[(1, 3, 5, 5), float32], %p1: Tensor[(4, 3, 3, 3), float32], "
            "%p2: Tensor[(4, 1, 1), float32], %p3: Tensor[(4, 1, 1), float32], Primitive=1) -> "
            "Tensor[(1, 4, 3, 3), float32] {\n"
            "  %0 = nn.conv2d(%p0, %p1);\n  %1 = add(%0, %p2);\n  %2 = add(%1, %p3);\n"
            "  nn.relu(%2)\n};\n%3(%x, k0, k1, k2)\n");
  Target target = Target::Host();  // nothing runs; four filters fill no vector
  target.vector_bytes = 64;
  target.vector_registers = 32;
  const std::string loops = testing_graphs::LoopsOf(
      block, {.target = target, .opt_level = 1, .library = LibraryChoice::kTe});
  EXPECT_THAT(loops, ::testing::ContainsRegex(
                         "nn.relu\\[[^]]*\\] = max\\(\\(\\(conv2d\\w*\\[[^]]*\\] \\+ "
                         "(x[0-9]+\\()?p2\\[[^]]*\\]\\)+ \\+ (x[0-9]+\\()?p3\\[[^]]*\\]\\)+, "
                         "(x[0-9]+\\()?0f\\)"));
  // The only other storage is that of a row's sums.
  EXPECT_EQ(loops.find("allocate"), loops.rfind("allocate"));
}

// Threads share these; a few elements of each share vanish.
TEST(FoldAffineTest, LargeWeightsAreScaledWholeAndWhatVanishesIsCounted) {
  constexpr std::int64_t kOutputs = 631, kInputs = 541;
  std::vector<float> elements(kOutputs * kInputs);
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = i % 1009 == 0 ? 1e-30F : static_cast<float>(i % 257) + 1;
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, kInputs}, Float32));
  const ir::Expr weight = ir::Constant::Make(NDArray::FromVector({kOutputs, kInputs}, elements));
  const Module before =
      InferType(Module::FromExpr(ops::Multiply(ops::Dense(x, weight), ops::Scalar(1e-10))));
  FoldAffineReport report;
  const Module after = FoldAffine(before, &report);
  const auto values =
      after.Main().body.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data.ToVector<float>();
  std::int64_t vanished = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool vanishes = i % 1009 == 0;
    vanished += vanishes ? 1 : 0;
    const double scale = static_cast<double>(1e-10F);
    ASSERT_EQ(values[i], vanishes ? 0 : static_cast<float>(elements[i] * scale)) << i;
  }
  EXPECT_EQ(report.flushed, vanished);
}

// Two products by constant weights, each with a scale after it. The weights say when they are
// freed.
Module TwoScaledProducts(std::vector<std::weak_ptr<std::vector<float>>>* weights) {
  ir::Expr e = ir::Var::Make("x", ir::TensorType({1, 3}, Float32));
  for (int i = 0; i < 2; ++i) {
    const auto elements = std::make_shared<std::vector<float>>(9, 2.0F);
    weights->push_back(elements);
    const NDArray weight = NDArray::View({3, 3}, Float32, elements->data(), elements);
    e = ops::Multiply(ops::Dense(e, ir::Constant::Make(weight)), ops::Scalar(3.0));
  }
  return InferType(Module::FromExpr(e));
}

TEST(FoldAffineTest, InPlaceOldWeightsAreFreed) {
  std::vector<std::weak_ptr<std::vector<float>>> old;
  Module module = TwoScaledProducts(&old);
  EXPECT_TRUE(FoldAffine(&module));
  for (const auto& weight : old) EXPECT_TRUE(weight.expired());
  int weights = 0;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    if (const auto* weight = e.As<ir::ConstantNode>()) {
      ++weights;
      EXPECT_THAT(weight->data.ToVector<float>(), ::testing::Each(6.0F));
    }
  });
  EXPECT_EQ(weights, 2);
}

TEST(FoldAffineTest, AModuleThatSomebodyHoldsKeepsItsWeights) {
  std::vector<std::weak_ptr<std::vector<float>>> old;
  const Module held = TwoScaledProducts(&old);
  Module module = held;
  EXPECT_TRUE(FoldAffine(&module));
  for (const auto& weight : old) {
    ASSERT_FALSE(weight.expired());
    EXPECT_THAT(*weight.lock(), ::testing::Each(2.0F));
  }
}

TEST(ScaledWeightsTest, OldWeightsAreFreedOneByOne) {
  std::vector<std::weak_ptr<std::vector<float>>> old;
  ScaledWeights later;
  std::vector<NDArray> made;
  for (int i = 0; i < 3; ++i) {
    const auto elements = std::make_shared<std::vector<float>>(6, 1.0F);
    old.push_back(elements);
    made.push_back(later.Add({.weight = NDArray::View({2, 3}, Float32, elements->data(), elements),
                              .axes = {.inputs = {1}, .outputs = {0}},
                              .out = {2, 3},
                              .in = {1, 10, 100}}));
  }
  later.Compute();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(old[static_cast<std::size_t>(i)].expired()) << i;
    EXPECT_THAT(made[static_cast<std::size_t>(i)].ToVector<float>(),
                ElementsAre(2, 20, 200, 3, 30, 300));
  }
}

// A bias would be rounded to the steps of the large number before it is added to the product.
TEST(FoldAffineTest, ABiasIsNotJoinedWithALargeNumber) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2}, Float32));
  const ir::Expr weight = ir::Constant::Make(NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4}));
  const ir::Expr biased = ops::Add(ops::Dense(x, weight),
                                   ir::Constant::Make(NDArray::FromVector<float>({2}, {0.5F, 2})));
  const ir::Expr large = ops::Scalar(12582912);
  const Module before = InferType(Module::FromExpr(ops::Subtract(ops::Add(biased, large), large)));
  EXPECT_EQ(FoldAffine(before), before);
}

TEST(FoldAffineTest, AChainOfAnyLengthFoldsInTimeOfItsLength) {
  const std::string body =
      LongChain("nn.dense(%x, %k_w, units=None)", "add", "0.5f", 30000) + "%last";
  const Module after =
      FoldAffine(WithConstants("%x: Tensor[(1, 2), float32], %k_w: Tensor[(3, 2), float32]", body));
  EXPECT_EQ(Body(after), "%0 = nn.dense(%x, k0, units=None);\nadd(%0, 15000f)\n");
}

TEST(FoldAffineTest, S003_06_TheConstantIsTheSumOfBoth) {
  const Module before = WithConstants(kConv, "add(add(nn.conv2d(%x, %k_w), %kn_b), %kn_t)");
  const auto constant = [](const ir::Expr& call) {
    return call.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data;
  };
  const NDArray b = constant(before.Main().body.As<ir::CallNode>()->args[0]);
  const NDArray t = constant(before.Main().body);
  const NDArray sum = constant(FoldAffine(before).Main().body);
  ASSERT_EQ(sum.shape(), (Shape{4, 1, 1}));
  for (int c = 0; c < 4; ++c)
    EXPECT_FLOAT_EQ(sum.data<float>()[c], b.data<float>()[c] + t.data<float>()[c]);
}

}  // namespace
}  // namespace tenon::passes
