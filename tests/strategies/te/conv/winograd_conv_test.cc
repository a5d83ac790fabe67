// Convolutions by Winograd's algorithm against plain sums: values, precision, where it is taken and
// what is said where it is not.
#include <cmath>
#include <string>

#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

const CompileOptions kTeOnly = {.library = LibraryChoice::kTe};
const CompileOptions kPlain = {.library = LibraryChoice::kTe, .winograd = false};

struct ConvCase {
  const char* name;
  std::int64_t batch, channels, filters, height, width;
  std::int64_t top = 1, left = 1, bottom = 1, right = 1;
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

// Of %0, the convolution with a bias, and %r, a residual of its shape.
std::string ConvText(const ConvCase& c, const std::string& epilogue) {
  return StrCat("def @main(%x: Tensor[(", c.batch, ", ", c.channels, ", ", c.height, ", ", c.width,
                "), float32], %w: Tensor[(", c.filters, ", ", c.channels,
                ", 3, 3), float32], %b: Tensor[(", c.filters, ", 1, 1), float32], %r: Tensor[(",
                c.batch, ", ", c.filters, ", ", c.height + c.top + c.bottom - 2, ", ",
                c.width + c.left + c.right - 2,
                "), float32]) { %0 = add(nn.conv2d(%x, %w, padding=[", c.top, ", ", c.left, ", ",
                c.bottom, ", ", c.right, "]), %b); ", epilogue, " }");
}

// A convolution whose weights are constant, and the inputs that are left.
struct Bound {
  ir::Module module;
  runtime::Inputs inputs;

  Bound(const ir::Module& open, int seed) : module(open), inputs(RandomInputs(open, seed)) {
    module = passes::BindParams(open, "main", {{"w", inputs.at("w")}});
    inputs.erase("w");
  }
  std::vector<NDArray> Run(const CompileOptions& options) const {
    return testing_graphs::Outcome(module, inputs, options);
  }
  std::string Explanation(const CompileOptions& options = kTeOnly) const {
    const auto lowered = Lower(module, options);
    if (!lowered.ok()) return std::string(lowered.status().message());
    std::string text;
    for (const LoweredKernel& kernel : lowered->kernels) text += kernel.choice.Explanation();
    return text;
  }
};

constexpr const char* kTaken = "te.conv2d.winograd .[0-9]+ cycles.: chosen";

class WinogradConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(WinogradConvTest, EqualsThePlainSumUnderEveryEpilogue) {
  for (const char* epilogue :
       {"%0", "nn.relu(add(%0, %r))", "multiply(%0, sigmoid(%0))", "(%0, tanh(%0))"}) {
    SCOPED_TRACE(epilogue);
    const Bound conv(Parsed(ConvText(GetParam(), epilogue)), 7);
    EXPECT_THAT(conv.Explanation(), ContainsRegex(kTaken));
    ExpectClose(conv.Run(kTeOnly), conv.Run(kPlain), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradConvTest,
                         ::testing::Values(ConvCase{"WholeTiles", 1, 32, 64, 12, 28},
                                           ConvCase{"ManyBlocksOfRows", 1, 16, 32, 56, 20},
                                           ConvCase{"OddSizesInABatch", 2, 19, 48, 13, 15},
                                           ConvCase{"OddFilters", 1, 33, 39, 7, 7},
                                           ConvCase{"OneVectorOfFilters", 1, 64, 16, 14, 14},
                                           ConvCase{"ThreeColumns", 1, 64, 64, 40, 3},
                                           ConvCase{"TwoRows", 1, 64, 64, 2, 33},
                                           ConvCase{"NoMargins", 1, 32, 32, 16, 18, 0, 0, 0, 0},
                                           ConvCase{"UnevenMargins", 1, 32, 32, 11, 17, 2, 0, 1,
                                                    3}),
                         [](const auto& info) { return info.param.name; });

// Of one sum in double precision the largest error, relative to the largest result.
double Error(const NDArray& got, const std::vector<double>& expected) {
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, std::fabs(got.data<float>()[i] - expected[i]));
    largest = std::max(largest, std::fabs(expected[i]));
  }
  return error / largest;
}

TEST(WinogradConvPrecisionTest, IsNearThatOfThePlainSum) {
  const ConvCase c{"", 1, 256, 32, 14, 14};
  const ir::Module open = Parsed(ConvText(c, "add(%0, %r)"));
  const runtime::Inputs all = RandomInputs(open, 3);
  const float* x = all.at("x").data<float>();
  const float* w = all.at("w").data<float>();
  std::vector<double> expected;
  for (std::int64_t k = 0; k < c.filters; ++k)
    for (std::int64_t y = 0; y < c.height; ++y)
      for (std::int64_t z = 0; z < c.width; ++z) {
        double sum = all.at("b").data<float>()[k];
        for (std::int64_t i = 0; i < c.channels; ++i)
          for (std::int64_t tap = 0; tap < 9; ++tap) {
            const std::int64_t row = y + tap / 3 - 1, column = z + tap % 3 - 1;
            if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
            sum += static_cast<double>(x[(i * c.height + row) * c.width + column]) *
                   w[(k * c.channels + i) * 9 + tap];
          }
        expected.push_back(sum + all.at("r").data<float>()[expected.size()]);
      }
  const Bound conv(open, 3);
  const double error = Error(conv.Run(kTeOnly).at(0), expected);
  EXPECT_LT(error, 4 * Error(conv.Run(kPlain).at(0), expected));
  EXPECT_LT(error, 2e-6);
}

TEST(WinogradConvStrategyTest, OneAndTwoThreadsGiveTheSameBits) {
  for (const ConvCase& c : {ConvCase{"", 1, 32, 32, 64, 30}, ConvCase{"", 1, 64, 96, 14, 14}}) {
    const Bound conv(Parsed(ConvText(c, "nn.relu(add(%0, %r))")), 9);
    const Executable exe = ValueOrThrow(Compile(conv.module, kTeOnly));
    Session one(exe, {.threads = 1}), two(exe, {.threads = 2});
    const auto serial = ValueOrThrow(one.Run(conv.inputs));
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(ValueOrThrow(two.Run(conv.inputs)).at(0).SameBytes(serial.at(0)));
  }
}

TEST(WinogradConvStrategyTest, IsLeftOutWhereItIsNotWanted) {
  const Bound conv(Parsed(ConvText({"", 1, 64, 64, 28, 28}, "nn.relu(add(%0, %r))")), 1);
  EXPECT_THAT(conv.Explanation(), ContainsRegex(kTaken));
  EXPECT_THAT(conv.Explanation({}), ContainsRegex(kTaken));
  for (const CompileOptions& options : {kPlain, CompileOptions{.library = LibraryChoice::kLibrary}})
    EXPECT_THAT(conv.Explanation(options),
                HasSubstr("te.conv2d.winograd: no, it rounds differently from the "
                          "plain sum, which is asked for"));
}

TEST(WinogradConvStrategyTest, TheReasonIsGivenWhereItIsNotTaken) {
  const struct {
    const char *x, *w, *attrs, *reason;
  } rows[] = {
      {"(1, 64, 28, 28), float32", "(64, 64, 3, 3), float32", ", strides=[2, 2]",
       "it is for kernels of 3 x 3 with strides and dilation 1 in one group"},
      {"(1, 64, 28, 28), float32", "(64, 64, 3, 3), float32", ", dilation=[2, 2]",
       "it is for kernels of 3 x 3"},
      {"(1, 64, 28, 28), float32", "(64, 64, 5, 5), float32", "", "it is for kernels of 3 x 3"},
      {"(1, 64, 28, 28), float32", "(64, 32, 3, 3), float32", ", groups=2",
       "it is for kernels of 3 x 3"},
      {"(1, 28, 28, 64), float32", "(64, 64, 3, 3), float32", ", data_layout=\"NHWC\"",
       "channels do not come first"},
      {"(1, 64, 28, 28), float64", "(64, 64, 3, 3), float64", "", "it is for float32"},
      {"(0, 64, 28, 28), float32", "(64, 64, 3, 3), float32", "", "the result has no elements"},
      {"(1, 3, 28, 28), float32", "(16, 3, 3, 3), float32", "",
       "the plain sum is about as fast (estimated speed-up "},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.x, " by ", row.w, row.attrs));
    const Bound conv(
        Parsed(StrCat("def @main(%x: Tensor[", row.x, "], %w: Tensor[", row.w,
                      "]) { nn.conv2d(%x, %w, padding=[1, 1, 1, 1]", row.attrs, ") }")),
        1);
    EXPECT_THAT(conv.Explanation(), HasSubstr(StrCat("te.conv2d.winograd: no, ", row.reason)));
  }
  const ir::Module open = Parsed(ConvText({"", 1, 64, 64, 28, 28}, "add(%0, %r)"));
  EXPECT_THAT(Lower(open, kTeOnly)->kernels[0].choice.Explanation(),
              HasSubstr("te.conv2d.winograd: no, the weights are not constant"));
}

}  // namespace
}  // namespace tenon::strategies
