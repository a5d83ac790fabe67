// Convolutions of bytes against direct sums, with and without the instruction that adds four
// products, and the code that is made for them.
#include <string>

#include "tenon/jit/cpu_features.h"
#include "tenon/jit/kernel.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;

struct ConvCase {
  const char* name;
  std::int64_t batch, channels, filters, height, width, kernel, stride, padding, dilation, groups;
  bool channels_last = false;
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

std::string TextOf(const ConvCase& c) {
  const std::string image = c.channels_last ? StrCat(c.height, ", ", c.width, ", ", c.channels)
                                            : StrCat(c.channels, ", ", c.height, ", ", c.width);
  const std::string layout = c.channels_last ? ", data_layout=\"NHWC\"" : "";
  return StrCat("def @main(%x: Tensor[(", c.batch, ", ", image, "), uint8], %w: Tensor[(",
                c.filters, ", ", c.channels / c.groups, ", ", c.kernel, ", ", c.kernel,
                "), int8]) { nn.conv2d(%x, %w, strides=[", c.stride, ", ", c.stride, "], padding=[",
                c.padding, ", ", c.padding, "], dilation=[", c.dilation, ", ", c.dilation,
                "], groups=", c.groups, layout, ", out_dtype=\"int32\") }");
}

template <typename T>
NDArray Bytes(const Shape& shape, DataType type, int seed) {
  NDArray array = NDArray::Empty(shape, type);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.data<T>()[i] = static_cast<T>(255 - (i * 37 + i / 11 + seed) % 256);
  return array;
}

NDArray DirectSum(const ConvCase& c, const NDArray& x, const NDArray& w) {
  const std::int64_t span = (c.kernel - 1) * c.dilation + 1;
  const std::int64_t rows = (c.height + 2 * c.padding - span) / c.stride + 1;
  const std::int64_t columns = (c.width + 2 * c.padding - span) / c.stride + 1;
  const std::int64_t inputs = c.channels / c.groups;
  const auto offset = [&](std::int64_t n, std::int64_t channel, std::int64_t y, std::int64_t at,
                          std::int64_t channels, std::int64_t height, std::int64_t width) {
    return c.channels_last ? ((n * height + y) * width + at) * channels + channel
                           : ((n * channels + channel) * height + y) * width + at;
  };
  NDArray result = NDArray::Empty(c.channels_last ? Shape{c.batch, rows, columns, c.filters}
                                                  : Shape{c.batch, c.filters, rows, columns},
                                  Int32);
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t f = 0; f < c.filters; ++f)
      for (std::int64_t oy = 0; oy < rows; ++oy)
        for (std::int64_t ox = 0; ox < columns; ++ox) {
          std::int32_t sum = 0;
          for (std::int64_t i = 0; i < inputs; ++i)
            for (std::int64_t ky = 0; ky < c.kernel; ++ky)
              for (std::int64_t kx = 0; kx < c.kernel; ++kx) {
                const std::int64_t y = oy * c.stride + ky * c.dilation - c.padding;
                const std::int64_t at = ox * c.stride + kx * c.dilation - c.padding;
                if (y < 0 || at < 0 || y >= c.height || at >= c.width) continue;
                const std::int64_t channel = f / (c.filters / c.groups) * inputs + i;
                sum += x.data<std::uint8_t>()[offset(n, channel, y, at, c.channels, c.height,
                                                     c.width)] *
                       w.data<std::int8_t>()[((f * inputs + i) * c.kernel + ky) * c.kernel + kx];
              }
          result.data<std::int32_t>()[offset(n, f, oy, ox, c.filters, rows, columns)] = sum;
        }
  return result;
}

class ByteConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(ByteConvTest, EqualsTheDirectSumWithAndWithoutTheInstruction) {
  const ConvCase& c = GetParam();
  const ir::Module module = Parsed(TextOf(c));
  const NDArray x =
      Bytes<std::uint8_t>(c.channels_last ? Shape{c.batch, c.height, c.width, c.channels}
                                          : Shape{c.batch, c.channels, c.height, c.width},
                          UInt8, 1);
  const NDArray w =
      Bytes<std::int8_t>({c.filters, c.channels / c.groups, c.kernel, c.kernel}, Int8, 2);
  for (const char* features : {"", "-avx512vnni", "-avx512f"}) {
    SCOPED_TRACE(features);
    ExpectClose(Outcome(module, {{"x", x}, {"w", w}}, {.target = {features}}),
                {DirectSum(c, x, w)});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Edges, ByteConvTest,
    ::testing::Values(ConvCase{"OneTap", 1, 4, 16, 8, 8, 1, 1, 0, 1, 1},
                      ConvCase{"OddOneTap", 2, 5, 17, 9, 13, 1, 1, 0, 1, 1},
                      ConvCase{"FewChannels", 1, 3, 32, 15, 17, 7, 2, 3, 1, 1},
                      ConvCase{"Padded", 1, 8, 64, 16, 16, 3, 1, 1, 1, 1},
                      ConvCase{"OddEverything", 1, 7, 65, 11, 9, 3, 2, 1, 1, 1},
                      ConvCase{"Dilated", 1, 6, 48, 17, 15, 3, 1, 2, 2, 1},
                      ConvCase{"Groups", 1, 12, 64, 9, 9, 3, 1, 1, 1, 2},
                      ConvCase{"OddGroups", 1, 15, 48, 9, 9, 3, 1, 1, 1, 3},
                      ConvCase{"SmallGroups", 1, 6, 12, 9, 9, 3, 1, 1, 1, 3},
                      ConvCase{"Depthwise", 1, 17, 17, 9, 11, 3, 1, 1, 1, 17},
                      ConvCase{"Depthwise14x14", 2, 3, 3, 14, 14, 3, 1, 1, 1, 3},
                      ConvCase{"Depthwise16Columns", 1, 3, 3, 13, 16, 5, 1, 2, 1, 3},
                      ConvCase{"Depthwise17Columns", 1, 3, 3, 14, 17, 3, 1, 1, 1, 3},
                      ConvCase{"DepthwiseOneColumn", 1, 5, 5, 7, 1, 3, 1, 1, 1, 5},
                      ConvCase{"DepthwiseTall", 2, 3, 3, 14, 28, 3, 1, 1, 1, 3},
                      ConvCase{"DepthwiseTallMultiplied", 1, 2, 4, 7, 47, 3, 1, 1, 1, 2},
                      ConvCase{"DepthwiseStride2", 1, 3, 3, 28, 28, 3, 2, 1, 1, 3},
                      ConvCase{"DepthwiseFlat", 1, 3, 3, 19, 21, 7, 1, 3, 1, 3},
                      ConvCase{"FewPixels", 1, 8, 32, 2, 3, 1, 1, 0, 1, 1},
                      ConvCase{"FewFilters", 1, 16, 3, 12, 16, 3, 1, 1, 1, 1},
                      ConvCase{"ChannelsLast", 1, 9, 33, 10, 7, 3, 1, 1, 1, 1, true}),
    ::testing::PrintToStringParamName());

// A vector of bytes is as long as four of sums.
TEST(ByteConvTest, ResultsOfBytesReadSumsInVectorsOfSums) {
  const Lowered lowered = ValueOrThrow(
      Lower(Parsed("def @main(%x: Tensor[(1, 8, 56, 56), uint8], %w: Tensor[(8, 1, 3, 3), int8]) {"
                   "cast(clip(nn.conv2d(%x, %w, padding=[1, 1], groups=8, out_dtype=\"int32\"), "
                   "a_min=0f, a_max=255f), dtype=\"uint8\") }"),
            {.library = LibraryChoice::kTe}));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const auto& function = std::get<loop::Function>(lowered.kernels[0].choice.built.kernel);
  EXPECT_THAT(ValueOrThrow(jit::Compile(function)).Assembly(),
              ::testing::Not(::testing::HasSubstr("gather")));
}

TEST(ByteConvTest, TheInstructionRunsWhereTheHostHasIt) {
  if (!jit::CpuFeatures::Host().Has("avx512vnni"))
    GTEST_SKIP() << "the host has no such instruction";
  const Lowered lowered = ValueOrThrow(Lower(Parsed(TextOf({"", 1, 64, 64, 14, 14, 3, 1, 1, 1, 1})),
                                             {.library = LibraryChoice::kTe}));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const auto& function = std::get<loop::Function>(lowered.kernels[0].choice.built.kernel);
  EXPECT_THAT(ValueOrThrow(jit::Compile(function)).Assembly(), ::testing::HasSubstr("vpdpbusd"));
}

}  // namespace
}  // namespace tenon::strategies
