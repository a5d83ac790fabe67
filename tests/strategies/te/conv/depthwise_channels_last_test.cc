// Depthwise convolutions with channels last against the interpreter, on odd numbers of everything,
// with and without known weights and wide vectors.
#include <string>

#include <gmock/gmock.h>

#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct ConvCase {
  const char* name;
  std::int64_t batch, height, width, channels;
  std::int64_t taps = 3, stride = 1, dilation = 1, padding = 1;
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

ir::Module ModuleOf(const ConvCase& c, const std::string& type) {
  const std::string epilogue =
      StrCat("%1 = cast(%0, dtype=\"", type, "\"); %2 = add(%1, %b); nn.relu(%2) }");
  return Parsed(
      StrCat("def @main(%x: Tensor[(", c.batch, ", ", c.height, ", ", c.width, ", ", c.channels,
             "), ", type, "], %w: Tensor[(", c.channels, ", 1, ", c.taps, ", ", c.taps, "), ", type,
             "], %b: Tensor[(", c.channels, "), ", type, "]) { %0 = nn.conv2d(%x, %w, strides=[",
             c.stride, ", ", c.stride, "], padding=[", c.padding, ", ", c.padding, "], dilation=[",
             c.dilation, ", ", c.dilation, "], groups=", c.channels,
             ", data_layout=\"NHWC\", kernel_layout=\"OIHW\", out_dtype=\"float32\"); ", epilogue));
}

class DepthwiseChannelsLastTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(DepthwiseChannelsLastTest, EqualsTheInterpreter) {
  for (const std::string type : {"float32", "bfloat16"}) {
    SCOPED_TRACE(type);
    const ir::Module module = ModuleOf(GetParam(), type);
    const runtime::Inputs inputs = RandomInputs(module, 7);
    const std::vector<NDArray> expected = Interpreted(module, inputs);
    const ir::Module bound = passes::BindParams(module, "main", {{"w", inputs.at("w")}});
    runtime::Inputs rest = inputs;
    rest.erase("w");
    // A sum between two numbers of 8 bits becomes one or the other by its order.
    const double tolerance = type == "float32" ? 1e-4 : 0x1p-7;
    for (const char* features : {"", "-avx512f", "-avx"}) {
      const CompileOptions options{.target = jit::HostTarget(features),
                                   .library = LibraryChoice::kTe};
      ExpectClose(Outcome(bound, rest, options), expected, tolerance);
      ExpectClose(Outcome(module, inputs, options), expected, tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DepthwiseChannelsLastTest,
    ::testing::Values(ConvCase{"WholeVectors", 1, 7, 14, 32},
                      ConvCase{"PrimeChannels", 2, 5, 9, 19},
                      ConvCase{"NineVectors", 1, 4, 12, 144}, ConvCase{"HalfAVector", 1, 6, 8, 8},
                      ConvCase{"FewChannels", 1, 6, 8, 7}, ConvCase{"OnePixel", 1, 1, 1, 24},
                      ConvCase{"OneColumn", 1, 9, 1, 17}, ConvCase{"PrimeWidth", 1, 3, 13, 33},
                      ConvCase{"Strides", 1, 9, 11, 40, 3, 2},
                      ConvCase{"StridesOfFiveTaps", 1, 12, 12, 16, 5, 2, 1, 2},
                      ConvCase{"Dilated", 1, 11, 10, 16, 3, 1, 2, 2},
                      ConvCase{"NotPadded", 1, 9, 10, 32, 3, 1, 1, 0},
                      ConvCase{"OneTap", 1, 5, 7, 48, 1, 1, 1, 0},
                      ConvCase{"SevenTaps", 1, 9, 9, 16, 7, 1, 1, 3}),
    ::testing::PrintToStringParamName());

// The image with its padding is then as large as without, and must not be taken for it.
TEST(DepthwiseChannelsLastTest, StridesMayLeaveAsManyPixelsUnreadAsThePaddingHas) {
  struct Unread {
    std::int64_t pixels, stride;
    const char* padding;
  };
  for (const Unread& u : {Unread{6, 3, "[1, 1]"}, Unread{5, 2, "[1, 1, 0, 0]"},
                          Unread{5, 2, "[0, 0, 1, 1]"}, Unread{7, 5, "[1, 1]"}}) {
    SCOPED_TRACE(StrCat(u.pixels, " ", u.stride, " ", u.padding));
    for (const bool is_last : {true, false}) {
      const std::string image = is_last ? StrCat(u.pixels, ", ", u.pixels, ", 16")
                                        : StrCat("16, ", u.pixels, ", ", u.pixels);
      const ir::Module module = Parsed(StrCat(
          "def @main(%x: Tensor[(1, ", image, "), float32], %w: Tensor[(16, 1, 3, 3), float32]) { ",
          "nn.conv2d(%x, %w, strides=[", u.stride, ", ", u.stride, "], padding=", u.padding,
          ", groups=16, data_layout=\"", is_last ? "NHWC" : "NCHW",
          "\", kernel_layout=\"OIHW\") }"));
      const runtime::Inputs inputs = RandomInputs(module, 7);
      const std::vector<NDArray> expected = Interpreted(module, inputs);
      for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto})
        ExpectClose(Outcome(module, inputs, {.library = library}), expected);
    }
  }
}

TEST(DepthwiseChannelsLastTest, LanesAreChannelsAndNothingIsGathered) {
  const ir::Module module = ModuleOf({"", 1, 14, 14, 64}, "float32");
  const ir::Module bound =
      passes::BindParams(module, "main", {{"w", NDArray::Zeros({64, 1, 3, 3}, Float32)}});
  CompileOptions options{.library = LibraryChoice::kTe};
  options.target.vector_bytes = 64;
  options.target.vector_registers = 32;
  const std::string loops = testing_graphs::LoopsOf(bound, options);
  EXPECT_THAT(loops, HasSubstr("allocate group_conv2d_nhwc: float32[1, 1, 1, 1, 7, 2, 16]"));
  EXPECT_THAT(loops, Not(HasSubstr(", 9, 16)]")));
}

}  // namespace
}  // namespace tenon::strategies
