// Which reductions are split into pieces, that several axes are one loop where memory allows it,
// and that results are right and the same on any number of threads.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::LoopsOf;
using testing_graphs::Parsed;

bool IsSplit(const std::string& loops) { return loops.find(".rf") != std::string::npos; }

struct Graph {
  const char* text;
  bool splits;
};

void PrintTo(const Graph& graph, std::ostream* out) { *out << graph.text; }

class SplitReductionTest : public ::testing::TestWithParam<Graph> {};

TEST_P(SplitReductionTest, ThoseOfManyTermsToFewResultsAre) {
  const std::string loops = LoopsOf(Parsed(GetParam().text));
  EXPECT_EQ(IsSplit(loops), GetParam().splits) << loops;
  EXPECT_EQ(loops.find("parallel ") != std::string::npos, GetParam().splits) << loops;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, SplitReductionTest,
    ::testing::Values(
        Graph{"fn (%x: Tensor[(1000003,), float32]) { sum(%x) }", true},
        Graph{"fn (%x: Tensor[(1000003,), float32]) { max(%x) }", true},
        Graph{"fn (%x: Tensor[(1000003,), int32]) { sum(%x) }", true},
        Graph{"fn (%x: Tensor[(1000003,), bool]) { any(%x) }", true},
        Graph{"fn (%x: Tensor[(1000003,), float32]) { argmax(%x) }", true},
        Graph{"fn (%x: Tensor[(7, 100003), float32]) { mean(%x, axis=[1]) }", true},
        Graph{"fn (%x: Tensor[(100003, 7), float32]) { mean(%x, axis=[0]) }", true},
        Graph{"fn (%x: Tensor[(2, 3, 251, 257), float32]) { min(%x, axis=[0, 2, 3]) }", true},
        // Columns that fill vectors are results of one loop.
        Graph{"fn (%x: Tensor[(10007, 64), float32]) { sum(%x, axis=[0]) }", true},
        // Too few terms.
        Graph{"fn (%x: Tensor[(10007,), float32]) { sum(%x) }", false},
        // None at all.
        Graph{"fn (%x: Tensor[(0, 1000003), float32]) { sum(%x, axis=[1]) }", false},
        Graph{"fn (%x: Tensor[(0, 1000003), float32]) { sum(%x) }", false},
        // Too few terms for as many results.
        Graph{"fn (%x: Tensor[(17, 100003), float32]) { sum(%x, axis=[0]) }", false},
        // Parts of a product may overflow.
        Graph{"fn (%x: Tensor[(1000003,), float32]) { prod(%x) }", false}));

TEST(SplitReductionTest, RowsThatThreadsCanShareAreNot) {
  EXPECT_FALSE(
      IsSplit(LoopsOf(Parsed("fn (%x: Tensor[(8, 100003), float32]) { sum(%x, axis=[1]) }"))));
}

TEST(SplitReductionTest, SumsOfFloatsAreNotWhereTheirOrderIsToStay) {
  const auto is_split = [](const char* text) {
    return IsSplit(
        LoopsOf(Parsed(text), {.library = LibraryChoice::kTe, .reassociate_reductions = false}));
  };
  EXPECT_FALSE(is_split("fn (%x: Tensor[(1000003,), float32]) { sum(%x) }"));
  EXPECT_FALSE(is_split("fn (%x: Tensor[(7, 100003), float16]) { mean(%x, axis=[1]) }"));
  EXPECT_TRUE(is_split("fn (%x: Tensor[(1000003,), int32]) { sum(%x) }"));
  EXPECT_TRUE(is_split("fn (%x: Tensor[(1000003,), float32]) { max(%x) }"));
}

TEST(SplitReductionTest, ASumInOrderIsThatOfOneLoop) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(300007,), float32]) { sum(%x) }");
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 5);
  float expected = 0;
  for (std::int64_t i = 0; i < 300007; ++i) expected += inputs.at("x").data<float>()[i];
  CompileOptions options{.library = LibraryChoice::kTe};
  options.reassociate_reductions = false;
  const float got = testing_graphs::Outcome(module, inputs, options)[0].data<float>()[0];
  EXPECT_EQ(got, expected);
}

class ReducedValuesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ReducedValuesTest, EqualTheInterpretersAndDoNotDependOnTheThreads) {
  const ir::Module module = Parsed(GetParam());
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 7);
  CompileOptions options{.library = LibraryChoice::kTe};
  options.threads = 1;
  const std::vector<NDArray> on_one = testing_graphs::Outcome(module, inputs, options);
  testing_graphs::ExpectClose(on_one, testing_graphs::Interpreted(module, inputs), 1e-3);
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    const std::vector<NDArray> on_several = testing_graphs::Outcome(module, inputs, options);
    for (std::size_t i = 0; i < on_one.size(); ++i)
      EXPECT_TRUE(on_several[i].SameBytes(on_one[i])) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ReducedValuesTest,
    ::testing::Values(
        "def @main(%x: Tensor[(300007,), float32]) { sum(%x) }",
        "def @main(%x: Tensor[(300007,), float64]) { mean(%x) }",
        "def @main(%x: Tensor[(300007,), int8]) { sum(cast(%x, dtype=\"int32\")) }",
        "def @main(%x: Tensor[(300007,), uint8]) { (max(%x), min(%x)) }",
        "def @main(%x: Tensor[(300007,), float32]) { (max(%x), min(%x), argmax(%x)) }",
        "def @main(%x: Tensor[(300007,), float32]) { %0 = cast(%x, dtype=\"float16\"); "
        "(cast(max(%0), dtype=\"float32\"), argmax(%0)) }",
        "def @main(%x: Tensor[(300007,), float32]) { cast(max(cast(%x, dtype=\"bfloat16\")), "
        "dtype=\"float32\") }",
        "def @main(%x: Tensor[(600011,), bool]) { (all(%x), any(%x)) }",
        "def @main(%x: Tensor[(5, 100003), float32]) { argmin(%x, axis=[1]) }",
        "def @main(%x: Tensor[(1, 200003), float32]) { nn.softmax(%x) }",
        "def @main(%x: Tensor[(3, 100003), float32]) { variance(%x, mean(%x, axis=[1], "
        "keepdims=True), axis=[1]) }",
        "def @main(%x: Tensor[(200003,), float32]) { mean(exp(%x)) }",
        "def @main(%x: Tensor[(200003,), float32]) { multiply(%x, rsqrt(sum(multiply(%x, %x)))) }",
        // Along memory, across it, and both.
        "def @main(%x: Tensor[(100003, 3), float32]) { (sum(%x, axis=[0]), max(%x, axis=[0])) }",
        "def @main(%x: Tensor[(10007, 33), float32]) { (sum(%x, axis=[0]), max(%x, axis=[0])) }",
        "def @main(%x: Tensor[(13, 3, 101, 103), float32]) { (sum(%x, axis=[0, 2, 3]), max(%x, "
        "axis=[0, 2, 3])) }",
        "def @main(%x: Tensor[(1, 64, 77, 79), float32]) { (sum(%x), max(%x), argmax(%x)) }",
        // Axes that become one loop, with a rest and without, and such that do not.
        "def @main(%x: Tensor[(3, 5, 7, 7), float32]) { (sum(%x, axis=[2, 3]), max(%x, axis=[2, "
        "3])) }",
        "def @main(%x: Tensor[(3, 5, 1, 7), float32]) { (sum(%x, axis=[1, 2, 3]), max(%x, "
        "axis=[1, 3])) }",
        "def @main(%x: Tensor[(3, 14, 14, 5), float32]) { (sum(%x, axis=[1, 2]), max(%x, axis=[0, "
        "2])) }",
        "def @main(%x: Tensor[(3, 5, 9, 9), float32]) { max(nn.pad(%x, -0.5f, pad_width=[[0, 0], "
        "[0, 0], [1, 2], [3, 1]]), axis=[2, 3]) }",
        "def @main(%x: Tensor[(3, 5, 9, 9), float32], %y: Tensor[(9, 9), float32], %z: Tensor[(5, "
        "1, 9), float32]) { (sum(multiply(%x, %y), axis=[2, 3]), sum(multiply(%x, %z), axis=[2, "
        "3])) }",
        "def @main(%x: Tensor[(3, 5, 9, 9), float32]) { sum(transpose(%x, axes=[0, 3, 2, 1]), "
        "axis=[1, 2]) }"));

// NaN, infinities, ties and zeros of both signs wherever pieces begin and end.
TEST(SplitReductionTest, ExtremaTakeNanAndTheFirstOfEqualsWhereverTheyLie) {
  constexpr std::int64_t kCount = 300007;
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(300007,), float32]) { (max(%x), min(%x), argmax(%x), argmin(%x)) }");
  CompileOptions options{.library = LibraryChoice::kTe};
  const Executable executable = ValueOrThrow(Compile(module, options));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t at : {0, 1, 1023, 1024, 150000, 299008, 300000, 300006}) {
    for (const float special : {std::nanf(""), kInfinity, -kInfinity}) {
      NDArray x = NDArray::Empty({kCount}, Float32);
      for (std::int64_t i = 0; i < kCount; ++i)
        x.data<float>()[i] = static_cast<float>(i * 7919 % 5 - 2);
      x.data<float>()[at] = special;
      x.data<float>()[kCount - 1] = special;  // a second one, of which the first counts
      const runtime::Inputs inputs = {{"x", x}};
      testing_graphs::ExpectClose(ValueOrThrow(executable.Run(inputs)),
                                  testing_graphs::Interpreted(module, inputs));
    }
  }
}

// One row by a matrix: 125 vectors of results, whose divisors are too short or the whole line.
TEST(LineOfSumsTest, ThreadsShareItWhateverItsLengthAndWhatFollows) {
  const ir::Module module = Parsed(
      "fn (%a: Tensor[(1, 2048), float32], %b: Tensor[(2048, 1000), float32], "
      "%c: Tensor[(1000,), float32]) { add(nn.matmul(%a, %b), %c) }");
  CompileOptions options = {.threads = 2, .library = LibraryChoice::kTe};
  options.target.cores = 2;
  EXPECT_NE(LoopsOf(module, options).find("parallel "), std::string::npos);
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 7);
  testing_graphs::ExpectClose(testing_graphs::Outcome(module, inputs, options),
                              testing_graphs::Interpreted(module, inputs));
  // One thread reads each row of the matrix from its begin to its end.
  options.threads = 1;
  EXPECT_NE(LoopsOf(module, options).find("in [0, 125)"), std::string::npos);
}

TEST(MergedAxesTest, ThatAreOneRunOfMemoryAreOneLoop) {
  const auto loops = [](const char* axes) {
    const std::string text =
        "fn (%x: Tensor[(3, 5, 7, 11), float32]) { sum(%x, axis=" + std::string(axes) + ") }";
    return LoopsOf(Parsed(text.c_str()));
  };
  EXPECT_NE(loops("[2, 3]").find("in [0, 77)"), std::string::npos);
  EXPECT_NE(loops("[1, 2, 3]").find("in [0, 385)"), std::string::npos);
  EXPECT_NE(loops("[1, 3]").find("in [0, 11)"), std::string::npos);
}

}  // namespace
}  // namespace tenon::strategies
