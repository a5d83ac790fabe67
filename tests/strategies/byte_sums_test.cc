// Convolutions and matrix products of bytes by oneDNN and generated code around it, against
// generated code alone, to the bit, and the choice between both.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tenon/jit/cpu_features.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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

std::string Product(const char* x, const char* w, const char* call, const char* rest) {
  return StrCat("def @main(%x: Tensor[(", x, "), uint8], %w: Tensor[(", w, "), int8]) { %0 = nn.",
                call, "; ", rest, " }");
}

ir::Module Bound(const Graph& graph) {
  const ir::Module module = Parsed(graph.text);
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 3);
  return passes::BindParams(module, "main", {{"w", inputs.at("w")}});
}

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

class ByteSumsTest : public ::testing::TestWithParam<Graph> {
 protected:
  void SetUp() override {
    if (!jit::CpuFeatures::Host().Has("avx512vnni"))
      GTEST_SKIP() << "the CPU has no AVX512-VNNI, without which oneDNN's sums are not exact";
  }
};

TEST_P(ByteSumsTest, HasTheBitsOfGeneratedCode) {
  const ir::Module module = Bound(GetParam());
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 5);
  const Executable library = ValueOrThrow(Compile(module, With(LibraryChoice::kLibrary)));
  EXPECT_THAT(library.kernels()[0]->implementation(), HasSubstr("onednn"));
  const std::vector<NDArray> expected = Outcome(module, inputs, With(LibraryChoice::kTe));
  ExpectSameBits(ValueOrThrow(library.Run(inputs)), expected);
  ExpectSameBits(ValueOrThrow(library.Run(inputs)), expected);
}

// The second one takes lowered kernels from the cache, whose bodies nobody makes.
TEST_P(ByteSumsTest, IsTheSameOutOfTheCache) {
  std::string folder = (std::filesystem::temp_directory_path() / "byte_sums_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const ir::Module module = Bound(GetParam());
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 6);
  CompileOptions options = With(LibraryChoice::kLibrary);
  options.cache_dir = folder;
  const std::vector<NDArray> cold = Outcome(module, inputs, options);
  ExpectSameBits(Outcome(module, inputs, options), cold);
  ExpectSameBits(cold, Outcome(module, inputs, With(LibraryChoice::kTe)));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ByteSumsTest,
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

std::string Explanation(const ir::Module& module, LibraryChoice library) {
  return ValueOrThrow(Lower(module, With(library))).kernels[0].choice.explanation;
}

// Of the same graph, so that kernels are compared by the constants which they hold.
TEST(ByteSumsChoiceTest, EachHasItsOwnWeights) {
  if (!jit::CpuFeatures::Host().Has("avx512vnni"))
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

TEST(ByteSumsChoiceTest, WhatDoesNotPayOrIsUnknownIsGenerated) {
  const Graph few{"Few", Conv("1, 16, 9, 9", "16, 16, 1, 1", "strides=[1, 1]", "%0")};
  EXPECT_THAT(Explanation(Bound(few), LibraryChoice::kTe), Not(HasSubstr("onednn")));
  const jit::CpuFeatures cpu = jit::CpuFeatures::Host();
  EXPECT_THAT(Explanation(Bound(few), LibraryChoice::kAuto),
              HasSubstr(!cpu.Has("avx512vnni") ? "no, the CPU has no instruction"
                        : !cpu.Has("amx-int8") ? "no, the CPU has no matrix instructions"
                                               : "no, 8 products an element are fewer than 32"));
  const ir::Module unknown = Parsed(
      "def @main(%x: Tensor[(1, 64, 9, 9), uint8], %w: Tensor[(64, 64, 3, 3), int8]) { "
      "nn.conv2d(%x, %w, padding=[1, 1], out_dtype=\"int32\") }");
  EXPECT_THAT(Explanation(unknown, LibraryChoice::kLibrary),
              HasSubstr("no, the weights are not known"));
}

}  // namespace
}  // namespace tenon::strategies
