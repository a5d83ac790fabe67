// Blocks of channels where strategies choose them.
#include "tenon/passes/layout/alter_op_layout.h"

#include <gmock/gmock.h>

#include "tenon/ops/builders.h"
#include "tenon/passes/fusion/defuse_ops.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/pipeline.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/passes/simplify/fold_explicit_padding.h"
#include "tenon/passes/simplify/simplify_expr.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;

TEST(AlterOpLayoutTest, ResidualConvolutionsStayInBlocks) {
  const Module before =
      WithConstants("%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(16, 16, 3, 3), float32]",
                    "%0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);\n"
                    "add(%0, nn.conv2d(nn.relu(%0), %w, padding=[1, 1, 1, 1]))");
  const Module after = AlterOpLayout(before);
  EXPECT_THAT(Body(after), HasSubstr("nn.contrib_conv2d_NCHWc"));
  ExpectSameValues(before, after);
}

TEST(AlterOpLayoutTest, ValuesAreTheSameForAnyNumberOfChannels) {
  for (const int channels : {1, 3, 15, 16, 17, 32}) {
    const Module before = WithConstants(
        StrCat("%x: Tensor[(1, ", channels, ", 5, 6), float32], %w: Tensor[(", channels,
               ", 1, 3, 3), float32], %u: Tensor[(24, ", channels, ", 1, 1), float32]"),
        StrCat("nn.conv2d(nn.relu(nn.conv2d(%x, %w, groups=", channels, ")), %u)"));
    ExpectSameValues(before, AlterOpLayout(before));
  }
}

const ops::Conv2DAttrs& AttrsOfConvolution(const Module& module) {
  const ops::Conv2DAttrs* attrs = nullptr;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr &&
        call->op()->name.find("conv2d") != std::string::npos)
      attrs = &call->attrs.As<ops::Conv2DAttrs>();
  });
  return *attrs;
}

// AlterOpLayout notes what it did to the weight, and the passes that follow keep it.
TEST(AlterOpLayoutTest, S004_11_HiddenLayoutsSurviveRewriting) {
  Module module =
      WithConstants("%x: Tensor[(1, 16, 5, 6), float32], %k_w: Tensor[(32, 16, 3, 3), float32]",
                    "nn.relu(nn.conv2d(%x, %k_w, padding=[1, 1, 1, 1]))");
  EXPECT_EQ(AttrsOfConvolution(module).auto_scheduler_rewritten_layout, "");
  module = AlterOpLayout(module);
  for (int pass = 0; pass < 4; ++pass) {
    const ops::Conv2DAttrs& attrs = AttrsOfConvolution(module);
    EXPECT_EQ(attrs.auto_scheduler_rewritten_layout, "OIHW16i16o") << pass;
    EXPECT_EQ(attrs.meta_schedule_original_shape, (ops::Ints{32, 16, 3, 3})) << pass;
    if (pass == 0) module = FoldConstant(module, strategies::EvaluateCall);
    if (pass == 1) module = SimplifyExpr(module);
    if (pass == 2) module = DefuseOps(FuseOps(module));
  }
}

// So do passes that change the attributes of an nn.conv2d.
TEST(AlterOpLayoutTest, S004_11_HiddenLayoutsSurviveChangesOfOtherAttributes) {
  ops::Conv2DAttrs noted{.padding = {0, 0, 0, 0}};
  noted.auto_scheduler_rewritten_layout = "OIHW4i";
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 4, 5, 6}, Float32));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({8, 4, 3, 3}, Float32));
  const ir::Expr padded = ops::Pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  const Module padding =
      FoldExplicitPadding(InferType(Module::FromExpr(ops::Conv2D(padded, w, noted))));
  EXPECT_EQ(AttrsOfConvolution(padding).padding, (ops::Ints{1, 1, 1, 1}));
  EXPECT_EQ(AttrsOfConvolution(padding).auto_scheduler_rewritten_layout, "OIHW4i");
  const Module last = ConvertLayout(InferType(padding), {{"nn.conv2d", {"NHWC"}}});
  EXPECT_EQ(AttrsOfConvolution(last).data_layout, "NHWC");
  EXPECT_EQ(AttrsOfConvolution(last).auto_scheduler_rewritten_layout, "OIHW4i");
}

TEST(AlterOpLayoutTest, ConvolutionsOfVolumesTakeBlocks) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 3, 3, 5, 6), float32], %k_w: Tensor[(16, 3, 3, 3, 3), float32], "
      "%k_u: Tensor[(32, 16, 1, 3, 3), float32], %kn_b: Tensor[(16, 1, 1, 1), float32]",
      "%0 = add(nn.conv3d(%x, %k_w, padding=[1, 1, 1, 1, 1, 1]), %kn_b);\n"
      "nn.conv3d(nn.relu(%0), %k_u, strides=[1, 2, 1])");
  const Module after = AlterOpLayout(before);
  EXPECT_EQ(Body(after),
            "%0 = layout_transform(%x, src_layout=\"NCDHW\", dst_layout=\"NCDHW3c\");\n"
            "%1 = layout_transform(k0, src_layout=\"OIDHW\", dst_layout=\"OIDHW3i16o\");\n"
            "%2 = expand_dims(k1, axis=0);\n"
            "%3 = nn.conv3d(%0, %1, padding=[1, 1, 1, 1, 1, 1], data_layout=\"NCDHW3c\", "
            "kernel_layout=\"OIDHW3i16o\", out_layout=\"NCDHW16c\");\n"
            "%4 = layout_transform(%2, src_layout=\"NCDHW\", dst_layout=\"NCDHW16c\");\n"
            "%5 = add(%3, %4);\n"
            "%6 = nn.relu(%5);\n"
            "%7 = layout_transform(k2, src_layout=\"OIDHW\", dst_layout=\"OIDHW16i16o\");\n"
            "%8 = nn.conv3d(%6, %7, strides=[1, 2, 1], data_layout=\"NCDHW16c\", "
            "kernel_layout=\"OIDHW16i16o\", out_layout=\"NCDHW16c\");\n"
            "layout_transform(%8, src_layout=\"NCDHW16c\", dst_layout=\"NCDHW\")\n");
  ExpectSameValues(before, after);
  ExpectSameValues(before, FoldConstant(after, strategies::EvaluateCall));
}

TEST(AlterOpLayoutTest, TransposedConvolutionsTakeBlocks) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 16, 5, 6), float32], %k_w: Tensor[(16, 32, 3, 4), float32]",
      "nn.relu(nn.conv2d_transpose(nn.relu(%x), %k_w, strides=[2, 2], padding=[1, 1, 1, 1], "
      "output_padding=[1, 0]))");
  const Module after = AlterOpLayout(before);
  EXPECT_EQ(Body(after),
            "%0 = nn.relu(%x);\n"
            "%1 = layout_transform(%0, src_layout=\"NCHW\", dst_layout=\"NCHW16c\");\n"
            "%2 = layout_transform(k0, src_layout=\"IOHW\", dst_layout=\"IOHW16i16o\");\n"
            "%3 = nn.conv2d_transpose(%1, %2, strides=[2, 2], output_padding=[1, 0], "
            "padding=[1, 1, 1, 1], data_layout=\"NCHW16c\", kernel_layout=\"IOHW16i16o\", "
            "out_layout=\"NCHW16c\");\n"
            "%4 = nn.relu(%3);\n"
            "layout_transform(%4, src_layout=\"NCHW16c\", dst_layout=\"NCHW\")\n");
  ExpectSameValues(before, after);
  ExpectSameValues(before, FoldConstant(after, strategies::EvaluateCall));
}

// Where blocks would leave lanes empty or do not divide the channels, with several groups, in other
// layouts, and where no two taps of a transposed convolution meet.
TEST(AlterOpLayoutTest, ConvolutionsThatBlocksWouldSlowDownStay) {
  for (const auto& [params, call] :
       {std::pair("%x: Tensor[(1, 16, 3, 5, 6), float32], %w: Tensor[(24, 16, 3, 3, 3), float32]",
                  "nn.conv3d(%x, %w)"),
        std::pair("%x: Tensor[(1, 17, 3, 5, 6), float32], %w: Tensor[(16, 17, 3, 3, 3), float32]",
                  "nn.conv3d(%x, %w)"),
        std::pair("%x: Tensor[(1, 32, 3, 5, 6), float32], %w: Tensor[(32, 16, 3, 3, 3), float32]",
                  "nn.conv3d(%x, %w, groups=2)"),
        std::pair("%x: Tensor[(1, 3, 5, 6, 16), float32], %w: Tensor[(3, 3, 3, 16, 16), float32]",
                  "nn.conv3d(%x, %w, data_layout=\"NDHWC\", kernel_layout=\"DHWIO\")"),
        std::pair("%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(16, 24, 3, 3), float32]",
                  "nn.conv2d_transpose(%x, %w)"),
        std::pair("%x: Tensor[(1, 32, 5, 6), float32], %w: Tensor[(32, 16, 3, 3), float32]",
                  "nn.conv2d_transpose(%x, %w, groups=2)"),
        std::pair("%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(16, 32, 2, 2), float32]",
                  "nn.conv2d_transpose(%x, %w, strides=[2, 2])")}) {
    const Module before = WithConstants(params, StrCat("nn.relu(", call, ")"));
    EXPECT_EQ(AlterOpLayout(before), before) << call;
  }
}

TEST(AlterOpLayoutTest, ProductsTakeBlocksOfColumns) {
  const Module before = WithConstants(
      "%x: Tensor[(5, 7), float32], %k_w: Tensor[(32, 7), float32], "
      "%kn_b: Tensor[(32), float32]",
      "nn.relu(add(nn.dense(%x, %k_w, units=None), %kn_b))");
  const Module after = AlterOpLayout(before);
  EXPECT_EQ(Body(after),
            "%0 = layout_transform(k0, src_layout=\"NC\", dst_layout=\"NC16n\");\n"
            "%1 = nn.contrib_dense_pack(%x, %0, units=32, weight_layout=\"NC16n\");\n"
            "%2 = add(%1, k1);\nnn.relu(%2)\n");
  ExpectSameValues(before, after);
  ExpectSameValues(before, FoldConstant(after, strategies::EvaluateCall));
}

TEST(AlterOpLayoutTest, ProductsOfOtherFormsStay) {
  for (const char* params : {"%x: Tensor[(5, 7), float32], %w: Tensor[(17, 7), float32]",
                             "%x: Tensor[(7), float32], %w: Tensor[(32, 7), float32]",
                             "%x: Tensor[(2, 5, 7), float32], %w: Tensor[(32, 7), float32]"}) {
    const Module before = WithConstants(params, "nn.relu(nn.dense(%x, %w, units=None))");
    EXPECT_EQ(AlterOpLayout(before), before) << params;
  }
}

// Passes that read layouts of whole axes leave a convolution with blocks as it is.
TEST(AlterOpLayoutTest, AConvolutionWithBlocksStays) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 2, 5, 6, 8), float32], %k_w: Tensor[(4, 2, 3, 3, 8, 8), float32]",
      "%0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1], [0, 0]]);\n"
      "nn.relu(nn.conv2d(%0, %k_w, data_layout=\"NCHW8c\", kernel_layout=\"OIHW8i8o\"))");
  EXPECT_EQ(AlterOpLayout(before), before);
  EXPECT_EQ(ConvertLayout(before, {{"nn.conv2d", {"NHWC"}}}), before);
  EXPECT_EQ(FoldExplicitPadding(before), before);
  ExpectSameValues(before, DefuseOps(RunPasses(DefaultPipeline(strategies::EvaluateCall, 4), before,
                                               {.opt_level = 4, .verify = true})));
}

// Scales and shifts around it are folded, or stay, with the same values.
TEST(AlterOpLayoutTest, WorkAroundAConvolutionWithBlocksKeepsItsValues) {
  for (const char* layouts : {"data_layout=\"NCHW8c\", kernel_layout=\"OIHW8i8o\"",
                              "data_layout=\"NCHW8c\", kernel_layout=\"OIHW8o8i\""}) {
    const Module before = WithConstants(
        "%x: Tensor[(1, 2, 5, 6, 8), float32], %k_w: Tensor[(4, 2, 3, 3, 8, 8), float32], "
        "%k_s: Tensor[(4, 1, 1, 8), float32], %kn_b: Tensor[(4, 1, 1, 8), float32], "
        "%k_i: Tensor[(2, 1, 1, 8), float32]",
        StrCat("%0 = nn.conv2d(multiply(%x, %k_i), %k_w, padding=[1, 1, 1, 1], ", layouts,
               ");\nnn.relu(add(multiply(%0, %k_s), %kn_b))"));
    ExpectSameValues(before, DefuseOps(RunPasses(DefaultPipeline(strategies::EvaluateCall, 3),
                                                 before, {.opt_level = 3, .verify = true})));
  }
}

TEST(AlterOpLayoutTest, WorkAroundATransposedConvolutionWithBlocksKeepsItsValues) {
  for (const int groups : {1, 2}) {
    const Module before = WithConstants(
        StrCat("%x: Tensor[(1, 2, 5, 6, 8), float32], %k_w: Tensor[(2, ", 2 / groups,
               ", 3, 3, 8, 8), float32], %k_s: Tensor[(2, 1, 1, 8), float32], "
               "%kn_b: Tensor[(2, 1, 1, 8), float32], %k_i: Tensor[(2, 1, 1, 8), float32]"),
        StrCat("%0 = nn.conv2d_transpose(multiply(%x, %k_i), %k_w, padding=[1, 1, 1, 1], groups=",
               groups, ", data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i8o\");\n",
               "nn.relu(add(multiply(%0, %k_s), %kn_b))"));
    EXPECT_EQ(AlterOpLayout(before), before);
    EXPECT_EQ(ConvertLayout(before, {{"nn.conv2d_transpose", {"NHWC"}}}), before);
    ExpectSameValues(before, DefuseOps(RunPasses(DefaultPipeline(strategies::EvaluateCall, 3),
                                                 before, {.opt_level = 3, .verify = true})));
  }
}

TEST(AlterOpLayoutTest, WorkAroundAVolumeWithBlocksKeepsItsValues) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 2, 3, 5, 6, 8), float32], %k_w: Tensor[(2, 2, 3, 3, 3, 8, 8), float32], "
      "%k_s: Tensor[(2, 1, 1, 1, 8), float32], %kn_b: Tensor[(2, 1, 1, 1, 8), float32]",
      "%0 = nn.conv3d(%x, %k_w, padding=[1, 1, 1, 1, 1, 1], data_layout=\"NCDHW8c\", "
      "kernel_layout=\"OIDHW8i8o\");\nnn.relu(add(multiply(%0, %k_s), %kn_b))");
  EXPECT_EQ(AlterOpLayout(before), before);
  EXPECT_EQ(ConvertLayout(before, {{"nn.conv3d", {"NDHWC"}}}), before);
  ExpectSameValues(before, DefuseOps(RunPasses(DefaultPipeline(strategies::EvaluateCall, 4), before,
                                               {.opt_level = 4, .verify = true})));
}

TEST(AlterOpLayoutTest, OtherLayoutsStay) {
  const Module before =
      WithConstants("%x: Tensor[(1, 5, 6, 16), float32], %w: Tensor[(3, 3, 16, 16), float32]",
                    "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")");
  EXPECT_EQ(AlterOpLayout(before), before);
}

}  // namespace
}  // namespace tenon::passes
