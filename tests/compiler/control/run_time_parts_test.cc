// Modules with extents that values decide in the middle: what runs, against the interpreter and
// against values that the tests compute themselves.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tenon/passes/pipeline.h"
#include "tenon/runtime/program.h"
#include "tenon/tests/compiler/control/counts.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_counts::Count;
using testing_counts::ExpectRuns;
using testing_counts::Rows;
using testing_counts::WithCounts;
using testing_graphs::Parsed;

TEST(RunTimePartsTest, WhatComesAfterACutIsCompiledOnce) {
  const std::string text =
      "def @main(%x: Tensor[(9, 4), float32], %w: Tensor[(5, 4), float32], %n: Tensor[(1), int64]) "
      "{ nn.softmax(nn.dense(exp(take_first(%x, %n)), %w)) }";
  ExpectRuns(text,
             WithCounts({{"x", Rows(9, 4)}, {"w", Rows(5, 4)}}, {3, 1, 0, 9, 7, 3, 0, -2, 50}));
  const Executable exe = ValueOrThrow(Compile(Parsed(text)));
  ASSERT_NE(exe.program(), nullptr);
  ASSERT_EQ(exe.program()->parts.size(), 1U);
  EXPECT_EQ(exe.program()->parts[0].symbols, (std::vector<std::string>{"#k"}));
}

TEST(RunTimePartsTest, ACountMayComeFromValues) {
  ExpectRuns(R"(
def @main(%x: Tensor[(7, 3), float32], %y: Tensor[(7), float32]) {
  %0 = greater(%y, 0f);
  %1 = cast(%0, dtype="int64");
  %2 = argsort(subtract(1i64, %1), axis=0, dtype="int64");
  %3 = sum(%1, axis=[0], keepdims=True);
  %4 = take_first(%2, %3, extent="#kept");
  %5 = take(%x, %4, axis=0);
  %6 = multiply(%5, 2f);
  (scatter_nd(%x, expand_dims(%4, axis=0), %6, mode="update"), mean(%5, axis=[0]), %4)
})",
             {{{"x", Rows(7, 3)}, {"y", NDArray::FromVector<float>({7}, {1, -1, 2, 0, 5, -3, 1})}},
              {{"x", Rows(7, 3)}, {"y", NDArray::FromVector<float>({7}, {1, 1, 2, 9, 5, 3, 1})}},
              {{"x", Rows(7, 3)}, {"y", NDArray::FromVector<float>({7}, {0, 0, 0, 0, 0, 0, 1})}}});
}

// The first elements of an array lie where it lies.
TEST(RunTimePartsTest, AWriteLeavesWhatWasCutBeforeIt) {
  ExpectRuns(R"(
def @main(%x: Tensor[(9, 4), float32], %i: Tensor[(1), int64], %v: Tensor[(4), float32], %u: Tensor[(4), float32], %n: Tensor[(1), int64]) {
  %0 = scatter_nd(%x, %i, %v, mode="update");
  %1 = take_first(%0, %n, extent="#k");
  %2 = scatter_nd(%0, %i, %u, mode="update");
  (%1, %2, exp(%1))
})",
             WithCounts({{"x", Rows(9, 4)},
                         {"i", Count(1)},
                         {"v", NDArray::FromVector<float>({4}, {1, 2, 3, 4})},
                         {"u", NDArray::FromVector<float>({4}, {-1, -2, -3, -4})}},
                        {3, 9, 1}));
}

// NaN, as NumPy has it.
TEST(RunTimePartsTest, TheMeanOfNoRowsIsNoNumber) {
  const Executable exe = ValueOrThrow(Compile(Parsed(
      "def @main(%x: Tensor[(4, 3), float32], %n: Tensor[(1), int64]) { %0 = take_first(%x, %n); "
      "(mean(%0, axis=[0]), sum(%0, axis=[0]), add(sum(%0), 1f)) }")));
  const auto results = ValueOrThrow(exe.Run({{"x", Rows(4, 3)}, {"n", Count(0)}}));
  ASSERT_EQ(results.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(results[0].data<float>()[i]));
    EXPECT_EQ(results[1].data<float>()[i], 0);
  }
  EXPECT_EQ(results[2].data<float>()[0], 1);
}

TEST(RunTimePartsTest, NumbersCountUpToAValue) {
  const std::string text = R"relay(
def @main(%x: Tensor[(b, 3), float32], %n: Tensor[(1), int64]) {
  %0 = count_up(%n, extent="#n");
  %1 = broadcast_to_extents(expand_dims(%x, axis=1), (%x, %0), shape="(x0_0, x1_0, 3)");
  (multiply(%1, reshape(cast(%0, dtype="float32"), newshape=[-1, 1])), sum(%0), %0)
})relay";
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t rows : {1, 4}) {
    for (const std::int64_t n : {0, 1, 2, 16, 17, 100})
      runs.push_back({{"x", Rows(rows, 3)}, {"n", Count(n)}});
  }
  ExpectRuns(text, runs);
  const auto sums = ValueOrThrow(ValueOrThrow(Compile(Parsed(text))).Run(runs[5]));
  EXPECT_EQ(*sums[1].data<std::int64_t>(), 4950);
}

// A count may be 0; nothing else is known of it.
TEST(RunTimePartsTest, ExtentsOfOthersMayBeZero) {
  ExpectRuns(R"relay(
def @main(%x: Tensor[(9), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(%x, %n);
  (broadcast_to_extents(7f, (%0,), shape="(min(x0_0, 1), max(x0_0, 1))"), broadcast_to_extents(7f, (%0,), shape="(max(x0_0 - 1, 0))"))
})relay",
             WithCounts({{"x", Rows(9, 1).Reshape({9})}}, {0, 1, 2, 9}));
}

// An amount of padding, for instance: the arrays of the second part have k + 3 rows.
constexpr const char* kPadded = R"relay(
def @main(%x: Tensor[(9, 4), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) {
  %0 = take_first(%x, %n);
  %1 = broadcast_to_extents(1f, (%0,), shape="(x0_0 + 3, 4)");
  %2 = take_first(%1, %m);
  %3 = sum(%2, axis=[0], keepdims=True);
  (tanh(add(%1, %3)), %2)
})relay";

TEST(RunTimePartsTest, ACountOf0MakesNoCodeWhereNoExtentIs0) {
  ExpectRuns(kPadded, WithCounts({{"x", Rows(9, 4)}, {"m", Count(2)}}, {0, 1, 2, 9}));
  int made = 0;
  const Executable exe = ValueOrThrow(
      Compile(Parsed(kPadded), {.loop_observer = [&](const auto& step) {
                if (step.name == "Nests" && step.function.name.find("tanh") != std::string::npos)
                  ++made;
              }}));
  EXPECT_EQ(made, 1);
  EXPECT_GE(exe.num_kernel_calls(), 3);  // a broadcast, a sum, tanh; parts have no plans yet
  for (const std::int64_t n : {0, 4}) {
    const auto results =
        ValueOrThrow(exe.Run({{"x", Rows(9, 4)}, {"n", Count(n)}, {"m", Count(2)}}));
    EXPECT_EQ(results[0].shape(), (Shape{n + 3, 4}));
  }
  EXPECT_EQ(made, 1);
}

// x + 0 is x only where the zeros fit.
TEST(RunTimePartsTest, ACountMustFitTheExtentThatItIsBroadcastWith) {
  const Executable exe = ValueOrThrow(
      Compile(Parsed("def @main(%x: Tensor[(9, 4), float32], %g: Tensor[(3, 4), float32], "
                     "%n: Tensor[(1), int64]) { %0 = take_first(%x, %n); "
                     "(nn.relu(add(%g, zeros_like(%0))), %0) }")));
  const auto run = [&](std::int64_t n) {
    return exe.Run({{"x", Rows(9, 4)}, {"g", Rows(3, 4)}, {"n", Count(n)}});
  };
  for (const std::int64_t n : {1, 3}) EXPECT_EQ(ValueOrThrow(run(n))[0].shape(), (Shape{3, 4}));
  for (const std::int64_t n : {0, 2, 5})
    EXPECT_THAT(std::string(run(n).status().message()),
                HasSubstr(StrCat("the shapes do not broadcast: extent 3 against ", n)));
}

TEST(RunTimePartsTest, CountsThatAreNoExtentsAreRefused) {
  const auto message = [](const std::string& attributes, std::int64_t n) {
    const Executable exe = ValueOrThrow(Compile(Parsed(
        StrCat("def @main(%n: Tensor[(1), int64]) { negative(count_up(%n", attributes, ")) }"))));
    const auto result = exe.Run({{"n", Count(n)}});
    return result.ok() ? StrCat(result->at(0).size(), " numbers")
                       : std::string(result.status().message());
  };
  EXPECT_EQ(message("", 3), "3 numbers");
  EXPECT_THAT(message("", -1), HasSubstr("count_up: values of the run ask for an extent of -1; it "
                                         "must be at least 0 and at most 134217728"));
  EXPECT_EQ(message(", is_clamped=True", -1), "0 numbers");
  EXPECT_THAT(message(", is_clamped=True, needed_by=\"a mask\"", (1 << 27) + 1),
              HasSubstr("a mask: values of the run ask for an extent of 134217729"));
  EXPECT_THAT(message("", std::numeric_limits<std::int64_t>::max()),
              HasSubstr("9223372036854775807"));
}

TEST(RunTimePartsTest, CutsOfCutsAndOfSeveralCounts) {
  const std::string text = R"(
def @main(%x: Tensor[(11, 3), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) {
  %0 = take_first(%x, %n);
  %1 = negative(%0);
  %2 = take_first(%1, %m);
  %3 = take_first(%x, %m);
  (concatenate((%0, %2), axis=0), add(sum(%2, axis=[0]), sum(%3, axis=[0])), %2,
   nn.dense(%0, %3))
})";
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : {5, 0, 11, 1}) {
    for (const std::int64_t m : {2, 0, 11, 1})
      runs.push_back({{"x", Rows(11, 3)}, {"n", Count(n)}, {"m", Count(m)}});
  }
  ExpectRuns(text, runs);
}

TEST(RunTimePartsTest, InputsMayHaveVariablesToo) {
  const std::string text = R"(
def @main(%x: Tensor[(b, 6, c), float32], %w: Tensor[(4, 6), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(transpose(%x, axes=[0, 2, 1]), %n, axis=1);
  nn.batch_matmul(%0, reshape(%w, newshape=[1, 4, 6]), transpose_b=True)
})";
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t b : {1, 3}) {
    for (const std::int64_t c : {7, 1}) {
      for (const std::int64_t n : {2, 0, 9})
        runs.push_back(
            {{"x", Rows(b, 6 * c).Reshape({b, 6, c})}, {"w", Rows(4, 6)}, {"n", Count(n)}});
    }
  }
  ExpectRuns(text, runs);
  const Executable exe = ValueOrThrow(Compile(Parsed(text)));
  EXPECT_TRUE(exe.is_symbolic());
  EXPECT_THAT(
      std::string(
          exe.Run({{"x", Rows(2, 10).Reshape({2, 5, 2})}, {"w", Rows(4, 6)}, {"n", Count(1)}})
              .status()
              .message()),
      HasSubstr("input 'x'"));
}

// A result alone, of an input that has variables.
TEST(RunTimePartsTest, ResultsOfSymbolicModelsAreCut) {
  ExpectRuns(
      "def @main(%x: Tensor[(b, 3), float32], %n: Tensor[(1), int64]) { (take_first(exp(%x), "
      "%n), %x) }",
      WithCounts({{"x", Rows(5, 3)}}, {0, 2, 5, 9}));
}

TEST(RunTimePartsTest, AnInputMayHaveNoElementsWhereItsNameSaysSo) {
  ExpectRuns("def @main(%x: Tensor[(#n, 3), float32]) { sum(exp(%x), axis=[0]) }",
             {{{"x", Rows(0, 3)}}, {{"x", Rows(2, 3)}}, {{"x", Rows(0, 3)}}});
}

TEST(RunTimePartsTest, BranchesAndLoopsMayCutInside) {
  const std::string text = R"(
def @loop(%i: int64, %x: Tensor[(6, 2), float32], %s: Tensor[(2), float32]) -> Tensor[(2), float32] {
  if (less(%i, 5i64)) {
    %0 = take_first(%x, reshape(%i, newshape=[1]));
    @loop(add(%i, 1i64), %x, add(%s, sum(%0, axis=[0])))
  } else { %s }
}
def @main(%x: Tensor[(6, 2), float32], %c: bool, %n: Tensor[(1), int64]) {
  %0 = @loop(0i64, %x, zeros(shape=[2], dtype="float32"));
  %1 = take_first(%x, %n);
  if (%c) { add(sum(%1, axis=[0]), %0) } else { %0 }
})";
  std::vector<runtime::Inputs> runs;
  for (const bool c : {true, false}) {
    for (const std::int64_t n : {0, 4})
      runs.push_back({{"x", Rows(6, 2)}, {"c", NDArray::Scalar(c)}, {"n", Count(n)}});
  }
  ExpectRuns(text, runs);
}

TEST(RunTimePartsTest, ABranchMayGiveAnExtentOfItsOwn) {
  ExpectRuns(R"(
def @f(%x: Tensor[(6), float32], %n: Tensor[(1), int64], %i: int64) -> Tensor[(#k), float32] {
  if (less(%i, 3i64)) { @f(exp(negative(%x)), %n, add(%i, 1i64)) } else { take_first(%x, %n, extent="#k") }
}
def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64]) { exp(@f(%x, %n, 0i64)) })",
             WithCounts({{"x", Rows(6, 1).Reshape({6})}}, {0, 1, 4, 6}));
}

// Each place where it is called has an extent of its own.
TEST(RunTimePartsTest, AFunctionThatIsCalledTwiceCutsTwice) {
  ExpectRuns(R"(
def @first(%x: Tensor[(6, 2), float32], %n: Tensor[(1), int64]) {
  exp(take_first(%x, %n, extent="#k"))
}
def @main(%x: Tensor[(6, 2), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) {
  concatenate((@first(%x, %n), @first(%x, %m)), axis=0)
})",
             {{{"x", Rows(6, 2)}, {"n", Count(2)}, {"m", Count(5)}},
              {{"x", Rows(6, 2)}, {"n", Count(0)}, {"m", Count(0)}}});
}

TEST(RunTimePartsTest, CutsOfOneVariableMustGiveOneExtent) {
  const Executable exe = ValueOrThrow(Compile(Parsed(R"(
def @main(%x: Tensor[(6), float32], %y: Tensor[(4), float32], %n: Tensor[(1), int64]) {
  add(take_first(%x, %n, extent="#k"), take_first(%y, %n, extent="#k"))
})")));
  const auto run = [&](std::int64_t n) {
    return exe.Run(
        {{"x", Rows(1, 6).Reshape({6})}, {"y", Rows(1, 4).Reshape({4})}, {"n", Count(n)}});
  };
  EXPECT_EQ(run(3)->at(0).shape(), Shape{3});
  EXPECT_THAT(std::string(run(5).status().message()),
              HasSubstr("the extent #k is 5 and 4; cuts of one variable must give one extent"));
}

TEST(RunTimePartsTest, CountsAndArraysMayBeConstants) {
  ExpectRuns(
      "def @main(%x: Tensor[(1), float32]) { (add(exp(take_first(full(2f, shape=[5], "
      "dtype=\"float32\"), full(3i64, shape=[1], dtype=\"int64\"))), %x), %x) }",
      {{{"x", Rows(1, 1).Reshape({1})}}});
}

TEST(RunTimePartsTest, AnExtentIsANumberSignAndAName) {
  const auto compiled = Compile(
      Parsed("def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64]) { exp(take_first(%x, %n, "
             "extent=\"k\")) }"));
  EXPECT_THAT(std::string(compiled.status().message()), HasSubstr("such as \"#k\""));
}

TEST(RunTimePartsTest, WhatNeedsOnePlanIsRefusedWithTheWayRound) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64]) { exp(take_first(%x, %n)) }");
  EXPECT_THAT(
      std::string(Lower(module).status().message()),
      AllOf(HasSubstr("take_first"), HasSubstr("it can be explained, compiled, saved and run")));
}

TEST(RunTimePartsTest, OtherOperatorsMayBroadcastToTheExtent) {
  ExpectRuns(R"text(
def @main(%x: Tensor[(8, 3), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(%x, %n);
  %1 = broadcast_to_extents(1f, (%0,), shape="(2, x0_0 + 1)");
  %2 = index_along(%0, axis=0, dtype="float32");
  (add(%0, %2), %1)
})text",
             WithCounts({{"x", Rows(8, 3)}}, {0, 1, 5, 8}));
}

TEST(RunTimePartsTest, SortedAndSuppressedAfterACut) {
  ExpectRuns(R"(
def @main(%boxes: Tensor[(1, 9, 4), float32], %scores: Tensor[(1, 2, 9), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(%boxes, %n, axis=1, extent="#k");
  %1 = take_first(%scores, %n, axis=2, extent="#k");
  %2 = topk(%1, axis=2, dtype="int64");
  %3 = vision.all_class_non_max_suppression(%0, %1, 5i64, 0.5f, 0.1f);
  %4 = take_first(%3.0, %3.1, extent="#found");
  %5 = unique(reshape(cast(multiply(%1, 3f), dtype="int32"), newshape=[-1]), return_counts=True);
  (%2.0, %2.1, %4, sum(%4), argsort(%1, axis=1, dtype="int32"), %5.0, %5.4)
})",
             WithCounts({{"boxes", testing_graphs::Random({1, 9, 4}, Float32, 3, 0, 1)},
                         {"scores", testing_graphs::Random({1, 2, 9}, Float32, 4, 0, 1)}},
                        {4, 1, 9, 0}));
}

}  // namespace
}  // namespace tenon
