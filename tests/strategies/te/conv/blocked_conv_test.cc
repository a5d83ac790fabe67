// Convolutions over blocks of channels against direct sums in double precision; layout_transform
// against its definition.
#include <array>
#include <cmath>
#include <string>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

const CompileOptions kTeOnly = {.library = LibraryChoice::kTe};

struct ConvCase {
  const char* name;
  std::int64_t batch, channels, filters, height, width, kernel, stride, padding, dilation, groups;
  std::int64_t in_block, out_block;
  bool depthwise = false;
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

// All sizes in elements, not in blocks.
class BlockedConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(BlockedConvTest, EqualsTheDirectSumWithItsEpilogue) {
  const ConvCase& c = GetParam();
  const std::int64_t group_inputs = c.channels / c.groups;
  const std::int64_t weight_block = c.depthwise ? 1 : c.in_block;
  const ir::Module module = Parsed(StrCat(
      "def @main(%x: Tensor[(", c.batch, ", ", c.channels / c.in_block, ", ", c.height, ", ",
      c.width, ", ", c.in_block, "), float32], %w: Tensor[(", c.filters / c.out_block, ", ",
      group_inputs / weight_block, ", ", c.kernel, ", ", c.kernel, ", ", weight_block, ", ",
      c.out_block, "), float32]) { nn.relu(",
      c.depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc",
      "(%x, %w, strides=[", c.stride, ", ", c.stride, "], padding=[", c.padding, ", ", c.padding,
      "], dilation=[", c.dilation, ", ", c.dilation, "], groups=", c.groups, ", data_layout=\"NCHW",
      c.in_block, "c\", kernel_layout=\"OIHW", weight_block, "i", c.out_block, "o\")) }"));
  const runtime::Inputs inputs = RandomInputs(module, 5);
  const auto results = Outcome(module, inputs, kTeOnly);
  ASSERT_EQ(results.size(), 1U);
  const float* x = inputs.at("x").data<float>();
  const float* w = inputs.at("w").data<float>();
  const std::int64_t span = (c.kernel - 1) * c.dilation + 1;
  const std::int64_t rows = (c.height + 2 * c.padding - span) / c.stride + 1;
  const std::int64_t columns = (c.width + 2 * c.padding - span) / c.stride + 1;
  ASSERT_EQ(results[0].shape(),
            (Shape{c.batch, c.filters / c.out_block, rows, columns, c.out_block}));
  const std::int64_t group_filters = c.filters / c.groups;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t f = 0; f < c.filters; ++f)
      for (std::int64_t oy = 0; oy < rows; ++oy)
        for (std::int64_t ox = 0; ox < columns; ++ox) {
          double sum = 0;
          for (std::int64_t i = 0; i < group_inputs; ++i)
            for (std::int64_t ky = 0; ky < c.kernel; ++ky)
              for (std::int64_t kx = 0; kx < c.kernel; ++kx) {
                const std::int64_t y = oy * c.stride + ky * c.dilation - c.padding;
                const std::int64_t z = ox * c.stride + kx * c.dilation - c.padding;
                if (y < 0 || y >= c.height || z < 0 || z >= c.width) continue;
                const std::int64_t channel = f / group_filters * group_inputs + i;
                const std::int64_t x_at =
                    (((n * (c.channels / c.in_block) + channel / c.in_block) * c.height + y) *
                         c.width +
                     z) *
                        c.in_block +
                    channel % c.in_block;
                const std::int64_t w_at =
                    ((((f / c.out_block * (group_inputs / weight_block) + i / weight_block) *
                           c.kernel +
                       ky) *
                          c.kernel +
                      kx) *
                         weight_block +
                     i % weight_block) *
                        c.out_block +
                    f % c.out_block;
                sum += static_cast<double>(x[x_at]) * w[w_at];
              }
          const std::int64_t at =
              (((n * (c.filters / c.out_block) + f / c.out_block) * rows + oy) * columns + ox) *
                  c.out_block +
              f % c.out_block;
          ASSERT_NEAR(results[0].data<float>()[at], std::max(0.0, sum), 2e-4)
              << n << ", " << f << ", " << oy << ", " << ox;
        }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BlockedConvTest,
    ::testing::Values(ConvCase{"Padded3x3", 1, 32, 64, 9, 14, 3, 1, 1, 1, 1, 16, 16},
                      ConvCase{"OddWidth", 2, 16, 32, 5, 17, 3, 1, 1, 1, 1, 16, 16},
                      ConvCase{"PrimeWidthAndOneBlock", 1, 16, 16, 3, 31, 3, 1, 1, 1, 1, 16, 16},
                      ConvCase{"OneColumn", 1, 16, 16, 4, 1, 1, 1, 0, 1, 1, 16, 16},
                      ConvCase{"Stride2", 1, 16, 64, 11, 13, 3, 2, 1, 1, 1, 16, 16},
                      ConvCase{"Pointwise", 1, 48, 32, 7, 7, 1, 1, 0, 1, 1, 16, 16},
                      ConvCase{"Dilated", 1, 16, 32, 12, 15, 3, 1, 2, 2, 1, 16, 16},
                      ConvCase{"FewInputChannels", 1, 3, 32, 10, 12, 3, 2, 1, 1, 1, 3, 16},
                      ConvCase{"BlocksOf8", 1, 24, 40, 6, 6, 3, 1, 1, 1, 1, 8, 8},
                      ConvCase{"OtherBlockOut", 1, 16, 24, 6, 10, 3, 1, 1, 1, 1, 16, 8},
                      ConvCase{"Groups", 1, 64, 96, 6, 9, 3, 1, 1, 1, 2, 16, 16},
                      ConvCase{"Depthwise", 1, 32, 32, 8, 15, 3, 1, 1, 1, 32, 16, 16, true},
                      ConvCase{"DepthwiseStride2", 2, 16, 16, 9, 9, 5, 2, 2, 1, 16, 16, 16, true},
                      ConvCase{"Large", 1, 64, 128, 14, 14, 3, 1, 1, 1, 1, 16, 16}),
    [](const auto& info) { return info.param.name; });

std::vector<NDArray> Transformed(const std::string& shape, const char* from, const char* to,
                                 NDArray* x) {
  const ir::Module module =
      Parsed(StrCat("def @main(%x: Tensor[(", shape, "), float32]) { layout_transform(%x, ",
                    "src_layout=\"", from, "\", dst_layout=\"", to, "\") }"));
  const runtime::Inputs inputs = RandomInputs(module, 2);
  *x = inputs.at("x");
  return Outcome(module, inputs, kTeOnly);
}

TEST(LayoutTransformTest, BlocksChannelsAndFillsTheLastBlockWithZeros) {
  NDArray x;
  const auto y = Transformed("2, 20, 3, 5", "NCHW", "NCHW16c", &x);
  ASSERT_EQ(y.size(), 1U);
  ASSERT_EQ(y[0].shape(), (Shape{2, 2, 3, 5, 16}));
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t c = 0; c < 32; ++c)
      for (std::int64_t p = 0; p < 15; ++p) {
        const float expected = c < 20 ? x.data<float>()[(n * 20 + c) * 15 + p] : 0.0F;
        ASSERT_EQ(y[0].data<float>()[((n * 2 + c / 16) * 15 + p) * 16 + c % 16], expected);
      }
}

TEST(LayoutTransformTest, ThereAndBackIsTheIdentity) {
  for (const auto& [from, to, shape] :
       {std::array<const char*, 3>{"NCHW", "NHWC", "2, 3, 5, 7"},
        std::array<const char*, 3>{"NCHW", "NCHW4c", "1, 8, 3, 3"},
        std::array<const char*, 3>{"OIHW", "OIHW8i16o", "32, 16, 3, 1"},
        std::array<const char*, 3>{"NCHW16c", "NCHW4c", "1, 2, 3, 3, 16"},
        std::array<const char*, 3>{"NC", "NC16n", "48, 7"}}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(", shape, "), float32]) { layout_transform(layout_transform(",
               "%x, src_layout=\"", from, "\", dst_layout=\"", to, "\"), src_layout=\"", to,
               "\", dst_layout=\"", from, "\") }"));
    const runtime::Inputs inputs = RandomInputs(module, 2);
    ExpectClose(Outcome(module, inputs, kTeOnly), {inputs.at("x")}, 0);
  }
}

}  // namespace
}  // namespace tenon::strategies
