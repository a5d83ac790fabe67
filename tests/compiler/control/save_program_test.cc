// Saved programs against the executables that Compile makes: the same bits, and what is refused.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/compiler/save_executable.h"
#include "tenon/passes/pipeline.h"
#include "tenon/runtime/program.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using jit::ReadText;
using jit::ScopedFolder;
using jit::WriteText;
using runtime::Inputs;
using runtime::LoadExecutable;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Parsed;

NDArray Count(std::int64_t n) { return NDArray::FromVector<std::int64_t>({1}, {n}); }

NDArray Rows(const Shape& shape) {
  NDArray array = NDArray::Empty(shape, Float32);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.data<float>()[i] = 0.25F * static_cast<float>(i % 13) - 1;
  return array;
}

struct Example {
  std::string text;
  std::vector<Inputs> runs;
};

std::vector<Inputs> WithCounts(const Inputs& inputs, const std::vector<std::int64_t>& counts) {
  std::vector<Inputs> runs;
  for (const std::int64_t count : counts) {
    runs.push_back(inputs);
    runs.back()["n"] = Count(count);
  }
  return runs;
}

constexpr char kIf[] = R"(
def @main(%c: bool, %x: Tensor[(5), float32], %y: Tensor[(5), float32]) {
  %0 = exp(%x);
  if (%c) { add(%0, %y) } else { multiply(%0, negative(%x)) }
})";

constexpr char kCut[] = R"(
def @main(%x: Tensor[(9, 4), float32], %w: Tensor[(5, 4), float32], %n: Tensor[(1), int64]) {
  nn.softmax(nn.dense(exp(take_first(%x, %n)), %w))
})";

const std::map<std::string, Example>& Examples() {
  static const std::map<std::string, Example> examples = [] {
    std::map<std::string, Example> all;
    for (const bool c : {true, false})
      all["an_if"].runs.push_back(
          {{"c", NDArray::Scalar(c)}, {"x", Rows({5})}, {"y", Rows({1, 5}).Reshape({5})}});
    all["an_if"].text = kIf;
    all["a_loop"].text = R"(
def @loop(%i: int64, %n: int64, %x: Tensor[(3), float32]) -> (int64, Tensor[(3), float32]) {
  if (less(%i, %n)) { @loop(add(%i, 1i64), %n, add(multiply(%x, 0.5f), 1f)) } else { (%i, %x) }
}
def @main(%n: int64, %x: Tensor[(3), float32]) { @loop(0i64, %n, %x) })";
    for (const std::int64_t n : {0, 1, 5000})
      all["a_loop"].runs.push_back({{"n", NDArray::Scalar<std::int64_t>(n)}, {"x", Rows({3})}});
    all["recursion_that_waits"].text = R"(
def @sum(%i: int64, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  if (less(%i, 1i64)) { %x } else { add(@sum(subtract(%i, 1i64), multiply(%x, 0.5f)), %x) }
}
def @main(%n: int64, %x: Tensor[(4), float32]) { @sum(%n, %x) })";
    for (const std::int64_t n : {0, 3, 200})
      all["recursion_that_waits"].runs.push_back(
          {{"n", NDArray::Scalar<std::int64_t>(n)}, {"x", Rows({4})}});
    all["writes_into_a_carried_array"].text = R"(
def @loop(%i: int64, %x: Tensor[(6, 2), float32]) -> Tensor[(6, 2), float32] {
  if (less(%i, 6i64)) {
    %0 = take(%x, %i, axis=0);
    @loop(add(%i, 1i64), scatter_nd(%x, reshape(%i, newshape=[1]), add(%0, 1f), mode="update"))
  } else { %x }
}
def @main(%x: Tensor[(6, 2), float32]) { @loop(0i64, %x) })";
    all["writes_into_a_carried_array"].runs = {{{"x", Rows({6, 2})}}};
    all["a_cut"] = {kCut, WithCounts({{"x", Rows({9, 4})}, {"w", Rows({5, 4})}},
                                     {3, 1, 0, 9, 7, 3, 0, -2, 50})};
    all["weights_that_kernels_want_packed"] = {R"(
def @main(%x: Tensor[(9, 64), float32], %n: Tensor[(1), int64]) {
  %0 = nn.dense(take_first(%x, %n), full(0.25f, shape=[48, 64], dtype="float32"));
  nn.dense(nn.relu(%0), full(0.5f, shape=[7, 48], dtype="float32"))
})",
                                               WithCounts({{"x", Rows({9, 64})}}, {5, 0, 1, 9})};
    all["a_count_from_values"] = {
        R"(
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
        {{{"x", Rows({7, 3})}, {"y", NDArray::FromVector<float>({7}, {1, -1, 2, 0, 5, -3, 1})}},
         {{"x", Rows({7, 3})}, {"y", NDArray::FromVector<float>({7}, {1, 1, 2, 9, 5, 3, 1})}},
         {{"x", Rows({7, 3})}, {"y", NDArray::FromVector<float>({7}, {0, 0, 0, 0, 0, 0, 0})}},
         {{"x", Rows({7, 3})}, {"y", NDArray::FromVector<float>({7}, {0, 0, 0, 0, 0, 0, 1})}}}};
    all["cuts_of_two_counts"].text = R"(
def @main(%x: Tensor[(11, 3), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) {
  %0 = take_first(%x, %n);
  %1 = negative(%0);
  %2 = take_first(%1, %m);
  %3 = take_first(%x, %m);
  (concatenate((%0, %2), axis=0), add(sum(%2, axis=[0]), sum(%3, axis=[0])), %2,
   nn.dense(%0, %3))
})";
    for (const std::int64_t n : {5, 0, 11, 1}) {
      for (const std::int64_t m : {2, 0, 11, 1})
        all["cuts_of_two_counts"].runs.push_back(
            {{"x", Rows({11, 3})}, {"n", Count(n)}, {"m", Count(m)}});
    }
    all["variables_of_inputs"].text = R"(
def @main(%x: Tensor[(b, 6, c), float32], %w: Tensor[(4, 6), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(transpose(%x, axes=[0, 2, 1]), %n, axis=1);
  nn.batch_matmul(%0, reshape(%w, newshape=[1, 4, 6]), transpose_b=True)
})";
    for (const std::int64_t b : {1, 3}) {
      for (const std::int64_t c : {7, 1}) {
        for (const std::int64_t n : {2, 0, 9})
          all["variables_of_inputs"].runs.push_back(
              {{"x", Rows({b, 6, c})}, {"w", Rows({4, 6})}, {"n", Count(n)}});
      }
    }
    all["results_of_a_symbolic_model"] = {
        "def @main(%x: Tensor[(b, 3), float32], %n: Tensor[(1), int64]) { (take_first(exp(%x), "
        "%n), %x) }",
        WithCounts({{"x", Rows({5, 3})}}, {0, 2, 5, 9})};
    all["an_if_over_variables"].text = R"(
def @main(%c: bool, %x: Tensor[(n, 5), float32], %y: Tensor[(n, 5), float32]) {
  %0 = nn.softmax(%x);
  if (%c) { add(%0, %y) } else { multiply(%0, negative(%x)) }
})";
    for (const bool c : {true, false}) {
      for (const std::int64_t n : {1, 4, 17})
        all["an_if_over_variables"].runs.push_back(
            {{"c", NDArray::Scalar(c)}, {"x", Rows({n, 5})}, {"y", Rows({n, 5})}});
    }
    all["cuts_inside_of_branches_and_loops"].text = R"(
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
    for (const bool c : {true, false}) {
      for (const std::int64_t n : {0, 4})
        all["cuts_inside_of_branches_and_loops"].runs.push_back(
            {{"x", Rows({6, 2})}, {"c", NDArray::Scalar(c)}, {"n", Count(n)}});
    }
    all["a_detectors_tail"] = {
        R"(
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
                   {4, 1, 9, 0})};
    all["extents_that_are_broadcast"] = {R"text(
def @main(%x: Tensor[(8, 3), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(%x, %n);
  %1 = broadcast_to_extents(1f, (%0,), shape="(2, x0_0 + 1)");
  %2 = index_along(%0, axis=0, dtype="float32");
  (add(%0, %2), %1)
})text",
                                         WithCounts({{"x", Rows({8, 3})}}, {0, 1, 5, 8})};
    all["counts_that_are_broadcast"].text = R"(
def @main(%x: Tensor[(6, 3), float32], %y: Tensor[(6, 3), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) {
  exp(add(take_first(%x, %n, extent="#k"), take_first(%y, %m, extent="#m")))
})";
    for (const auto& [n, m] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 3}, {1, 4}, {4, 1}, {1, 1}, {0, 0}})
      all["counts_that_are_broadcast"].runs.push_back(
          {{"x", Rows({6, 3})}, {"y", Rows({6, 3})}, {"n", Count(n)}, {"m", Count(m)}});
    all["constants_that_are_cut"] = {
        "def @main(%x: Tensor[(1), float32]) { (add(exp(take_first(full(2f, shape=[5], "
        "dtype=\"float32\"), full(3i64, shape=[1], dtype=\"int64\"))), %x), %x) }",
        {{{"x", Rows({1})}}}};
    return all;
  }();
  return examples;
}

LoweredProgram LoweredFor(const std::string& text) {
  return ValueOrThrow(LowerProgram(Parsed(text), {.library = LibraryChoice::kTe}));
}

void ExpectSame(const std::vector<NDArray>& results, const std::vector<NDArray>& expected) {
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].shape(), expected[i].shape()) << "result " << i;
    EXPECT_TRUE(results[i].SameBytes(expected[i])) << "result " << i;
  }
}

class SaveProgramTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SaveProgramTest, GivesTheSameBits) {
  const Example& example = Examples().at(GetParam());
  ASSERT_TRUE(IsProgram(Parsed(example.text)));
  const Executable original =
      ValueOrThrow(Compile(Parsed(example.text), {.library = LibraryChoice::kTe}));
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(example.text), folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(LoadExecutable(folder / "net")).executable;
  ASSERT_NE(loaded.program(), nullptr);
  EXPECT_EQ(loaded.is_symbolic(), original.is_symbolic());
  runtime::Session session(loaded);
  for (const Inputs& inputs : example.runs) {
    const std::vector<NDArray> expected = ValueOrThrow(original.Run(inputs));
    ExpectSame(ValueOrThrow(loaded.Run(inputs)), expected);
    ExpectSame(ValueOrThrow(session.Run(inputs)), expected);
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, example] : Examples()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Programs, SaveProgramTest, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST(SavedProgramsTest, SeveralThreadsMayRunOne) {
  const Example& example = Examples().at("cuts_of_two_counts");
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(example.text), folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(LoadExecutable(folder / "net")).executable;
  std::vector<std::vector<NDArray>> expected;
  for (const Inputs& inputs : example.runs) expected.push_back(ValueOrThrow(loaded.Run(inputs)));
  const Executable again = ValueOrThrow(LoadExecutable(folder / "net")).executable;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      runtime::Session session(again, {.threads = 1});
      for (std::size_t i = 0; i < 4 * expected.size(); ++i) {
        const std::size_t run = (i * (t + 1)) % expected.size();
        ExpectSame(ValueOrThrow(session.Run(example.runs[run])), expected[run]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SavedProgramsTest, EqualKernelsAndConstantsAreSavedOnce) {
  const LoweredProgram two = LoweredFor(R"(
def @main(%c: bool, %x: Tensor[(5), float32], %w: Tensor[(5), float32]) {
  %0 = if (%c) { nn.relu(exp(%x)) } else { %x };
  (if (%c) { nn.relu(exp(%0)) } else { %0 }, take_first(%w, full(3i64, shape=[1], dtype="int64")),
   take_first(%x, full(3i64, shape=[1], dtype="int64")))
})");
  EXPECT_EQ(two.whole.kernels.size(), 1U);
  EXPECT_EQ(two.whole.constants.size(), 1U);
}

// Which numbers there are is not found where there are none.
constexpr char kDistinct[] = R"(
def @main(%x: Tensor[(9), int64], %n: Tensor[(1), int64]) {
  %0 = unique(take_first(%x, %n));
  negative(%0.3)
})";

TEST(SavedProgramsTest, ACountOf0HasACaseWhereAKernelNeedsOne) {
  const LoweredProgram one = LoweredFor(kDistinct);
  ASSERT_EQ(one.program.parts.size(), 1U);
  ASSERT_EQ(one.program.parts[0].cases.size(), 2U);
  EXPECT_TRUE(one.program.parts[0].cases[0].known.empty());
  EXPECT_EQ(one.program.parts[0].cases[1].known, (Dim::Values{{"#k", 0}}));
  EXPECT_EQ(LoweredFor(kCut).program.parts[0].cases.size(), 1U);
}

TEST(SavedProgramsTest, ACaseThatWasNotSavedIsNamed) {
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(kDistinct), folder / "net"), absl::OkStatus());
  const auto run = [&](std::int64_t n) {
    const Executable loaded = ValueOrThrow(LoadExecutable(folder / "net")).executable;
    return loaded.Run({{"x", NDArray::FromVector<std::int64_t>({9}, {1, 2, 1, 2, 3, 3, 1, 2, 3})},
                       {"n", Count(n)}});
  };
  EXPECT_EQ(*ValueOrThrow(run(4))[0].data<std::int32_t>(), -2);
  EXPECT_EQ(*ValueOrThrow(run(0))[0].data<std::int32_t>(), 0);
  const std::string manifest = folder / "net/tenon.json";
  auto json = nlohmann::ordered_json::parse(ReadText(manifest));
  json["program"]["parts"][0]["cases"].erase(1);
  WriteText(manifest, json.dump());
  EXPECT_EQ(*ValueOrThrow(run(9))[0].data<std::int32_t>(), -3);
  EXPECT_EQ(run(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(run(0).status().message()),
              HasSubstr("the saved program has no kernels for the case that #k is 0"));
}

TEST(SavedProgramsTest, InputsThatDoNotFitAreRefused) {
  const Example& example = Examples().at("variables_of_inputs");
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(example.text), folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(LoadExecutable(folder / "net")).executable;
  const auto failure = [&](Inputs inputs) {
    return std::string(loaded.Run(inputs).status().message());
  };
  EXPECT_THAT(failure({{"x", Rows({2, 5, 2})}, {"w", Rows({4, 6})}, {"n", Count(1)}}),
              HasSubstr("input 'x'"));
  EXPECT_THAT(failure({{"x", Rows({2, 6, 2})}, {"w", Rows({4, 6})}}), HasSubstr("input 'n'"));
  EXPECT_THAT(failure({{"x", Rows({2, 6, 2})}, {"w", Rows({4, 6})}, {"n", Rows({1})}}),
              HasSubstr("input 'n'"));
}

// Checks a module of a condition, (1, n, 4) values and 16 factors: saved, and compiled at levels.
void ForNormalisation(
    const char* text,
    const std::function<void(
        const std::function<absl::StatusOr<std::vector<NDArray>>(std::int64_t n, bool c)>& run)>&
        check) {
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(text), folder / "net"), absl::OkStatus());
  std::vector<Executable> all = {ValueOrThrow(LoadExecutable(folder / "net")).executable};
  for (const int level : {0, 1, 3})
    all.push_back(ValueOrThrow(Compile(Parsed(text), {.opt_level = level})));
  for (const Executable& exe : all)
    check([&](std::int64_t n, bool c) {
      return exe.Run({{"c", NDArray::Scalar(c)}, {"x", Rows({1, n, 4})}, {"g", Rows({16})}});
    });
}

// A normalisation becomes a product and a sum, which would broadcast one channel. What a branch
// needs is no matter where it does not run.
TEST(SavedProgramsTest, ConditionsOfWhatAlwaysRunsAreChecked) {
  const char* text = R"(
def @main(%c: bool, %x: Tensor[(1, n, 4), float32], %g: Tensor[(16), float32]) {
  %0 = nn.batch_norm(%x, %g, %g, %g, %g);
  %1 = %0.0;
  if (%c) { nn.max_pool1d(%1, pool_size=[2], strides=[2], padding=[0, 0]) }
  else { nn.max_pool1d(nn.max_pool1d(%1, pool_size=[2], strides=[1], padding=[0, 0]), pool_size=[2], strides=[1], padding=[0, 0]) }
})";
  ForNormalisation(text, [](const auto& run) {
    EXPECT_EQ(run(16, true)->at(0).shape(), (Shape{1, 16, 2}));
    EXPECT_EQ(run(16, false)->at(0).shape(), (Shape{1, 16, 2}));
    for (const std::int64_t n : {1, 2, 17}) {
      EXPECT_EQ(run(n, true).status().code(), absl::StatusCode::kInvalidArgument) << n;
      EXPECT_THAT(std::string(run(n, true).status().message()), HasSubstr("nn.batch_norm")) << n;
    }
  });
}

TEST(SavedProgramsTest, ConditionsOfABranchHoldWhereItRuns) {
  const char* text = R"(
def @main(%c: bool, %x: Tensor[(1, 1, n), float32], %k: Tensor[(1, 1, 5), float32]) {
  if (%c) { max(nn.conv1d(%x, %k, padding=[0, 0])) } else { max(%x) }
})";
  const Executable exe = ValueOrThrow(Compile(Parsed(text)));
  const auto run = [&](std::int64_t n, bool c) {
    return exe.Run({{"c", NDArray::Scalar(c)}, {"x", Rows({1, 1, n})}, {"k", Rows({1, 1, 5})}});
  };
  EXPECT_EQ(run(9, true).status(), absl::OkStatus());
  EXPECT_EQ(run(3, false).status(), absl::OkStatus());
  EXPECT_EQ(run(3, true).status().code(), absl::StatusCode::kInvalidArgument);
}

// As above, what is made of the normalisation needs less than it did.
TEST(SavedProgramsTest, WhatABranchNeededBeforePassesIsCheckedWhereItRuns) {
  const char* text = R"(
def @main(%c: bool, %x: Tensor[(1, n, 4), float32], %g: Tensor[(16), float32]) {
  if (%c) { %0 = nn.batch_norm(%x, %g, %g, %g, %g); sum(%0.0) } else { sum(%x) }
})";
  ForNormalisation(text, [](const auto& run) {
    EXPECT_EQ(run(16, true).status(), absl::OkStatus());
    for (const std::int64_t n : {1, 2, 17}) {
      EXPECT_EQ(run(n, false).status(), absl::OkStatus()) << n;
      EXPECT_EQ(run(n, true).status().code(), absl::StatusCode::kInvalidArgument) << n;
      EXPECT_THAT(std::string(run(n, true).status().message()), HasSubstr("nn.batch_norm")) << n;
    }
  });
}

TEST(SavedProgramsTest, EndlessRecursionIsAnError) {
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(R"(
def @forever(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { @forever(exp(%x)) }
def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { @forever(%x) } else { negative(%x) } })"),
                           folder / "net"),
            absl::OkStatus());
  const Executable loaded = ValueOrThrow(LoadExecutable(folder / "net")).executable;
  const auto run = [&](bool c) {
    return loaded.Run({{"c", NDArray::Scalar(c)}, {"x", Rows({3})}});
  };
  EXPECT_EQ(run(false).status(), absl::OkStatus());
  EXPECT_EQ(run(true).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(run(true).status().message()), HasSubstr("@forever calls itself"));
}

// Shapes that a manifest promises and an array does not have.
TEST(SavedProgramsTest, ALieAboutExtentsIsRefusedInTheRun) {
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(kCut), folder / "net"), absl::OkStatus());
  const std::string manifest = folder / "net/tenon.json";
  auto json = nlohmann::ordered_json::parse(ReadText(manifest));
  json["program"]["functions"][0]["steps"][0]["axis"] = 1;
  WriteText(manifest, json.dump());
  const absl::StatusOr<runtime::SavedExecutable> loaded = LoadExecutable(folder / "net");
  if (!loaded.ok()) {
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss);
    return;
  }
  EXPECT_THAT(
      std::string(
          loaded->executable.Run({{"x", Rows({9, 4})}, {"w", Rows({5, 4})}, {"n", Count(2)}})
              .status()
              .message()),
      HasSubstr("a part of the program is given an array of shape (9, 2); it takes (2, 4)"));
}

TEST(SavedProgramsTest, AFileOfAnotherProgramIsRefused) {
  namespace fs = std::filesystem;
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(LoweredFor(kCut), folder / "a"), absl::OkStatus());
  ASSERT_EQ(SaveExecutable(LoweredFor(kIf), folder / "b"), absl::OkStatus());
  for (const char* file : {"graph.json", "tenon.json", "kernels.so", "params.bin"}) {
    const std::string mixed = folder / "mixed";
    fs::remove_all(mixed);
    fs::copy(folder / "a", mixed);
    fs::copy(folder / (std::string("b/") + file), mixed + "/" + file,
             fs::copy_options::overwrite_existing);
    const absl::Status status = LoadExecutable(mixed).status();
    // Both have no constants.
    if (std::string(file) == "params.bin") continue;
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << file;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not the file that was saved"));
  }
  for (const char* file : {"graph.json", "tenon.json", "kernels.so"}) {
    const std::string cut = folder / "cut";
    fs::remove_all(cut);
    fs::copy(folder / "a", cut);
    const std::string bytes = ReadText(cut + "/" + file);
    WriteText(cut + "/" + file, bytes.substr(0, bytes.size() / 2));
    EXPECT_EQ(LoadExecutable(cut).status().code(), absl::StatusCode::kDataLoss) << file;
  }
}

TEST(LowerProgramTest, AModuleOfOnePlanIsAProgramOfOnePart) {
  const std::string text = "def @main(%x: Tensor[(5), float32]) { exp(%x) }";
  EXPECT_FALSE(IsProgram(Parsed(text)));
  const LoweredProgram lowered = LoweredFor(text);
  EXPECT_EQ(lowered.program.parts.size(), 1U);
  EXPECT_EQ(lowered.program.functions[0].steps.size(), 1U);
}

}  // namespace
}  // namespace tenon
