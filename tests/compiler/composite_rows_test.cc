// Composites of pooling, softmax, layer norm and transposed convolution: each runs as a primitive
// of oneDNN whose name is printed, and computes what generated code and the interpreter compute.
#include <limits>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct Row {
  const char* name;
  const char* params;
  const char* body;
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};

constexpr char kImage[] = "%x: Tensor[(2, 17, 9, 11), float32]";
constexpr char kNhwc[] = "%x: Tensor[(2, 9, 11, 16), float32]";
constexpr char kResidual[] = "%x: Tensor[(1, 5, 8, 8), float32], %r: Tensor[(1, 5, 4, 4), float32]";
constexpr char kRows[] = "%x: Tensor[(3, 7, 65), float32]";
constexpr char kNorm[] =
    "%x: Tensor[(3, 7, 65), float32], %g: Tensor[(65), float32], %b: Tensor[(65), float32]";
constexpr char kConv[] =
    "%x: Tensor[(1, 6, 5, 7), float32], %w: Tensor[(6, 4, 3, 3), float32], "
    "%b: Tensor[(4, 1, 1), float32]";
constexpr char kGrouped[] = "%x: Tensor[(2, 6, 5, 4), float32], %w: Tensor[(6, 4, 3, 2), float32]";

std::string MainOf(const Row& row) {
  return StrCat("def @main(", row.params, ") { ", row.body, " }");
}

class OneDnnRowTest : public ::testing::TestWithParam<Row> {};

TEST_P(OneDnnRowTest, S000_23_IsOffLoadedAndEqualsGeneratedCode) {
  const ir::Module module = Parsed(MainOf(GetParam()));
  const Lowered lowered = ValueOrThrow(Lower(PartitionForOneDnn(module)));
  if (std::string(GetParam().params) == kResidual &&
      !strategies::onednn::Facts().nchw_takes_tensors) {
    // oneDNN has the pooling, and the rest is generated.
    EXPECT_EQ(lowered.kernels.size(), 2U);
    const runtime::Inputs inputs = RandomInputs(module, 3);
    ExpectClose(ValueOrThrow(ValueOrThrow(Link(lowered)).Run(inputs)), Interpreted(module, inputs),
                1e-5);
    return;
  }
  ASSERT_EQ(lowered.kernels.size(), 1U);
  EXPECT_EQ(lowered.kernels[0].choice.implementation, "onednn");
  const Executable exe = ValueOrThrow(Link(lowered));
  EXPECT_THAT(exe.kernels()[0]->implementation(),
              AllOf(StartsWith("onednn "), Not(HasSubstr("ref"))));
  const runtime::Inputs inputs = RandomInputs(module, 3);
  const std::vector<NDArray> results = ValueOrThrow(exe.Run(inputs));
  ExpectClose(results, Interpreted(module, inputs), 1e-5);
  ExpectClose(results, testing_graphs::Outcome(module, inputs, {.library = LibraryChoice::kTe}),
              1e-5);
  // Without a composite nothing changes for those who did not ask.
  for (const LoweredKernel& kernel : ValueOrThrow(Lower(module)).kernels)
    EXPECT_THAT(kernel.choice.implementation, StartsWith("te"));
}

INSTANTIATE_TEST_SUITE_P(
    All, OneDnnRowTest,
    ::testing::Values(
        Row{"MaxPool", kImage,
            "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])"},
        Row{"MaxPoolOfUnequalPadding", kImage,
            "nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 3], padding=[0, 1, 2, 0])"},
        Row{"MaxPoolThatOverhangs", kImage,
            "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)"},
        Row{"MaxPoolOfChannelsLast", kNhwc,
            "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], layout=\"NHWC\")"},
        Row{"MeanWithoutPadding", kImage,
            "nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])"},
        Row{"MeanWithPadding", kImage,
            "nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], "
            "count_include_pad=True)"},
        Row{"MeanThatOverhangs", kImage,
            "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)"},
        Row{"PoolAddRelu", kResidual,
            "nn.relu(add(nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2]), %r))"},
        Row{"PoolAddReluInNhwc",
            "%x: Tensor[(1, 8, 8, 5), float32], %r: Tensor[(1, 4, 4, 5), float32]",
            "nn.relu(add(nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], layout=\"NHWC\"), "
            "%r))"},
        Row{"GlobalMean", kImage, "nn.global_avg_pool2d(%x)"},
        Row{"GlobalMax", kImage, "nn.global_max_pool2d(%x)"},
        Row{"Softmax", kRows, "nn.softmax(%x)"},
        Row{"LogSoftmax", kRows, "nn.log_softmax(%x, axis=-1)"},
        Row{"SoftmaxOfMoreAxesThanTheLibraryHas",
            "%x: Tensor[(2, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 65), float32]", "nn.softmax(%x)"},
        Row{"LayerNorm", kNorm, "nn.layer_norm(%x, %g, %b, epsilon=0.001f)"},
        Row{"LayerNormOfScale", kNorm, "nn.layer_norm(%x, %g, %b, center=False)"},
        Row{"LayerNormOfShift", kNorm, "nn.layer_norm(%x, %g, %b, scale=False)"},
        Row{"LayerNormAlone", kNorm, "nn.layer_norm(%x, %g, %b, scale=False, center=False)"},
        Row{"ConvTranspose", kConv, "nn.conv2d_transpose(%x, %w, padding=[1, 1, 1, 1])"},
        Row{"ConvTransposeBiasRelu", kConv,
            "nn.relu(add(nn.conv2d_transpose(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], "
            "output_padding=[1, 1]), %b))"},
        Row{"ConvTransposeOfUnequalPadding", kConv,
            "sigmoid(add(nn.conv2d_transpose(%x, %w, strides=[2, 1], padding=[0, 1, 2, 0]), %b))"},
        Row{"ConvTransposeDilated", kConv,
            "nn.conv2d_transpose(%x, %w, dilation=[2, 2], padding=[1, 1, 1, 1])"},
        Row{"ConvTransposeOfGroups", kGrouped,
            "nn.conv2d_transpose(%x, %w, groups=2, strides=[2, 2], padding=[1, 0, 1, 0])"}),
    [](const auto& info) { return info.param.name; });

struct Refused {
  Row row;
  const char* reason;
};

TEST(OneDnnRefusalTest, WhatOneDnnDoesOtherwiseIsGenerated) {
  const Refused rows[] = {
      {{"", kImage,
        "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True, "
        "count_include_pad=True)"},
       "taps that ceil_mode lets overhang would count"},
      {{"", kImage, "nn.max_pool2d(%x, pool_size=[2, 2], padding=[2, 2, 2, 2])"},
       "a window would lie in the padding"},
      {{"", "%x: Tensor[(1, 3, 4, 2), float32]",
        "nn.avg_pool2d(%x, pool_size=[3, 3], dilation=[1, 4], padding=[0, 4])"},
       "the taps of a window might pass over the data"},
      {{"", "%x: Tensor[(9, 11, 2, 3), float32]",
        "nn.max_pool2d(%x, pool_size=[2, 2], layout=\"HWNC\")"},
       "it takes the layouts NCHW and NHWC, not HWNC"},
      {{"", "%x: Tensor[(3, 5), float64]", "nn.softmax(%x)"}, "it takes float32 only"},
      {{"", "%x: Tensor[(0, 5), float32]", "nn.softmax(%x)"}, "the result has no elements"},
      {{"", "%x: Tensor[(5, 3), float32], %g: Tensor[(5), float32]",
        "nn.layer_norm(%x, %g, %g, axis=0)"},
       "it normalises the last axis only"},
      {{"", kConv, "nn.conv2d_transpose(%x, %w, strides=[3, 3], output_padding=[2, 2])"},
       "output_padding goes beyond the padding at the end"},
      {{"", kRows, "nn.softmax(exp(%x))"}, "an operand is computed inside the kernel"},
      {{"", kRows, "exp(nn.softmax(%x))"}, "oneDNN has nothing else in this primitive"},
  };
  for (const Refused& row : rows) {
    const ir::Module module = Parsed(MainOf(row.row));
    const Lowered lowered = ValueOrThrow(Lower(module, {.library = LibraryChoice::kLibrary}));
    ASSERT_EQ(lowered.kernels.size(), 1U) << row.reason;
    EXPECT_THAT(lowered.kernels[0].choice.implementation, StartsWith("te")) << row.reason;
    EXPECT_THAT(lowered.kernels[0].choice.Explanation(), HasSubstr(row.reason));
  }
}

// oneDNN 3 has code for a softmax along another axis, oneDNN 2.6 has none.
TEST(OneDnnRefusalTest, ReferenceCodeIsNotTaken) {
  const ir::Module module = Parsed(StrCat("def @main(", kRows, ") { nn.softmax(%x, axis=1) }"));
  const Lowered lowered = ValueOrThrow(Lower(module, {.library = LibraryChoice::kLibrary}));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const strategies::Choice& choice = lowered.kernels[0].choice;
  if (choice.implementation != "onednn") {
    EXPECT_THAT(choice.Explanation(), HasSubstr("oneDNN would run its reference code (ref"));
  }
  const Executable exe = ValueOrThrow(Link(lowered));
  EXPECT_THAT(exe.kernels()[0]->implementation(), Not(HasSubstr("ref")));
  const runtime::Inputs inputs = RandomInputs(module, 3);
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs), 1e-5);
}

TEST(OneDnnRefusalTest, GeneratedCodeIsTakenUnlessAskedOtherwise) {
  const ir::Module module = Parsed(StrCat("def @main(", kRows, ") { nn.softmax(%x) }"));
  EXPECT_THAT(ValueOrThrow(Lower(module)).kernels[0].choice.Explanation(),
              HasSubstr("onednn: no, generated code shares its kernel"));
  EXPECT_EQ(ValueOrThrow(Lower(module, {.library = LibraryChoice::kLibrary}))
                .kernels[0]
                .choice.implementation,
            "onednn");
}

// NaNs are not: oneDNN's softmax loses one among other elements of its row.
TEST(OneDnnRowNumbersTest, InfinitiesAndLargeNumbersAreThoseOfGeneratedCode) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(4, 5), float32]) { nn.softmax(%x) }");
  constexpr float kInf = std::numeric_limits<float>::infinity();
  NDArray x = NDArray::Zeros({4, 5}, Float32);
  x.data<float>()[1] = -kInf;
  x.data<float>()[7] = 1000;
  const runtime::Inputs inputs = {{"x", x}};
  ExpectClose(testing_graphs::Outcome(PartitionForOneDnn(module), inputs),
              testing_graphs::Outcome(module, inputs, {.library = LibraryChoice::kTe}), 1e-5);
}

}  // namespace
}  // namespace tenon
