// Kernels that share machine code since they differ in numbers only.
#include "tenon/jit/machine_code.h"

#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/final_loops.h"
#include "tenon/schedule/lower.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/jit/guarded_array.h"
#include "tenon/tests/testing/scratch_folder.h"

namespace tenon::jit {
namespace {

using te::Tensor;
using te::Var;
using ::testing::SizeIs;

// Rows times a term, by vectors and in parallel.
struct Rows {
  Rows(const te::Expr& rows, std::int64_t columns, float term)
      : in(te::Placeholder({rows, columns}, Float32, "in")),
        out(te::Compute(
            {rows, columns}, [&](Var i, Var j) { return te::Exp(in(i, j)) * term + 0.75F; },
            "out")) {}
  loop::Function Lowered(const std::string& name) const {
    schedule::Schedule s(out);
    s[out].Vectorize(s[out].Split(out.axis(1), 16).second);
    s[out].Parallel(out.axis(0));
    loop::Function function = schedule::Lower(s, {in, out}, name);
    function.origin = "rows of " + name;
    return function;
  }
  Tensor in, out;
};

struct Case {
  std::int64_t columns;
  float term;
};
// Two of 20 and 30 vectors and two with a part of one more; the last two terms are numbers with
// which arithmetic may be simpler.
constexpr Case kCases[] = {{320, 0.3F}, {480, 1e20F}, {335, 0.3F},
                           {495, 7.0F}, {320, -0.0F}, {320, -1.0F}};
constexpr std::size_t kSkeletons = 4;

std::vector<loop::Function> FunctionsOf(const std::vector<Rows>& all) {
  std::vector<loop::Function> functions;
  for (const Rows& rows : all) functions.push_back(rows.Lowered(StrCat("rows ", functions.size())));
  return functions;
}

std::vector<Rows> Symbolic() {
  std::vector<Rows> all;
  for (const Case& c : kCases) all.emplace_back(Var("n"), c.columns, c.term);
  return all;
}

std::vector<Rows> Fixed() {
  std::vector<Rows> all;
  for (const Case& c : kCases) all.emplace_back(5, c.columns, c.term);
  return all;
}

MachineCode CodeOf(const std::vector<Rows>& all, const CompileOptions& options, Part part = {}) {
  const std::vector<loop::Function> functions = FunctionsOf(all);
  std::vector<loop::Function> finals;
  for (const loop::Function& function : functions)
    finals.push_back(AfterPipeline(function, options.may_reassociate()));
  return MakeMachineCode(functions, finals, options, *OrcSession::Shared(), part);
}

// Those of kernels that are compiled alone.
void ExpectResultsOf(const std::vector<loop::Function>& functions, const CompileOptions& options) {
  const std::vector<Kernel> kernels = CompileAll(functions, options).value();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const NDArray in = GuardedNumbers({5, kCases[i].columns}, Float32, Place::kAtTheEnd, 7);
    const NDArray out = GuardedNumbers({5, kCases[i].columns}, Float32, Place::kAtTheEnd, 8);
    const NDArray wanted = GuardedNumbers({5, kCases[i].columns}, Float32, Place::kAtTheEnd, 9);
    ASSERT_TRUE(kernels[i](in, out).ok());
    const Kernel alone = Compile(functions[i], {.runs_once = options.runs_once}).value();
    ASSERT_TRUE(alone(in, wanted).ok());
    EXPECT_TRUE(out.SameBytes(wanted)) << i;
  }
}

TEST(MachineCodeTest, KernelsWithExtentsThatDifferInNumbersShareCode) {
  EXPECT_THAT(CodeOf(Symbolic(), {}).objects, SizeIs(kSkeletons));
  ExpectResultsOf(FunctionsOf(Symbolic()), {});
}

TEST(MachineCodeTest, KernelsWithoutExtentsShareOnlyIfTheyRunOnce) {
  EXPECT_THAT(CodeOf(Fixed(), {}).objects, SizeIs(std::size(kCases)));
  EXPECT_THAT(CodeOf(Fixed(), {.runs_once = true}).objects, SizeIs(kSkeletons));
  ExpectResultsOf(FunctionsOf(Fixed()), {.runs_once = true});
}

TEST(MachineCodeTest, KernelsThatCheckTheirBoundsShareNothing) {
  EXPECT_THAT(CodeOf(Symbolic(), {.check_bounds = true}).objects, SizeIs(std::size(kCases)));
}

TEST(MachineCodeTest, SharedCodeComesFromTheCacheWithEachKernelsNumbers) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  const MachineCode cold = CodeOf(Symbolic(), options);
  EXPECT_TRUE(cold.is_compiled);
  const MachineCode warm = CodeOf(Symbolic(), options);
  EXPECT_FALSE(warm.is_compiled);
  ASSERT_THAT(warm.objects, SizeIs(cold.objects.size()));
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    EXPECT_EQ(warm.uses[i].numbers, cold.uses[i].numbers);
    EXPECT_EQ(warm.uses[i].symbol, cold.uses[i].symbol);
    EXPECT_EQ(warm.objects[warm.uses[i].object].bytes, cold.objects[cold.uses[i].object].bytes);
  }
  ExpectResultsOf(FunctionsOf(Symbolic()), options);
}

TEST(MachineCodeTest, PartsFillTheCacheForTheWhole) {
  for (const std::vector<Rows>& all : {Symbolic(), Fixed()}) {
    const ScratchFolder folder;
    const CompileOptions options{.cache_dir = folder.path()};
    const MachineCode first = CodeOf(all, options, {.number = 0, .of = 3});
    for (std::size_t part = 1; part < 3; ++part)
      EXPECT_TRUE(CodeOf(all, options, {.number = part, .of = 3}).is_compiled);
    const MachineCode whole = CodeOf(all, options);
    EXPECT_FALSE(whole.is_compiled);
    EXPECT_THAT(first.objects, SizeIs(testing::Lt(whole.objects.size())));
  }
}

// A kernel that was compiled beside others may have another code than alone.
TEST(MachineCodeTest, TheCacheOfOtherCompaniesIsNotUsed) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  (void)CodeOf(Symbolic(), options);
  std::vector<Rows> fewer = Symbolic();
  fewer.erase(fewer.begin() + 2);
  const MachineCode without = CodeOf(fewer, {}), cached = CodeOf(fewer, options);
  ASSERT_THAT(cached.objects, SizeIs(without.objects.size()));
  for (std::size_t i = 0; i < fewer.size(); ++i)
    EXPECT_EQ(cached.objects[cached.uses[i].object].bytes,
              without.objects[without.uses[i].object].bytes);
}

TEST(MachineCodeTest, TransformsOfACallersOwnAreNotLeftOutForCodeOfTheCache) {
  const ScratchFolder folder;
  const loop::Function function = Rows(5, 320, 0.3F).Lowered("rows");
  ASSERT_TRUE(Compile(function, {.cache_dir = folder.path()}).ok());
  int runs = 0;
  const auto counts = [&](const loop::Stmt& body, const loop::Function&) {
    ++runs;
    return body;
  };
  ASSERT_TRUE(
      Compile(
          function,
          {.cache_dir = folder.path(),
           .pipeline = {.transforms = {{.name = "Counts", .after = "FuseLoops", .run = counts}}}})
          .ok());
  EXPECT_GE(runs, 1);
}

// Sums with a number that code is given are taken for indices, which do not wrap around.
TEST(MachineCodeTest, SumsOfDataWithGreatNumbersWrapAroundInSharedCodeToo) {
  constexpr std::int64_t kNumbers[] = {INT64_MAX - 2, INT64_MAX - 1};
  constexpr std::int32_t kElements = 8;
  std::vector<loop::Function> functions;
  for (const std::int64_t number : kNumbers) {
    const Tensor in = te::Placeholder({Var("n")}, Int32, "in");
    const Tensor out = te::Compute(
        in.shape(), [&](Var i) { return te::Cast(Int64, in(i)) + number > number; }, "out");
    functions.push_back(schedule::Lower(schedule::Schedule(out), {in, out}, "great"));
  }
  const std::vector<Kernel> kernels = CompileAll(functions).value();
  NDArray in = NDArray::Empty({kElements}, Int32);
  for (std::int32_t i = 0; i < kElements; ++i) in.data<std::int32_t>()[i] = i;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const NDArray out = NDArray::Empty({kElements}, Bool);
    ASSERT_TRUE(kernels[k](in, out).ok());
    for (std::int64_t i = 0; i < kElements; ++i)
      EXPECT_EQ(out.data<bool>()[i], i > 0 && i <= INT64_MAX - kNumbers[k]) << k << ", " << i;
  }
}

// LLVM chooses the order of such a sum by the number of its terms.
TEST(MachineCodeTest, KernelsWithSumsOfNumbersInAnyOrderShareNothing) {
  std::vector<loop::Function> functions, finals;
  for (const std::int64_t terms : {40, 1000}) {
    const Var n("n");
    const Tensor in = te::Placeholder({n, terms}, Float32, "in");
    const te::IterVar k = te::ReduceAxis(0, terms);
    const Tensor out = te::Compute(
        {n}, [&](Var i) { return te::Sum(in(i, k.var), {k}); }, "out");
    functions.push_back(schedule::Lower(schedule::Schedule(out), {in, out}, "sum"));
    finals.push_back(AfterPipeline(functions.back(), false));
  }
  EXPECT_THAT(MakeMachineCode(functions, finals, {}, *OrcSession::Shared()).objects, SizeIs(2));
}

}  // namespace
}  // namespace tenon::jit
