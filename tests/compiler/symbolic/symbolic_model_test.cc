// One compile takes all extents: results are those of the interpreter for each, on extents of 1,
// around vectors and tiles, and of primes.
#include "tenon/compiler/symbolic/symbolic_model.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/ir/visit.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct SymbolicCase {
  const char* name;
  const char* text;
  std::vector<Dim::Values> values;
  // Whether all kernels take all extents.
  bool is_whole = true;
};

std::vector<Dim::Values> Along(const char* symbol, const std::vector<std::int64_t>& extents) {
  std::vector<Dim::Values> values;
  for (const std::int64_t extent : extents) values.push_back({{symbol, extent}});
  return values;
}
std::vector<Dim::Values> Both(const char* a, const char* b,
                              const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  std::vector<Dim::Values> values;
  for (const auto& [x, y] : pairs) values.push_back({{a, x}, {b, y}});
  return values;
}

const std::vector<std::int64_t> kExtents = {1, 2, 7, 15, 16, 17, 33, 64, 101};
const std::vector<std::pair<std::int64_t, std::int64_t>> kPairs = {
    {1, 1}, {1, 17}, {2, 3}, {7, 16}, {16, 7}, {33, 5}, {13, 31}};

void PrintTo(const SymbolicCase& c, std::ostream* out) { *out << c.name; }

class SymbolicModelTest : public ::testing::TestWithParam<SymbolicCase> {};

TEST_P(SymbolicModelTest, OneCompileTakesAllExtents) {
  const SymbolicCase& c = GetParam();
  const ir::Module module = passes::InferType(Parsed(c.text));
  const auto exe = Compile(module);
  ASSERT_TRUE(exe.ok()) << exe.status();
  ASSERT_TRUE(exe->is_symbolic());
  int seed = 1;
  for (const Dim::Values& values : c.values) {
    std::string at;
    for (const auto& [name, value] : values) at += name + "=" + std::to_string(value) + " ";
    SCOPED_TRACE(at);
    const ir::Module concrete = compiler::MakeConcrete(module, values).module;
    const runtime::Inputs inputs = RandomInputs(concrete, seed++);
    const auto results = exe->Run(inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectClose(*results, Interpreted(concrete, inputs));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, SymbolicModelTest,
    ::testing::Values(
        SymbolicCase{"Elementwise",
                     "def @main(%x: Tensor[(n, 5), float32], %b: Tensor[(5), float32]) {"
                     "  nn.relu(add(%x, %b)) }",
                     Along("n", kExtents)},
        SymbolicCase{"LastAxis",
                     "def @main(%x: Tensor[(3, n), float32], %y: Tensor[(3, n), float32]) {"
                     "  multiply(exp(%x), %y) }",
                     Along("n", kExtents)},
        SymbolicCase{"BroadcastOfVariables",
                     "def @main(%x: Tensor[(n, 7), float32], %y: Tensor[(m, 7), float32]) {"
                     "  nn.relu(multiply(add(%x, %y), %x)) }",
                     Both("n", "m", {{5, 5}, {1, 5}, {5, 1}, {1, 1}, {33, 33}})},
        SymbolicCase{"BroadcastToANumber",
                     "def @main(%x: Tensor[(3, n), float32], %y: Tensor[(17), float32]) {"
                     "  (where(less(%x, %y), %x, %y), broadcast_to(%x, shape=[2, 3, 17])) }",
                     Along("n", {17, 1})},
        SymbolicCase{"Padded",
                     "def @main(%x: Tensor[(n, m), float32]) {"
                     "  (nn.pad(%x, 2f, pad_width=[[0, 0], [3, 1]]),"
                     "   nn.pad(%x, 0f, pad_width=[[0, 2], [1, 1]], pad_mode=\"edge\"),"
                     "   nn.pad(%x, 0f, pad_width=[[0, 0], [3, 2]], pad_mode=\"reflect\")) }",
                     Both("n", "m", {{1, 4}, {3, 5}, {2, 17}, {5, 64}})},
        SymbolicCase{"BatchesOfANumber",
                     "def @main(%x: Tensor[(n, m, 7), float32], %y: Tensor[(3, 4, 7), float32]) {"
                     "  nn.batch_matmul(%x, %y, transpose_b=True) }",
                     Both("n", "m", {{3, 5}, {1, 5}, {3, 1}, {1, 17}})},
        SymbolicCase{"EnlargedAgain",
                     "def @main(%x: Tensor[(1, 4, h, w), float32],"
                     "          %k: Tensor[(4, 4, 3, 3), float32]) {"
                     "  %0 = nn.conv2d(%x, %k, padding=[1, 1], strides=[2, 2]);"
                     "  %1 = nn.conv2d(%0, %k, padding=[1, 1], strides=[2, 2]);"
                     "  %2 = nn.conv2d(repeat(repeat(%1, repeats=2, axis=2), repeats=2, axis=3),"
                     "                 %k, padding=[1, 1]);"
                     "  nn.conv2d(nn.relu(add(%2, %0)), %k, padding=[1, 1]) }",
                     Both("h", "w", {{4, 8}, {36, 20}, {64, 4}, {3, 7}, {35, 32}})},
        SymbolicCase{"BlocksOfSpace",
                     "def @main(%x: Tensor[(n, 8, h, 6), float32]) {"
                     "  %0 = exp(nn.depth_to_space(%x, block_size=2));"
                     "  (%0, nn.depth_to_space(%x, block_size=2, mode=\"CRD\"),"
                     "   nn.space_to_depth(%0, block_size=2)) }",
                     Both("n", "h", kPairs)},
        SymbolicCase{"BlocksInTheBatch",
                     "def @main(%x: Tensor[(n, h, 6, 3), float32]) {"
                     "  %0 = exp(nn.space_to_batch_nd(%x, block_shape=[1, 2], paddings=[[2, 1], "
                     "[0, 2]], pad_value=3f));"
                     "  nn.batch_to_space_nd(%0, block_shape=[1, 2], crops=[[1, 1], [0, 1]]) }",
                     Both("n", "h", kPairs)},
        SymbolicCase{"Softmax", "def @main(%x: Tensor[(n, m), float32]) { nn.softmax(%x) }",
                     Both("n", "m", kPairs)},
        SymbolicCase{"LayerNorm",
                     "def @main(%x: Tensor[(n, 24), float32], %g: Tensor[(24), float32],"
                     "          %b: Tensor[(24), float32]) { nn.layer_norm(%x, %g, %b) }",
                     Along("n", kExtents)},
        SymbolicCase{"Mean",
                     "def @main(%x: Tensor[(n, m), float32]) {"
                     "  (mean(%x, axis=[0]), mean(%x, axis=[1], keepdims=True), sum(%x)) }",
                     Both("n", "m", kPairs)},
        SymbolicCase{"Dense",
                     "def @main(%x: Tensor[(n, 20), float32], %w: Tensor[(37, 20), float32]) {"
                     "  nn.relu(nn.dense(%x, %w)) }",
                     Along("n", kExtents)},
        SymbolicCase{"BatchMatmul",
                     "def @main(%q: Tensor[(3, n, 8), float32], %k: Tensor[(3, n, 8), float32],"
                     "          %v: Tensor[(3, n, 8), float32]) {"
                     "  nn.batch_matmul(nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True)), %v,"
                     "                  transpose_b=False) }",
                     Along("n", kExtents)},
        SymbolicCase{"Conv2D",
                     "def @main(%x: Tensor[(n, 3, h, h), float32],"
                     "          %w: Tensor[(20, 3, 3, 3), float32]) {"
                     "  nn.relu(nn.conv2d(%x, %w, padding=[1, 1], strides=[2, 2])) }",
                     Both("n", "h", {{1, 1}, {1, 17}, {2, 3}, {3, 16}, {1, 31}})},
        SymbolicCase{"Depthwise",
                     "def @main(%x: Tensor[(1, 9, h, w), float32],"
                     "          %w: Tensor[(9, 1, 3, 3), float32]) {"
                     "  nn.conv2d(%x, %w, padding=[1, 1], groups=9) }",
                     Both("h", "w", kPairs)},
        SymbolicCase{"ConvTranspose",
                     "def @main(%x: Tensor[(n, 5, h, w), float32],"
                     "          %k: Tensor[(5, 9, 2, 2), float32],"
                     "          %l: Tensor[(9, 4, 3, 3), float32]) {"
                     "  %0 = nn.relu(nn.conv2d_transpose(%x, %k, strides=[2, 2]));"
                     "  nn.conv2d_transpose(%0, %l, strides=[2, 1], padding=[1, 1],"
                     "                      output_padding=[1, 0]) }",
                     {{{"n", 1}, {"h", 1}, {"w", 1}},
                      {{"n", 2}, {"h", 3}, {"w", 17}},
                      {{"n", 1}, {"h", 16}, {"w", 5}},
                      {{"n", 1}, {"h", 2}, {"w", 33}}}},
        SymbolicCase{"Pool",
                     "def @main(%x: Tensor[(1, 5, h, w), float32]) {"
                     "  (nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], padding=[1, 1]),"
                     "   nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 1], padding=[1, 1],"
                     "                 ceil_mode=True),"
                     "   nn.global_avg_pool2d(%x)) }",
                     Both("h", "w", kPairs)},
        SymbolicCase{"Reshape",
                     "def @main(%x: Tensor[(n, m, 6), float32]) {"
                     "  %0 = reshape(%x, newshape=[-3, 2, 3]);"
                     "  %1 = transpose(%0, axes=[1, 0, 2]);"
                     "  (exp(%1), reshape(%x, newshape=[0, -1])) }",
                     Both("n", "m", kPairs)},
        SymbolicCase{"ConcatAndSplit",
                     "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) {"
                     "  %0 = concatenate((%x, %y), axis=0);"
                     "  %1 = split(%0, indices_or_sections=[1], axis=0);"
                     "  %2 = split(%0, indices_or_sections=2, axis=1);"
                     "  (exp(%0), %1.0, exp(%1.1), %2.1) }",
                     Both("n", "m", kPairs)},
        SymbolicCase{"Slice",
                     "def @main(%x: Tensor[(n, m), float32]) {"
                     "  (strided_slice(%x, begin=[0, 1], end=[2147483647, 5], strides=[2, 1]),"
                     "   strided_slice(%x, begin=[-3], end=[-1], strides=[1], axes=[1]),"
                     "   strided_slice(%x, begin=[-1], end=[-2147483647], strides=[-2], axes=[0]))"
                     "}",
                     Both("n", "m", kPairs)},
        SymbolicCase{"Embedding",
                     "def @main(%i: Tensor[(b, n), int64], %t: Tensor[(50, 12), float32]) {"
                     "  take(%t, %i, axis=0) }",
                     Both("b", "n", kPairs)},
        SymbolicCase{"Mlp",
                     "def @main(%x: Tensor[(n, 16), float32], %a: Tensor[(32, 16), float32],"
                     "          %b: Tensor[(32), float32], %c: Tensor[(10, 32), float32]) {"
                     "  %0 = nn.relu(nn.bias_add(nn.dense(%x, %a), %b));"
                     "  nn.softmax(nn.dense(%0, %c)) }",
                     Along("n", kExtents)}),
    [](const auto& info) { return info.param.name; });

const char* const kSum =
    "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(n, m), float32]) {"
    "  add(sum(%x, axis=[1], keepdims=True), %y) }";

NDArray Ones(const Shape& shape) { return testing_graphs::Random(shape, 1); }

std::string MessageOf(const runtime::Inputs& inputs) {
  const auto exe = Compile(Parsed(kSum));
  if (!exe.ok()) return std::string(exe.status().message());
  const auto results = exe->Run(inputs);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument) << results.status();
  return std::string(results.status().message());
}

TEST(SymbolicErrorTest, InputsThatTheTypesDoNotAllowAreNamed) {
  EXPECT_THAT(MessageOf({{"x", Ones({4, 4})}, {"y", Ones({5, 2})}}),
              HasSubstr("input 'y' has 5 elements on axis 0; it must have 4, as 'x' has for n"));
  EXPECT_THAT(MessageOf({{"x", Ones({4, 3})}, {"y", Ones({4, 2})}}),
              HasSubstr("input 'x' has 3 elements on axis 1; it must have 4"));
  EXPECT_THAT(MessageOf({{"x", Ones({4})}, {"y", Ones({4, 2})}}),
              AllOf(HasSubstr("input 'x' is float32 (4,)"), HasSubstr("(n, 4)")));
  EXPECT_THAT(MessageOf({{"x", Ones({4, 4})}}), HasSubstr("input 'y' is missing"));
  EXPECT_THAT(MessageOf({{"x", Ones({0, 4})}, {"y", Ones({0, 2})}}),
              HasSubstr("n must be at least 1"));
  EXPECT_THAT(MessageOf({{"x", Ones({4, 4})}, {"y", Ones({4, 2})}, {"z", Ones({1})}}),
              HasSubstr("there is no input 'z'; the inputs are: x, y"));
}

TEST(SymbolicErrorTest, WhatAnOperatorRefusesOfTheValuesIsRefusedInItsWords) {
  const auto exe = Compile(
      Parsed("def @main(%x: Tensor[(1, 1, h, 8), float32], %w: Tensor[(1, 1, 5, 5), float32]) {"
             "  nn.conv2d(%x, %w) }"));
  ASSERT_TRUE(exe.ok()) << exe.status();
  const runtime::Inputs inputs = {{"x", Ones({1, 1, 4, 8})}, {"w", Ones({1, 1, 5, 5})}};
  EXPECT_THAT(std::string(exe->Run(inputs).status().message()), HasSubstr("kernel spans 5"));
}

// The extents of slices of slices stay short.
TEST(SymbolicModelTest, LongChainsOfSlicesTakeAllExtents) {
  const auto expect_right = [](const char* bounds) {
    std::string text = "def @main(%x: Tensor[(n), float32]) { %0 = exp(%x);";
    for (int i = 0; i < 12; ++i)
      StrAppend(&text, " %", i + 1, " = exp(strided_slice(%", i, ", ", bounds, "));");
    const ir::Module module = passes::InferType(Parsed(text + " %12 }"));
    const Executable exe = ValueOrThrow(Compile(module, {.check_bounds = true}));
    for (const std::int64_t n : {1, 2, 11, 12, 13, 23, 24, 25, 60}) {
      SCOPED_TRACE(StrCat(bounds, ", n = ", n));
      const runtime::Inputs inputs = {{"x", testing_graphs::Random({n}, 1)}};
      ExpectClose(ValueOrThrow(exe.Run(inputs)),
                  Interpreted(compiler::MakeConcrete(module, {{"n", n}}).module, inputs));
    }
  };
  for (const char* bounds :
       {"begin=[1], end=[2147483647]", "begin=[0], end=[-1]", "begin=[1], end=[-1]",
        "begin=[-40], end=[2147483647]", "begin=[-1], end=[-2147483648], strides=[-1]"})
    expect_right(bounds);
}

// What passes make of the module may take more than the module does.
TEST(SymbolicErrorTest, WhatTheModuleNeedsIsNeededAfterPassesToo) {
  const auto message = [](const char* text, const runtime::Inputs& inputs) {
    const auto exe = Compile(Parsed(text));
    EXPECT_TRUE(exe.ok()) << exe.status();
    return exe.ok() ? std::string(exe->Run(inputs).status().message()) : "";
  };
  EXPECT_THAT(message("def @main(%x: Tensor[(2, n, 4), float32], %g: Tensor[(3), float32]) {"
                      "  nn.bias_add(%x, %g, axis=1) }",
                      {{"x", Ones({2, 1, 4})}, {"g", Ones({3})}}),
              HasSubstr("the model needs 3 == n, for nn.bias_add; here n = 1"));
  EXPECT_THAT(message("def @f(%p: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] {"
                      "  nn.softmax(%p) }\n"
                      "def @main(%x: Tensor[(n, 4), float32]) { @f(%x) }",
                      {{"x", Ones({8, 4})}}),
              HasSubstr("input 'x' has 8 elements on axis 0; it must have 4"));
  // Functions that are called need what they need inside, too.
  EXPECT_THAT(message("def @f(%p: Tensor[(2, k), int8], %g: Tensor[(3), float32]) {"
                      "  qnn.dequantize(%p, %g, 0, axis=1) }\n"
                      "def @main(%x: Tensor[(2, n), int8], %g: Tensor[(3), float32]) {"
                      "  @f(%x, %g) }",
                      {{"x", NDArray::Zeros({2, 1}, Int8)}, {"g", Ones({3})}}),
              HasSubstr("the model needs 3 == n, for qnn.dequantize; here n = 1"));
}

// No loops take the first of no rows, so that there is no model for such an extent alone.
TEST(SymbolicModelTest, WhatAnOperatorRefusesOfNoElementsIsInItsWords) {
  const auto exe = Compile(Parsed(
      "def @main(%x: Tensor[(#n, 3), float32], %i: Tensor[(#m), int32]) { take(%x, %i, axis=0) }"));
  ASSERT_TRUE(exe.ok()) << exe.status();
  const auto message = [&](std::int64_t rows, std::int64_t taken) {
    return std::string(
        exe->Run({{"x", NDArray::Zeros({rows, 3}, Float32)}, {"i", NDArray::Zeros({taken}, Int32)}})
            .status()
            .message());
  };
  EXPECT_EQ(message(0, 0), "");
  EXPECT_THAT(message(0, 2),
              HasSubstr("axis 0 of the data has no elements, so that none can be taken"));
  EXPECT_EQ(message(2, 0), "");
}

// Once a product with five numbers is known to have five columns, so has the weight.
TEST(SymbolicModelTest, VariablesThatInferenceReplacesAreNotAskedFor) {
  const runtime::Inputs inputs = {
      {"x", Ones({1, 8, 5, 5})}, {"g", Ones({5})}, {"w", Ones({5, 5, 3, 3})}};
  for (const char* scale :
       {"%0 = multiply(%x, %g);", "%1 = nn.batch_norm(%x, %g, %g, %g, %g, axis=3); %0 = %1.0;"}) {
    const auto with = [&](const char* n, const char* m) {
      return Parsed(StrCat("def @main(%x: Tensor[(1, 8, ", n, ", ", n,
                           "), float32], %g: Tensor[(5), float32], %w: Tensor[(", n, ", ", n, ", ",
                           m, ", ", m, "), float32]) {", scale,
                           "nn.conv2d(%0, %w, channels=5, kernel_size=[3, 3], "
                           "data_layout=\"NHWC\") }"));
    };
    const ir::Module module = with("n", "m");
    const std::vector<NDArray> expected = Interpreted(with("5", "3"), inputs);
    for (const int level : {0, 3}) {
      const CompileOptions options = {.opt_level = level};
      const auto exe = Compile(module, options);
      ASSERT_TRUE(exe.ok()) << exe.status();
      const auto results = exe->Run(inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      ExpectClose(*results, expected);
      // Of a module that keeps n channels, the convolution is made for each shape.
      if (std::string_view(scale).starts_with("%0")) {
        EXPECT_TRUE(Link(ValueOrThrow(Lower(module, options)))->Run(inputs).ok());
      }
      EXPECT_FALSE(
          exe->Run({{"x", Ones({1, 8, 5, 5})}, {"g", Ones({5})}, {"w", Ones({5, 5, 4, 4})}}).ok());
    }
  }
}

// Passes write both operators as sums and products, which would broadcast one channel to eight.
TEST(SymbolicErrorTest, VectorsOfChannelsAreNotBroadcast) {
  for (const char* call :
       {"nn.bias_add(%y, %b, axis=0)", "nn.batch_norm(%y, %b, %b, %b, %b, axis=0).0"}) {
    const ir::Module module = Parsed(StrCat(
        "def @f(%y: Tensor[(m), float32], %b: Tensor[(8), float32]) -> Tensor[(m), float32] {",
        call,
        "}\ndef @main(%x: Tensor[(n), float32], %b: Tensor[(8), float32]) { "
        "(@f(%x, %b), concatenate((@f(%x, %b), %x))) }"));
    for (const int level : {0, 3}) {
      const auto exe = Compile(module, {.opt_level = level});
      ASSERT_TRUE(exe.ok()) << exe.status();
      const auto run = [&](std::int64_t n) {
        return exe->Run({{"x", Ones({n})}, {"b", Ones({8})}});
      };
      EXPECT_TRUE(run(8).ok()) << call << run(8).status();
      for (const std::int64_t n : {1, 7}) EXPECT_FALSE(run(n).ok()) << call << n << level;
    }
  }
}

TEST(SymbolicErrorTest, ExtentsThatBroadcastTogetherMustFitAfterPassesToo) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(5), float32], %y: Tensor[(n), float32]) { add(%x, zeros_like(%y)) }");
  const auto exe = Compile(module);
  ASSERT_TRUE(exe.ok()) << exe.status();
  for (const std::int64_t n : {1, 5}) {
    const auto sum = exe->Run({{"x", Ones({5})}, {"y", Ones({n})}});
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ((*sum)[0].shape(), Shape{5});
  }
  EXPECT_THAT(std::string(exe->Run({{"x", Ones({5})}, {"y", Ones({7})}}).status().message()),
              HasSubstr("add: the shapes do not broadcast: extent 5 against 7"));
}

TEST(SymbolicErrorTest, AVariableNamedAsAnExpressionIsNotThatExpression) {
  const auto exe = Compile(
      Parsed("def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(\"floordiv(n, 2)\", 4), float32])"
             "{ add(strided_slice(%x, begin=[1], end=[2147483647], strides=[2], axes=[0]), %y) }"));
  ASSERT_TRUE(exe.ok()) << exe.status();
  EXPECT_THAT(std::string(exe->Run({{"x", Ones({8, 4})}, {"y", Ones({2, 4})}}).status().message()),
              HasSubstr("extents must be equal or one of them 1"));
  EXPECT_TRUE(exe->Run({{"x", Ones({8, 4})}, {"y", Ones({4, 4})}}).ok());
}

TEST(SymbolicErrorTest, AVariableThatNoExtentOfAnInputGivesIsRefused) {
  const auto exe = Compile(Parsed("def @main(%x: Tensor[(n * m), float32]) { exp(%x) }"));
  EXPECT_EQ(exe.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(exe.status().message()),
              HasSubstr("no input of the model has the extent m alone, or a multiple of it"));
}

// Found by a random module: the sum ran over an axis whose extent equals that of the result.
TEST(SymbolicModelTest, ASumToAShapeKeepsAxesOfItsExtents) {
  const auto exe =
      Compile(Parsed("def @main(%x: Tensor[(3, n), int32], %like: Tensor[(3, 4), int32]) {"
                     "  collapse_sum_like(%x, %like) }"));
  ASSERT_TRUE(exe.ok()) << exe.status();
  const NDArray x = testing_graphs::Random({3, 4}, Int32, 1, -9, 9);
  const auto results = exe->Run({{"x", x}, {"like", x}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE((*results)[0].SameBytes(x));
}

// Extents that must be equal or 1: kernels for all values take them as equal.
TEST(SymbolicModelTest, ExtentsThatBroadcastTogetherGiveTheGreaterOne) {
  const ir::Module module = passes::InferType(
      Parsed("def @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32]) { add(%x, %y) }"));
  EXPECT_EQ(ir::ToString(module.Main().body.checked_type()), "Tensor[(max(m, n)), float32]");
  int lowered = 0;
  const auto exe = Compile(module, {.threads = 1, .loop_observer = [&](const auto& step) {
                                      if (step.name == "Nests") ++lowered;
                                    }});
  ASSERT_TRUE(exe.ok()) << exe.status();
  const auto run = [&](std::int64_t n, std::int64_t m) {
    return exe->Run({{"x", Ones({n})}, {"y", Ones({m})}});
  };
  const int at_compile = lowered;
  ASSERT_TRUE(run(5, 5).ok());
  ASSERT_TRUE(run(64, 64).ok());
  EXPECT_EQ(lowered, at_compile);
  // Another kernel.
  EXPECT_EQ(run(1, 5).value()[0].shape(), Shape{5});
  EXPECT_GT(lowered, at_compile);
  EXPECT_THAT(std::string(run(2, 5).status().message()),
              HasSubstr("extents must be equal or one of them 1"));
}

TEST(SymbolicModelTest, AnUnknownExtentIsNoVariableOfAnotherInput) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(x_0, 2), float32]) {\n"
      "  (sum(%x, axis=[0]), sum(%y, axis=[0]))\n}");
  const Executable exe = ValueOrThrow(Compile(module));
  const auto results = ValueOrThrow(exe.Run(
      {{"x", testing_graphs::Random({3, 2}, 1)}, {"y", testing_graphs::Random({5, 2}, 2)}}));
  EXPECT_EQ(results[1].shape(), (Shape{2}));
}

// Weights that are packed when the model is compiled know extents that the types of inputs do not.
TEST(SymbolicModelTest, AnExtentMayBeKnownByAConstantAlone) {
  struct Case {
    const char* text;
    Shape x, weight;
  };
  for (const Case& c :
       {Case{"def @main(%x: Tensor[(k, m), float32], %w: Tensor[(19, 9), float32]) {"
             "  nn.matmul(%x, %w, transpose_a=True, transpose_b=True) }",
             {9, 5},
             {19, 9}},
        Case{"def @main(%x: Tensor[(m, k), float32], %w: Tensor[(33, 9), float32]) {"
             "  nn.dense(%x, %w) }",
             {7, 9},
             {33, 9}},
        Case{"def @main(%x: Tensor[(b, m, k), float32], %w: Tensor[(1, 17, 9), float32]) {"
             "  nn.batch_matmul(%x, %w, transpose_b=True) }",
             {2, 7, 9},
             {1, 17, 9}},
        Case{"def @main(%x: Tensor[(n, c, h, w), float32], %w: Tensor[(8, 3, 3, 3), float32]) {"
             "  nn.conv2d(%x, %w) }",
             {2, 3, 7, 9},
             {8, 3, 3, 3}},
        Case{"def @main(%x: Tensor[(n, c, h, w), float32], %w: Tensor[(8, 3, 1, 1), float32]) {"
             "  nn.conv2d(%x, %w) }",
             {2, 3, 7, 9},
             {8, 3, 1, 1}},
        Case{"def @main(%x: Tensor[(n, c, w), float32], %w: Tensor[(8, 3, 3), float32]) {"
             "  nn.conv1d(%x, %w) }",
             {2, 3, 9},
             {8, 3, 3}},
        Case{"def @main(%x: Tensor[(n, c, h, w), float32], %w: Tensor[(3, 4, 3, 3), float32]) {"
             "  nn.conv2d_transpose(%x, %w, strides=[2, 2]) }",
             {2, 3, 5, 4},
             {3, 4, 3, 3}}}) {
    SCOPED_TRACE(c.text);
    const ir::Module parsed = Parsed(c.text);
    const ir::FunctionNode& main = parsed.Main();
    const NDArray weight = testing_graphs::Random(c.weight, 3);
    const ir::Expr with_constant =
        ir::Substitute(main.body, {{main.params[1], ir::Constant::Make(weight)}});
    const auto exe =
        Compile(ir::Module::FromExpr(ir::Function::Make({main.params[0]}, with_constant)));
    ASSERT_TRUE(exe.ok()) << exe.status();
    const runtime::Inputs inputs = {{"x", testing_graphs::Random(c.x, 4)}};
    const auto results = exe->Run(inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    const ir::Expr x =
        ir::Var::Make("x", ir::TensorType(std::vector<Dim>(c.x.begin(), c.x.end()), Float32));
    const ir::Module of_numbers = ir::Module::FromExpr(
        ir::Function::Make({x, main.params[1]}, ir::Substitute(main.body, {{main.params[0], x}})));
    ExpectClose(*results, Interpreted(of_numbers, {{"x", inputs.at("x")}, {"w", weight}}));
  }
}

TEST(SymbolicModelTest, UnknownExtentsOfInputsAreVariables) {
  const auto exe = Compile(Parsed("def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }"));
  ASSERT_TRUE(exe.ok()) << exe.status();
  EXPECT_EQ(exe->inputs()[0].extents[0].ToString(), "x_0");
  for (const std::int64_t rows : {1, 5}) {
    const auto results = exe->Run({{"x", Ones({rows, 3})}});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].shape(), (Shape{rows, 3}));
  }
}

TEST(SymbolicModelTest, KernelsAreMadeOnceForAllValues) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(n, 16), float32], %w: Tensor[(24, 16), float32]) {"
      "  nn.softmax(nn.dense(%x, %w)) }");
  int lowered = 0;
  const auto exe = Compile(module, {.threads = 1, .loop_observer = [&](const auto& step) {
                                      if (step.name == "Nests") ++lowered;
                                    }});
  ASSERT_TRUE(exe.ok()) << exe.status();
  const int at_compile = lowered;
  EXPECT_GT(at_compile, 0);
  for (const std::int64_t rows : {1, 3, 64})
    ASSERT_TRUE(exe->Run({{"x", Ones({rows, 16})}, {"w", Ones({24, 16})}}).ok());
  EXPECT_EQ(lowered, at_compile);
}

TEST(SymbolicModelTest, CallsOnOtherExtentsShareAKernel) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) {"
      "  (exp(%x), exp(%y)) }");
  const auto exe = Compile(module, {.opt_level = 0});
  ASSERT_TRUE(exe.ok()) << exe.status();
  EXPECT_EQ(exe->kernels().size(), 1U);
}

TEST(SymbolicModelTest, SessionsTakeAnyShapesInTurn) {
  const auto exe = Compile(Parsed("def @main(%x: Tensor[(n), float32]) { add(%x, %x) }"));
  ASSERT_TRUE(exe.ok()) << exe.status();
  Session session(*exe, {.threads = 1});
  for (const std::int64_t count : {3, 40, 3, 1}) {
    const NDArray x = Ones({count});
    const auto results = session.Run({{"x", x}});
    ASSERT_TRUE(results.ok()) << results.status();
    for (std::int64_t i = 0; i < count; ++i)
      EXPECT_EQ((*results)[0].data<float>()[i], 2 * x.data<float>()[i]);
  }
}

// All shapes share the memory of runs: no run writes to what another one works on, nor to a result
// that somebody holds.
TEST(SymbolicModelTest, ThreadsRunOtherShapesAtTheSameTimeAndKeepTheirResults) {
  const ir::Module module =
      passes::InferType(Parsed("def @main(%x: Tensor[(n, m), float32]) {\n"
                               "  %0 = nn.softmax(%x);\n  %1 = sum(%0, axis=[0], keepdims=True);\n"
                               "  (subtract(%0, %1), exp(%1))\n}"));
  const Executable exe = ValueOrThrow(Compile(module, {.threads = 1}));
  struct Seen {
    std::vector<NDArray> results, expected;
  };
  std::vector<std::vector<Seen>> seen(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 12; ++i) {
        const ir::Module concrete =
            compiler::MakeConcrete(module, {{"n", 1 + (5 * i + t) % 17}, {"m", 3 + 29 * i % 64}})
                .module;
        const runtime::Inputs inputs = RandomInputs(concrete, 100 * t + i);
        seen[static_cast<std::size_t>(t)].push_back(
            {ValueOrThrow(exe.Run(inputs)), Interpreted(concrete, inputs)});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Seen>& of_thread : seen) {
    for (const Seen& run : of_thread) ExpectClose(run.results, run.expected);
  }
}

// What is constant is seen through a let only where the plan is made.
TEST(SymbolicModelTest, ConstantsBehindALetReachTheKernelThatWantsOthersPrepared) {
  const ir::Module module = passes::InferType(
      Parsed("def @main(%x: Tensor[(n, 64), float32]) {\n"
             "  let %t = (full(0.5f, shape=[48], dtype=\"float32\"),\n"
             "            full(1.5f, shape=[48], dtype=\"float32\"));\n"
             "  %0 = nn.dense(%x, full(0.25f, shape=[48, 64], dtype=\"float32\"));\n"
             "  (add(%0, %t.0), %t)\n}\n"));
  const auto exe = Compile(module);
  ASSERT_TRUE(exe.ok()) << exe.status();
  for (const std::int64_t n : {1, 7, 33}) {
    SCOPED_TRACE(n);
    const ir::Module concrete = compiler::MakeConcrete(module, {{"n", n}}).module;
    const runtime::Inputs inputs = RandomInputs(concrete, 1);
    const auto results = exe->Run(inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectClose(*results, verify::Interpret(passes::InferType(concrete), {inputs.at("x")}));
  }
}

}  // namespace
}  // namespace tenon
