// Schedules for a CPU of which nothing is known.
#include "tenon/strategies/generic_schedule.h"

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

TEST(GenericScheduleTest, S004_25_EachLayoutHasAGenericScheduleAndOthersFallBack) {
  for (const char* tag : {"conv2d_nchw", "conv2d_nhwc", "conv2d_hwcn", "group_conv2d_nchw",
                          "group_conv2d_nhwc", "group_conv2d_hwcn"})
    EXPECT_EQ(GenericScheduleName(tag, true), tag);
  EXPECT_EQ(GenericScheduleName("conv2d_wnch", true), "reduction");
  EXPECT_EQ(GenericScheduleName("broadcast", false), "injective");
}

// The two outer loops of the result are shared out, and that is all. Without `generic`, the loops
// of the sum go outside.
TEST(GenericScheduleTest, S004_25_TheScheduleOfEachLayoutIsTheGenericOne) {
  struct Row {
    const char* tag;
    const char* types;
    const char* attrs;
  };
  for (const Row& row :
       {Row{"conv2d_nchw", "%x: Tensor[(2, 4, 9, 9), float32], %w: Tensor[(6, 4, 3, 3), float32]",
            ""},
        Row{"conv2d_nhwc", "%x: Tensor[(2, 9, 9, 4), float32], %w: Tensor[(3, 3, 4, 6), float32]",
            ", data_layout=\"NHWC\", kernel_layout=\"HWIO\""},
        Row{"conv2d_hwcn", "%x: Tensor[(9, 9, 4, 2), float32], %w: Tensor[(3, 3, 4, 6), float32]",
            ", data_layout=\"HWCN\", kernel_layout=\"HWIO\""},
        Row{"group_conv2d_nchw",
            "%x: Tensor[(2, 4, 9, 9), float32], %w: Tensor[(6, 2, 3, 3), float32]", ", groups=2"},
        Row{"group_conv2d_nhwc",
            "%x: Tensor[(2, 9, 9, 4), float32], %w: Tensor[(3, 3, 2, 6), float32]",
            ", data_layout=\"NHWC\", kernel_layout=\"HWIO\", groups=2"},
        Row{"group_conv2d_hwcn",
            "%x: Tensor[(9, 9, 4, 2), float32], %w: Tensor[(3, 3, 2, 6), float32]",
            ", data_layout=\"HWCN\", kernel_layout=\"HWIO\", groups=2"}}) {
    const ir::Module module =
        Parsed(StrCat("def @main(", row.types, ") { nn.conv2d(%x, %w", row.attrs, ") }"));
    const auto text = [&](const CompileOptions& options) {
      return ValueOrThrow(Compile(module, options)).kernels()[0]->Text(jit::KernelText::kSchedule);
    };
    const std::string stage = StrCat("s[", row.tag, "]");
    EXPECT_THAT(
        text({.generic = true}),
        AllOf(HasSubstr(StrCat("auto ax0_ax1_fused = ", stage, ".Fuse(", row.tag, ".axis(0), ",
                               row.tag, ".axis(1));\n", stage, ".Parallel(ax0_ax1_fused);\n")),
              Not(HasSubstr("Reorder")), Not(HasSubstr("Vectorize"))));
    EXPECT_THAT(text({.library = LibraryChoice::kTe}), HasSubstr(StrCat(stage, ".Reorder(")));
  }
}

TEST(GenericScheduleTest, S004_25_GenericSchedulesComputeTheSame) {
  const CompileOptions generic{.generic = true};
  for (const std::string text :
       {"def @main(%x: Tensor[(2, 3, 7, 9), float32], %w: Tensor[(17, 3, 3, 3), float32]) { "
        "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])) }",
        "def @main(%x: Tensor[(2, 7, 9, 3), float32], %w: Tensor[(3, 3, 3, 17), float32]) { "
        "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\") }",
        "def @main(%x: Tensor[(7, 9, 4, 2), float32], %w: Tensor[(3, 3, 2, 6), float32]) { "
        "nn.conv2d(%x, %w, data_layout=\"HWCN\", kernel_layout=\"HWIO\", groups=2) }",
        "def @main(%x: Tensor[(2, 16, 7, 9), float32], %w: Tensor[(16, 1, 3, 3), float32]) { "
        "nn.conv2d(%x, %w, groups=16) }",
        "def @main(%x: Tensor[(13, 33), float32], %w: Tensor[(17, 33), float32]) { "
        "nn.softmax(nn.dense(%x, %w, units=17)) }",
        "def @main(%x: Tensor[(2, 3, 8, 8), float32]) { "
        "nn.batch_flatten(nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2])) }",
        "def @main(%x: Tensor[(3, 65), float32]) { (sort(%x), cumsum(%x, axis=1)) }"}) {
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = RandomInputs(module, 5);
    const Executable exe = ValueOrThrow(Compile(module, generic));
    ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs));
    for (const auto& kernel : exe.kernels())
      EXPECT_EQ(kernel->implementation().find("onednn"), std::string::npos) << text;
  }
}

// The one form that suits all calls; the others say why not.
TEST(GenericScheduleTest, ConvolutionsTakeThePlainForm) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32]) { "
      "nn.conv2d(%x, %w, padding=[1, 1, 1, 1]) }");
  const Lowered lowered = ValueOrThrow(Lower(module, {.generic = true}));
  EXPECT_EQ(lowered.kernels[0].choice.implementation, "te.conv2d.plain");
  EXPECT_THAT(lowered.kernels[0].choice.Explanation(),
              HasSubstr("no, the plain form is asked for"));
}

}  // namespace
}  // namespace tenon::strategies
