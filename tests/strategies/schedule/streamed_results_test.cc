// Which results are stored non-temporally, and that their values are those of the interpreter's.
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::Parsed;

struct Graph {
  const char* text;
  bool streams;
};

void PrintTo(const Graph& graph, std::ostream* out) { *out << graph.text; }

class StreamedResultsTest : public ::testing::TestWithParam<Graph> {};

TEST_P(StreamedResultsTest, AreLargeAndWrittenInWholeLinesByLoopsWithoutMathematics) {
  const Lowered lowered =
      ValueOrThrow(Lower(Parsed(GetParam().text), {.library = LibraryChoice::kTe}));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const auto& function = std::get<loop::Function>(lowered.kernels.front().choice.built.kernel);
  EXPECT_EQ(loop::Print(function).find("non-temporal") != std::string::npos, GetParam().streams);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, StreamedResultsTest,
    ::testing::Values(
        // 48 MiB, and one row less.
        Graph{"fn (%x: Tensor[(12288, 1024), float32]) { nn.relu(%x) }", true},
        Graph{"fn (%x: Tensor[(12287, 1024), float32]) { nn.relu(%x) }", false},
        // Rows that are no whole lines, as one run and row by row, long and short.
        Graph{"fn (%x: Tensor[(16800, 1000), float32]) { nn.relu(%x) }", true},
        Graph{"fn (%x: Tensor[(16800, 1000), float32]) { nn.softmax(%x) }", true},
        Graph{"fn (%x: Tensor[(16800, 1023), float32]) { nn.softmax(%x) }", true},
        Graph{"fn (%x: Tensor[(168000, 100), float32]) { nn.softmax(%x) }", false},
        Graph{"fn (%x: Tensor[(16384, 1024), float32]) { nn.softmax(%x) }", true},
        Graph{"fn (%x: Tensor[(16384, 1024), float32]) { exp(%x) }", false},
        Graph{"fn (%x: Tensor[(16384, 1024), float32]) { %0 = nn.relu(%x); (%0, negative(%0)) }",
              false},
        Graph{"fn (%x: Tensor[(16384, 2048), int8]) { abs(%x) }", false},
        Graph{"fn (%x: Tensor[(64, 512, 1024), float32]) { sum(%x, axis=[0]) }", false}));

class StreamedValuesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StreamedValuesTest, EqualTheInterpretersOnOneThreadAndOnTwo) {
  const ir::Module module = Parsed(GetParam());
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 7);
  const std::vector<NDArray> expected = testing_graphs::Interpreted(module, inputs);
  for (const int threads : {1, 2}) {
    CompileOptions options;
    options.library = LibraryChoice::kTe;
    options.threads = threads;
    testing_graphs::ExpectClose(testing_graphs::Outcome(module, inputs, options), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, StreamedValuesTest,
    ::testing::Values("def @main(%x: Tensor[(16784, 1000), float32]) { nn.relu(%x) }",
                      "def @main(%x: Tensor[(12288, 1024), float32]) { nn.softmax(%x) }",
                      "def @main(%x: Tensor[(12583, 1001), float32]) { nn.softmax(%x) }",
                      "def @main(%x: Tensor[(12601, 1000), float32], %g: Tensor[(1000,), float32]) "
                      "{ nn.layer_norm(%x, %g, %g) }",
                      "def @main(%x: Tensor[(50021, 263), float32], %g: Tensor[(263,), float32]) "
                      "{ nn.layer_norm(%x, %g, %g) }",
                      // Rows that are no whole lines, of 16 equal elements, or of parts of 16.
                      "def @main(%x: Tensor[(40000, 20), float32]) { strided_slice(repeat(%x, "
                      "repeats=16, axis=1), begin=[0, 0], end=[40000, 317], strides=[1, 1]) }",
                      "def @main(%x: Tensor[(40000, 20, 20), float32]) { %0 = strided_slice(%x, "
                      "begin=[0, 0, 0], end=[40000, 20, 16], strides=[1, 1, 1]); "
                      "strided_slice(reshape(%0, newshape=[40000, 320]), begin=[0, 0], "
                      "end=[40000, 317], strides=[1, 1]) }"));

}  // namespace
}  // namespace tenon::strategies
