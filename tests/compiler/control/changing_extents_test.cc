// Functions whose extents each call decides, and branches that give arrays of different extents:
// compiled, saved and run. Oracles are the interpreter and what a test computes itself.
#include <cstdint>

#include "tenon/compiler/save_executable.h"
#include "tenon/passes/name_run_time_extents.h"
#include "tenon/runtime/program.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon {
namespace {

using jit::ScopedFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;
using testing_graphs::Random;

// Compiled at two levels and saved; all must agree with the interpreter.
void ExpectRuns(const std::string& text, const std::vector<runtime::Inputs>& runs) {
  const ir::Module module = Parsed(text);
  const ir::Module typed = passes::InferType(passes::NameRunTimeExtents(module));
  std::vector<Executable> all;
  for (const int level : {0, 3})
    all.push_back(
        ValueOrThrow(Compile(module, {.opt_level = level, .verify = true, .check_bounds = true})));
  const ScopedFolder folder;
  const LoweredProgram lowered =
      ValueOrThrow(LowerProgram(module, {.library = LibraryChoice::kTe}));
  ASSERT_EQ(SaveExecutable(lowered, folder / "net"), absl::OkStatus());
  all.push_back(ValueOrThrow(runtime::LoadExecutable(folder / "net")).executable);
  for (const runtime::Inputs& inputs : runs) {
    std::vector<NDArray> in_order;
    for (const ir::Expr& param : typed.Main().params)
      in_order.push_back(inputs.at(ir::Var(param).name()));
    const std::vector<NDArray> expected = verify::Interpret(typed, in_order);
    for (std::size_t e = 0; e < all.size(); ++e) {
      SCOPED_TRACE(e);
      ExpectClose(ValueOrThrow(all[e].Run(inputs)), expected);
    }
  }
}

std::string FailureOf(const std::string& text, const runtime::Inputs& inputs) {
  const auto compiled = Compile(Parsed(text));
  if (!compiled.ok()) return std::string(compiled.status().message());
  return std::string(compiled->Run(inputs).status().message());
}

// A row is added in each turn, and all rows are read.
constexpr const char* kGrowing = R"relay(
def @loop(%i: int64, %n: int64, %x: Tensor[(#c, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(#rows, 4), float32] {
  if (less(%i, %n)) {
    %0 = tanh(nn.dense(sum(%x, axis=[0], keepdims=True), %w));
    @loop(add(%i, 1i64), %n, concatenate((%x, %0), axis=0), %w)
  } else {
    take_first(%x, reshape(take(shape_of(%x, dtype="int64"), 0i64, axis=0), newshape=[1]), extent="#rows", keeps_name=True)
  }
}
def @main(%n: int64, %x: Tensor[(3, 4), float32], %w: Tensor[(4, 4), float32]) {
  %0 = @loop(0i64, %n, %x, %w);
  (exp(%0), sum(%0, axis=[0]))
})relay";

TEST(ChangingExtentsTest, ALoopMayMakeWhatItCarriesLarger) {
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : {0, 1, 2, 7, 40})
    runs.push_back({{"n", NDArray::Scalar(n)}, {"x", Random({3, 4}, 3)}, {"w", Random({4, 4}, 4)}});
  ExpectRuns(kGrowing, runs);
  const auto results = ValueOrThrow(ValueOrThrow(Compile(Parsed(kGrowing))).Run(runs[4]));
  EXPECT_EQ(results[0].shape(), (Shape{43, 4}));
}

TEST(ChangingExtentsTest, CallsOfOneFunctionMayHaveOtherExtents) {
  ExpectRuns(R"relay(
def @halve(%x: Tensor[(#c), float32]) -> float32 {
  %0 = take(shape_of(%x, dtype="int64"), 0i64, axis=0);
  if (less(%0, 2i64)) { sum(%x) } else {
    %1 = take_first(%x, reshape(floor_divide(%0, 2i64), newshape=[1]), extent="#half");
    add(multiply(@halve(%1), 0.5f), max(%x))
  }
}
def @main(%x: Tensor[(n), float32], %y: Tensor[(21), float32], %c: bool) {
  %0 = if (%c) { @halve(%x) } else { @halve(concatenate((%x, %y), axis=0)) };
  (%0, @halve(%y))
})relay",
             {{{"x", Random({9}, 3)}, {"y", Random({21}, 4)}, {"c", NDArray::Scalar(true)}},
              {{"x", Random({9}, 5)}, {"y", Random({21}, 6)}, {"c", NDArray::Scalar(false)}},
              {{"x", Random({1}, 5)}, {"y", Random({21}, 6)}, {"c", NDArray::Scalar(true)}}});
}

constexpr const char* kBranches = R"relay(
def @main(%c: bool, %x: Tensor[(5, 2), float32], %n: Tensor[(1), int64]) {
  %0 = if (%c) { take_first(%x, %n, extent="#r", keeps_name=True) } else {
    take_first(concatenate((%x, %x), axis=0), full(10i64, shape=[1], dtype="int64"), extent="#r", keeps_name=True)
  };
  (tanh(%0), sum(%0, axis=[0]))
})relay";

TEST(ChangingExtentsTest, BranchesMayGiveOtherExtents) {
  std::vector<runtime::Inputs> runs;
  for (const bool c : {true, false}) {
    for (const std::int64_t n : {0, 1, 4})
      runs.push_back({{"c", NDArray::Scalar(c)},
                      {"x", Random({5, 2}, 3)},
                      {"n", NDArray::FromVector<std::int64_t>({1}, {n})}});
  }
  ExpectRuns(kBranches, runs);
}

// A call of numbers gives what the function does not know to be numbers.
TEST(ChangingExtentsTest, ResultsOfACallOfNumbersAreNumbers) {
  ExpectRuns(R"relay(
def @f(%i: int64, %x: Tensor[(c, 2), float32]) -> Tensor[(2*c, 2), float32] {
  if (less(%i, 3i64)) { @f(add(%i, 1i64), exp(negative(%x))) } else { concatenate((%x, %x), axis=0) }
}
def @main(%x: Tensor[(5, 2), float32], %y: Tensor[(n, 2), float32], %w: Tensor[(10, 2), float32]) {
  (add(@f(0i64, %x), %w), @f(1i64, exp(%y)))
})relay",
             {{{"x", Random({5, 2}, 3)}, {"y", Random({1, 2}, 4)}, {"w", Random({10, 2}, 5)}},
              {{"x", Random({5, 2}, 3)}, {"y", Random({8, 2}, 4)}, {"w", Random({10, 2}, 5)}}});
}

// A loop whose result is carried by a loop around it.
TEST(ChangingExtentsTest, LoopsInsideOfLoopsHaveTheirOwnExtents) {
  const char* text = R"relay(
def @inner(%i: int64, %n: int64, %x: Tensor[(#c), float32]) -> Tensor[(#in), float32] {
  if (less(%i, %n)) { @inner(add(%i, 1i64), %n, concatenate((%x, multiply(%x, 0.5f)), axis=0)) } else {
    take_first(%x, reshape(take(shape_of(%x, dtype="int64"), 0i64, axis=0), newshape=[1]), extent="#in", keeps_name=True)
  }
}
def @outer(%i: int64, %n: int64, %x: Tensor[(#d), float32]) -> Tensor[(#out), float32] {
  if (less(%i, %n)) {
    %0 = @inner(0i64, %i, %x);
    @outer(add(%i, 1i64), %n, concatenate((exp(negative(%0)), reshape(sum(%0), newshape=[1])), axis=0))
  } else {
    take_first(%x, reshape(take(shape_of(%x, dtype="int64"), 0i64, axis=0), newshape=[1]), extent="#out", keeps_name=True)
  }
}
def @main(%n: int64, %x: Tensor[(2), float32]) { negative(@outer(0i64, %n, %x)) })relay";
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : {0, 1, 2, 4})
    runs.push_back({{"n", NDArray::Scalar(n)}, {"x", Random({2}, 3)}});
  ExpectRuns(text, runs);
}

TEST(ChangingExtentsTest, ATurnThatTakesNoRowsIsACaseOfItsOwn) {
  const char* text = R"relay(
def @loop(%i: int64, %x: Tensor[(#c, 3), float32], %s: Tensor[(3), float32]) -> Tensor[(3), float32] {
  if (less(%i, 4i64)) {
    %0 = reshape(subtract(3i64, %i), newshape=[1]);
    %1 = take_first(%x, %0, extent="#next");
    @loop(add(%i, 1i64), %1, add(%s, sum(exp(%x), axis=[0])))
  } else { %s }
}
def @main(%x: Tensor[(5, 3), float32]) { @loop(0i64, %x, zeros(shape=[3], dtype="float32")) }
)relay";
  ExpectRuns(text, {{{"x", Random({5, 3}, 3)}}});
}

TEST(ChangingExtentsTest, AVariableThatMayNotBe0IsRefusedWith0) {
  const std::string text = R"relay(
def @f(%i: int64, %x: Tensor[(c), float32]) -> float32 {
  if (less(%i, 0i64)) { @f(add(%i, 1i64), %x) } else { max(%x) }
}
def @main(%x: Tensor[(5), float32], %n: Tensor[(1), int64]) { @f(0i64, take_first(%x, %n)) })relay";
  const auto failure = [&](std::int64_t n) {
    return FailureOf(text,
                     {{"x", Random({5}, 3)}, {"n", NDArray::FromVector<std::int64_t>({1}, {n})}});
  };
  EXPECT_EQ(failure(3), "");
  EXPECT_THAT(failure(0), HasSubstr("the extent c is 0 in what @f is given; a variable that may be "
                                    "0 has a name that begins with #"));
}

TEST(ChangingExtentsTest, TwoResultsOfOneVariableMustHaveOneExtent) {
  const std::string text =
      StrCat(std::string(kGrowing).substr(0, std::string(kGrowing).find("def @main")), R"relay(
def @main(%n: int64, %m: int64, %x: Tensor[(3, 4), float32], %w: Tensor[(4, 4), float32]) {
  (exp(@loop(0i64, %n, %x, %w)), exp(@loop(0i64, %m, %x, %w)))
})relay");
  const auto failure = [&](std::int64_t n, std::int64_t m) {
    return FailureOf(text, {{"n", NDArray::Scalar(n)},
                            {"m", NDArray::Scalar(m)},
                            {"x", Random({3, 4}, 3)},
                            {"w", Random({4, 4}, 4)}});
  };
  EXPECT_EQ(failure(2, 2), "");
  EXPECT_THAT(failure(2, 4), AllOf(HasSubstr("the extent #rows is"), HasSubstr("in what a call in "
                                                                               "@main gives")));
}

TEST(ChangingExtentsTest, AResultThatDoesNotShowItsVariableIsRefused) {
  EXPECT_THAT(FailureOf(R"relay(
def @f(%i: int64, %x: Tensor[(5), float32], %n: Tensor[(1), int64]) {
  %0 = take_first(%x, %n, extent="#k");
  if (less(%i, 0i64)) { concatenate((%0, %0), axis=0) } else { concatenate((%0, %0), axis=0) }
}
def @main(%i: int64, %x: Tensor[(5), float32], %n: Tensor[(1), int64]) {
  %0 = if (less(%i, 3i64)) { %1 = take_first(%x, %n, extent="#j"); concatenate((%1, %1), axis=0) } else {
    %2 = take_first(%x, %n, extent="#j"); concatenate((%2, %2), axis=0) };
  exp(%0)
})relay",
                        {}),
              AllOf(HasSubstr("decide the extent #j"), HasSubstr("2*#j"),
                    HasSubstr("may give an array with the extent #j alone")));
}

}  // namespace
}  // namespace tenon
