// What is written as ONNX reads back as the same computation; the rest is refused by name.
#include "tenon/onnx/export.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "onnx/onnx_pb.h"
#include "tenon/models/registry.h"
#include "tenon/ops/builders.h"
#include "tenon/tests/onnx/round_trip.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon_test_paths.h"

namespace tenon::onnx_export {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;

using testing_graphs::RandomInputs;

onnx::ModelProto Exported(const ir::Module& module) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(ValueOrThrow(ExportOnnx(module))));
  return model;
}

std::vector<std::string> NodeTypes(const onnx::ModelProto& model) {
  std::vector<std::string> types;
  for (const onnx::NodeProto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

class ExportTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(ExportTest, ReadsBackAsTheSameComputation) {
  const ir::Module module = Parse(GetParam().text);
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const ir::Module again = RoundTrip(module);
  ASSERT_EQ(again.Main().params.size(), module.Main().params.size());
  for (std::size_t i = 0; i < again.Main().params.size(); ++i)
    EXPECT_EQ(ir::Var(again.Main().params[i]).name(), ir::Var(module.Main().params[i]).name());
  const CompileOptions plain = {.opt_level = 0};
  ExpectClose(Outcome(again, inputs, plain), Outcome(module, inputs, plain), 1e-6);
}

const NamedText kCases[] = {
    {"Unary",
     "def @main(%x: Tensor[(3, 5), float32]) {\n"
     "  (abs(%x), acos(%x), acosh(%x), asin(%x), asinh(%x), atan(%x), atanh(%x), ceil(%x),\n"
     "   copy(%x), cos(%x), cosh(%x), erf(%x), exp(%x), floor(%x), log(%x), nearbyint(%x),\n"
     "   negative(%x), nn.relu(%x), rsqrt(%x), sigmoid(%x), sign(%x), sin(%x), sinh(%x), "
     "sqrt(%x),\n"
     "   annotation.stop_fusion(tan(%x)), tanh(%x), clip(%x, a_min=-0.25f, a_max=0.5f),\n"
     "   nn.leaky_relu(%x, alpha=0.1f), cast(%x, dtype=\"int32\"), isnan(sqrt(%x)),\n"
     "   isinf(divide(%x, subtract(%x, %x))))\n}"},
    {"ClipOfHalvesAndUnsigned",
     "def @main(%x: Tensor[(7), float16], %b: Tensor[(7), bfloat16], %u: Tensor[(7), uint8]) {\n"
     "  (clip(%x, a_min=-0.25f, a_max=0.5f), clip(%b, a_min=-0.25f, a_max=0.5f),\n"
     "   clip(cast(%u, dtype=\"uint32\"), a_min=1f, a_max=6f))\n}"},
    {"ClipWithBoundsOutsideOfTheType",
     "def @main(%u: Tensor[(7), uint8], %i: Tensor[(7), int64]) {\n"
     "  (clip(%u, a_min=-5f, a_max=300f), clip(%u, a_min=7f, a_max=1e9f),\n"
     "   clip(%i, a_min=-1e30f, a_max=1e30f), clip(%i, a_min=0f, a_max=1e30f))\n}"},
    {"PoolsWithAWindowInThePadding",
     "def @main(%x: Tensor[(1, 2, 3, 5), float32]) {\n"
     "  (nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], padding=[1, 1, 1, 1],\n"
     "                 ceil_mode=True),\n"
     "   nn.max_pool2d(%x, pool_size=[2, 2], strides=[3, 2], padding=[0, 0, 1, 1],\n"
     "                 dilation=[2, 1], ceil_mode=True),\n"
     "   nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], padding=[1, 1, 1, 1],\n"
     "                 ceil_mode=True),\n"
     "   nn.avg_pool2d(%x, pool_size=[2, 3], strides=[2, 2], ceil_mode=True,\n"
     "                 count_include_pad=True))\n}"},
    {"ResizeByAScaleWhoseProductIsRounded",
     "def @main(%x: Tensor[(1, 1, 5, 5), float32]) {\n"
     "  image.resize2d(%x, size=[13, 13], scales=[2.6f, 2.6f])\n}"},
    {"ClipOfIntegers", "def @main(%x: Tensor[(7), int64]) { clip(%x, a_min=0f, a_max=1f) }"},
    {"Binary",
     "def @main(%x: Tensor[(3, 5), float32], %y: Tensor[(5), float32]) {\n"
     "  (add(%x, %y), subtract(%x, %y), multiply(%x, %y), divide(%x, %y), maximum(%x, %y),\n"
     "   minimum(%x, %y), power(%x, %y), mod(%x, %y), equal(%x, %y), not_equal(%x, %y),\n"
     "   less(%x, %y), less_equal(%x, %y), greater(%x, %y), greater_equal(%x, %y),\n"
     "   where(less(%x, %y), %x, %y), where(%x, %x, %y))\n}"},
    {"Logical",
     "def @main(%x: Tensor[(9), bool], %y: Tensor[(9), bool]) {\n"
     "  (logical_and(%x, %y), logical_or(%x, %y), logical_xor(%x, %y), logical_not(%x))\n}"},
    {"IntegerRemainder",
     "def @main(%x: Tensor[(9), int32]) {\n"
     "  (floor_mod(subtract(multiply(%x, 7), 3), 5), mod(subtract(multiply(%x, 7), 3), 5))\n}"},
    {"Reductions",
     "def @main(%x: Tensor[(2, 3, 5), float32]) {\n"
     "  (sum(%x), sum(%x, axis=[1], keepdims=True), mean(%x, axis=[0, -1]),\n"
     "   max(%x, axis=[1], exclude=True), min(%x, axis=[2]), prod(%x, axis=[0]),\n"
     "   sum(%x, axis=[0, 1, 2], exclude=True), argmax(%x, axis=[1]),\n"
     "   argmin(%x, axis=[-1], keepdims=True))\n}"},
    {"Shapes",
     "def @main(%x: Tensor[(2, 3, 1, 4), float32]) {\n"
     "  (reshape(%x, newshape=[0, -1]), nn.batch_flatten(%x), squeeze(%x), squeeze(%x, "
     "axis=[-2]),\n"
     "   expand_dims(%x, axis=1, num_newaxis=2), transpose(%x), transpose(%x, axes=[0, -1, 2, "
     "1]))\n"
     "}"},
    {"EmptyTensors",
     "def @main(%x: Tensor[(0, 3), float32]) {\n"
     "  (reshape(%x, newshape=[3, 0], allowzero=True), exp(%x))\n}"},
    {"JoinsAndCuts",
     "def @main(%x: Tensor[(3, 7), float32], %y: Tensor[(3, 2), float32]) {\n"
     "  %0 = split(%x, indices_or_sections=[2, 3], axis=-1);\n"
     "  %1 = split(%x, indices_or_sections=3, axis=0);\n"
     "  (concatenate((%x, %y, %0.2), axis=-1), %0.0, %0.1, %1.2)\n}"},
    {"Slices",
     "def @main(%x: Tensor[(5, 7), float32]) {\n"
     "  (strided_slice(%x, begin=[1, 2], end=[4, 7], strides=[2, 3]),\n"
     "   strided_slice(%x, begin=[-1, 6], end=[-6, -8], strides=[-1, -2]),\n"
     "   strided_slice(%x, begin=[2], end=[3], strides=[1], axes=[1]),\n"
     "   strided_slice(%x, begin=[3], end=[3], strides=[1], axes=[0]))\n}"},
    {"Paddings",
     "def @main(%x: Tensor[(3, 5), float32]) {\n"
     "  (nn.pad(%x, 2.5f, pad_width=[[1, 2], [0, 3]]),\n"
     "   nn.pad(%x, 0f, pad_width=[[1, 2], [0, 3]], pad_mode=\"edge\"),\n"
     "   nn.pad(%x, 0f, pad_width=[[1, 2], [2, 3]], pad_mode=\"reflect\"))\n}"},
    {"Convolutions",
     "def @main(%x: Tensor[(1, 4, 9, 8), float32], %w: Tensor[(6, 2, 3, 2), float32],\n"
     "          %v: Tensor[(4, 3, 2, 2), float32], %b: Tensor[(6), float32]) {\n"
     "  %0 = nn.conv2d(%x, %w, strides=[2, 1], padding=[1, 0, 2, 1], dilation=[1, 2], groups=2);\n"
     "  (nn.bias_add(%0, %b), nn.relu(%0),\n"
     "   nn.conv2d_transpose(%x, %v, strides=[2, 3], output_padding=[1, 2], padding=[1, 0, 0, "
     "1]))\n"
     "}"},
    {"ConvolutionsOfOneAndThreeAxes",
     "def @main(%x: Tensor[(1, 2, 9), float32], %w: Tensor[(3, 2, 4), float32],\n"
     "          %y: Tensor[(1, 1, 3, 4, 5), float32], %v: Tensor[(2, 1, 2, 2, 2), float32]) {\n"
     "  (nn.conv1d(%x, %w, padding=[1, 2]), nn.conv3d(%y, %v, padding=[1, 1, 1]))\n}"},
    {"Pools",
     "def @main(%x: Tensor[(1, 3, 9, 8), float32]) {\n"
     "  (nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 2], padding=[1, 0], ceil_mode=True),\n"
     "   nn.max_pool2d(%x, pool_size=[2, 2], dilation=[2, 3]),\n"
     "   nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]),\n"
     "   nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 1], count_include_pad=True),\n"
     "   nn.global_avg_pool2d(%x), nn.global_max_pool2d(%x))\n}"},
    {"Products",
     "def @main(%x: Tensor[(3, 5), float32], %w: Tensor[(4, 5), float32],\n"
     "          %c: Tensor[(2, 3, 5), float32], %d: Tensor[(2, 5, 3), float32],\n"
     "          %b: Tensor[(4), float32]) {\n"
     "  (nn.bias_add(nn.dense(%x, %w), %b), nn.dense(%c, %w), nn.bias_add(nn.dense(%c, %w), %b, "
     "axis=-1),\n"
     "   nn.matmul(%x, %w, transpose_b=True), nn.matmul(%x, %x, transpose_a=True),\n"
     "   nn.matmul(%d, %w, transpose_a=True, transpose_b=True), nn.batch_matmul(%c, %c, "
     "transpose_b=True),\n"
     "   nn.batch_matmul(%c, %d, transpose_b=False),\n"
     "   nn.batch_matmul(%d, %d, transpose_a=True, transpose_b=False))\n}"},
    {"IntegerProduct",
     "def @main(%x: Tensor[(3, 5), int32], %w: Tensor[(4, 5), int32]) {\n"
     "  nn.dense(%x, %w, out_dtype=\"int32\")\n}"},
    {"Normalisations",
     "def @main(%x: Tensor[(2, 3, 5), float32], %g: Tensor[(3), float32],\n"
     "          %v: Tensor[(3), float32], %h: Tensor[(5), float32]) {\n"
     "  (nn.batch_norm(%x, %g, %v, %g, exp(%v), epsilon=0.01f).0,\n"
     "   nn.batch_norm(%x, %g, %v, %g, exp(%v), center=False, scale=False).0,\n"
     "   nn.layer_norm(%x, %h, exp(%h), epsilon=0.01f), nn.layer_norm(%x, %h, %h, center=False),\n"
     "   nn.layer_norm(%x, %h, %h, scale=False), nn.softmax(%x, axis=1), nn.log_softmax(%x),\n"
     "   nn.dropout(%x, rate=0.3f).0, nn.bias_add(%x, %g, axis=-2))\n}"},
    {"Recurrent",
     "def @main(%x: Tensor[(4, 2, 12), float32], %r: Tensor[(12, 3), float32],\n"
     "          %b: Tensor[(12), float32], %l: Tensor[(2), int64], %h: Tensor[(2, 3), float32],\n"
     "          %y: Tensor[(4, 2, 9), float32], %s: Tensor[(9, 3), float32],\n"
     "          %c: Tensor[(9), float32], %z: Tensor[(4, 2, 3), float32],\n"
     "          %t: Tensor[(3, 3), float32], %d: Tensor[(3), float32]) {\n"
     "  %0 = nn.lstm(%x, %r, %b, %l, %h, %h, output_activation=\"sigmoid\");\n"
     "  %1 = nn.gru(%y, %s, %c, %l, %h, reset_after=True, reverse=True);\n"
     "  %2 = nn.rnn(%z, %t, %d, %l, %h, activation=\"relu\");\n"
     "  (%0.0, %0.1, %0.2, %1.0, %1.1, %2.0)\n}"},
    {"Quantised",
     "def @main(%x: Tensor[(2, 3, 5), float32]) {\n"
     "  %0 = qnn.quantize(%x, 0.01f, cast(3, dtype=\"uint8\"), out_dtype=\"uint8\");\n"
     "  %1 = qnn.quantize(%x, 0.02f, cast(-5, dtype=\"int8\"), out_dtype=\"int8\");\n"
     "  (%0, qnn.dequantize(%0, 0.01f, cast(3, dtype=\"uint8\")), %1,\n"
     "   qnn.dequantize(%1, 0.02f, cast(-5, dtype=\"int8\")))\n}"},
    {"QuantisedByChannel",
     "def @main(%x: Tensor[(2, 3, 5), int8], %s: Tensor[(3), float32]) {\n"
     "  qnn.dequantize(%x, exp(%s), cast(multiply(%s, 0f), dtype=\"int8\"), axis=1)\n}"},
    {"QuantisedByOneScaleOrZeroPointOfSeveral",
     "def @main(%x: Tensor[(3, 3), float32], %s: Tensor[(3), float32], %z: Tensor[(3), int8]) {\n"
     "  %0 = qnn.quantize(%x, 0.01f, %z, out_dtype=\"int8\", axis=0);\n"
     "  %1 = qnn.quantize(%x, exp(%s), cast(7, dtype=\"int8\"), out_dtype=\"int8\", axis=0);\n"
     "  (%0, qnn.dequantize(%0, 0.01f, %z, axis=0), %1)\n}"},
    {"ResizedImages",
     "def @main(%x: Tensor[(1, 2, 5, 7), float32]) {\n"
     "  (image.resize2d(%x, size=[10, 3]),\n"
     "   image.resize2d(%x, size=[9, 13], coordinate_transformation_mode=\"align_corners\"),\n"
     "   image.resize2d(%x, size=[4, 11], method=\"nearest_neighbor\"),\n"
     "   image.resize2d(%x, size=[10, 14], method=\"nearest_neighbor\",\n"
     "                  coordinate_transformation_mode=\"asymmetric\", "
     "rounding_method=\"floor\"),\n"
     "   image.resize2d(%x, size=[8, 8], method=\"cubic\", cubic_alpha=-0.75f,\n"
     "                  coordinate_transformation_mode=\"pytorch_half_pixel\"))\n}"},
    {"AnInputAConstantAndOneValueTwice",
     "def @main(%x: Tensor[(2), float32]) {\n"
     "  %0 = exp(%x);\n  (%x, %0, %0, 3f)\n}"},
    {"NestedReadsOfTuples",
     "def @main(%x: Tensor[(2), float32]) {\n"
     "  %0 = (exp(%x), negative(%x));\n  add(%0.1, %0.0)\n}"},
};
INSTANTIATE_TEST_SUITE_P(Operators, ExportTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(OnnxFileTest, SaysWhatItIs) {
  const onnx::ModelProto model =
      Exported(Parse("def @main(%x: Tensor[(2, 3), float32]) { add(%x, 2f) }"));
  EXPECT_EQ(model.ir_version(), 8);
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_THAT(NodeTypes(model), ElementsAre("Add"));
  const auto& input = model.graph().input(0);
  EXPECT_EQ(input.name(), "x");
  EXPECT_EQ(input.type().tensor_type().elem_type(), onnx::TensorProto::FLOAT);
  EXPECT_EQ(input.type().tensor_type().shape().dim(1).dim_value(), 3);
  ASSERT_EQ(model.graph().output_size(), 1);
  EXPECT_EQ(model.graph().output(0).name(), model.graph().node(0).output(0));
  ASSERT_EQ(model.graph().initializer_size(), 1);
  const float two = 2;
  EXPECT_EQ(model.graph().initializer(0).raw_data(),
            std::string(reinterpret_cast<const char*>(&two), sizeof two));
}

TEST(OnnxFileTest, NamesOfInputsAndValuesDoNotCollide) {
  const ir::Module module = Parse("def @main(%v0: Tensor[(2), float32]) { exp(exp(%v0)) }");
  const runtime::Inputs inputs = RandomInputs(module, 1);
  ExpectClose(Outcome(RoundTrip(module), inputs), Outcome(module, inputs));
}

constexpr const char* kBiased =
    "def @main(%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(3, 2, 1, 1), float32],\n"
    "          %b: Tensor[(3), float32]) {\n  %0 = nn.conv2d(%x, %w);\n";

TEST(OnnxFileTest, ABiasBelongsToTheConvolution) {
  const auto types = [](const std::string& end) {
    return NodeTypes(Exported(Parse(kBiased + end)));
  };
  EXPECT_THAT(types("  nn.bias_add(%0, %b)\n}"), ElementsAre("Conv"));
  // The bare sum is read, too; the bias is not there yet when the convolution is written.
  EXPECT_THAT(types("  (nn.bias_add(%0, %b), %0)\n}"), ElementsAre("Conv", "Unsqueeze", "Add"));
  EXPECT_THAT(types("  nn.bias_add(%0, exp(%b))\n}"),
              ElementsAre("Conv", "Exp", "Unsqueeze", "Add"));
  EXPECT_THAT(types("  nn.bias_add(nn.bias_add(%0, %b), %b)\n}"),
              ElementsAre("Conv", "Unsqueeze", "Add"));
}

// Calls that give what they take, under another name, do not hide that others read it.
TEST(OnnxFileTest, ABiasIsAddedForItsReadersOnly) {
  const char* const kTexts[] = {
      "def @main(%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(2, 2, 3, 3), float32],\n"
      "          %b: Tensor[(2), float32]) {\n"
      "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);\n"
      "  %1 = annotation.stop_fusion(%0);\n  (nn.bias_add(%1, %b), nn.relu(%0))\n}",
      "def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32],\n"
      "          %b: Tensor[(3), float32]) {\n"
      "  %0 = nn.dense(%x, %w);\n  %1 = nn.dropout(%0);\n  (nn.bias_add(%1.0, %b), %0)\n}"};
  for (const char* text : kTexts) {
    const ir::Module module = Parse(text);
    const runtime::Inputs inputs = RandomInputs(module, 1);
    ExpectClose(Outcome(RoundTrip(module), inputs), Outcome(module, inputs));
  }
}

TEST(OnnxFileTest, AnInfiniteBoundIsLeftOut) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({3}, Int32));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ir::Module module =
      ir::Module().With("main", ir::Function::Make({x}, ops::Clip(x, 0, kInfinity)));
  const onnx::ModelProto model = Exported(module);
  EXPECT_THAT(model.graph().node(0).input(), ElementsAre("x", "c0", ""));
  const runtime::Inputs inputs = {{"x", NDArray::FromVector<std::int32_t>({3}, {-5, 0, 7})}};
  ExpectClose(Outcome(RoundTrip(module), inputs), Outcome(module, inputs));
}

TEST(OnnxFileTest, AScalarIsNotTransposed) {
  EXPECT_THAT(NodeTypes(Exported(Parse("def @main(%x: Tensor[(), float32]) { transpose(%x) }"))),
              ElementsAre("Identity"));
}

TEST(OnnxFileTest, EveryBuilderCanBeWritten) {
  for (const char* name : {"densenet121", "mobilenet_v3_large", "transformer", "lstm"})
    EXPECT_TRUE(ExportOnnx(models::Build(name)).ok()) << name;
}

std::string Refused(const std::string& text) {
  const absl::StatusOr<std::string> bytes = ExportOnnx(Parse(text));
  EXPECT_FALSE(bytes.ok());
  return bytes.ok() ? "" : std::string(bytes.status().ToString());
}

TEST(OnnxRefusalTest, EveryMissingOperatorIsListed) {
  EXPECT_THAT(
      Refused("def @main(%x: Tensor[(4), float32]) { round(trunc(round(exp(%x)))) }"),
      AllOf(HasSubstr("UNIMPLEMENTED"),
            HasSubstr("2 operators cannot be written as ONNX: round (2 calls), trunc (1 call)")));
}

TEST(OnnxRefusalTest, AttributesWithoutCounterpartAreNamedWithTheirPlace) {
  EXPECT_THAT(Refused("def @main(%x: Tensor[(1, 4, 4, 2), float32], %w: Tensor[(1, 1, 2, 3), "
                      "float32]) {\n  nn.conv2d(%x, %w, data_layout=\"NHWC\", "
                      "kernel_layout=\"HWIO\")\n}"),
              AllOf(HasSubstr("test.relay:2:3"),
                    HasSubstr("nn.conv2d: the data_layout NHWC cannot be written as ONNX")));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2, 3), float32]) { argmax(%x, axis=[0, 1]) }"),
              HasSubstr("argmax: a search along several axes"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(4, 3), int8]) {\n"
                      "  nn.dense(%x, %w, out_dtype=\"int32\")\n}"),
              HasSubstr("nn.dense: an out_dtype other than the operands'"));
}

TEST(OnnxRefusalTest, ImagesAndBytesWithoutCounterpartSayWhy) {
  EXPECT_THAT(Refused("def @main(%x: Tensor[(1, 4, 5, 2), float32]) {\n"
                      "  image.resize2d(%x, size=[3, 3], layout=\"NHWC\")\n}"),
              HasSubstr("image.resize2d: a layout other than channels first"));
  EXPECT_THAT(
      Refused("def @main(%x: Tensor[(1, 4, 5, 2), float32]) {\n"
              "  image.resize2d(%x, size=[3, 3],\n"
              "                 coordinate_transformation_mode=\"half_pixel_symmetric\")\n}"),
      HasSubstr("this coordinate_transformation_mode in opset 17"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2), float32]) {\n"
                      "  qnn.quantize(%x, 1f, 0, out_dtype=\"int32\")\n}"),
              HasSubstr("qnn.quantize: integers of other than 8 bits"));
}

TEST(OnnxRefusalTest, TypesThatANodeDoesNotTakeAreNamed) {
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2), float16]) { isinf(%x) }"),
              HasSubstr("isinf: an operand of float16, which IsInf does not take in opset 17, "
                        "cannot be written as ONNX"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(1, 1, 4, 4), int8]) {\n"
                      "  nn.avg_pool2d(%x, pool_size=[2, 2])\n}"),
              HasSubstr("an operand of int8, which AveragePool does not take"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2), bfloat16]) { rsqrt(sin(%x)) }"),
              HasSubstr("sin: an operand of bfloat16, which Sin does not take"));
}

// A file whose batch is then declared open takes all batches.
TEST(OnnxExportTest, AFlatBatchHasNoNumberOfItsOwn) {
  const ir::Module module =
      Parse("def @main(%x: Tensor[(1, 4, 2, 2), float32]) { nn.batch_flatten(%x) }");
  onnx::ModelProto model = Exported(module);
  EXPECT_THAT(NodeTypes(model), ElementsAre("Flatten"));
}

TEST(OnnxRefusalTest, ResultsWithoutCounterpartAreNamed) {
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2, 3), float32]) { nn.dropout(%x).1 }"),
              HasSubstr("nn.dropout: result 1 has no ONNX counterpart"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2, 3), float32]) { nn.dropout(%x) }"),
              HasSubstr("nn.dropout: result 1 has no ONNX counterpart"));
}

TEST(OnnxRefusalTest, OnlyCallsOfOperatorsHaveACounterpart) {
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2), float32]) {\n  let %y = exp(%x);\n  %y\n}"),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("not let, if or calls")));
  EXPECT_THAT(Refused("def @f(%x: Tensor[(2), float32]) { exp(%x) }\n"
                      "def @main(%x: Tensor[(2), float32]) { @f(%x) }"),
              HasSubstr("not let, if or calls of functions"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(?, 2), float32]) { exp(%x) }"),
              HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(Refused("def @main(%x: Tensor[(2), float32]) { ((exp(%x), %x), %x) }"),
              HasSubstr("tuples inside of tuples"));
}

TEST(OnnxRefusalTest, TheDocumentListsWhatCanBeWritten) {
  std::ifstream file(std::string(TENON_SOURCE_DIR) + "/docs/onnx.md");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t list = text.find("refused by name:\n");
  ASSERT_NE(list, std::string::npos);
  std::istringstream words(text.substr(list));
  std::vector<std::string> listed;
  for (std::string word; words >> word;) {
    if (word.starts_with('`')) listed.push_back(word.substr(1, word.rfind('`') - 1));
  }
  EXPECT_EQ(listed, ExportableOps());
}

}  // namespace
}  // namespace tenon::onnx_export
