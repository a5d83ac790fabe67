// Convolutions of bytes and of bfloat16 against direct sums, with and without the instruction that
// adds several products, and the code that is made for them.
#include <bit>
#include <string>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::ValueAt;

struct ConvCase {
  const char* name;
  std::int64_t batch, channels, filters, height, width, kernel, stride, padding, dilation, groups;
  bool channels_last = false;
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

struct Types {
  const char *image, *weight, *sum;
};
constexpr Types kOfBytes = {"uint8", "int8", "int32"};
constexpr Types kOfBFloats = {"bfloat16", "bfloat16", "float32"};

std::string TextOf(const ConvCase& c, const Types& types) {
  const std::string image = c.channels_last ? StrCat(c.height, ", ", c.width, ", ", c.channels)
                                            : StrCat(c.channels, ", ", c.height, ", ", c.width);
  const std::string layout = c.channels_last ? ", data_layout=\"NHWC\"" : "";
  return StrCat("def @main(%x: Tensor[(", c.batch, ", ", image, "), ", types.image,
                "], %w: Tensor[(", c.filters, ", ", c.channels / c.groups, ", ", c.kernel, ", ",
                c.kernel, "), ", types.weight, "]) { nn.conv2d(%x, %w, strides=[", c.stride, ", ",
                c.stride, "], padding=[", c.padding, ", ", c.padding, "], dilation=[", c.dilation,
                ", ", c.dilation, "], groups=", c.groups, layout, ", out_dtype=\"", types.sum,
                "\") }");
}

// Whole numbers whose sums of products float32 holds: results are equal in any order.
NDArray Numbers(const Shape& shape, const std::string& type, int seed) {
  NDArray array = NDArray::Empty(shape, DataType::Parse(type).value());
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(255 - (i * 37 + i / 11 + seed) % 256);
    if (array.dtype() == BFloat16) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(byte) - 128);
      static_cast<std::uint16_t*>(array.raw())[i] = static_cast<std::uint16_t>(bits >> 16);
    } else {
      static_cast<std::uint8_t*>(array.raw())[i] = byte;
    }
  }
  return array;
}

NDArray DirectSum(const ConvCase& c, const NDArray& x, const NDArray& w, const std::string& type) {
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
                                  DataType::Parse(type).value());
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t f = 0; f < c.filters; ++f)
      for (std::int64_t oy = 0; oy < rows; ++oy)
        for (std::int64_t ox = 0; ox < columns; ++ox) {
          double sum = 0;
          for (std::int64_t i = 0; i < inputs; ++i)
            for (std::int64_t ky = 0; ky < c.kernel; ++ky)
              for (std::int64_t kx = 0; kx < c.kernel; ++kx) {
                const std::int64_t y = oy * c.stride + ky * c.dilation - c.padding;
                const std::int64_t at = ox * c.stride + kx * c.dilation - c.padding;
                if (y < 0 || at < 0 || y >= c.height || at >= c.width) continue;
                const std::int64_t channel = f / (c.filters / c.groups) * inputs + i;
                sum += ValueAt(x, offset(n, channel, y, at, c.channels, c.height, c.width)) *
                       ValueAt(w, ((f * inputs + i) * c.kernel + ky) * c.kernel + kx);
              }
          const std::int64_t at = offset(n, f, oy, ox, c.filters, rows, columns);
          if (result.dtype() == Int32) {
            result.data<std::int32_t>()[at] = static_cast<std::int32_t>(sum);
          } else {
            result.data<float>()[at] = static_cast<float>(sum);
          }
        }
  return result;
}

void ExpectDirectSums(const ConvCase& c, const Types& types,
                      std::initializer_list<const char*> without) {
  const ir::Module module = Parsed(TextOf(c, types));
  const NDArray x = Numbers(c.channels_last ? Shape{c.batch, c.height, c.width, c.channels}
                                            : Shape{c.batch, c.channels, c.height, c.width},
                            types.image, 1);
  const NDArray w =
      Numbers({c.filters, c.channels / c.groups, c.kernel, c.kernel}, types.weight, 2);
  const NDArray expected = DirectSum(c, x, w, types.sum);
  for (const char* features : without) {
    SCOPED_TRACE(features);
    ExpectClose(Outcome(module, {{"x", x}, {"w", w}}, {.target = jit::HostTarget(features)}),
                {expected});
  }
}

class WordConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(WordConvTest, OfBytesEqualsTheDirectSumWithAndWithoutTheInstruction) {
  ExpectDirectSums(GetParam(), kOfBytes, {"", "-avx512vnni", "-avx512f"});
}
TEST_P(WordConvTest, OfBFloatsEqualsTheDirectSumWithAndWithoutTheInstruction) {
  ExpectDirectSums(GetParam(), kOfBFloats, {"", "-avx512bf16", "-avx512f"});
}

INSTANTIATE_TEST_SUITE_P(
    Edges, WordConvTest,
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
                      ConvCase{"Depthwise15Columns", 2, 3, 6, 8, 15, 3, 1, 1, 1, 3},
                      ConvCase{"Depthwise31x33", 1, 2, 2, 31, 33, 3, 1, 1, 1, 2},
                      ConvCase{"DepthwiseTwoGroups", 1, 3, 3, 9, 56, 3, 1, 1, 1, 3},
                      ConvCase{"Depthwise65Columns", 1, 2, 2, 5, 65, 5, 1, 2, 1, 2},
                      ConvCase{"DepthwiseManyColumns", 1, 2, 2, 3, 131, 3, 1, 0, 1, 2},
                      ConvCase{"DepthwiseOneRow", 1, 3, 3, 1, 40, 3, 1, 1, 1, 3},
                      ConvCase{"DepthwiseOneTap", 1, 3, 3, 6, 20, 1, 1, 0, 1, 3},
                      ConvCase{"DepthwiseFourTaps", 1, 3, 3, 9, 18, 4, 1, 1, 1, 3},
                      ConvCase{"DepthwiseManyTaps", 1, 2, 2, 20, 20, 11, 1, 5, 1, 2},
                      ConvCase{"DepthwiseWideStride2", 1, 2, 2, 9, 67, 3, 2, 1, 1, 2},
                      ConvCase{"DepthwiseStride3", 1, 3, 3, 17, 50, 5, 3, 2, 1, 3},
                      ConvCase{"DepthwiseStride4", 1, 3, 3, 17, 70, 3, 4, 1, 1, 3},
                      ConvCase{"DepthwiseStride5", 1, 3, 3, 17, 80, 3, 5, 1, 1, 3},
                      ConvCase{"DepthwiseDilated", 1, 3, 3, 17, 20, 3, 1, 2, 2, 3},
                      ConvCase{"FewPixels", 1, 8, 32, 2, 3, 1, 1, 0, 1, 1},
                      ConvCase{"FewFilters", 1, 16, 3, 12, 16, 3, 1, 1, 1, 1},
                      ConvCase{"ChannelsLast", 1, 9, 33, 10, 7, 3, 1, 1, 1, 1, true}),
    ::testing::PrintToStringParamName());

// A vector of bytes is as long as four of sums.
TEST(WordConvTest, ResultsOfBytesReadSumsInVectorsOfSums) {
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

std::string AssemblyOf(const ConvCase& c, const Types& types) {
  const Lowered lowered =
      ValueOrThrow(Lower(Parsed(TextOf(c, types)), {.library = LibraryChoice::kTe}));
  EXPECT_EQ(lowered.kernels.size(), 1U);
  const auto& function = std::get<loop::Function>(lowered.kernels[0].choice.built.kernel);
  return ValueOrThrow(jit::Compile(function)).Assembly();
}

constexpr ConvCase kWithInstruction[] = {
    {"Plain", 1, 64, 64, 14, 14, 3, 1, 1, 1, 1},
    {"Depthwise", 1, 64, 64, 14, 14, 3, 1, 1, 1, 64},
};

void ExpectInstruction(const ConvCase& c, const Types& types, const std::string& instruction) {
  EXPECT_THAT(AssemblyOf(c, types), ::testing::HasSubstr(instruction)) << c.name;
}

TEST(WordConvTest, TheInstructionForBytesRunsWhereTheHostHasIt) {
  if (!jit::HostTarget().Has("avx512vnni"))
    GTEST_SKIP() << "the host has no AVX512-VNNI, whose instruction this is";
  for (const ConvCase& c : kWithInstruction) ExpectInstruction(c, kOfBytes, "vpdpbusd");
}

TEST(WordConvTest, TheInstructionForBFloatsRunsWhereTheHostGainsByIt) {
  if (!jit::HostTarget().has_fast_dots_of_bf16())
    GTEST_SKIP() << "the host has no AVX512-BF16 that is faster than float32";
  for (const ConvCase& c : kWithInstruction) ExpectInstruction(c, kOfBFloats, "vdpbf16ps");
}

// The padded rows that windows are made of never see memory.
TEST(WordConvTest, RowsOfADepthwiseConvolutionStayInRegisters) {
  if (!jit::HostTarget().Has("avx512vnni"))
    GTEST_SKIP() << "the host has no AVX512-VNNI, which windows are made for";
  for (const std::int64_t size : {7, 14, 28}) {
    for (const std::int64_t stride : {1, 2}) {
      const ConvCase c{"", 1, 8, 8, size, size, 3, stride, 1, 1, 8};
      const std::string assembly = AssemblyOf(c, kOfBytes);
      const std::size_t first = assembly.find("vpdpbusd");
      ASSERT_NE(first, std::string::npos);
      // A store and a load of the stack around the shuffles would be of whole vectors.
      EXPECT_THAT(assembly, ::testing::Not(::testing::ContainsRegex("vpermb[^\n]*rsp")))
          << size << " by " << stride;
      EXPECT_THAT(assembly, ::testing::ContainsRegex("vmovdqu8[^\n]*\\{%k[0-7]\\} \\{z\\}"))
          << size << " by " << stride;
    }
  }
}

}  // namespace
}  // namespace tenon::strategies
