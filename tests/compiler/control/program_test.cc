// Modules with control flow: what runs, against values that the tests compute themselves and
// against the interpreter.
#include "tenon/runtime/program.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>

#include "tenon/ir/structural.h"
#include "tenon/passes/pipeline.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;

NDArray Vector(const std::vector<float>& values) {
  return NDArray::FromVector<float>({static_cast<std::int64_t>(values.size())}, values);
}

// Compiled at every level, and interpreted: all must agree.
std::vector<NDArray> Results(const ir::Module& module, const runtime::Inputs& inputs) {
  const ir::Module typed = passes::InferType(module);
  std::vector<NDArray> in_order;
  for (const ir::Expr& param : typed.Main().params)
    in_order.push_back(inputs.at(ir::Var(param).name()));
  const std::vector<NDArray> expected = verify::Interpret(typed, in_order);
  for (int level = 0; level <= 4; ++level) {
    SCOPED_TRACE(StrCat("level ", level));
    const Executable exe = ValueOrThrow(Compile(module, {.opt_level = level, .verify = true}));
    ExpectClose(ValueOrThrow(exe.Run(inputs)), expected);
  }
  return expected;
}

std::vector<NDArray> Ran(const ir::Module& module, const runtime::Inputs& inputs) {
  return ValueOrThrow(ValueOrThrow(Compile(module)).Run(inputs));
}

std::string WhyNot(const std::string& text) {
  return std::string(Compile(Parsed(text)).status().message());
}

// What a binding says of a cut is compared with what values give, wherever the array goes.
TEST(ProgramTest, ACutGivesTheNumberThatItsTypeSays) {
  for (const char* result : {"%y", "exp(%y)", "(%x, %y)"}) {
    SCOPED_TRACE(result);
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64]) {\n"
                      "  let %y: Tensor[(4), float32] = take_first(%x, %n); ",
                      result, " }"));
    const Executable exe = ValueOrThrow(Compile(module));
    const NDArray x = Vector({1, 2, 3, 4, 5, 6});
    const auto run = [&](std::int64_t n) {
      return exe.Run({{"x", x}, {"n", NDArray::FromVector<std::int64_t>({1}, {n})}});
    };
    EXPECT_EQ(run(4).value().back().shape(), Shape({4}));
    for (const std::int64_t n : {0, 3, 5, 6}) {
      EXPECT_THAT(std::string(run(n).status().message()),
                  HasSubstr(StrCat("values of the run give an extent of ", n,
                                   "; the type of the result says 4")));
    }
  }
}

constexpr char kBranches[] = R"(
def @main(%c: bool, %x: Tensor[(5), float32], %y: Tensor[(5), float32]) {
  %0 = exp(%x);
  if (%c) { add(%0, %y) } else { multiply(%0, negative(%x)) }
})";

TEST(ProgramTest, AnIfRunsTheBranchThatItsConditionSays) {
  const NDArray x = Vector({0, 1, -1, 2, 0.5}), y = Vector({1, 2, 3, 4, 5});
  for (const bool c : {true, false}) {
    const auto results =
        Results(Parsed(kBranches), {{"c", NDArray::Scalar(c)}, {"x", x}, {"y", y}});
    const std::vector<float> got = results.at(0).ToVector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float a = x.data<float>()[i], b = y.data<float>()[i];
      EXPECT_NEAR(got[i], c ? std::exp(a) + b : std::exp(a) * -a, 1e-4);
    }
  }
}

TEST(ProgramTest, TheOtherBranchDoesNotRun) {
  // It would never end.
  const ir::Module module = Parsed(R"(
def @forever(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { @forever(exp(%x)) }
def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { @forever(%x) } else { negative(%x) } })");
  const auto results = Results(module, {{"c", NDArray::Scalar(false)}, {"x", Vector({1, 2, 3})}});
  EXPECT_EQ(results.at(0).ToVector<float>(), (std::vector<float>{-1, -2, -3}));
}

TEST(ProgramTest, NestedIfsAndTuples) {
  const ir::Module module = Parsed(R"(
def @main(%a: bool, %b: bool, %x: Tensor[(2, 3), float32]) {
  let %s = sum(%x);
  let %t = if (%a) {
    if (%b) { (%x, %s) } else { (exp(%x), multiply(%s, 2f)) }
  } else {
    (if (%b) { tanh(%x) } else { %x }, 7f)
  };
  (add(%t.0, %t.1), %t.1, %x)
})");
  const NDArray x = NDArray::FromVector<float>({2, 3}, {0, 1, -1, 2, .5, 3});
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      const auto results =
          Results(module, {{"a", NDArray::Scalar(a)}, {"b", NDArray::Scalar(b)}, {"x", x}});
      EXPECT_NEAR(results.at(1).data<float>()[0], a ? (b ? 5.5 : 11) : 7, 1e-5);
      EXPECT_TRUE(results.at(2).SameBytes(x));
    }
  }
}

TEST(ProgramTest, AValueThatBothBranchesUseIsComputedOnce) {
  const ir::Module module = Parsed(kBranches);
  const Executable exe = ValueOrThrow(Compile(module));
  ASSERT_NE(exe.program(), nullptr);
  std::size_t branches = 0;
  for (const runtime::Step& step : exe.program()->functions[0].steps)
    branches += step.kind == runtime::StepKind::kBranch ? 1 : 0;
  EXPECT_EQ(branches, 1);
  EXPECT_EQ(exe.program()->functions.size(), 3);
}

// --- loops

constexpr char kLoop[] = R"(
def @loop(%i: int64, %n: int64, %x: Tensor[(3), float32]) -> (int64, Tensor[(3), float32]) {
  if (less(%i, %n)) { @loop(add(%i, 1i64), %n, add(multiply(%x, 0.5f), 1f)) } else { (%i, %x) }
}
def @main(%n: int64, %x: Tensor[(3), float32]) { @loop(0i64, %n, %x) })";

TEST(ProgramTest, ATailCallIsALoopOfAnyCount) {
  const Executable exe = ValueOrThrow(Compile(Parsed(kLoop)));
  for (const std::int64_t n : {0, 1, 2, 7, 50000}) {
    const NDArray x = Vector({1, -3, 8});
    const auto results = ValueOrThrow(exe.Run({{"n", NDArray::Scalar<std::int64_t>(n)}, {"x", x}}));
    EXPECT_EQ(results.at(0).data<std::int64_t>()[0], n);
    std::vector<float> expected = x.ToVector<float>();
    for (std::int64_t i = 0; i < n; ++i) {
      for (float& value : expected) value = value * 0.5F + 1.0F;
    }
    ExpectClose(results.at(1), Vector(expected));
  }
}

TEST(ProgramTest, LoopsAgreeWithTheInterpreterAtEveryLevel) {
  for (const std::int64_t n : {0, 1, 13})
    Results(Parsed(kLoop), {{"n", NDArray::Scalar<std::int64_t>(n)}, {"x", Vector({1, -3, 8})}});
}

TEST(ProgramTest, NotANumberIsCarriedThroughALoop) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto results = Ran(
      Parsed(kLoop), {{"n", NDArray::Scalar<std::int64_t>(100)}, {"x", Vector({nan, inf, -inf})}});
  EXPECT_TRUE(std::isnan(results.at(1).data<float>()[0]));
  EXPECT_EQ(results.at(1).data<float>()[1], inf);
  EXPECT_EQ(results.at(1).data<float>()[2], -inf);
}

TEST(ProgramTest, AWriteIntoACarriedArrayIsDoneInPlace) {
  const ir::Module module = Parsed(R"(
def @loop(%i: int64, %n: int64, %rows: Tensor[(6, 2), float32]) -> Tensor[(6, 2), float32] {
  if (less(%i, %n)) {
    let %row = broadcast_to(cast(%i, dtype="float32"), shape=[2]);
    @loop(add(%i, 1i64), %n, scatter_nd(%rows, reshape(%i, newshape=[1]), %row))
  } else { %rows }
}
def @main(%n: int64, %rows: Tensor[(6, 2), float32]) { @loop(0i64, %n, %rows) })");
  const NDArray rows = NDArray::FromVector<float>({6, 2}, {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
  const NDArray before = rows.Clone();
  const Executable exe = ValueOrThrow(Compile(module));
  bool writes = false;
  for (const runtime::ProgramFunction& function : exe.program()->functions) {
    for (const runtime::Step& step : function.steps)
      writes = writes || step.kind == runtime::StepKind::kWrite;
  }
  EXPECT_TRUE(writes);
  for (const std::int64_t n : {0, 1, 5, 6, 8}) {  // places past the end are left out
    const auto results = Results(module, {{"n", NDArray::Scalar<std::int64_t>(n)}, {"rows", rows}});
    for (std::int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(results.at(0).data<float>()[2 * i + 1], i < n ? static_cast<float>(i) : 9);
    EXPECT_TRUE(rows.SameBytes(before)) << "an input was written";
  }
}

// --- recursion

constexpr char kSum[] = R"(
def @sum(%n: int64) -> int64 {
  if (equal(%n, 0i64)) { 0i64 } else { add(%n, @sum(subtract(%n, 1i64))) }
}
def @main(%n: int64) { @sum(%n) })";

TEST(ProgramTest, RecursionThatIsNoLoopHasALimit) {
  const Executable exe = ValueOrThrow(Compile(Parsed(kSum)));
  const auto sum = [&](std::int64_t n) {
    return exe.Run({{"n", NDArray::Scalar<std::int64_t>(n)}});
  };
  for (const std::int64_t n : {0, 1, 2, 4000})
    EXPECT_EQ(ValueOrThrow(sum(n)).at(0).data<std::int64_t>()[0], n * (n + 1) / 2);
  EXPECT_THAT(std::string(sum(100000).status().message()),
              HasSubstr("@sum is called more than 10000 calls deep"));
  // The executable goes on to work.
  EXPECT_EQ(ValueOrThrow(sum(3)).at(0).data<std::int64_t>()[0], 6);
}

TEST(ProgramTest, RecursionWithoutAConditionIsRefused) {
  const Executable exe = ValueOrThrow(Compile(Parsed(
      "def @f(%x: float32) -> float32 { @g(exp(%x)) } def @g(%x: float32) -> float32 { @f(%x) } "
      "def @main(%x: float32) { @f(%x) }")));
  EXPECT_THAT(std::string(exe.Run({{"x", NDArray::Scalar(1.0F)}}).status().message()),
              HasSubstr("calls itself without a condition, and so without end"));
}

// @g branches and ends; @f calls itself after it in any case.
TEST(ProgramTest, RecursionWithoutAConditionIsRefusedAlsoWhereACalleeBranches) {
  const Executable exe = ValueOrThrow(Compile(Parsed(R"(
def @g(%i: int64, %x: float32) -> float32 {
  if (less(%i, 3i64)) { @g(add(%i, 1i64), add(%x, 1f)) } else { %x }
}
def @f(%x: float32) -> float32 { @f(@g(0i64, %x)) }
def @main(%x: float32, %c: bool) { if (%c) { @f(%x) } else { @g(0i64, %x) } })")));
  const auto run = [&](bool c) {
    return exe.Run({{"x", NDArray::Scalar(1.0F)}, {"c", NDArray::Scalar(c)}});
  };
  EXPECT_THAT(std::string(run(true).status().message()),
              HasSubstr("@f calls itself without a condition, and so without end"));
  EXPECT_EQ(ValueOrThrow(run(false)).at(0).data<float>()[0], 4);
}

TEST(ProgramTest, NestedTuplesAreCarried) {
  const ir::Module module = Parsed(R"(
def @f(%t: (Tensor[(2, 8), float32], (bool, int64)), %i: int64)
    -> (Tensor[(2, 8), float32], (bool, int64)) {
  if (less(%i, 5i64)) {
    @f((nn.softmax(add(%t.0, cast(%t.1.1, dtype="float32"))), (%t.1.0, %i)), add(%i, 1i64))
  } else {
    %t
  }
}
def @main(%x: Tensor[(2, 8), float32], %b: bool, %c: int64) { @f((%x, (%b, %c)), 0i64) })");
  const runtime::Inputs inputs = {{"x", testing_graphs::Random({2, 8}, 3)},
                                  {"b", NDArray::Scalar(true)},
                                  {"c", NDArray::Scalar<std::int64_t>(7)}};
  const auto results = Results(module, inputs);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(*results[1].data<bool>());
  EXPECT_EQ(*results[2].data<std::int64_t>(), 4);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += results[0].data<float>()[i];
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(ProgramTest, FunctionsCallEachOther) {
  const ir::Module module = Parsed(R"(
def @even(%n: int64) -> bool { if (equal(%n, 0i64)) { True } else { @odd(subtract(%n, 1i64)) } }
def @odd(%n: int64) -> bool { if (equal(%n, 0i64)) { False } else { @even(subtract(%n, 1i64)) } }
def @main(%n: int64) { (@even(%n), @odd(%n)) })");
  for (const std::int64_t n : {0, 1, 10, 301}) {
    const auto results = Results(module, {{"n", NDArray::Scalar<std::int64_t>(n)}});
    EXPECT_EQ(results.at(0).data<bool>()[0], n % 2 == 0);
    EXPECT_EQ(results.at(1).data<bool>()[0], n % 2 == 1);
  }
}

TEST(ProgramTest, TreesOfCallsKeepTheirValuesApart) {
  const ir::Module module = Parsed(R"(
def @fib(%n: int64) -> int64 {
  if (less(%n, 2i64)) { %n } else { add(@fib(subtract(%n, 1i64)), @fib(subtract(%n, 2i64))) }
}
def @main(%n: int64) { @fib(%n) })");
  EXPECT_EQ(
      Results(module, {{"n", NDArray::Scalar<std::int64_t>(11)}}).at(0).data<std::int64_t>()[0],
      89);
}

// --- references, matches and type parameters

TEST(ProgramTest, ReferencesHaveTheValueThatWasLastWritten) {
  const ir::Module module = Parsed(R"(
def @bump(%r: ref(float32), %by: float32) -> float32 {
  let %old = ref_read(%r);
  let %_ = ref_write(%r, add(%old, %by));
  %old
}
def @main(%c: bool, %x: float32) {
  let %r = ref(%x);
  let %s = ref(10f);
  let %a = @bump(%r, 1f);
  let %b = if (%c) {
    let %_ = ref_write(%s, ref_read(%r));
    @bump(%r, 100f)
  } else {
    ref_read(%s)
  };
  (%a, %b, ref_read(%r), ref_read(%s))
})");
  for (const bool c : {true, false}) {
    const auto results = Results(module, {{"c", NDArray::Scalar(c)}, {"x", NDArray::Scalar(5.0F)}});
    std::vector<float> got;
    for (const NDArray& result : results) got.push_back(*result.data<float>());
    EXPECT_EQ(got, c ? (std::vector<float>{5, 6, 106, 6}) : (std::vector<float>{5, 10, 6, 10}));
  }
}

// The argument is read before the callee writes, also where the callee is inlined.
TEST(ProgramTest, ArgumentsAreEvaluatedBeforeTheCall) {
  const ir::Module module = Parsed(R"(
def @set(%r: ref(float32), %v: float32) -> float32 {
  let %_ = ref_write(%r, 0f);
  add(%v, ref_read(%r))
}
def @main(%x: float32) { let %r = ref(%x); @set(%r, ref_read(%r)) })");
  EXPECT_EQ(*Results(module, {{"x", NDArray::Scalar(5.0F)}}).at(0).data<float>(), 5);
}

TEST(ProgramTest, ALoopOverAReference) {
  const ir::Module module = Parsed(R"(
def @loop(%i: int64, %sum: ref(int64)) -> () {
  if (equal(%i, 0i64)) { () } else {
    let %_ = ref_write(%sum, add(ref_read(%sum), %i));
    @loop(subtract(%i, 1i64), %sum)
  }
}
def @main(%n: int64) { let %sum = ref(0i64); let %_ = @loop(%n, %sum); ref_read(%sum) })");
  for (const std::int64_t n : {0, 1, 100})
    EXPECT_EQ(*Results(module, {{"n", NDArray::Scalar(n)}}).at(0).data<std::int64_t>(),
              n * (n + 1) / 2);
}

// ReferencesToValues leaves no lets, whose variables a function that is a value may read. The
// interpreter does not take such functions.
TEST(ProgramTest, AFunctionThatIsAValueReadsVariablesBesideReferences) {
  const ir::Module module = Parsed(R"(
def @main(%c: bool, %x: float32) {
  let %r = ref(%x);
  let %_ = ref_write(%r, add(%x, 1f));
  let %v = ref_read(%r);
  let %f = fn (%p: float32) -> float32 { if (%c) { multiply(%p, %v) } else { %p } };
  (%f(%x), %f(%v))
})");
  for (const bool c : {true, false}) {
    const auto results = Ran(module, {{"c", NDArray::Scalar(c)}, {"x", NDArray::Scalar(5.0F)}});
    EXPECT_EQ(*results.at(0).data<float>(), c ? 30 : 5);
    EXPECT_EQ(*results.at(1).data<float>(), c ? 36 : 6);
  }
}

TEST(ProgramTest, WhatAReferenceCannotDoIsSaidInWords) {
  EXPECT_THAT(WhyNot("def @main(%x: float32) { ref(%x) }"),
              HasSubstr("@main returns a value of type ref(float32)"));
  EXPECT_THAT(WhyNot("def @main(%r: ref(float32)) { ref_read(ref(ref_read(%r))) }"),
              HasSubstr("@main takes a value of type ref(float32)"));
  EXPECT_THAT(WhyNot("def @main(%c: bool, %x: float32) { let %a = ref(%x); let %b = ref(2f); "
                     "ref_read(if (%c) { %a } else { %b }) }"),
              HasSubstr("a branch of an if gives a reference"));
  EXPECT_THAT(WhyNot("def @f(%a: ref(float32), %b: ref(float32)) { ref_read(%a) } "
                     "def @main(%x: float32) { let %r = ref(%x); @f(%r, %r) }"),
              HasSubstr("one reference is passed to a function twice"));
  EXPECT_THAT(WhyNot("def @main(%x: float32) { ref_read(%x) }"),
              HasSubstr("ref_read: the first argument must be a reference"));
}

TEST(ProgramTest, InstancesOfAGenericFunctionHaveTheirOwnTypes) {
  const ir::Module module = Parsed(R"(
def @times[A](%n: int64, %x: A, %by: A) -> A {
  if (equal(%n, 0i64)) { %x } else { @times(subtract(%n, 1i64), multiply(%x, %by), %by) }
}
def @main(%n: int64, %x: float32, %v: Tensor[(3), float32]) {
  match ((@times(%n, %x, 2f), @times(%n, %v, %v))) { (%a, %b) => { (%b, %a) } }
})");
  const auto results = Results(module, {{"n", NDArray::Scalar<std::int64_t>(3)},
                                        {"x", NDArray::Scalar(3.0F)},
                                        {"v", Vector({1, 2, -1})}});
  EXPECT_EQ(results.at(0).ToVector<float>(), (std::vector<float>{1, 16, 1}));
  EXPECT_EQ(*results.at(1).data<float>(), 24);
}

// --- what runs it

TEST(ProgramTest, ThreadsShareAnExecutable) {
  const Executable exe = ValueOrThrow(Compile(Parsed(kLoop)));
  std::vector<std::vector<NDArray>> results(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      const auto n = static_cast<std::int64_t>(1000 * t);
      results[t] = ValueOrThrow(
          exe.Run({{"n", NDArray::Scalar(n)}, {"x", Vector({static_cast<float>(t), 2, 3})}}));
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < results.size(); ++t) {
    EXPECT_EQ(results[t].at(0).data<std::int64_t>()[0], static_cast<std::int64_t>(1000 * t));
    EXPECT_NEAR(results[t].at(1).data<float>()[1], 2, 1e-6);
  }
}

TEST(ProgramTest, ASessionProfilesEachKernelOverAllTurns) {
  runtime::Session session(ValueOrThrow(Compile(Parsed(kLoop))));
  std::vector<runtime::NodeTime> times;
  const runtime::Inputs inputs = {{"n", NDArray::Scalar<std::int64_t>(100)},
                                  {"x", Vector({1, 2, 3})}};
  ValueOrThrow(session.RunProfiled(inputs, &times));
  EXPECT_FALSE(times.empty());
  EXPECT_LT(times.size(), 10U);
}

TEST(ProgramTest, ResultsShareNoMemory) {
  const ir::Module module = Parsed(R"(
def @main(%c: bool, %x: Tensor[(2), float32]) { if (%c) { (%x, %x) } else { (exp(%x), %x) } })");
  const NDArray x = Vector({1, 2});
  const auto results = Ran(module, {{"c", NDArray::Scalar(true)}, {"x", x}});
  results.at(0).data<float>()[0] = 5;
  EXPECT_EQ(results.at(1).data<float>()[0], 1);
  EXPECT_EQ(x.data<float>()[0], 1);
}

TEST(ProgramTest, InputsThatDoNotFitAreNamed) {
  const Executable exe = ValueOrThrow(Compile(Parsed(kLoop)));
  EXPECT_THAT(std::string(exe.Run({{"x", Vector({1, 2, 3})}}).status().message()),
              HasSubstr("input 'n' is missing; it must be int64 ()"));
  EXPECT_THAT(std::string(exe.Run({{"n", NDArray::Scalar<std::int64_t>(1)}, {"x", Vector({1})}})
                              .status()
                              .message()),
              HasSubstr("input 'x' is float32 (1,); it must be float32 (3,)"));
}

TEST(ProgramTest, ACacheChangesNoBit) {
  // Empty, then warm.
  testing_graphs::Outcome(Parsed(kBranches), {{"c", NDArray::Scalar(true)},
                                              {"x", Vector({0, 1, -1, 2, 0.5})},
                                              {"y", Vector({1, 2, 3, 4, 5})}});
}

// --- refusals

TEST(ProgramTest, WhatCannotBeIsSaidInWords) {
  EXPECT_THAT(
      WhyNot("def @main(%c: Tensor[(1), bool], %x: float32) { if (%c) { %x } else { %x } }"),
      HasSubstr("the condition of an if is Tensor[(1), bool]; it must be a bool without "
                "axes"));
  EXPECT_THAT(WhyNot("def @main(%c: float32) { if (%c) { %c } else { %c } }"),
              HasSubstr("the condition of an if is float32; it must be a bool without axes"));
  EXPECT_THAT(WhyNot("def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { %x } else { "
                     "sum(%x) } }"),
              AllOf(HasSubstr("one branch of an if is "), HasSubstr("Tensor[(3), float32]"),
                    HasSubstr("both must be of one type")));
  EXPECT_THAT(WhyNot("def @f(%x: float32) { @f(%x) } def @main(%x: float32) { @f(%x) }"),
              HasSubstr("the result type of @f, which calls itself, cannot be inferred; annotate "
                        "it"));
}

TEST(ProgramTest, NeedsOfAnotherFormAreRefusedInWords) {
  const auto refusal = [](const char* needs) {
    return WhyNot(StrCat("def @g(%c: bool, %x: Tensor[(3), float32], Needs=", needs,
                         ") -> Tensor[(3), float32] { if (%c) { @g(%c, exp(%x)) } else { %x } }\n"
                         "def @main(%c: bool, %x: Tensor[(3), float32]) "
                         "-> Tensor[(3), float32] { @g(%c, %x) }"));
  };
  EXPECT_EQ(refusal(R"(["3", "<=", "3", "exp"])"), "");
  EXPECT_THAT(refusal("[1, 2, 3, 4]"), HasSubstr("the value 0, which is no text"));
  EXPECT_THAT(refusal(R"(["3"])"), HasSubstr("a list of four texts a condition"));
  EXPECT_THAT(refusal(R"(["3", "<", "4", "exp"])"), HasSubstr("compares by \"<\""));
  EXPECT_THAT(refusal(R"(["3, 4", "=", "3", "exp"])"), HasSubstr("where one extent stands"));
  EXPECT_THAT(refusal(R"(["(", "=", "3", "exp"])"), HasSubstr("("));
}

// The function stands in the place of its call, and a division by three numbers in that of the
// operator. It would take one column.
TEST(ProgramTest, WhatFunctionsNeedIsNeededBesideAnIf) {
  const auto message = [](const std::string& body) {
    const Executable exe = ValueOrThrow(Compile(Parsed(
        StrCat("def @f(%x: Tensor[(", body.starts_with("add") ? "n" : "3",
               "), float32], %y: Tensor[(2, n), float32]) -> Tensor[(2, n), float32] { ", body,
               " }\ndef @main(%c: bool, %a: Tensor[(3), float32], %b: Tensor[(2, m), float32]) {\n"
               "  %0 = @f(%a, %b); if (%c) { exp(%0) } else { %0 } }"))));
    return std::string(exe.Run({{"c", NDArray::Scalar(true)},
                                {"a", Vector({1, 2, 3})},
                                {"b", NDArray::FromVector<float>({2, 1}, {1, 2})}})
                           .status()
                           .message());
  };
  const std::string quantized =
      "cast(qnn.quantize(%y, %x, 0, out_dtype=\"int8\", axis=1), dtype=\"float32\")";
  EXPECT_THAT(message(quantized), HasSubstr("3 == m, for qnn.quantize"));
  EXPECT_THAT(message("add(%x, %y)"), HasSubstr("m == 3, for %b"));
  // A function whose calls stay is asked when it is called.
  EXPECT_THAT(message(StrCat("%1 = ", quantized,
                             "; if (less(sum(%1), -1000f)) { @f(%x, %1) } else { %1 }")),
              HasSubstr("3 == n, for qnn.quantize"));
}

TEST(ProgramTest, LoweringIsRefusedInWords) {
  EXPECT_THAT(std::string(Lower(Parsed(kLoop)).status().message()),
              HasSubstr("a module with control flow has no single plan"));
}

TEST(ProgramTest, WithoutThePassThatOutlinesBranchesItWorksAsWell) {
  const NDArray x = Vector({0, 1, -1, 2, 0.5}), y = Vector({1, 2, 3, 4, 5});
  const runtime::Inputs inputs = {{"c", NDArray::Scalar(true)}, {"x", x}, {"y", y}};
  const Executable exe =
      ValueOrThrow(Compile(Parsed(kBranches), {.disabled_passes = {"OutlineBranches"}}));
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Ran(Parsed(kBranches), inputs));
}

TEST(ProgramTest, AFunctionLiteralMayBeCalledInBothBranches) {
  const ir::Module module = Parsed(R"(
def @main(%c: bool, %x: Tensor[(3), float32], %y: Tensor[(3), float32]) {
  %0 = fn (%p: Tensor[(3), float32], Primitive=1) { exp(%p) };
  if (%c) { %0(%x) } else { if (less(sum(%x), 0f)) { %0(%y) } else { add(%0(%x), %0(%y)) } }
})");
  for (const bool c : {true, false})
    Results(module,
            {{"c", NDArray::Scalar(c)}, {"x", Vector({1, 2, 3})}, {"y", Vector({0, 1, 4})}});
}

// Written as the pass would write them, and with its mark on what it would not.
TEST(ProgramTest, FunctionsThatAreNothingButAnIf) {
  const ir::Module module = Parsed(R"(
def @twice(%x: float32) { add(%x, %x) }
def @minus(%x: float32) { negative(%x) }
def @pick(%c: bool, %x: float32) { if (%c) { @twice(%x) } else { @minus(%x) } }
def @odd(%c: bool, %x: float32, Outlined=1) { if (%c) { exp(%x) } else { @pick(%c, %x) } }
def @main(%c: bool, %x: float32) { if (%c) { @pick(%c, %x) } else { @odd(%c, %x) } })");
  for (const bool c : {true, false}) {
    const runtime::Inputs inputs = {{"c", NDArray::Scalar(c)}, {"x", NDArray::Scalar(3.0F)}};
    EXPECT_EQ(*Results(module, inputs).at(0).data<float>(), c ? 6 : -3);
    // Not inlined.
    const Executable exe = ValueOrThrow(Compile(module, {.disabled_passes = {"Inline"}}));
    EXPECT_EQ(*ValueOrThrow(exe.Run(inputs)).at(0).data<float>(), c ? 6 : -3);
  }
}

TEST(ProgramTest, AnIfOfAConstantIsItsBranch) {
  const Executable exe = ValueOrThrow(
      Compile(Parsed("def @main(%x: float32) { if (True) { exp(%x) } else { negative(%x) } }")));
  EXPECT_EQ(exe.program()->functions.size(), 1U);
  EXPECT_NEAR(*ValueOrThrow(exe.Run({{"x", NDArray::Scalar(1.0F)}})).at(0).data<float>(), 2.71828,
              1e-4);
}

// --- passes

TEST(ControlPassesTest, EveryPassLeavesAValidModuleOfTheSameValue) {
  const ir::Module module = passes::InferType(Parsed(R"(
def @loop(%i: int64, %w: Tensor[(4, 4), float32], %x: Tensor[(1, 4), float32])
    -> Tensor[(1, 4), float32] {
  if (less(%i, 3i64)) {
    let %y = nn.dense(%x, %w);
    @loop(add(%i, 1i64), %w, nn.relu(add(multiply(%y, 1f), %y)))
  } else { %x }
}
def @main(%c: bool, %w: Tensor[(4, 4), float32], %x: Tensor[(1, 4), float32]) {
  %0 = if (%c) { @loop(0i64, %w, %x) } else { nn.softmax(%x) };
  add(%0, %x)
})"));
  const std::vector<NDArray> data = {testing_graphs::Random({4, 4}, 1),
                                     testing_graphs::Random({1, 4}, 2)};
  for (const std::string& name : passes::ExactPassNames()) {
    SCOPED_TRACE(name);
    const passes::Pass pass = passes::FindPass(name, strategies::EvaluateCall);
    const ir::Module made =
        passes::InferType(passes::RunPasses({pass}, module, {.opt_level = 4, .verify = true}));
    const ir::Module again = Parsed(ir::PrintModule(made));
    EXPECT_TRUE(ir::StructuralEqual(passes::InferType(again), made)) << ir::PrintModule(made);
    for (const bool c : {true, false})
      ExpectClose(verify::Interpret(made, {NDArray::Scalar(c), data[0], data[1]}),
                  verify::Interpret(module, {NDArray::Scalar(c), data[0], data[1]}));
  }
}

TEST(ControlPassesTest, BranchesComeBackAsTheyWere) {
  const ir::Module module = passes::InferType(Parsed(kBranches));
  const ir::Module made = passes::RunPasses(
      {passes::FindPass("OutlineBranches", nullptr), passes::FindPass("RestoreBranches", nullptr)},
      module, {.opt_level = 4, .verify = true});
  EXPECT_TRUE(ir::StructuralEqual(made, module)) << ir::PrintModule(made);
}

TEST(ControlPassesTest, FusionWorksInsideBranches) {
  const ir::Module made =
      passes::RunPasses({passes::FindPass("FuseOps", nullptr)},
                        passes::InferType(Parsed(kBranches)), {.opt_level = 4, .verify = true});
  const std::string text = ir::PrintModule(made);
  EXPECT_THAT(text, AllOf(HasSubstr("if (%c) {"), HasSubstr("Primitive=1")));
  EXPECT_EQ(made.functions().size(), 1U) << text;
}

}  // namespace
}  // namespace tenon
