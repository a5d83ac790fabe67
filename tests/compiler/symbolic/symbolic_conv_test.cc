// Convolutions of constant weights that are compiled once for all sizes of the image: the forms
// that they take, and results that equal those of a compile for the size, at sizes of 1, of primes,
// and around vectors and tiles.
#include <string>
#include <vector>

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;

constexpr const char* kNoMark = "";

struct ConvCase {
  const char* name;
  std::int64_t channels, filters, kernel, stride, padding, groups = 1, dilation = 1;
  // What the text of its tensor expressions has where it takes the form that it is for.
  const char* mark = kNoMark;
  const char *height = "h", *width = "w";  // or numbers

  Shape weights() const { return {filters, channels / groups, kernel, kernel}; }
  // Rows and columns of the image that one result takes at least.
  std::int64_t least() const { return (kernel - 1) * dilation + 1 - 2 * padding; }
};
void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

// Of %0, the convolution with a bias, under an epilogue.
std::string TextOf(const ConvCase& c, const std::string& epilogue) {
  return StrCat("def @main(%x: Tensor[(n, ", c.channels, ", ", c.height, ", ", c.width,
                "), float32], ", "%k: Tensor[(", StrJoin(c.weights(), ", "),
                "), float32], %b: Tensor[(", c.filters,
                ", 1, 1), float32]) { %0 = add(nn.conv2d(%x, %k, strides=[", c.stride, ", ",
                c.stride, "], padding=[", c.padding, ", ", c.padding, "], dilation=[", c.dilation,
                ", ", c.dilation, "], groups=", c.groups, "), %b); ", epilogue, " }");
}

class SymbolicConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(SymbolicConvTest, EqualsACompileForTheSizeUnderEveryEpilogue) {
  const ConvCase& c = GetParam();
  const NDArray weights = Random(c.weights(), 5), bias = Random({c.filters, 1, 1}, 6);
  for (const char* epilogue : {"%0", "multiply(%0, clip(%0, a_min=0f, a_max=6f))", "sigmoid(%0)"}) {
    SCOPED_TRACE(epilogue);
    const ir::Module open = passes::InferType(Parsed(TextOf(c, epilogue)));
    const ir::Module module =
        passes::InferType(passes::BindParams(open, "main", {{"k", weights}, {"b", bias}}));
    const auto exe = Compile(module);
    ASSERT_TRUE(exe.ok()) << exe.status();
    ASSERT_TRUE(exe->is_symbolic());
    ASSERT_EQ(exe->kernels().size(), 1U);
    EXPECT_THAT(exe->kernels()[0]->Text(jit::KernelText::kTensorExpressions), HasSubstr(c.mark));
    int seed = 1;
    for (const auto& [n, h, w] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                          {1, 1, 17},
                                                                          {2, 2, 3},
                                                                          {1, 7, 16},
                                                                          {1, 16, 7},
                                                                          {3, 31, 5},
                                                                          {1, 13, 31},
                                                                          {1, 3, 64},
                                                                          {1, 9, 113}}) {
      if (h < c.least() || w < c.least()) continue;
      if (c.width != std::string("w") && n == 1 && h > 1) continue;  // as one of before
      SCOPED_TRACE(StrCat("n=", n, " h=", h, " w=", w));
      Dim::Values values = {{"n", n}};
      if (c.width == std::string("w")) values["w"] = w;
      if (c.height == std::string("h")) values["h"] = h;
      const ir::Module concrete = compiler::MakeConcrete(module, values).module;
      const runtime::Inputs inputs = RandomInputs(concrete, seed++);
      const auto results = exe->Run(inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      const auto fixed = Compile(concrete, {.library = LibraryChoice::kTe, .winograd = false});
      ASSERT_TRUE(fixed.ok()) << fixed.status();
      ExpectClose(*results, ValueOrThrow(fixed->Run(inputs)), 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SymbolicConvTest,
    ::testing::Values(ConvCase{"Depthwise3", 9, 9, 3, 1, 1, 9, 1, kNoMark},
                      ConvCase{"Depthwise7", 5, 5, 7, 1, 3, 5, 1, "pad_image"},
                      ConvCase{"Depthwise3Stride2", 9, 9, 3, 2, 1, 9, 1, "pad_image"},
                      ConvCase{"Depthwise5", 5, 5, 5, 1, 2, 5, 1, kNoMark},
                      ConvCase{"Depthwise5Stride2", 5, 5, 5, 2, 2, 5, 1, "pad_image"},
                      ConvCase{"Depthwise3Stride3", 9, 9, 3, 3, 1, 9, 1, "steps"},
                      ConvCase{"Depthwise4", 5, 5, 4, 1, 2, 5, 1, kNoMark},
                      ConvCase{"Depthwise3Dilated", 4, 4, 3, 1, 2, 4, 2, kNoMark},
                      ConvCase{"Depthwise3StridedAndDilated", 4, 4, 3, 2, 2, 4, 2, "pad_image"},
                      ConvCase{"DepthwiseNoMargins", 3, 3, 3, 1, 0, 3, 1, kNoMark},
                      ConvCase{"DepthwiseTwoFiltersAChannel", 3, 6, 3, 1, 1, 3, 1, kNoMark},
                      ConvCase{"DepthwiseOfTwelveRows", 9, 9, 3, 1, 1, 9, 1, kNoMark, "12"},
                      ConvCase{"Winograd", 32, 32, 3, 1, 1, 1, 1, "tiles"},
                      ConvCase{"WinogradNoMargins", 48, 64, 3, 1, 0, 1, 1, "tiles"},
                      ConvCase{"WinogradOddFilters", 33, 39, 3, 1, 1, 1, 1, "tiles"},
                      ConvCase{"WinogradOfTwelveRows", 32, 32, 3, 1, 1, 1, 1, "tiles", "12"},
                      ConvCase{"Pointwise", 20, 48, 1, 1, 0},
                      ConvCase{"PointwiseByFilters", 40, 48, 1, 1, 0, 1, 1, "packed"},
                      ConvCase{"PointwiseOddFilters", 7, 23, 1, 1, 0},
                      ConvCase{"PointwiseOfManyChannels", 272, 16, 1, 1, 0, 1, 1, "packed"},
                      ConvCase{"PointwiseOfFewFilters", 24, 4, 1, 1, 0},
                      ConvCase{"PointwiseStride2", 20, 160, 1, 2, 0, 1, 1, "packed"},
                      ConvCase{"ThreeChannels", 3, 16, 3, 2, 1, 1, 1, "packed"},
                      ConvCase{"FiveTaps", 6, 32, 5, 1, 2, 1, 1, "packed"},
                      ConvCase{"Dilated", 6, 32, 3, 1, 2, 1, 2, "packed"},
                      ConvCase{"Groups", 32, 64, 3, 1, 1, 2, 1, "packed"},
                      ConvCase{"FewFilters", 16, 3, 3, 1, 1},
                      // Of any number of images of one size.
                      ConvCase{"ImagesByRows", 20, 8, 1, 1, 0, 1, 1, kNoMark, "8", "16"},
                      ConvCase{"ImagesByTaps", 3, 4, 3, 1, 1, 1, 1, "pad_image", "6", "32"},
                      ConvCase{"ImagesInPanels", 20, 64, 1, 2, 0, 1, 1, "panel", "32", "32"},
                      ConvCase{"ImagesByFilters", 20, 160, 3, 1, 1, 1, 1, "packed", "5", "7"},
                      ConvCase{"TallImages", 9, 9, 3, 1, 1, 9, 1, kNoMark, "12", "32"},
                      ConvCase{"SmallImages", 9, 9, 3, 1, 1, 9, 1, kNoMark, "7", "7"},
                      ConvCase{"CoveredImages", 5, 5, 5, 1, 2, 5, 1, kNoMark, "2", "40"}),
    [](const auto& info) { return info.param.name; });

// Of bytes and of bfloat16, which instructions of some CPUs add up by fours and twos.
struct NarrowCase {
  const char* name;
  const char *image, *weights, *attributes;
};
void PrintTo(const NarrowCase& c, std::ostream* out) { *out << c.name; }

class SymbolicNarrowConvTest : public ::testing::TestWithParam<NarrowCase> {};

TEST_P(SymbolicNarrowConvTest, EqualsTheInterpreterForEverySize) {
  const NarrowCase& c = GetParam();
  const std::pair<const char*, std::pair<const char*, const char*>> types[] = {
      {"uint8", {"int8", "int32"}}, {"bfloat16", {"bfloat16", "float32"}}};
  for (const auto& [image, others] : types) {
    SCOPED_TRACE(image);
    const ir::Module module = passes::InferType(
        Parsed(StrCat("def @main(%x: Tensor[", c.image, ", ", image, "], %k: Tensor[", c.weights,
                      ", ", others.first, "]) { nn.relu(nn.conv2d(%x, %k, ", c.attributes,
                      ", out_dtype=\"", others.second, "\")) }")));
    const auto exe = Compile(module, {.library = LibraryChoice::kTe});
    ASSERT_TRUE(exe.ok()) << exe.status();
    int seed = 1;
    for (const auto& [n, h, w] : std::vector<std::array<std::int64_t, 3>>{
             {1, 3, 3}, {2, 4, 17}, {1, 16, 7}, {3, 5, 33}, {1, 9, 64}}) {
      SCOPED_TRACE(StrCat("n=", n, " h=", h, " w=", w));
      Dim::Values values = {{"n", n}};
      if (std::string(c.image).find('h') != std::string::npos) values.insert({{"h", h}, {"w", w}});
      const ir::Module concrete = compiler::MakeConcrete(module, values).module;
      const runtime::Inputs inputs = RandomInputs(concrete, seed++);
      const auto results = exe->Run(inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      ExpectClose(*results, testing_graphs::Interpreted(concrete, inputs), 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SymbolicNarrowConvTest,
    ::testing::Values(
        NarrowCase{"ThreeByThree", "(n, 20, h, w)", "(40, 20, 3, 3)", "padding=[1, 1]"},
        NarrowCase{"NoMarginsStride2", "(n, 20, h, w)", "(64, 20, 3, 3)", "strides=[2, 2]"},
        NarrowCase{"Pointwise", "(n, 33, h, w)", "(64, 33, 1, 1)", "padding=[0, 0]"},
        NarrowCase{"PointwiseStride2", "(n, 32, h, w)", "(160, 32, 1, 1)", "strides=[2, 2]"},
        NarrowCase{"Groups", "(n, 16, h, w)", "(64, 8, 3, 3)", "padding=[1, 1], groups=2"},
        NarrowCase{"Images", "(n, 20, 13, 9)", "(40, 20, 3, 3)", "padding=[1, 1]"},
        NarrowCase{"Depthwise", "(n, 5, h, w)", "(5, 1, 3, 3)", "padding=[1, 1], groups=5"},
        NarrowCase{"DepthwiseStride2", "(n, 5, h, w)", "(10, 1, 5, 5)",
                   "padding=[2, 2], strides=[2, 2], groups=5"},
        NarrowCase{"DepthwiseImages", "(n, 5, 11, 40)", "(5, 1, 3, 3)",
                   "padding=[1, 1], groups=5"}),
    [](const auto& info) { return info.param.name; });

// A CPU that adds up bytes does so for variable extents, too.
TEST(SymbolicNarrowConvTest, TakesTheFormsOfNumbers) {
  CompileOptions options{.library = LibraryChoice::kTe};
  options.target.vector_bytes = 64;
  if (!options.target.Has("avx512vnni")) GTEST_SKIP() << "this CPU has no VNNI";
  const std::pair<const char*, const char*> forms[] = {
      {"(n, 64, h, w), uint8], %k: Tensor[(64, 64, 3, 3), int8]) { nn.conv2d(%x, %k, ", "words"},
      {"(n, 64, h, w), uint8], %k: Tensor[(64, 1, 3, 3), int8]) { nn.conv2d(%x, %k, groups=64, ",
       "window"}};
  for (const auto& [text, mark] : forms) {
    const auto exe = Compile(
        Parsed(StrCat("def @main(%x: Tensor[", text, "padding=[1, 1], out_dtype=\"int32\") }")),
        options);
    ASSERT_TRUE(exe.ok()) << exe.status();
    EXPECT_THAT(exe->kernels()[0]->Text(jit::KernelText::kTensorExpressions), HasSubstr(mark));
  }
}

}  // namespace
}  // namespace tenon
