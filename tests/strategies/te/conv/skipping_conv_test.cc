// Convolutions whose tiles leave out taps that meet only padding, against the interpreter; and how
// many pairs of a tile and a tap are left.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tenon/jit/host_target.h"
#include "tenon/passes/bind_params.h"
#include "tenon/strategies/te/conv/tile_taps.h"
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

struct Shapes {
  const char* name;
  const char* x;
  const char* w;
  const char* call;  // the operator, without its closing bracket
};
void PrintTo(const Shapes& shapes, std::ostream* out) { *out << shapes.name; }

class SkippingConvTest : public ::testing::TestWithParam<Shapes> {};

// Every target cuts the result into other tiles.
TEST_P(SkippingConvTest, EqualsTheInterpreter) {
  const auto& [name, x, w, call] = GetParam();
  const ir::Module module = Parsed(StrCat("def @main(%x: Tensor[", x, ", float32], %w: Tensor[", w,
                                          ", float32]) { nn.relu(", call, ")) }"));
  runtime::Inputs inputs = RandomInputs(module, 7);
  const std::vector<NDArray> expected = Interpreted(module, inputs);
  const ir::Module bound = passes::BindParams(module, "main", {{"w", inputs.at("w")}});
  inputs.erase("w");
  Target two_cores = testing_targets::Avx2();
  two_cores.cores = 2;
  for (const Target& target :
       {jit::HostTarget(), two_cores, jit::HostTarget("-avx512f,-avx2,-avx,-fma")}) {
    const CompileOptions options{.target = target, .library = LibraryChoice::kTe};
    const Lowered lowered = ValueOrThrow(Lower(passes::InferType(bound), options));
    EXPECT_THAT(lowered.kernels.at(0).choice.implementation, ::testing::EndsWith(".skipping"));
    ExpectClose(Outcome(bound, inputs, options), expected, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SkippingConvTest,
    ::testing::Values(
        Shapes{"HalfOfThePixelsPerTap", "(1, 256, 12, 12)", "(32, 256, 3, 3)",
               "nn.conv2d(%x, %w, dilation=[6, 6], padding=[6, 6, 6, 6]"},
        Shapes{"PrimeExtents", "(2, 53, 11, 13)", "(37, 53, 3, 3)",
               "nn.conv2d(%x, %w, dilation=[5, 7], padding=[5, 7, 5, 7]"},
        Shapes{"FewerPixelsThanAVector", "(1, 64, 3, 3)", "(64, 64, 5, 5)",
               "nn.conv2d(%x, %w, padding=[2, 2, 2, 2]"},
        Shapes{"ThreePixels", "(1, 64, 1, 3)", "(64, 64, 3, 3)",
               "nn.conv2d(%x, %w, padding=[1, 1, 1, 1]"},
        Shapes{"WithSteps", "(1, 48, 9, 10)", "(32, 48, 5, 5)",
               "nn.conv2d(%x, %w, strides=[2, 3], dilation=[2, 2], padding=[4, 4, 4, 4]"},
        Shapes{"PaddedOnOneSide", "(1, 48, 8, 8)", "(32, 48, 3, 3)",
               "nn.conv2d(%x, %w, dilation=[3, 3], padding=[6, 0, 0, 6]"},
        Shapes{"MorePaddingThanTapsReach", "(1, 48, 4, 4)", "(32, 48, 5, 5)",
               "nn.conv2d(%x, %w, padding=[5, 5, 4, 6]"},
        Shapes{"Groups", "(1, 128, 7, 7)", "(64, 64, 3, 3)",
               "nn.conv2d(%x, %w, groups=2, dilation=[2, 2], padding=[2, 2, 2, 2]"},
        Shapes{"ChannelsLast", "(1, 8, 8, 64)", "(3, 3, 64, 32)",
               "nn.conv2d(%x, %w, dilation=[4, 4], padding=[4, 4, 4, 4], data_layout=\"NHWC\", "
               "kernel_layout=\"HWIO\""},
        Shapes{"OneAxis", "(2, 64, 17)", "(32, 64, 7)",
               "nn.conv1d(%x, %w, dilation=[2], padding=[6, 6]"},
        Shapes{"ThreeAxes", "(1, 48, 3, 5, 6)", "(32, 48, 3, 3, 3)",
               "nn.conv3d(%x, %w, padding=[1, 1, 1, 1, 1, 1]"},
        Shapes{"ThreeAxesOfUnevenRows", "(1, 48, 2, 7, 5)", "(24, 48, 3, 3, 3)",
               "nn.conv3d(%x, %w, dilation=[1, 2, 2], padding=[1, 2, 2, 1, 2, 2]"}),
    [](const auto& info) { return info.param.name; });

// Counts by trying every pixel of a tile.
double CountedPart(const ConvSum& conv, std::int64_t pixels, const Shape& spatial) {
  const std::int64_t all = spatial[0] * spatial[1];
  double needed = 0, pairs = 0;
  for (std::int64_t first = 0; first < all; first += pixels) {
    for (std::int64_t tap = 0; tap < conv.taps[0] * conv.taps[1]; ++tap) {
      const std::int64_t taps[] = {tap / conv.taps[1], tap % conv.taps[1]};
      bool meets = false;
      for (std::int64_t p = first; p < std::min(first + pixels, all); ++p) {
        const std::int64_t at[] = {p / spatial[1], p % spatial[1]};
        bool inside = true;
        for (std::size_t d = 0; d < 2; ++d) {
          const std::int64_t read = at[d] * conv.strides[d] + taps[d] * conv.dilation[d];
          inside = inside && conv.inside[d].begin <= read && read < conv.inside[d].end;
        }
        meets = meets || inside;
      }
      needed += meets ? 1 : 0;
      ++pairs;
    }
  }
  return needed / pairs;
}

TEST(PartOfTapsTest, CountsTheTapsThatTilesNeed) {
  const Target target = testing_targets::Avx2();
  const auto conv_of = [&](std::int64_t size, std::int64_t dilation) {
    const Size extent(size);
    return ConvSum{.data = {0, 1, 2, 3},
                   .out = {0, 1, 2, 3},
                   .strides = {1, 1},
                   .dilation = {dilation, dilation},
                   .groups = 1,
                   .group_inputs = 64,
                   .group_outputs = 64,
                   .taps = {3, 3},
                   .image = {},
                   .weight = nullptr,
                   .weight_is_constant = true,
                   .inside = {{dilation, dilation + size}, {dilation, dilation + size}},
                   .dtype = Float32,
                   .shape = {extent, extent, extent, extent},
                   .target = target};
  };
  for (const std::int64_t size : {5, 6, 12, 14}) {
    for (const std::int64_t dilation : {1, 2, 4, 6}) {
      const ConvSum conv = conv_of(size, dilation);
      SCOPED_TRACE(StrCat(size, " pixels, dilation ", dilation));
      EXPECT_NEAR(LeastPartOfTaps(conv), CountedPart(conv, 1, {size, size}), 1e-9);
      // Tiles within a row: no pixel between the first and the last one decides.
      for (std::int64_t pixels = 1; pixels <= size; ++pixels) {
        if (size % pixels == 0)
          EXPECT_NEAR(PartOfTaps(conv, pixels), CountedPart(conv, pixels, {size, size}), 1e-9)
              << pixels;
        else
          EXPECT_GE(PartOfTaps(conv, pixels), CountedPart(conv, pixels, {size, size}) - 1e-9)
              << pixels;
      }
    }
  }
  EXPECT_NEAR(PartOfTaps(conv_of(12, 6), 6), 4.0 / 9, 1e-9);
  ConvSum all = conv_of(12, 6);
  all.inside.clear();
  EXPECT_EQ(PartOfTaps(all, 6), 1);
}

}  // namespace
}  // namespace tenon::strategies
