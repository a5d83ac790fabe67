// The tables of forms of convolutions and products: which row a shape takes, and why it does not
// take the others. Every row is taken by some shape here, and computes what the interpreter does.
#include <set>

#include "tenon/loop/print.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/precision/widen_half_floats.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;
using testing_targets::Avx2;
using testing_targets::Avx512;

struct Call {
  std::string x, w;   // shapes and types
  std::string rest;   // the operator's name and attributes
  bool known = true;  // the weights
};

std::string CallText(const Call& call) {
  const std::size_t space = call.rest.find(' ');
  return StrCat("def @main(%x: Tensor[", call.x, "], %w: Tensor[", call.w, "]) { ",
                call.rest.substr(0, space), "(%x, %w",
                space == std::string::npos ? "" : StrCat(", ", call.rest.substr(space + 1)), ") }");
}

// Nothing is compiled, so that the target may be another machine than the host.
Choice ChoiceOf(const Call& call, const Target& target, bool winograd = true) {
  RegisterStrategies(ops::OpRegistry::Global());
  const ir::Module module = passes::WidenHalfFloats(passes::InferType(Parsed(CallText(call))));
  const NDArray weights = call.known ? RandomInputs(module, 5).at("w") : NDArray();
  const Group group{.function = &module.Main(), .name = "call", .constants = {NDArray(), weights}};
  return Choose(
      group, {.library = LibraryChoice::kTe, .winograd = winograd, .lowering = {.target = target}});
}

// Why the row is refused, or "".
std::string RefusalOf(const std::string& row, const Call& call, const Target& target = Avx512()) {
  for (const Candidate& candidate : ChoiceOf(call, target).candidates) {
    if (candidate.name == row) return candidate.refusal.value_or("");
  }
  return "there is no such row";
}

struct Taken {
  const char* row;
  Call call;
  bool dots = false;  // whether the target has them
};

const std::vector<Taken>& Shapes() {
  static const auto& shapes = *new std::vector<Taken>{
      {"te.conv2d.words",
       {"(1, 16, 8, 8), uint8", "(16, 16, 3, 3), int8", "nn.conv2d out_dtype=\"int32\""},
       true},
      {"te.conv2d.depthwise_dot",
       {"(1, 8, 12, 12), uint8", "(8, 1, 3, 3), int8",
        "nn.conv2d groups=8, padding=[1, 1, 1, 1], out_dtype=\"int32\""},
       true},
      {"te.conv2d.depthwise_covering",
       {"(1, 8, 3, 96), float32", "(8, 1, 5, 5), float32",
        "nn.conv2d groups=8, padding=[2, 2, 2, 2]"}},
      {"te.conv2d.depthwise_small_image",
       {"(1, 8, 7, 7), float32", "(8, 1, 3, 3), float32",
        "nn.conv2d groups=8, padding=[1, 1, 1, 1]"}},
      {"te.conv2d.depthwise_tall",
       {"(1, 8, 28, 28), float32", "(8, 1, 3, 3), float32",
        "nn.conv2d groups=8, padding=[1, 1, 1, 1]"}},
      {"te.conv2d.depthwise_flat",
       {"(1, 8, 28, 28), float32", "(8, 1, 7, 7), float32",
        "nn.conv2d groups=8, padding=[3, 3, 3, 3]"}},
      {"te.conv2d.depthwise_channels_last",
       {"(1, 14, 14, 32), float32", "(32, 1, 3, 3), float32",
        "nn.conv2d groups=32, padding=[1, 1, 1, 1], data_layout=\"NHWC\""}},
      {"te.conv2d.winograd",
       {"(1, 64, 28, 28), float32", "(64, 64, 3, 3), float32", "nn.conv2d padding=[1, 1, 1, 1]"}},
      {"te.conv2d.row_tiled", {"(1, 24, 16, 16), float32", "(48, 24, 1, 1), float32", "nn.conv2d"}},
      {"te.conv2d.skipping",
       {"(1, 48, 9, 9), float32", "(32, 48, 3, 3), float32",
        "nn.conv2d dilation=[4, 4], padding=[4, 4, 4, 4]"}},
      {"te.conv2d.tiled",
       {"(1, 3, 15, 15), float32", "(32, 3, 7, 7), float32", "nn.conv2d strides=[2, 2]"}},
      {"te.conv2d.NCHWc",
       {"(1, 2, 9, 9, 16), float32", "(3, 2, 3, 3, 16, 16), float32",
        "nn.conv2d data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\""}},
      {"te.conv2d.plain", {"(1, 16, 5, 5), float64", "(16, 16, 3, 3), float64", "nn.conv2d"}},
      {"te.conv1d.skipping",
       {"(1, 64, 13), float32", "(32, 64, 5), float32", "nn.conv1d dilation=[3], padding=[6, 6]"}},
      {"te.conv1d.tiled", {"(1, 8, 40), float32", "(32, 8, 3), float32", "nn.conv1d"}},
      {"te.conv1d.plain", {"(1, 8, 40), float32", "(3, 8, 3), float32", "nn.conv1d"}},
      {"te.conv2d_transpose.tiled",
       {"(1, 16, 5, 7), float32", "(16, 16, 4, 4), float32",
        "nn.conv2d_transpose strides=[2, 2], padding=[1, 1, 1, 1]"}},
      {"te.conv2d_transpose.plain",
       {"(1, 16, 5, 7), float32", "(16, 1, 4, 4), float32",
        "nn.conv2d_transpose strides=[2, 2], padding=[1, 1, 1, 1]"}},
      {"te.dense.dot_tiled",
       {"(20, 64), uint8", "(32, 64), int8", "nn.dense out_dtype=\"int32\""},
       true},
      {"te.dense.tiled", {"(20, 64), float32", "(32, 64), float32", "nn.dense"}},
      {"te.dense.plain", {"(1, 64), float32", "(32, 64), float32", "nn.dense"}},
      {"te.matmul.tiled", {"(20, 64), float32", "(64, 32), float32", "nn.matmul"}},
      {"te.batch_matmul.tiled",
       {"(2, 20, 64), float32", "(2, 64, 32), float32", "nn.batch_matmul", false}},
  };
  return shapes;
}

class FormTest : public ::testing::TestWithParam<Taken> {};
void PrintTo(const Taken& taken, std::ostream* out) { *out << taken.row; }
INSTANTIATE_TEST_SUITE_P(Rows, FormTest, ::testing::ValuesIn(Shapes()), [](const auto& info) {
  std::string name;
  for (const char c : std::string(info.param.row)) name += c == '.' ? '_' : c;
  return name;
});

TEST_P(FormTest, IsTakenByItsShapes) {
  const Taken& taken = GetParam();
  const Target target = taken.dots ? Avx512({"avx512vnni", "avx512bf16"}) : Avx512();
  const Choice choice = ChoiceOf(taken.call, target);
  EXPECT_EQ(choice.implementation, taken.row) << choice.Explanation();
  EXPECT_THAT(choice.Explanation(), HasSubstr(StrCat("  ", taken.row)));
}

TEST_P(FormTest, ComputesWhatTheInterpreterDoes) {
  const ir::Module module = Parsed(CallText(GetParam().call));
  runtime::Inputs inputs = RandomInputs(module, 5);
  const std::vector<NDArray> expected = Interpreted(module, inputs);
  const ir::Module bound = passes::BindParams(module, "main", {{"w", inputs.at("w")}});
  inputs.erase("w");
  ExpectClose(Outcome(bound, inputs, {.library = LibraryChoice::kTe}), expected, 1e-3);
}

TEST(FormsTest, EveryRowOfConv2dIsTakenBySomeShape) {
  RegisterStrategies(ops::OpRegistry::Global());
  std::set<std::string> taken;
  for (const Taken& shape : Shapes()) taken.insert(shape.row);
  // Of variables alone: compiler/symbolic/symbolic_conv_test.cc.
  taken.insert("te.conv2d.depthwise_padded");
  const auto* compute = ops::OpRegistry::Global().Definition("nn.conv2d").Column<TeCompute>();
  ASSERT_NE(compute, nullptr);
  EXPECT_EQ(compute->forms.size(), 14U);
  for (const TeForm& form : compute->forms)
    EXPECT_TRUE(taken.contains(StrCat("te.", form.name))) << form.name;
}

struct Refused {
  const char* row;
  Call call;
  const char* reason;
};

TEST(FormsTest, ARowSaysWhyItDoesNotSuitAShape) {
  const std::string depthwise = "nn.conv2d groups=8, padding=[1, 1, 1, 1]";
  const Refused rows[] = {
      {"te.conv2d.words",
       {"(1, 16, 8, 8), float32", "(16, 16, 3, 3), float32", "nn.conv2d"},
       "the target adds up no products of these types by one instruction"},
      {"te.conv2d.depthwise_dot",
       {"(1, 8, 9, 9), float32", "(8, 1, 3, 3), float32", depthwise},
       "the target adds up no products of these types by one instruction"},
      {"te.conv2d.depthwise_covering",
       {"(1, 16, 8, 8), float32", "(16, 16, 3, 3), float32", "nn.conv2d"},
       "channels do not have kernels of their own"},
      {"te.conv2d.depthwise_covering",
       {"(1, 8, 9, 9), float32", "(8, 1, 3, 3), float32", depthwise},
       "some windows do not cover all rows of the image"},
      {"te.conv2d.depthwise_small_image",
       {"(1, 8, 20, 9), float32", "(8, 1, 3, 3), float32", depthwise},
       "20 rows of the result are more than 16, which registers hold"},
      {"te.conv2d.depthwise_small_image",
       {"(1, 8, 9, 20), float32", "(8, 1, 3, 3), float32", depthwise},
       "rows of 20 pixels do not fit into a vector of 16"},
      {"te.conv2d.depthwise_tall",
       {"(1, 8, 21, 18), float32", "(8, 1, 3, 3), float32", depthwise},
       "rows of 18 pixels leave more than a fifth of vectors of 16 empty"},
      {"te.conv2d.depthwise_tall",
       {"(1, 8, 28, 28), float32", "(8, 1, 7, 7), float32",
        "nn.conv2d groups=8, padding=[3, 3, 3, 3]"},
       "49 taps are more than 32, which are written out"},
      {"te.conv2d.depthwise_tall",
       {"(1, 8, 23, 32), float32", "(8, 1, 3, 3), float32", depthwise},
       "23 rows are not divided by any number from 3 to 7"},
      {"te.conv2d.depthwise_padded",
       {"(1, 8, 20, 9), float32", "(8, 1, 3, 3), float32", depthwise},
       "rows and columns are numbers"},
      {"te.conv2d.depthwise_flat",
       {"(1, 8, 20, 32), float32", "(8, 1, 3, 3), float32", depthwise},
       "rows of 32 pixels fill vectors of 16"},
      {"te.conv2d.depthwise_flat",
       {"(1, 8, 8, 9), float32", "(8, 1, 3, 63), float32",
        "nn.conv2d groups=8, padding=[1, 31, 1, 31]"},
       "rows of 9 pixels would be summed up as rows of 40, most of which are dropped"},
      {"te.conv2d.depthwise_channels_last",
       {"(1, 8, 9, 9), float32", "(8, 1, 3, 3), float32", depthwise},
       "channels do not come last"},
      {"te.conv2d.depthwise_channels_last",
       {"(1, 9, 9, 4), float32", "(4, 1, 3, 3), float32",
        "nn.conv2d groups=4, data_layout=\"NHWC\""},
       "4 channels fill less than half of the 16 lanes"},
      {"te.conv2d.winograd",
       {"(1, 64, 28, 28), float32", "(64, 64, 5, 5), float32", "nn.conv2d"},
       "it is for kernels of 3 x 3 with strides and dilation 1 in one group"},
      {"te.conv2d.row_tiled",
       {"(1, 64, 9, 9), float32", "(64, 64, 1, 1), float32", "nn.conv2d"},
       "rows of 81 pixels end within vectors of 16"},
      {"te.conv2d.row_tiled",
       {"(1, 64, 18, 18), float32", "(64, 64, 3, 3), float32", "nn.conv2d"},
       "64 filters fill vectors, which serve every pixel and tap"},
      {"te.conv2d.row_tiled",
       {"(1, 64, 16, 16), float32", "(64, 64, 1, 1), float32", "nn.conv2d"},
       "64 filters fill vectors, and sums of 64 channels pay for transposing them"},
      {"te.conv2d.skipping",
       {"(1, 64, 9, 9), float32", "(64, 64, 3, 3), float32", "nn.conv2d"},
       "there is no padding"},
      {"te.conv2d.skipping",
       {"(1, 64, 9, 9), float32", "(64, 64, 1, 1), float32", "nn.conv2d padding=[4, 4, 4, 4]"},
       "there is one tap"},
      {"te.conv2d.skipping",
       {"(1, 64, 28, 28), float32", "(64, 64, 3, 3), float32", "nn.conv2d padding=[1, 1, 1, 1]"},
       "nearly all results need all taps"},
      {"te.conv2d.skipping",
       {"(1, 32, 9, 9), float32", "(32, 32, 3, 3), float32",
        "nn.conv2d dilation=[4, 4], padding=[4, 4, 4, 4]"},
       "a group's 32 channels are fewer than 48, which pay for asking which taps a tile needs"},
      {"te.conv2d.tiled",
       {"(1, 16, 9, 9), float32", "(4, 16, 3, 3), float32", "nn.conv2d"},
       "4 filters fill less than half of the 16 lanes"},
      {"te.conv2d.tiled",
       {"(1, 16, 5, 5), float64", "(16, 16, 3, 3), float64", "nn.conv2d"},
       "sums of float64 are not 32 bits wide"},
      {"te.conv2d.tiled",
       {"(1, 16, 7, 7), float32", "(32, 16, 3, 3), float32", "nn.conv2d", false},
       "the weights are not constant, and 25 pixels do not pay for packing them at each run"},
      {"te.conv2d_transpose.tiled",
       {"(1, 16, 8, 8), float32", "(16, 1, 4, 4), float32",
        "nn.conv2d_transpose strides=[2, 2], padding=[1, 1, 1, 1]"},
       "4 filters fill less than half of the 16 lanes"},
      {"te.conv2d_transpose.tiled",
       {"(0, 16, 8, 8), float32", "(16, 16, 4, 4), float32", "nn.conv2d_transpose"},
       "there is nothing to sum"},
      {"te.dense.tiled",
       {"(1, 64), float32", "(32, 64), float32", "nn.dense"},
       "1 rows are fewer than 4, which pay for packing the right operand"},
      {"te.dense.tiled",
       {"(20, 64), float32", "(8, 64), float32", "nn.dense"},
       "8 columns do not fill a vector of 16"},
  };
  for (const Refused& refused : rows) {
    SCOPED_TRACE(CallText(refused.call));
    EXPECT_EQ(RefusalOf(refused.row, refused.call), refused.reason) << refused.row;
  }
}

// Eight filters are half a vector, and a tile of such vectors serves them.
TEST(FormsTest, GroupsOfHalfAVectorAreTiled) {
  const Call call{"(1, 208, 14, 14), float32", "(208, 8, 3, 3), float32",
                  "nn.conv2d groups=26, padding=[1, 1, 1, 1]"};
  EXPECT_EQ(ChoiceOf(call, Avx512()).implementation, "te.conv2d.tiled");
  EXPECT_EQ(RefusalOf("te.conv2d.tiled", {"(1, 48, 14, 14), float32", "(48, 6, 3, 3), float32",
                                          "nn.conv2d groups=8, padding=[1, 1, 1, 1]"}),
            "the 6 filters of a group do not fill vectors of 16");
}

// An image that the registers of AVX-512 hold, and not those of AVX2.
TEST(FormsTest, TheRowDependsOnTheTarget) {
  const Call call{"(1, 8, 12, 12), float32", "(8, 1, 3, 3), float32",
                  "nn.conv2d groups=8, padding=[1, 1, 1, 1]"};
  EXPECT_EQ(ChoiceOf(call, Avx512()).implementation, "te.conv2d.depthwise_small_image");
  EXPECT_EQ(ChoiceOf(call, Avx2()).implementation, "te.conv2d.depthwise_flat");
}

TEST(FormsTest, ChannelsAreCopiedWithTheirPaddingWhereWindowsStepOrImagesAreLarge) {
  const auto form_of = [](const char* image, const char* strides, const Target& target) {
    return ChoiceOf({StrCat(image, ", float32"), "(8, 1, 3, 3), float32",
                     StrCat("nn.conv2d groups=8, padding=[1, 1, 1, 1], strides=", strides)},
                    target)
        .implementation;
  };
  EXPECT_EQ(form_of("(1, 8, 56, 56)", "[2, 2]", Avx2()), "te.conv2d.depthwise_padded");
  EXPECT_EQ(form_of("(1, 8, 420, 320)", "[1, 1]", Avx2()), "te.conv2d.depthwise_padded");
  EXPECT_EQ(form_of("(1, 8, 56, 56)", "[1, 1]", Avx2()), "te.conv2d.depthwise_tall");
  EXPECT_EQ(form_of("(1, 8, 420, 320)", "[1, 1]", Avx512()), "te.conv2d.depthwise_tall");
}

// Channels 4096 bytes apart have all lines of a block in one set of the cache.
TEST(FormsTest, PixelsArePackedWhereTheirChannelsShareOneSetOfTheCache) {
  const auto packs = [](const char* image, const char* weight, const Target& target) {
    const Call call{StrCat(image, ", float32"), StrCat(weight, ", float32"), "nn.conv2d"};
    const Choice choice = ChoiceOf(call, target);
    EXPECT_EQ(choice.implementation, "te.conv2d.row_tiled");
    return loop::Print(std::get<loop::Function>(choice.built.kernel)).find("allocate panel") !=
           std::string::npos;
  };
  EXPECT_TRUE(packs("(1, 16, 32, 32)", "(32, 16, 1, 1)", Avx2()));
  EXPECT_FALSE(packs("(1, 16, 32, 40)", "(32, 16, 1, 1)", Avx2()));
  EXPECT_FALSE(packs("(1, 8, 32, 32)", "(32, 8, 1, 1)", Avx2()));    // all fit
  EXPECT_FALSE(packs("(1, 16, 32, 32)", "(48, 16, 1, 1)", Avx2()));  // six filters wait
  EXPECT_FALSE(packs("(1, 16, 32, 32)", "(32, 16, 1, 1)", Avx512()));
}

// So results leave in as many runs as a tile has filters, and not in as many as there are.
TEST(FormsTest, ImagesOfFewChannelsAreReadAgainForEachTileOfFilters) {
  const auto loops_of = [](const char* image, const char* weight) {
    const Call call{StrCat(image, ", float32"), StrCat(weight, ", float32"), "nn.conv2d"};
    const Choice choice = ChoiceOf(call, Avx512());
    EXPECT_EQ(choice.implementation, "te.conv2d.row_tiled");
    return loop::Print(std::get<loop::Function>(choice.built.kernel));
  };
  EXPECT_THAT(loops_of("(1, 24, 56, 56)", "(144, 24, 1, 1)"),
              HasSubstr("parallel ax0.ax1.outer.fused.ax2.ax3.fused.outer.fused in"));
  EXPECT_THAT(loops_of("(1, 96, 56, 56)", "(24, 96, 1, 1)"),
              HasSubstr("parallel ax0.ax2.ax3.fused.outer.fused.ax1.outer.fused in"));
}

// Tiles of few lines fetch into the nearest cache, those of more into the next one.
TEST(FormsTest, TilesOfADepthwiseRowFetchALaterOneInShares) {
  const auto loops_of = [](const char* image, const char* strides) {
    const Call call{StrCat(image, ", float32"), "(96, 1, 3, 3), float32",
                    StrCat("nn.conv2d groups=96, padding=[1, 1, 1, 1], strides=", strides)};
    return loop::Print(std::get<loop::Function>(ChoiceOf(call, Avx512()).built.kernel));
  };
  const std::string near = loops_of("(1, 96, 112, 112)", "[1, 1]");
  const std::size_t columns = near.find("for ax3 in [0, 7)"), fetch = near.find("prefetch(");
  EXPECT_LT(columns, fetch);
  EXPECT_NE(fetch, std::string::npos);
  EXPECT_NE(loops_of("(1, 96, 112, 112)", "[2, 2]").find("prefetch_later("), std::string::npos);
}

TEST(FormsTest, FormsThatRoundDifferentlyAreTakenWhereThatIsAllowed) {
  const Call call{"(1, 64, 28, 28), float32", "(64, 64, 3, 3), float32", "nn.conv2d"};
  const Choice plain = ChoiceOf(call, Avx512(), /*winograd=*/false);
  EXPECT_EQ(plain.implementation, "te.conv2d.tiled");
  EXPECT_THAT(plain.Explanation(),
              HasSubstr("te.conv2d.winograd: no, it rounds differently from the plain "
                        "sum, which is asked for"));
}

TEST(FormsTest, EstimatesOfConvolutionsGrowWithTheirWork) {
  const auto cycles = [](int channels) {
    const std::string n = StrCat(channels);
    const Choice choice = ChoiceOf({StrCat("(1, ", n, ", 30, 30), float32"),
                                    StrCat("(64, ", n, ", 3, 3), float32"), "nn.conv2d"},
                                   Avx512());
    std::vector<double> found;
    for (const Candidate& row : choice.candidates) {
      if (row.cycles) found.push_back(*row.cycles);
    }
    return found;
  };
  const std::vector<double> few = cycles(64), many = cycles(128);
  ASSERT_EQ(few.size(), 2U);  // Winograd's algorithm and tiles
  ASSERT_EQ(many.size(), 2U);
  EXPECT_LT(few[0], few[1]);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(many[i], 1.5 * few[i]);
}

}  // namespace
}  // namespace tenon::strategies
