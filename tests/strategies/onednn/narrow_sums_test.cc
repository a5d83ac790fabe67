// Convolutions and matrix products of bytes and of bfloat16 by oneDNN and generated code around it,
// against generated code alone, to the bit where sums are exact, and the choice between both.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tenon/jit/host_target.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using testing_graphs::Outcome;
using testing_graphs::Parsed;

constexpr const char* kRequantize =
    "%1 = cast(%0, dtype=\"float64\"); %2 = multiply(%1, 0.01f64); %3 = nearbyint(%2); "
    "%4 = clip(%3, a_min=0, a_max=255); cast(%4, dtype=\"uint8\")";

struct Graph {
  const char* name;
  std::string text;  // of @main, whose parameter w is known
};
void PrintTo(const Graph& graph, std::ostream* out) { *out << graph.name; }

std::string Conv(const char* image, const char* weight, const char* attributes, const char* rest,
                 const char* more_inputs = "") {
  return StrCat("def @main(%x: Tensor[(", image, "), uint8], %w: Tensor[(", weight, "), int8]",
                more_inputs, ") { %0 = nn.conv2d(%x, %w, out_dtype=\"int32\", ", attributes, "); ",
                rest, " }");
}

// Sums of bfloat16, rounded and read by two operators that round, too.
constexpr const char* kBiasAndRelu =
    "%1 = cast(%0, dtype=\"bfloat16\"); %2 = add(%1, %b); %3 = add(%2, %r); nn.relu(%3)";

std::string BFloatConv(const char* image, const char* weight, const char* attributes,
                       const char* rest, const char* more_inputs = "") {
  return StrCat("def @main(%x: Tensor[(", image, "), bfloat16], %w: Tensor[(", weight,
                "), bfloat16]", more_inputs, ") { %0 = nn.conv2d(%x, %w, out_dtype=\"float32\", ",
                attributes, "); ", rest, " }");
}

std::string BFloatProduct(const char* x, const char* w, const char* call, const char* rest) {
  return StrCat("def @main(%x: Tensor[(", x, "), bfloat16], %w: Tensor[(", w,
                "), bfloat16]) { %0 = nn.", call, "; ", rest, " }");
}

std::string Product(const char* x, const char* w, const char* call, const char* rest) {
  return StrCat("def @main(%x: Tensor[(", x, "), uint8], %w: Tensor[(", w, "), int8]) { %0 = nn.",
                call, "; ", rest, " }");
}

// Whole numbers, of which float32 holds every sum here, in whatever order.
void RoundToWhole(NDArray& array) {
  for (std::int64_t i = 0; array.dtype() == BFloat16 && i < array.size(); ++i) {
    const auto whole = static_cast<float>(std::round(4 * testing_graphs::ValueAt(array, i)));
    static_cast<std::uint16_t*>(array.raw())[i] =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(whole) >> 16);
  }
}

runtime::Inputs WholeInputs(const ir::Module& module, int seed) {
  runtime::Inputs inputs = testing_graphs::RandomInputs(module, seed);
  for (auto& [name, array] : inputs) RoundToWhole(array);
  return inputs;
}

ir::Module Bound(const Graph& graph) {
  const ir::Module module = Parsed(graph.text);
  const runtime::Inputs inputs = WholeInputs(module, 3);
  return passes::BindParams(module, "main", {{"w", inputs.at("w")}});
}

bool IsOfBFloats(const Graph& graph) { return graph.text.find("bfloat16") != std::string::npos; }

CompileOptions With(LibraryChoice library) {
  CompileOptions options;
  options.library = library;
  return options;
}

void ExpectSameBits(const std::vector<NDArray>& got, const std::vector<NDArray>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), expected[i].shape());
    EXPECT_EQ(std::memcmp(got[i].raw(), expected[i].raw(), got[i].bytes()), 0) << "result " << i;
  }
}

class NarrowSumsTest : public ::testing::TestWithParam<Graph> {
 protected:
  void SetUp() override {
    const Target& host = jit::HostTarget();
    if (!host.Has("avx512vnni"))
      GTEST_SKIP() << "the CPU has no AVX512-VNNI, without which oneDNN's sums are not exact";
    if (IsOfBFloats(GetParam()) && !host.Has("avx512bf16"))
      GTEST_SKIP() << "the CPU has no AVX512-BF16, without which oneDNN has no code";
  }
};

TEST_P(NarrowSumsTest, HasTheBitsOfGeneratedCode) {
  const ir::Module module = Bound(GetParam());
  const runtime::Inputs inputs = WholeInputs(module, 5);
  const Executable library = ValueOrThrow(Compile(module, With(LibraryChoice::kLibrary)));
  EXPECT_THAT(library.kernels()[0]->implementation(), HasSubstr("onednn"));
  const std::vector<NDArray> expected = Outcome(module, inputs, With(LibraryChoice::kTe));
  ExpectSameBits(ValueOrThrow(library.Run(inputs)), expected);
  ExpectSameBits(ValueOrThrow(library.Run(inputs)), expected);
}

// The second one takes lowered kernels from the cache, whose bodies nobody makes.
TEST_P(NarrowSumsTest, IsTheSameOutOfTheCache) {
  std::string folder = (std::filesystem::temp_directory_path() / "narrow_sums_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const ir::Module module = Bound(GetParam());
  const runtime::Inputs inputs = WholeInputs(module, 6);
  CompileOptions options = With(LibraryChoice::kLibrary);
  options.cache_dir = folder;
  const std::vector<NDArray> cold = Outcome(module, inputs, options);
  ExpectSameBits(Outcome(module, inputs, options), cold);
  ExpectSameBits(cold, Outcome(module, inputs, With(LibraryChoice::kTe)));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, NarrowSumsTest,
    ::testing::Values(
        Graph{"Alone", Conv("1, 32, 9, 11", "48, 32, 3, 3", "padding=[1, 1]", "%0")},
        Graph{"Requantized", Conv("2, 17, 9, 11", "33, 17, 3, 3", "padding=[1, 1]", kRequantize)},
        Graph{"OneTap", Conv("1, 40, 7, 13", "16, 40, 1, 1", "strides=[1, 1]", kRequantize)},
        Graph{"Strides",
              Conv("1, 32, 14, 15", "32, 32, 3, 3", "padding=[1, 1], strides=[2, 2]", kRequantize)},
        Graph{"UnequalPadding",
              Conv("1, 32, 10, 9", "32, 32, 3, 3", "padding=[0, 1, 2, 0]", kRequantize)},
        Graph{"Dilated", Conv("1, 16, 12, 12", "16, 16, 3, 3", "padding=[2, 2], dilation=[2, 2]",
                              kRequantize)},
        Graph{"Groups",
              Conv("1, 64, 9, 9", "64, 32, 3, 3", "padding=[1, 1], groups=2", kRequantize)},
        Graph{"FirstLayer",
              Conv("1, 3, 31, 33", "32, 3, 7, 7", "padding=[3, 3], strides=[2, 2]", kRequantize)},
        // Sums that float32 does not hold.
        Graph{"LongSums", Conv("1, 1024, 5, 5", "16, 1024, 3, 3", "padding=[1, 1]", "%0")},
        Graph{"ChannelsLast", Conv("2, 9, 11, 17", "33, 17, 3, 3",
                                   "padding=[1, 1], data_layout=\"NHWC\"", kRequantize)},
        Graph{"ChannelsLastAlone",
              Conv("1, 9, 11, 32", "16, 32, 3, 3", "padding=[1, 1], data_layout=\"NHWC\"", "%0")},
        Graph{
            "MoreInputs",
            Conv("1, 32, 9, 11", "48, 32, 3, 3", "padding=[1, 1]", "%1 = add(%0, %b); add(%1, %r)",
                 ", %b: Tensor[(48, 1, 1), int32], %r: Tensor[(1, 48, 9, 11), int32]")},
        Graph{"Dense",
              Product("17, 65", "33, 65", "dense(%x, %w, out_dtype=\"int32\")", kRequantize)},
        Graph{"DenseAlone",
              Product("16, 64", "48, 64", "dense(%x, %w, out_dtype=\"int32\")", "%0")},
        Graph{"DenseOneRow",
              Product("1, 100", "10, 100", "dense(%x, %w, out_dtype=\"int32\")", kRequantize)},
        Graph{"DenseLongSums",
              Product("16, 9000", "16, 9000", "dense(%x, %w, out_dtype=\"int32\")", "%0")},
        Graph{"Matmul",
              Product("3, 5, 40", "40, 24", "matmul(%x, %w, out_dtype=\"int32\")", kRequantize)},
        Graph{"BatchMatmul",
              Product("3, 5, 40", "3, 24, 40",
                      "batch_matmul(%x, %w, transpose_b=True, out_dtype=\"int32\")", kRequantize)},
        Graph{"SharedRight",
              Product("3, 5, 40", "1, 24, 40",
                      "batch_matmul(%x, %w, transpose_b=True, out_dtype=\"int32\")", kRequantize)}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    BFloats, NarrowSumsTest,
    ::testing::Values(
        Graph{"Alone", BFloatConv("1, 32, 9, 11", "48, 32, 3, 3", "padding=[1, 1]", "%0")},
        Graph{"Rounded", BFloatConv("2, 17, 9, 11", "33, 17, 3, 3", "padding=[1, 1]",
                                    "cast(%0, dtype=\"bfloat16\")")},
        Graph{"BiasAndRelu",
              BFloatConv("1, 32, 9, 11", "48, 32, 3, 3", "padding=[1, 1]", kBiasAndRelu,
                         ", %b: Tensor[(48, 1, 1), bfloat16], %r: Tensor[(1, 48, 9, 11), "
                         "bfloat16]")},
        // The sums are read before they are rounded, too.
        Graph{"ReadTwice", BFloatConv("1, 32, 7, 7", "16, 32, 1, 1", "strides=[1, 1]",
                                      "%1 = cast(%0, dtype=\"bfloat16\"); "
                                      "%2 = cast(%1, dtype=\"float32\"); subtract(%0, %2)")},
        Graph{"Strides", BFloatConv("1, 32, 14, 15", "32, 32, 3, 3",
                                    "padding=[1, 1], strides=[2, 2]", "nn.relu(%0)")},
        Graph{"UnequalPadding",
              BFloatConv("1, 32, 10, 9", "32, 32, 3, 3", "padding=[0, 1, 2, 0]", "%0")},
        Graph{"Dilated",
              BFloatConv("1, 16, 12, 12", "16, 16, 3, 3", "padding=[2, 2], dilation=[2, 2]", "%0")},
        Graph{"Groups",
              BFloatConv("1, 64, 9, 9", "64, 32, 3, 3", "padding=[1, 1], groups=2", "%0")},
        Graph{"FirstLayer", BFloatConv("1, 3, 31, 33", "32, 3, 7, 7",
                                       "padding=[3, 3], strides=[2, 2]", "nn.relu(%0)")},
        Graph{"ChannelsLast",
              BFloatConv("2, 9, 11, 17", "33, 17, 3, 3", "padding=[1, 1], data_layout=\"NHWC\"",
                         kBiasAndRelu,
                         ", %b: Tensor[(33), bfloat16], %r: Tensor[(2, 9, 11, 33), bfloat16]")},
        Graph{"ChannelsLastRounded",
              BFloatConv("1, 9, 11, 32", "16, 32, 3, 3", "padding=[1, 1], data_layout=\"NHWC\"",
                         "cast(%0, dtype=\"bfloat16\")")},
        Graph{"Dense", BFloatProduct("17, 65", "33, 65", "dense(%x, %w, out_dtype=\"float32\")",
                                     "%1 = cast(%0, dtype=\"bfloat16\"); nn.relu(%1)")},
        Graph{"DenseAlone",
              BFloatProduct("16, 64", "48, 64", "dense(%x, %w, out_dtype=\"float32\")", "%0")},
        Graph{"DenseOneRow",
              BFloatProduct("1, 101", "10, 101", "dense(%x, %w, out_dtype=\"float32\")", "%0")},
        Graph{"Matmul", BFloatProduct("3, 5, 40", "40, 24", "matmul(%x, %w, out_dtype=\"float32\")",
                                      "exp(%0)")},
        Graph{
            "BatchMatmul",
            BFloatProduct("3, 5, 40", "3, 24, 40",
                          "batch_matmul(%x, %w, transpose_b=True, out_dtype=\"float32\")", "%0")}),
    ::testing::PrintToStringParamName());

bool HasInstructionsForBFloats() { return jit::HostTarget().Has("avx512bf16"); }

// Attention multiplies what is not known before.
TEST(NarrowSumsChoiceTest, ARightSideOfBFloatsMayBeUnknown) {
  if (!HasInstructionsForBFloats())
    GTEST_SKIP() << "the CPU has no AVX512-BF16, without which oneDNN has no code";
  for (const char* const call :
       {"batch_matmul(%x, %w, transpose_b=True, ", "batch_matmul(%x, %w, transpose_a=True, "}) {
    const bool b = std::string(call).find("transpose_b") != std::string::npos;
    const ir::Module module =
        Parsed(BFloatProduct(b ? "3, 17, 33" : "3, 33, 17", b ? "3, 19, 33" : "3, 33, 19",
                             StrCat(call, "out_dtype=\"float32\")").c_str(),
                             "%1 = cast(%0, dtype=\"bfloat16\"); nn.relu(%1)"));
    const runtime::Inputs inputs = WholeInputs(module, 3);
    const Executable library = ValueOrThrow(Compile(module, With(LibraryChoice::kLibrary)));
    EXPECT_THAT(library.kernels()[0]->implementation(), HasSubstr("onednn"));
    ExpectSameBits(ValueOrThrow(library.Run(inputs)),
                   Outcome(module, inputs, With(LibraryChoice::kTe)));
  }
}

// Sums of numbers that are not whole differ by their order alone.
TEST(NarrowSumsChoiceTest, SumsOfBFloatsAreAsPreciseAsTheInterpreters) {
  for (const auto& text :
       {BFloatConv("1, 32, 9, 11", "48, 32, 3, 3", "padding=[1, 1]", "%0"),
        BFloatProduct("17, 200", "33, 200", "dense(%x, %w, out_dtype=\"float32\")", "%0")}) {
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 4);
    const ir::Module bound = passes::BindParams(module, "main", {{"w", inputs.at("w")}});
    const std::vector<NDArray> expected = testing_graphs::Interpreted(module, inputs);
    for (const LibraryChoice library : {LibraryChoice::kAuto, LibraryChoice::kLibrary})
      testing_graphs::ExpectClose(Outcome(bound, {{"x", inputs.at("x")}}, With(library)), expected,
                                  1e-4);
  }
}

TEST(NarrowSumsChoiceTest, SumsOfBFloatsHaveTheSameBitsOnEveryNumberOfThreads) {
  for (const auto& text :
       {BFloatConv("1, 96, 14, 14", "64, 96, 3, 3", "padding=[1, 1]", "%0"),
        BFloatConv("1, 512, 7, 7", "128, 512, 1, 1", "strides=[1, 1]", "%0"),
        BFloatProduct("8, 4000", "16, 4000", "dense(%x, %w, out_dtype=\"float32\")", "%0"),
        BFloatProduct("100, 300", "70, 300", "dense(%x, %w, out_dtype=\"float32\")", "%0")}) {
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 4);
    const ir::Module bound = passes::BindParams(module, "main", {{"w", inputs.at("w")}});
    const auto on = [&](int threads) {
      CompileOptions options = With(LibraryChoice::kAuto);
      options.threads = threads;
      return Outcome(bound, {{"x", inputs.at("x")}}, options);
    };
    const std::vector<NDArray> alone = on(1);
    for (const int threads : {2, 3, 8}) ExpectSameBits(on(threads), alone);
  }
}

TEST(NarrowSumsChoiceTest, AnInfinityAndNaNStayInTheirWindows) {
  const ir::Module module =
      Parsed(BFloatConv("1, 16, 9, 9", "16, 16, 3, 3", "padding=[1, 1]", "%0"));
  runtime::Inputs inputs = WholeInputs(module, 4);
  auto* image = static_cast<std::uint16_t*>(inputs.at("x").raw());
  image[0] = 0x7F80;          // infinity in the first corner
  image[9 * 9 - 1] = 0x7FC0;  // NaN in the last one
  const ir::Module bound = passes::BindParams(module, "main", {{"w", inputs.at("w")}});
  CompileOptions chosen = With(LibraryChoice::kAuto), generated = With(LibraryChoice::kTe);
  chosen.winograd = generated.winograd = false;
  testing_graphs::ExpectClose(Outcome(bound, {{"x", inputs.at("x")}}, chosen),
                              Outcome(bound, {{"x", inputs.at("x")}}, generated));
}

std::string Explanation(const ir::Module& module, LibraryChoice library) {
  return ValueOrThrow(Lower(module, With(library))).kernels[0].choice.Explanation();
}

// Of the same graph, so that kernels are compared by the constants which they hold.
TEST(NarrowSumsChoiceTest, EachHasItsOwnWeights) {
  if (!jit::HostTarget().Has("avx512vnni"))
    GTEST_SKIP() << "the CPU has no AVX512-VNNI, without which oneDNN's sums are not exact";
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 32, 9, 9), uint8], %v: Tensor[(32, 32, 3, 3), int8], "
      "%w: Tensor[(32, 32, 3, 3), int8]) { "
      "%0 = nn.conv2d(%x, %v, padding=[1, 1], out_dtype=\"int32\"); "
      "%1 = nn.conv2d(%x, %w, padding=[1, 1], out_dtype=\"int32\"); (%0, %1) }");
  const runtime::Inputs all = testing_graphs::RandomInputs(module, 3);
  const ir::Module bound =
      passes::BindParams(module, "main", {{"v", all.at("v")}, {"w", all.at("w")}});
  const runtime::Inputs inputs = {{"x", all.at("x")}};
  ExpectSameBits(Outcome(bound, inputs, With(LibraryChoice::kLibrary)),
                 Outcome(bound, inputs, With(LibraryChoice::kTe)));
}

TEST(NarrowSumsChoiceTest, WhatDoesNotPayOrIsUnknownIsGenerated) {
  const Graph few{"Few", Conv("1, 16, 9, 9", "16, 16, 1, 1", "strides=[1, 1]", "%0")};
  EXPECT_THAT(Explanation(Bound(few), LibraryChoice::kTe),
              HasSubstr("onednn_narrow: no, generated code is asked for"));
  const Target cpu = jit::HostTarget();
  EXPECT_THAT(Explanation(Bound(few), LibraryChoice::kAuto),
              HasSubstr(!cpu.Has("avx512vnni") ? "no, the CPU has no instruction"
                        : !cpu.Has("amx-int8") ? "no, the CPU has no matrix instructions"
                                               : "no, 8 products an element are fewer than 32"));
  const ir::Module unknown = Parsed(
      "def @main(%x: Tensor[(1, 64, 9, 9), uint8], %w: Tensor[(64, 64, 3, 3), int8]) { "
      "nn.conv2d(%x, %w, padding=[1, 1], out_dtype=\"int32\") }");
  EXPECT_THAT(Explanation(unknown, LibraryChoice::kLibrary),
              HasSubstr(cpu.Has("avx512vnni") ? "no, the weights are not known"
                                              : "no, the CPU has no instruction"));
}

TEST(NarrowSumsChoiceTest, BFloatsGoToMatrixInstructionsBeforeWinogradsAlgorithm) {
  const Graph conv{"Conv", BFloatConv("1, 32, 9, 9", "32, 32, 3, 3", "padding=[1, 1]", "%0")};
  const Graph few{"Few", BFloatConv("1, 8, 9, 9", "8, 8, 1, 1", "strides=[1, 1]", "%0")};
  const Target& cpu = jit::HostTarget();
  const std::string explanation = Explanation(Bound(conv), LibraryChoice::kAuto);
  EXPECT_THAT(explanation,
              HasSubstr(!HasInstructionsForBFloats() ? "no, the CPU has no instruction for"
                        : !cpu.Has("amx-bf16")       ? "no, the CPU has no matrix instructions"
                                                     : "onednn_narrow: chosen"));
  if (cpu.Has("amx-bf16")) {
    EXPECT_THAT(Explanation(Bound(few), LibraryChoice::kAuto),
                HasSubstr("no, 4 products an element are fewer than 8"));
  }
}

TEST(NarrowSumsChoiceTest, AKernelForEachChannelIsGenerated) {
  const Graph conv{"Conv", BFloatConv("1, 32, 9, 9", "32, 1, 5, 5",
                                      "padding=[2, 2], groups=32, channels=32", "%0")};
  if (jit::HostTarget().Has("amx-bf16")) {
    EXPECT_THAT(Explanation(Bound(conv), LibraryChoice::kAuto),
                HasSubstr("no, there is a kernel for each channel"));
  }
}

TEST(NarrowSumsChoiceTest, FloatsAreNotItsMatter) {
  EXPECT_THAT(Explanation(Parsed("def @main(%x: Tensor[(1, 8, 9, 9), float32], %w: Tensor[(8, 8, "
                                 "1, 1), float32]) { nn.conv2d(%x, %w) }"),
                          LibraryChoice::kAuto),
              HasSubstr("onednn_narrow: no, it sums uint8 by int8 in int32 and "
                        "bfloat16 in float32"));
}

}  // namespace
}  // namespace tenon::strategies
