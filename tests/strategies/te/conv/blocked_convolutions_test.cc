// Convolutions over one and three axes and transposed ones, over blocks of channels: the form that
// is taken, and the numbers of the operator over whole axes.
#include "tenon/strategies/strategy.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

// An operator whose operands come in whole axes and are put into blocks first.
struct Case {
  const char* name;
  const char* op;
  const char* x;  // extents of the whole axes
  const char* w;
  const char* attrs;
  const char* data;
  const char* kernel;
  const char* out;   // empty: that of the data
  const char* form;  // that is taken
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// "NCDHW" for nn.conv3d, ...
std::string Image(const std::string& op) {
  const std::string axes = op.find("1d") != std::string::npos   ? "W"
                           : op.find("2d") != std::string::npos ? "HW"
                                                                : "DHW";
  return "NC" + axes;
}
std::string Kernel(const std::string& op) {
  const bool transposed = op.find("transpose") != std::string::npos;
  return (transposed ? "IO" : "OI") + Image(op).substr(2);
}

std::string Parameters(const Case& c) {
  return StrCat("def @main(%x: Tensor[(", c.x, "), float32], %w: Tensor[(", c.w, "), float32]) { ");
}

ir::Module OverWholeAxes(const Case& c) {
  return Parsed(StrCat(Parameters(c), c.op, "(%x, %w", c.attrs, ") }"));
}

std::string Transform(const std::string& value, const std::string& from, const std::string& to) {
  if (from == to) return value;
  return StrCat("layout_transform(", value, ", src_layout=\"", from, "\", dst_layout=\"", to,
                "\")");
}

ir::Module OverBlocks(const Case& c) {
  const std::string out = *c.out == '\0' ? c.data : c.out;
  const std::string sum =
      StrCat(c.op, "(", Transform("%x", Image(c.op), c.data), ", ",
             Transform("%w", Kernel(c.op), c.kernel), c.attrs, ", data_layout=\"", c.data,
             "\", kernel_layout=\"", c.kernel, "\", out_layout=\"", out, "\")");
  return Parsed(StrCat(Parameters(c), Transform(sum, out, Image(c.op)), " }"));
}

class BlockedConvolutionsTest : public ::testing::TestWithParam<Case> {};

TEST_P(BlockedConvolutionsTest, ComputeWhatThoseOfWholeAxesDo) {
  const Case& c = GetParam();
  const ir::Module plain = OverWholeAxes(c), blocked = OverBlocks(c);
  const runtime::Inputs inputs = RandomInputs(plain, 3);
  const std::vector<NDArray> expected = testing_graphs::Interpreted(plain, inputs);
  for (const CompileOptions& options :
       {CompileOptions(), CompileOptions{.opt_level = 0}, CompileOptions{.generic = true}})
    ExpectClose(Outcome(blocked, inputs, options), expected);
}

TEST_P(BlockedConvolutionsTest, TakeTheFormOfTheirLayouts) {
  const Lowered lowered = ValueOrThrow(
      Lower(passes::InferType(OverBlocks(GetParam())), {.library = LibraryChoice::kTe}));
  std::vector<std::string> taken;
  for (const auto& kernel : lowered.kernels) taken.push_back(kernel.choice.implementation);
  EXPECT_THAT(taken, ::testing::Contains(GetParam().form));
}

constexpr char kUp[] = ", strides=[2, 3], padding=[1, 0, 2, 1], output_padding=[1, 2]";

INSTANTIATE_TEST_SUITE_P(
    Cases, BlockedConvolutionsTest,
    ::testing::Values(
        Case{"Volume", "nn.conv3d", "1, 16, 3, 5, 7", "32, 16, 2, 3, 3", "", "NCDHW16c",
             "OIDHW16i16o", "", "te.conv3d.NCDHWc"},
        Case{"VolumeStridesPaddingDilation", "nn.conv3d", "2, 8, 5, 7, 9", "16, 8, 2, 3, 3",
             ", strides=[1, 2, 1], padding=[1, 0, 2, 0, 1, 1], dilation=[2, 1, 2]", "NCDHW8c",
             "OIDHW8i16o", "NCDHW16c", "te.conv3d.NCDHWc"},
        Case{"VolumeGroups", "nn.conv3d", "1, 24, 3, 5, 7", "16, 12, 1, 3, 2", ", groups=2",
             "NCDHW4c", "OIDHW4i8o", "NCDHW8c", "te.conv3d.NCDHWc"},
        Case{"VolumeOfThreeChannels", "nn.conv3d", "1, 3, 3, 5, 17", "32, 3, 3, 3, 3",
             ", padding=[1, 1, 1]", "NCDHW3c", "OIDHW3i16o", "NCDHW16c", "te.conv3d.NCDHWc"},
        Case{"VolumeInAnotherOrder", "nn.conv3d", "1, 16, 3, 5, 7", "16, 16, 2, 3, 3", "",
             "NDHWC8c", "OIDHW8o8i", "NCDHW", "te.conv3d.plain"},
        Case{"VolumeOfOneCut", "nn.conv3d", "1, 16, 3, 5, 7", "16, 16, 2, 3, 3", "", "NCDHW",
             "OIDHW8i8o", "", "te.conv3d.plain"},
        Case{"Line", "nn.conv1d", "2, 16, 11", "24, 16, 3", ", padding=[1, 1], strides=[2]",
             "NCW16c", "OIW16i8o", "NCW8c", "te.conv1d.NCWc"},
        Case{"Up", "nn.conv2d_transpose", "1, 16, 5, 7", "16, 32, 3, 2", "", "NCHW16c",
             "IOHW16i16o", "", "te.conv2d_transpose.NCHWc"},
        Case{"UpStridesPaddingOutputPadding", "nn.conv2d_transpose", "2, 8, 5, 7", "8, 16, 3, 4",
             kUp, "NCHW8c", "IOHW8i16o", "NCHW16c", "te.conv2d_transpose.NCHWc"},
        Case{"UpDilation", "nn.conv2d_transpose", "1, 8, 5, 7", "8, 8, 3, 2",
             ", strides=[2, 1], dilation=[2, 3]", "NCHW8c", "IOHW8i8o", "",
             "te.conv2d_transpose.NCHWc"},
        Case{"UpGroups", "nn.conv2d_transpose", "1, 24, 5, 7", "24, 16, 2, 2",
             ", strides=[2, 2], groups=3", "NCHW4c", "IOHW4i8o", "NCHW8c",
             "te.conv2d_transpose.NCHWc"},
        Case{"UpInAnotherOrder", "nn.conv2d_transpose", "1, 16, 5, 7", "16, 32, 3, 2",
             ", strides=[2, 2]", "NCHW16c", "OIHW16i16o", "", "te.conv2d_transpose.plain"},
        Case{"UpLine", "nn.conv1d_transpose", "1, 16, 9", "16, 8, 4",
             ", strides=[2], padding=[1], output_padding=[1]", "NCW16c", "IOW16i8o", "NCW8c",
             "te.conv1d_transpose.NCWc"},
        Case{"UpVolume", "nn.conv3d_transpose", "1, 8, 3, 4, 5", "8, 16, 2, 2, 3",
             ", strides=[2, 1, 2], groups=2", "NCDHW4c", "IODHW4i16o", "NCDHW16c",
             "te.conv3d_transpose.NCDHWc"}),
    [](const auto& info) { return info.param.name; });

// Nothing is summed where the kernel drops all that there is, and where there are no images.
TEST(BlockedEmptyConvolutionsTest, NothingIsSummedOfEmptyOperands) {
  for (const char* call :
       {"def @main(%x: Tensor[(0, 2, 3, 5, 8), float32], %w: Tensor[(1, 2, 2, 2, 8, 8), float32]) "
        "{ nn.conv2d(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"OIHW8i8o\") }",
        "def @main(%x: Tensor[(0, 2, 3, 5, 8), float32], %w: Tensor[(2, 1, 2, 2, 8, 8), float32]) "
        "{ nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i8o\") }",
        "def @main(%x: Tensor[(1, 0, 3, 5, 8), float32], %w: Tensor[(0, 1, 2, 2, 8, 8), float32]) "
        "{ nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i8o\") }"}) {
    const ir::Module module = Parsed(call);
    const runtime::Inputs inputs = RandomInputs(module, 1);
    for (const NDArray& y : Outcome(module, inputs)) {
      for (const float value : y.ToVector<float>()) EXPECT_EQ(value, 0.0F);
    }
  }
}

}  // namespace
}  // namespace tenon::strategies
