// Convolutions of constant weights, whose lanes are filters, under epilogues that are computed
// before and after the tile is transposed; against the plain sum, which weights that are given at
// each run get.
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct ConvCase {
  const char* name;
  std::int64_t batch, channels, filters, height, width, kernel, stride, groups = 1;
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

// Of %0, the biased result, and %r, a residual of its shape.
constexpr const char* kEpilogues[] = {
    "%0",
    "nn.relu(%0)",
    "multiply(%0, sigmoid(%0))",
    "add(multiply(%0, sigmoid(%0)), %r)",
    "tanh(add(%0, %r))",
    "multiply(erf(%0), %s)",
};

void ExpectPlainSums(const ConvCase& c, const char* epilogue, const Target& target) {
  SCOPED_TRACE(epilogue);
  const std::int64_t padding = c.kernel / 2;
  const auto extent = [&](std::int64_t n) { return (n + 2 * padding - c.kernel) / c.stride + 1; };
  const std::string result = StrCat(extent(c.height), ", ", extent(c.width));
  const ir::Module module = Parsed(StrCat(
      "def @main(%x: Tensor[(", c.batch, ", ", c.channels, ", ", c.height, ", ", c.width,
      "), float32], %w: Tensor[(", c.filters, ", ", c.channels / c.groups, ", ", c.kernel, ", ",
      c.kernel, "), float32], %b: Tensor[(", c.filters, ", 1, 1), float32], %r: Tensor[(", c.batch,
      ", ", c.filters, ", ", result, "), float32], %s: Tensor[(1, 1, ", result,
      "), float32]) { %0 = add(nn.conv2d(%x, %w, strides=[", c.stride, ", ", c.stride,
      "], padding=[", padding, ", ", padding, "], groups=", c.groups, "), %b); ", epilogue, " }"));
  runtime::Inputs inputs = RandomInputs(module, 11);
  const std::vector<NDArray> expected = Interpreted(module, inputs);
  const ir::Module bound =
      passes::BindParams(module, "main", {{"w", inputs.at("w")}, {"b", inputs.at("b")}});
  inputs.erase("w");
  inputs.erase("b");
  ExpectClose(Outcome(bound, inputs, {.target = target, .library = LibraryChoice::kTe}), expected,
              1e-3);
}

class TiledConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(TiledConvTest, EqualsThePlainSumUnderEveryEpilogue) {
  for (const char* epilogue : kEpilogues) ExpectPlainSums(GetParam(), epilogue, jit::HostTarget());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TiledConvTest,
    ::testing::Values(ConvCase{"OnePixel", 1, 48, 144, 1, 1, 1, 1},
                      ConvCase{"OnePixelOfManyFilters", 2, 5, 208, 1, 1, 1, 1},
                      ConvCase{"OnePixelOfThreeRows", 1, 7, 40, 5, 5, 3, 5},
                      ConvCase{"OnePixelInGroups", 1, 32, 64, 1, 1, 1, 1, 2},
                      ConvCase{"TwoPixels", 1, 9, 48, 1, 2, 1, 1},
                      ConvCase{"ThreePixels", 1, 9, 9, 3, 1, 3, 1},
                      ConvCase{"SevenBySeven", 1, 20, 64, 7, 7, 1, 1},
                      ConvCase{"WholeTiles", 1, 12, 32, 4, 4, 1, 1},
                      ConvCase{"PrimeWidth", 1, 4, 96, 3, 13, 3, 1},
                      ConvCase{"PrimeWidthOfFewTerms", 2, 3, 32, 9, 25, 3, 2},
                      ConvCase{"OddFilters", 1, 6, 23, 5, 6, 1, 1},
                      ConvCase{"WholeLines", 1, 3, 32, 2, 16, 3, 1},
                      ConvCase{"FourVectorsOfSixPixels", 1, 70, 64, 5, 5, 1, 1},
                      ConvCase{"FourVectorsWithSteps", 1, 20, 128, 9, 13, 3, 2},
                      ConvCase{"ThreeVectorsOfAPrime", 2, 70, 48, 17, 17, 1, 1},
                      ConvCase{"OneTapOfFourteenPixels", 1, 67, 32, 14, 14, 1, 1},
                      ConvCase{"OneTapWithSteps", 2, 5, 128, 11, 13, 1, 2},
                      ConvCase{"OneTapWithStepsInGroups", 1, 8, 256, 9, 9, 1, 2, 2},
                      ConvCase{"PackedPixels", 2, 257, 64, 4, 20, 1, 1},
                      ConvCase{"PackedAliasingPixels", 1, 65, 72, 32, 32, 1, 1},
                      ConvCase{"PackedRaggedPixels", 1, 64, 64, 37, 111, 1, 1},
                      ConvCase{"PackedOnceAPartOfTheFilters", 1, 259, 320, 8, 8, 1, 1},
                      ConvCase{"PackedTwoBlocksAPart", 1, 261, 72, 4, 20, 1, 1},
                      ConvCase{"PackedPixelsWithSteps", 2, 3, 64, 15, 31, 1, 2},
                      ConvCase{"Groups", 1, 8, 64, 5, 7, 3, 1, 2},
                      ConvCase{"Depthwise14x14", 1, 9, 9, 14, 14, 3, 1, 9},
                      ConvCase{"Depthwise16x16", 1, 4, 4, 16, 16, 3, 1, 4},
                      ConvCase{"DepthwiseStride2", 2, 3, 6, 14, 14, 5, 2, 3},
                      ConvCase{"Depthwise8x4", 1, 5, 5, 8, 4, 3, 1, 5}),
    [](const auto& info) { return info.param.name; });

// Two cores with 16 registers of 8 floats, which every CPU with AVX2 can be.
Target With16Registers() {
  Target target = testing_targets::Avx2();
  target.l1_bytes = 32 << 10;
  target.cores = 2;
  return target;
}

TEST(TiledConvInTurnTest, EqualsThePlainSum) {
  for (const ConvCase& c :
       {ConvCase{"OneTap", 1, 192, 64, 7, 7, 1, 1},
        ConvCase{"OneTapOfTwoImages", 2, 384, 41, 5, 11, 1, 1},
        ConvCase{"OneTapWithSteps", 1, 192, 128, 13, 15, 1, 2},
        ConvCase{"Taps", 1, 64, 64, 7, 7, 3, 1}, ConvCase{"TapsWithSteps", 1, 64, 64, 13, 14, 3, 2},
        ConvCase{"FivePixels", 1, 512, 128, 1, 5, 1, 1},
        ConvCase{"AThirdOfAPrimeNumberOfRows", 3, 192, 72, 13, 3, 1, 1}}) {
    SCOPED_TRACE(c.name);
    for (const char* epilogue : {"nn.relu(%0)", "add(multiply(%0, sigmoid(%0)), %r)"})
      ExpectPlainSums(c, epilogue, With16Registers());
  }
}

TEST(TiledConvInGroupsTest, EqualsThePlainSum) {
  for (const ConvCase& c : {ConvCase{"RowsOfSeven", 1, 24, 24, 7, 7, 3, 1, 3},
                            ConvCase{"RowsOfFourteen", 2, 16, 16, 14, 14, 3, 1, 2},
                            ConvCase{"WholeTilesOfEight", 1, 16, 16, 12, 28, 3, 1, 2},
                            ConvCase{"APrimeNumberOfPixels", 1, 16, 16, 1, 13, 3, 1, 2},
                            ConvCase{"TwoVectors", 1, 32, 32, 9, 5, 3, 1, 2},
                            ConvCase{"ThreeVectorsWithSteps", 1, 48, 48, 11, 9, 3, 2, 2}}) {
    SCOPED_TRACE(c.name);
    ExpectPlainSums(c, "nn.relu(%0)", With16Registers());
  }
}

// The 32 registers of AVX-512 on a CPU that need not have it: weights are packed here, nothing else
// runs.
Target With32Registers() {
  Target target = jit::HostTarget();
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

// The kernel of a convolution of one tap with constant weights.
loop::Function FunctionOf(std::int64_t channels, std::int64_t filters, std::int64_t size,
                          std::int64_t stride, const Target& target = With32Registers()) {
  const ir::Module module = Parsed(
      StrCat("def @main(%x: Tensor[(1, ", channels, ", ", size, ", ", size,
             "), float32], %w: Tensor[(", filters, ", ", channels,
             ", 1, 1), float32]) { nn.conv2d(%x, %w, strides=[", stride, ", ", stride, "]) }"));
  const ir::Module bound =
      passes::BindParams(module, "main", {{"w", RandomInputs(module, 3).at("w")}});
  const Lowered lowered =
      ValueOrThrow(Lower(bound, {.target = target, .library = LibraryChoice::kTe}));
  return std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel);
}

std::string LoopsOf(std::int64_t channels, std::int64_t filters, std::int64_t size,
                    std::int64_t stride, const Target& target = With32Registers()) {
  return loop::Print(FunctionOf(channels, filters, size, stride, target));
}

TEST(TiledConvFormTest, ChannelsAreAddedInTurnWhereRegistersAreFew) {
  const auto adds_in_turn = [](std::int64_t channels, std::int64_t filters, std::int64_t size,
                               const Target& target) {
    return LoopsOf(channels, filters, size, 1, target).find("for ax2.init in [0, ") !=
           std::string::npos;
  };
  Target many_cores = With16Registers();
  many_cores.cores = 64;
  EXPECT_TRUE(adds_in_turn(2048, 512, 7, With16Registers()));
  EXPECT_TRUE(adds_in_turn(64, 512, 14, With16Registers()));
  EXPECT_FALSE(adds_in_turn(56, 512, 7, With16Registers()));    // too few turns
  EXPECT_FALSE(adds_in_turn(64, 512, 112, With16Registers()));  // sums leave the second-level cache
  EXPECT_FALSE(adds_in_turn(2052, 512, 7, With16Registers()));  // 8 do not divide them
  EXPECT_FALSE(adds_in_turn(2048, 512, 7, many_cores));  // that share too few blocks of filters
  EXPECT_FALSE(adds_in_turn(2048, 512, 7, With32Registers()));
}

TEST(TiledConvFormTest, PixelsArePackedWhereTheirChannelsLeaveTheNearestCache) {
  const auto packs = [](std::int64_t channels, std::int64_t filters, std::int64_t size,
                        std::int64_t stride) {
    return LoopsOf(channels, filters, size, stride).find("allocate panel") != std::string::npos;
  };
  EXPECT_TRUE(packs(512, 136, 28, 1));
  EXPECT_TRUE(packs(256, 72, 56, 1));
  EXPECT_TRUE(packs(65, 72, 32, 1));  // rows share a few sets
  EXPECT_TRUE(packs(8, 64, 32, 2));
  EXPECT_FALSE(packs(8, 64, 16, 1));
  EXPECT_FALSE(packs(256, 136, 28, 1));
  EXPECT_FALSE(packs(512, 40, 28, 1));  // too few filters to pay
  // Lanes are filters.
  EXPECT_FALSE(packs(512, 128, 14, 1));
  EXPECT_FALSE(packs(512, 128, 28, 1));
}

TEST(TiledConvFormTest, PartsOfTheFiltersShareOutAnImageOfOneBlock) {
  const auto shares = [](std::int64_t filters, std::int64_t size) {
    const std::string loops = LoopsOf(512, filters, size, 1);
    const std::size_t parallel = loops.find("parallel"), panel = loops.find("allocate panel");
    EXPECT_NE(panel, std::string::npos) << loops;
    return parallel < panel && loops.find(".ax1.outer", parallel) < panel;
  };
  EXPECT_TRUE(shares(360, 8));
  EXPECT_FALSE(shares(360, 28));  // its blocks are enough
}

// The fetches of the image in the kernel.
std::string PixelFetchesOf(const std::string& loops) {
  std::istringstream lines(loops);
  std::string fetches, line;
  while (std::getline(lines, line)) {
    if (line.find("prefetch(p0[") != std::string::npos) fetches += line + "\n";
  }
  return fetches;
}

// 6 pixels in a row lie in two lines at most, wherever they begin.
TEST(TiledConvFormTest, PixelsOfLaterChannelsAreFetchedAhead) {
  EXPECT_THAT(PixelFetchesOf(LoopsOf(96, 64, 17, 1)),
              ::testing::HasSubstr("+ min((fetch3 * 16), 5)) + 4624)])"));
  EXPECT_EQ(PixelFetchesOf(LoopsOf(96, 64, 4, 1)), "");   // in the nearest cache
  EXPECT_EQ(PixelFetchesOf(LoopsOf(96, 64, 35, 2)), "");  // not adjacent
  EXPECT_EQ(PixelFetchesOf(LoopsOf(15, 64, 64, 1)), "");  // too few steps
}

TEST(TiledConvFormTest, OfAnImageWithStepsThePixelsThatAreReadAreStoredOnce) {
  EXPECT_NE(LoopsOf(16, 128, 14, 2).find("allocate pixels"), std::string::npos);
  EXPECT_EQ(LoopsOf(16, 112, 14, 2).find("allocate pixels"), std::string::npos);
  EXPECT_EQ(LoopsOf(16, 128, 14, 1).find("allocate pixels"), std::string::npos);
}

TEST(TiledConvFormTest, WeightsThatLeaveTheCacheAreFetchedAhead) {
  EXPECT_NE(LoopsOf(1024, 256, 14, 1).find("prefetch(packed["), std::string::npos);
  EXPECT_EQ(LoopsOf(1023, 128, 14, 1).find("prefetch(packed["), std::string::npos);
  EXPECT_EQ(LoopsOf(1024, 256, 1, 1).find("prefetch(packed["), std::string::npos);  // one tile
}

// LLVM takes a prefetch for something that may change memory unless it is told otherwise.
TEST(TiledConvFormTest, SumsBesideAPrefetchStayInRegisters) {
  if (jit::HostTarget().vector_bytes < 64)
    GTEST_SKIP() << "the tile is made for the 32 registers of AVX-512";
  const std::string assembly = ValueOrThrow(jit::Compile(FunctionOf(1024, 256, 14, 1))).Assembly();
  const std::size_t begin = assembly.find("prefetcht0");
  ASSERT_NE(begin, std::string::npos);
  const std::string loop = assembly.substr(begin, assembly.find("\tj", begin) - begin);
  EXPECT_NE(loop.find("vfmadd"), std::string::npos);
  EXPECT_EQ(loop.find("(%rsp)"), std::string::npos) << loop;
}

}  // namespace
}  // namespace tenon::strategies
