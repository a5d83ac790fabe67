// nn.conv2d by layout: what computes are called, in which order they add up, blocks of channels,
// and which row takes which pair of layouts.
#include "tenon/ops/layout/layout.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

ir::Module Conv(const std::string& x, const std::string& w, const std::string& attrs) {
  return passes::InferType(Parsed(StrCat("def @main(%x: Tensor[(", x, "), float32], %w: Tensor[(",
                                         w, "), float32]) { nn.conv2d(%x, %w", attrs, ") }")));
}

// The operation of the plain form.
te::Operation PlainOf(const ir::Module& module) {
  RegisterStrategies(ops::OpRegistry::Global());
  return LowerFunction(module.Main(), {.plain_forms = true}).outputs[0].op();
}

struct Named {
  const char* data;
  const char* kernel;
  const char* x;
  const char* w;
  int groups;
  const char* name;
};
constexpr Named kNamed[] = {
    {"NCHW", "OIHW", "1, 4, 9, 9", "6, 4, 3, 3", 1, "conv2d_nchw"},
    {"NHWC", "HWIO", "1, 9, 9, 4", "3, 3, 4, 6", 1, "conv2d_nhwc"},
    {"HWCN", "HWIO", "9, 9, 4, 1", "3, 3, 4, 6", 1, "conv2d_hwcn"},
    {"NCHW", "OIHW", "1, 4, 9, 9", "6, 2, 3, 3", 2, "group_conv2d_nchw"},
    {"NHWC", "HWIO", "1, 9, 9, 4", "3, 3, 2, 6", 2, "group_conv2d_nhwc"},
};
ir::Module ModuleOf(const Named& n) {
  return Conv(n.x, n.w,
              StrCat(", data_layout=\"", n.data, "\", kernel_layout=\"", n.kernel,
                     "\", groups=", n.groups));
}

TEST(ConvLayoutsTest, S004_23_S004_24_ComputesAreCalledAfterTheirLayout) {
  for (const Named& n : kNamed) {
    const te::Operation op = PlainOf(ModuleOf(n));
    EXPECT_EQ(op->name, n.name);
    EXPECT_EQ(op->label.tag, n.name);
  }
  const ir::Module blocked = Conv("1, 2, 9, 9, 16", "3, 2, 3, 3, 16, 16",
                                  ", data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\"");
  const Lowered lowered = ValueOrThrow(Lower(blocked, {.library = LibraryChoice::kTe}));
  EXPECT_EQ(lowered.kernels[0].choice.implementation, "te.conv2d.NCHWc");
  EXPECT_THAT(testing_graphs::LoopsOf(blocked), HasSubstr("conv2d_NCHWc"));
}

// Neighbouring terms of a sum lie together in the data.
TEST(ConvLayoutsTest, S004_21_TheReductionFollowsTheLayoutOfTheData) {
  const auto axes = [](const Named& n) {
    std::vector<std::string> names;
    const te::Operation op = PlainOf(ModuleOf(n));
    for (const te::IterVar& axis : op->reduce_axes) names.push_back(axis.var.name());
    return names;
  };
  EXPECT_THAT(axes(kNamed[0]), ElementsAre("rc", "ry", "rx"));
  EXPECT_THAT(axes(kNamed[1]), ElementsAre("ry", "rx", "rc"));
  EXPECT_THAT(axes(kNamed[2]), ElementsAre("ry", "rx", "rc"));
  EXPECT_THAT(axes(kNamed[4]), ElementsAre("ry", "rx", "rc"));
}

// Rows with conditions: one-tap and register-tile forms by size, depthwise ones by the layout.
TEST(ConvLayoutsTest, S004_26_RowsAreChosenByThePairOfLayouts) {
  const auto chosen = [](const ir::Module& module) {
    return ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe}))
        .kernels[0]
        .choice.implementation;
  };
  const std::string depthwise = ", groups=32, padding=[1, 1, 1, 1], data_layout=\"";
  EXPECT_EQ(chosen(Conv("1, 28, 28, 32", "3, 3, 1, 32",
                        StrCat(depthwise, "NHWC\", kernel_layout=\"HWIO\""))),
            "te.conv2d.depthwise_channels_last");
  EXPECT_THAT(chosen(Conv("1, 32, 28, 28", "32, 1, 3, 3", StrCat(depthwise, "NCHW\""))),
              AllOf(StartsWith("te.conv2d.depthwise_"), Not(HasSubstr("channels_last"))));
  // Of one pair of layouts, the number of groups decides.
  for (const auto& [weight, groups] :
       {std::pair("3, 3, 32, 32", 1), std::pair("3, 3, 16, 32", 2), std::pair("3, 3, 4, 32", 8)})
    EXPECT_THAT(chosen(Conv("1, 28, 28, 32", weight,
                            StrCat(", padding=[1, 1, 1, 1], data_layout=\"NHWC\", "
                                   "kernel_layout=\"HWIO\", groups=",
                                   groups))),
                Not(HasSubstr("depthwise")))
        << groups;
  const std::string blocked = ", data_layout=\"NCHW16c\", kernel_layout=\"";
  EXPECT_EQ(chosen(Conv("1, 2, 9, 9, 16", "3, 2, 3, 3, 16, 16", StrCat(blocked, "OIHW16i16o\""))),
            "te.conv2d.NCHWc");
  // The same blocks in another order have no row but the one that suits all.
  EXPECT_EQ(chosen(Conv("1, 2, 9, 9, 16", "3, 2, 3, 3, 16, 16", StrCat(blocked, "OIHW16o16i\""))),
            "te.conv2d.plain");
  for (const char* layout : {"NCDHW", "NCHX", "NCHW16h16c", "16cNCHW"}) {
    const std::string words =
        ErrorOf([&] {
          Conv("1, 4, 9, 9", "6, 4, 3, 3", StrCat(", data_layout=\"", layout, "\""));
        }).message();
    EXPECT_THAT(words, HasSubstr(layout)) << words;
  }
}

// --- blocks

NDArray InLayout(const NDArray& array, const std::string& from, const std::string& to) {
  const ir::Module module = Parsed(StrCat("def @main(%x: Tensor[(", StrJoin(array.shape(), ", "),
                                          "), float32]) { layout_transform(%x, "
                                          "src_layout=\"",
                                          from, "\", dst_layout=\"", to, "\") }"));
  return Outcome(module, {{"x", array}})[0];
}

// The definition: filter f reads the input channels of its group.
NDArray NaiveSum(const NDArray& x, const NDArray& w, std::int64_t groups, std::int64_t dilation) {
  const Shape& xs = x.shape();
  const Shape& ws = w.shape();
  const std::int64_t rows = xs[2] + 2 - dilation * (ws[2] - 1);
  const std::int64_t columns = xs[3] + 2 - dilation * (ws[3] - 1);
  const NDArray y = NDArray::Zeros({xs[0], ws[0], rows, columns}, Float32);
  float* out = y.data<float>();
  for (std::int64_t n = 0; n < xs[0]; ++n)
    for (std::int64_t f = 0; f < ws[0]; ++f)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (std::int64_t rc = 0; rc < ws[1]; ++rc)
            for (std::int64_t ry = 0; ry < ws[2]; ++ry)
              for (std::int64_t rx = 0; rx < ws[3]; ++rx) {
                const std::int64_t row = i + ry * dilation - 1, column = j + rx * dilation - 1;
                if (row < 0 || row >= xs[2] || column < 0 || column >= xs[3]) continue;
                const std::int64_t channel = f / (ws[0] / groups) * (xs[1] / groups) + rc;
                sum += x.data<float>()[((n * xs[1] + channel) * xs[2] + row) * xs[3] + column] *
                       w.data<float>()[((f * ws[1] + rc) * ws[2] + ry) * ws[3] + rx];
              }
          *out++ = static_cast<float>(sum);
        }
  return y;
}

TEST(ConvLayoutsTest, S004_21_S004_22_S004_24_ConvolutionsOfEveryLayout) {
  for (const std::int64_t groups : {1, 2, 4}) {
    const NDArray x = testing_graphs::Random({2, 4, 7, 9}, 1);
    const NDArray w = testing_graphs::Random({8, 4 / groups, 3, 3}, 2);
    const NDArray expected = NaiveSum(x, w, groups, 2);
    for (const std::string data : {"NCHW", "NHWC", "HWCN", "CWNH"}) {
      for (const std::string kernel : {"OIHW", "HWIO", "IHWO"}) {
        SCOPED_TRACE(StrCat(data, " ", kernel, " ", groups));
        const NDArray xl = InLayout(x, "NCHW", data), wl = InLayout(w, "OIHW", kernel);
        const ir::Module module =
            Conv(StrJoin(xl.shape(), ", "), StrJoin(wl.shape(), ", "),
                 StrCat(", padding=[1, 1, 1, 1], dilation=[2, 2], groups=", groups,
                        ", data_layout=\"", data, "\", kernel_layout=\"", kernel, "\""));
        for (const bool generic : {false, true}) {
          const NDArray y = Outcome(module, {{"x", xl}, {"w", wl}}, {.generic = generic})[0];
          ExpectClose(InLayout(y, data, "NCHW"), expected);
        }
      }
    }
  }
}

// Two groups are two convolutions of half the channels and half the filters, one after the other.
TEST(ConvLayoutsTest, S004_05_GroupsAreConvolutionsSideBySide) {
  const std::string params =
      "def @main(%x: Tensor[(2, 6, 7, 9), float32], %w: Tensor[(8, 3, 3, 3), float32]) { ";
  const ir::Module grouped =
      Parsed(params + "nn.conv2d(%x, %w, padding=[1, 1, 1, 1], strides=[2, 1], groups=2) }");
  const ir::Module halves =
      Parsed(params +
             "%0 = split(%x, indices_or_sections=2, axis=1); %1 = split(%w, indices_or_sections=2, "
             "axis=0);"
             "concatenate((nn.conv2d(%0.0, %1.0, padding=[1, 1, 1, 1], strides=[2, 1]), "
             "nn.conv2d(%0.1, %1.1, padding=[1, 1, 1, 1], strides=[2, 1])), axis=1) }");
  const runtime::Inputs inputs = RandomInputs(grouped, 4);
  ExpectClose(Outcome(grouped, inputs), Outcome(halves, inputs));
}

// Both operands are cast before they are multiplied and summed up.
TEST(ConvLayoutsTest, S004_21_SumsAreInTheTypeOfTheResult) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 2, 3, 3), int8], %w: Tensor[(1, 2, 3, 3), int8]) { "
      "nn.conv2d(%x, %w, out_dtype=\"int32\") }");
  const NDArray lowest =
      NDArray::FromVector<std::int8_t>({1, 2, 3, 3}, std::vector<std::int8_t>(18, -128));
  EXPECT_THAT(Outcome(module, {{"x", lowest}, {"w", lowest}})[0].ToVector<std::int32_t>(),
              ElementsAre(18 * 128 * 128));
}

struct Blocks {
  const char* data;
  const char* kernel;
  const char* out;  // empty: that of the data
  int groups = 1;
  int channels = 32, filters = 48;
};

TEST(ConvLayoutsTest, S004_09_BlocksComputeWhatWholeAxesDo) {
  for (const Blocks& b :
       {Blocks{"NCHW16c", "OIHW16i16o", ""}, Blocks{"NCHW8c", "OIHW8i16o", "NCHW16c"},
        Blocks{"NCHW", "OIHW16i16o", ""}, Blocks{"NCHW", "OIHW16o16i", ""},
        Blocks{"NCHW16c", "OIHW", "NCHW"}, Blocks{"NCHW4c", "HWIO8o", "NHWC16c"},
        Blocks{"NHWC8c", "OIHW4i", ""}, Blocks{"NCHW8c", "OIHW8i8o", "", 2},
        Blocks{"NCHW8c", "OIHW1i8o", "", 32, 32, 32}}) {
    SCOPED_TRACE(StrCat(b.data, " ", b.kernel, " ", b.out));
    const NDArray x = testing_graphs::Random({2, b.channels, 7, 9}, 1);
    const NDArray w = testing_graphs::Random({b.filters, b.channels / b.groups, 3, 3}, 2);
    const std::string common = StrCat(", padding=[1, 1, 1, 1], strides=[2, 1], groups=", b.groups);
    const ir::Module plain = Conv(StrCat("2, ", b.channels, ", 7, 9"),
                                  StrCat(b.filters, ", ", b.channels / b.groups, ", 3, 3"), common);
    const NDArray expected = Outcome(plain, {{"x", x}, {"w", w}})[0];
    const NDArray xb = InLayout(x, "NCHW", b.data), wb = InLayout(w, "OIHW", b.kernel);
    const ir::Module module =
        Conv(StrJoin(xb.shape(), ", "), StrJoin(wb.shape(), ", "),
             StrCat(common, ", data_layout=\"", b.data, "\", kernel_layout=\"", b.kernel,
                    "\", out_layout=\"", b.out, "\""));
    const std::string out = *b.out == '\0' ? b.data : b.out;
    for (const CompileOptions& options :
         {CompileOptions(), CompileOptions{.opt_level = 0}, CompileOptions{.generic = true}}) {
      const NDArray y = Outcome(module, {{"x", xb}, {"w", wb}}, options)[0];
      ExpectClose(InLayout(y, out, "NCHW"), expected);
    }
  }
}

}  // namespace
}  // namespace tenon::strategies
