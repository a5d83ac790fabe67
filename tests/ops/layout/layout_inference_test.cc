#include "tenon/ops/layout/layout_inference.h"

#include <gtest/gtest.h>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/dilation_rules.h"
#include "tenon/ops/image/upsampling_attrs.h"
#include "tenon/ops/norm/nn_attrs.h"

namespace tenon::ops {
namespace {

LayoutAnswer Infer(const char* op, const attrs::Attrs& attrs, std::vector<std::string> new_inputs,
                   std::vector<std::string> old_inputs, std::vector<ir::Type> types) {
  const auto* column = OpOf(OpRegistry::Global().Get(op))->Column<LayoutInference>();
  return column->infer({attrs, std::move(new_inputs), std::move(old_inputs), std::move(types)});
}

ir::Type Image() { return ir::TensorType({1, 8, 4, 4}, Float32); }

TEST(LayoutInferenceTest, AnElementwiseOperatorKeepsWhatArrives) {
  const LayoutAnswer answer = Infer("nn.relu", {}, {"NHWC"}, {"NCHW"}, {Image()});
  EXPECT_EQ(answer.inputs, std::vector<std::string>{"NHWC"});
  EXPECT_EQ(answer.output, "NHWC");
}

TEST(LayoutInferenceTest, S004_20_AConvolutionTakesTheNewLayoutIntoItsAttributes) {
  const LayoutAnswer answer =
      Infer("nn.conv2d", attrs::Attrs::Make(Conv2DAttrs{}), {"NHWC", ""}, {"NCHW", "OIHW"},
            {Image(), ir::TensorType({8, 8, 3, 3}, Float32)});
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"NHWC", "OIHW"}));
  EXPECT_EQ(answer.output, "NHWC");
  EXPECT_EQ(answer.attrs.As<Conv2DAttrs>().data_layout, "NHWC");
}

TEST(LayoutInferenceTest, AConvolutionRefusesALayoutThatIsNoOrderOfItsAxes) {
  const LayoutAnswer answer =
      Infer("nn.conv2d", attrs::Attrs::Make(Conv2DAttrs{}), {"NCDHW", ""}, {"NCHW", "OIHW"},
            {Image(), ir::TensorType({8, 8, 3, 3}, Float32)});
  EXPECT_EQ(answer.inputs[0], "NCHW");
}

TEST(LayoutInferenceTest, BothSidesOfABroadcastTakeTheFirstLayout) {
  const LayoutAnswer answer = Infer("add", {}, {"NHWC", ""}, {"NCHW", "NCHW"}, {Image(), Image()});
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"NHWC", "NHWC"}));
  EXPECT_EQ(answer.output, "NHWC");
}

TEST(LayoutInferenceTest, AnOperandOfLowerRankIsToGetLeadingAxes) {
  const LayoutAnswer answer =
      Infer("add", {}, {"NCHW4c", ""}, {"NCHW", ""}, {Image(), ir::TensorType({4, 1}, Float32)});
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"NCHW4c", "NCHW1c"}));
  EXPECT_EQ(answer.output, "NCHW4c");
}

TEST(LayoutInferenceTest, AScalarOperandNeedsNoLayout) {
  const LayoutAnswer answer =
      Infer("multiply", {}, {"NHWC", ""}, {"NCHW", ""}, {Image(), ir::TensorType({}, Float32)});
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"NHWC", ""}));
}

TEST(LayoutInferenceTest, TheAxisOfABiasMovesWithItsLetter) {
  const LayoutAnswer answer = Infer("nn.bias_add", attrs::Attrs::Make(BiasAddAttrs{}), {"NHWC", ""},
                                    {"NCHW", "C"}, {Image(), ir::TensorType({8}, Float32)});
  EXPECT_EQ(answer.attrs.As<BiasAddAttrs>().axis, 3);
  EXPECT_EQ(answer.output, "NHWC");
}

TEST(LayoutInferenceTest, ADilationTakesTheNewLayoutOfItsImage) {
  const LayoutAnswer answer =
      Infer("image.dilation2d", attrs::Attrs::Make(Dilation2DAttrs{}), {"NHWC", ""},
            {"NCHW", "IHW"}, {Image(), ir::TensorType({8, 3, 3}, Float32)});
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"NHWC", "IHW"}));
  EXPECT_EQ(answer.output, "NHWC");
  EXPECT_EQ(answer.attrs.As<Dilation2DAttrs>().data_layout, "NHWC");
}

TEST(LayoutInferenceTest, AScaledVolumeKeepsAnyOrderOfItsAxes) {
  const ir::Type volume = ir::TensorType({1, 8, 4, 4, 4}, Float32);
  const attrs::Attrs attrs =
      attrs::Attrs::Make(UpSampling3DAttrs{.scale_d = 2, .scale_h = 2, .scale_w = 2});
  EXPECT_EQ(Infer("nn.upsampling3d", attrs, {"NDHWC"}, {"NCDHW"}, {volume}).output, "NDHWC");
  EXPECT_EQ(Infer("nn.upsampling3d", attrs, {"NCDHW4c"}, {"NCDHW"}, {volume}).output, "NCDHW");
}

TEST(LayoutInferenceTest, OperatorsThatMoveElementsHaveNoColumn) {
  EXPECT_EQ(OpOf(OpRegistry::Global().Get("reshape"))->Column<LayoutInference>(), nullptr);
}

}  // namespace
}  // namespace tenon::ops
