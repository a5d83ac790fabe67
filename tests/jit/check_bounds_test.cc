// Kernels that check their bounds: an access outside a buffer ends the run in words, touches
// nothing and is told from those that fit.
#include <atomic>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/jit/object/object_code.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/loop/expr.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/lower.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/jit/guarded_array.h"
#include "tenon/tests/testing/scratch_folder.h"

namespace tenon::jit {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::Load;
using loop::Stmt;
using loop::Store;
using loop::Var;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

Buffer Floats(const std::string& name, std::vector<Expr> shape) {
  return Buffer::Make(name, Float32, std::move(shape));
}
Stmt Serial(const Var& var, const Expr& extent, const Stmt& body) {
  return loop::For(var, 0, extent, ForKind::kSerial, body);
}
Stmt Parallel(const Var& var, const Expr& extent, const Stmt& body) {
  return loop::For(var, 0, extent, ForKind::kParallel, body);
}

Kernel Checked(const loop::Function& function) {
  return Compile(function, {.check_bounds = true}).value();
}
// Of a run that must find an access outside.
std::string ErrorOf(const Kernel& kernel, const std::vector<NDArray>& arrays) {
  const absl::Status status = kernel.Run(arrays);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  return std::string(status.message());
}
std::string ErrorOf(const loop::Function& function, const std::vector<NDArray>& arrays) {
  return ErrorOf(Checked(function), arrays);
}

NDArray Numbers(Shape shape, DataType dtype = Float32) {
  return GuardedNumbers(std::move(shape), dtype, Place::kAtTheEnd, 1);
}
NDArray Zeros(Shape shape) { return NDArray::Zeros(std::move(shape), Float32); }
NDArray Indices(const std::vector<std::int64_t>& values) {
  return NDArray::FromVector<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

// B[i + write] = exp(A[i + read]) for i below 16, both of 16 elements.
struct Shifted {
  std::int64_t read = 0, write = 0;
  loop::Function function() const {
    const Buffer a = Floats("A", {16}), b = Floats("B", {4, 4});
    const Var i("i");
    return {.name = "shifted",
            .buffers = {a, b},
            .scalars = {},
            .body = Serial(i, 16, Store(b, te::Exp(Load(a, {i + read})), {i + write}))};
  }
};

TEST(CheckBoundsTest, AReadBeyondTheEndIsNamed) {
  EXPECT_EQ(ErrorOf(Shifted{.read = 1}.function(), {Numbers({16}), Numbers({4, 4})}),
            "kernel shifted: A is read at element 16 of 16 (shape 16): index (i + 1), in the loops "
            "i = 15");
}

TEST(CheckBoundsTest, AReadBeforeTheBeginningIsNamed) {
  EXPECT_EQ(ErrorOf(Shifted{.read = -3}.function(), {Numbers({16}), Numbers({4, 4})}),
            "kernel shifted: A is read at element -3 of 16 (shape 16): index (i + -3), in the "
            "loops i = 0");
}

TEST(CheckBoundsTest, AWriteBeyondTheEndIsNamed) {
  EXPECT_EQ(ErrorOf(Shifted{.write = 100000000}.function(), {Numbers({16}), Numbers({4, 4})}),
            "kernel shifted: B is written at element 100000015 of 16 (shape 4 x 4): index (i + "
            "100000000), in the loops i = 15");
}

TEST(CheckBoundsTest, AWriteBeforeTheBeginningTouchesNothing) {
  const NDArray out = Zeros({4, 4});
  EXPECT_THAT(ErrorOf(Shifted{.write = -1}.function(), {Numbers({16}), out}),
              HasSubstr("B is written at element -1 of 16"));
  EXPECT_TRUE(out.SameBytes(Zeros({4, 4})));
}

TEST(CheckBoundsTest, AKernelThatFitsRunsAsEver) {
  const NDArray in = Numbers({16}), out = Numbers({4, 4});
  ASSERT_TRUE(Checked(Shifted{}.function())(in, out).ok());
  for (std::int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(out.data<float>()[i], std::exp(in.data<float>()[i]), 1e-3);
}

// In vectors, of which only the last one reaches beyond the end.
TEST(CheckBoundsTest, VectorsAreCheckedByTheirLanes) {
  for (const int stride : {1, 3, -1}) {
    SCOPED_TRACE(stride);
    const Buffer a = Floats("A", {64}), b = Floats("B", {64});
    const Var i("i");
    const Expr place = loop::Ramp(i * 16 + (stride < 0 ? 14 : 1), stride, 16);
    const loop::Function f = {
        .name = "f",
        .buffers = {a, b},
        .scalars = {},
        .body = Serial(i, 4, Store(b, Load(a, {place}), {loop::Ramp(i * 16, 1, 16)}))};
    EXPECT_THAT(ErrorOf(f, {Numbers({64}), Numbers({64})}),
                StartsWith(stride < 0    ? "kernel f: A is read at element -1 of 64"
                           : stride == 1 ? "kernel f: A is read at element 64 of 64"
                                         : "kernel f: A is read at element 94 of 64"));
  }
}

// B[16 lanes] = A[lanes at] where the lane is below `active`.
loop::Function Masked(const Expr& place, std::int64_t active, std::int64_t size) {
  const Buffer a = Floats("A", {size}), b = Floats("B", {size});
  const Expr mask = loop::Ramp(0, 1, 16) < loop::Broadcast(active, 16);
  return {
      .name = "masked",
      .buffers = {a, b},
      .scalars = {},
      .body = Store(b, Load(a, {place}, nullptr, mask), {place}, loop::StoreKind::kPlain, mask)};
}

TEST(CheckBoundsTest, LanesThatAreMaskedOutMayLieAnywhere) {
  for (const Expr& place : {loop::Ramp(0, 1, 16), loop::Ramp(0, 1, 16) * loop::Ramp(1, 0, 16)}) {
    const NDArray in = Numbers({11}), out = Numbers({11});
    ASSERT_TRUE(Checked(Masked(place, 11, 11))(in, out).ok());
    EXPECT_TRUE(in.SameBytes(out));
    EXPECT_THAT(ErrorOf(Masked(place, 12, 11), {in, out}),
                HasSubstr("A is read at element 11 of 11 (shape 11)"));
  }
}

// B[i] = A[index[i]], in a parallel loop of vectors of 8 lanes or of scalars.
loop::Function Gathered(int lanes, std::int64_t n, std::int64_t size) {
  const Buffer a = Floats("A", {size}), b = Floats("B", {n});
  const Buffer index = Buffer::Make("index", Int64, {n});
  const Var i("i");
  const Expr place = lanes == 1 ? Expr(i) : loop::Ramp(i * lanes, 1, lanes);
  return {.name = "gathered",
          .buffers = {a, index, b},
          .scalars = {},
          .body = Parallel(i, n / lanes, Store(b, Load(a, {Load(index, {place})}), {place}))};
}

TEST(CheckBoundsTest, AnIndexThatIsReadIsCheckedInAParallelLoop) {
  const ScopedThreads threads(4);
  for (const int lanes : {1, 8}) {
    SCOPED_TRACE(lanes);
    const Kernel kernel = Checked(Gathered(lanes, 64, 10));
    std::vector<std::int64_t> at(64);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int64_t>(i * 7 % 10);
    const NDArray in = Numbers({10}), out = Numbers({64});
    ASSERT_TRUE(kernel(in, Indices(at), out).ok());
    for (std::size_t i = 0; i < at.size(); ++i)
      EXPECT_EQ(out.data<float>()[i], in.data<float>()[at[i]]);
    at[37] = 500000000;
    EXPECT_THAT(ErrorOf(kernel, {in, Indices(at), out}),
                AllOf(HasSubstr("A is read at element 500000000 of 10 (shape 10): index index["),
                      HasSubstr(lanes == 1 ? "in the loops i = 37" : "in the loops i = 4")));
    at[3] = -1;
    EXPECT_THAT(ErrorOf(kernel, {in, Indices(at), out}),
                AnyOf(HasSubstr("element 500000000 of"), HasSubstr("element -1 of")));
    at[3] = at[37] = 9;
    EXPECT_TRUE(kernel(in, Indices(at), out).ok());
  }
}

TEST(CheckBoundsTest, AnIndexThatTheKernelComputesIsChecked) {
  const Buffer a = Floats("A", {8}), b = Floats("B", {8});
  const Buffer local = Buffer::Make("local", Int64, {8});
  const Var i("i"), j("j");
  const auto function = [&](std::int64_t factor) {
    return loop::Function{
        .name = "computed",
        .buffers = {a, b},
        .scalars = {},
        .body = loop::Allocate(
            local, loop::Seq({Serial(i, 8, Store(local, i * factor, {i})),
                              Serial(j, 8, Store(b, Load(a, {Load(local, {j})}), {j}))}))};
  };
  const NDArray in = Numbers({8}), out = Numbers({8});
  ASSERT_TRUE(Checked(function(1))(in, out).ok());
  EXPECT_TRUE(in.SameBytes(out));
  EXPECT_EQ(ErrorOf(function(3), {in, out}),
            "kernel computed: A is read at element 9 of 8 (shape 8): index local[j], in the loops "
            "j = 3");
}

// Each read decides on the place of the next one.
TEST(CheckBoundsTest, AnIndexIsReadOnlyWhereItsOwnIndexFits) {
  const Buffer next = Buffer::Make("next", Int64, {4}), out = Buffer::Make("out", Int64, {1});
  const loop::Function f = {
      .name = "chain",
      .buffers = {next, out},
      .scalars = {},
      .body = Store(out, Load(next, {Load(next, {Load(next, {Expr(0)})})}), {Expr(0)})};
  EXPECT_THAT(ErrorOf(f, {Indices({1000000000000, 1, 2, 3}), Indices({0})}),
              HasSubstr("next is read at element 1000000000000 of 4 (shape 4): index next[0]"));
  EXPECT_THAT(ErrorOf(f, {Indices({1, 4, 2, 3}), Indices({0})}),
              HasSubstr("next is read at element 4 of 4 (shape 4): index next[next[0]]"));
  EXPECT_TRUE(Checked(f)(Indices({1, 2, 3, 0}), Indices({0})).ok());
}

// Where a kernel overwrites what its later indices are read from, checks come just before.
TEST(CheckBoundsTest, AnIndexThatTheLoopOverwritesIsCheckedAsItIsThen) {
  const Buffer at = Buffer::Make("at", Int64, {4});
  const Var i("i");
  const loop::Function f = {
      .name = "walk",
      .buffers = {at},
      .scalars = {},
      .body = Serial(i, 3, Store(at, Load(at, {Load(at, {i})}) + 1, {i + 1}))};
  // 0 -> at[1] = at[0] + 1 = 1; at[2] = at[1] + 1 = 2; at[3] = 3.
  const NDArray fine = Indices({0, 100, 100, 100});
  ASSERT_TRUE(Checked(f)(fine).ok());
  EXPECT_EQ(fine.ToVector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(ErrorOf(f, {Indices({3, 0, 0, 6})}),
            "kernel walk: at is read at element 7 of 4 (shape 4): index at[i], in the loops i = 1");
}

TEST(CheckBoundsTest, ALocalBufferIsChecked) {
  for (const loop::Memory memory : {loop::Memory::kStack, loop::Memory::kAutomatic}) {
    const Buffer a = Floats("A", {8}), b = Floats("B", {8});
    const Buffer local = Buffer::Make("local", Float32, {8}, memory);
    const Var i("i"), j("j"), row("row");
    const loop::Function f = {
        .name = "staged",
        .buffers = {a, b},
        .scalars = {},
        .body = Parallel(
            row, 2,
            loop::Allocate(local, loop::Seq({Serial(i, 8, Store(local, Load(a, {i}), {i})),
                                             Serial(j, 8, Store(b, Load(local, {j * 2}), {j}))})))};
    EXPECT_EQ(ErrorOf(f, {Numbers({8}), Numbers({8})}),
              "kernel staged: local is read at element 14 of 8 (shape 8): index (j * 2), in the "
              "loops row = 0, j = 7");
  }
}

TEST(CheckBoundsTest, SymbolicExtentsHaveTheirValuesOfTheRun) {
  const Var n("n"), m("m"), i("i");
  const Buffer a = Floats("A", {n}), b = Floats("B", {m});
  const loop::Function f = {.name = "copy",
                            .buffers = {a, b},
                            .scalars = {n, m},
                            .body = Serial(i, m, Store(b, Load(a, {i}), {i}))};
  const Kernel kernel = Checked(f);
  EXPECT_TRUE(kernel(Numbers({9}), Numbers({9})).ok());
  EXPECT_TRUE(kernel(Numbers({9}), Numbers({4})).ok());
  EXPECT_TRUE(kernel(Numbers({0}), Numbers({0})).ok());
  // The elements after the last whole vector are copied under a mask.
  EXPECT_EQ(ErrorOf(kernel, {Numbers({9}), Numbers({11})}),
            "kernel copy: A is read at element 9 of 9 (shape n): index ramp(at, 1, 16)");
}

TEST(CheckBoundsTest, AnArrayOfNoElementsIsNotTouched) {
  const Buffer a = Floats("A", {0}), b = Floats("B", {1});
  const loop::Function f = {.name = "first",
                            .buffers = {a, b},
                            .scalars = {},
                            .body = Store(b, Load(a, {Expr(0)}), {Expr(0)})};
  EXPECT_EQ(ErrorOf(f, {NDArray::Zeros({0}, Float32), Numbers({1})}),
            "kernel first: A is read at element 0 of 0 (shape 0): index 0");
}

// What does not run makes no access: a branch, a select, a loop without iterations.
TEST(CheckBoundsTest, WhatDoesNotRunIsNotChecked) {
  const Buffer a = Floats("A", {8}), b = Floats("B", {8});
  const Buffer flags = Buffer::Make("flags", Int64, {8});
  const Var i("i"), j("j");
  const Expr inside = i + 3 < Expr(8);
  const loop::Function f = {
      .name = "guarded",
      .buffers = {a, flags, b},
      .scalars = {},
      .body = loop::Seq(
          {Serial(i, 8, Store(b, loop::IfThenElse(inside, Load(a, {i + 3}), Expr(0.0F)), {i})),
           Serial(i, 8, loop::If(Load(flags, {i}) > 0, Store(b, Expr(1.0F), {i * 8}))),
           Serial(i, 8,
                  loop::For(j, i + 5, Expr(3) - i, ForKind::kSerial, Store(b, Expr(2.0F), {j}))),
           Serial(i, Load(flags, {Expr(0)}), Store(b, Expr(2.0F), {i + 8}))})};
  const Kernel kernel = Checked(f);
  const NDArray in = Numbers({8}), out = Numbers({8});
  ASSERT_TRUE(kernel(in, Indices({0, 0, 0, 0, 0, 0, 0, 0}), out).ok());
  EXPECT_THAT(ErrorOf(kernel, {in, Indices({0, 0, 1, 0, 0, 0, 0, 0}), out}),
              HasSubstr("B is written at element 16 of 8 (shape 8): index (i * 8), in the loops "
                        "i = 2"));
  EXPECT_THAT(ErrorOf(kernel, {in, Indices({1, 0, 0, 0, 0, 0, 0, 0}), out}),
              HasSubstr("B is written at element 8 of 8"));
}

TEST(CheckBoundsTest, RunsAtTheSameTimeHaveErrorsOfTheirOwn) {
  const Kernel kernel = Checked(Gathered(1, 64, 10));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const ScopedThreads two(2);
      std::vector<std::int64_t> at(64, 1);
      if (t > 0) at[static_cast<std::size_t>(t)] = 100 * t;
      const NDArray in = Numbers({10}), out = Numbers({64}), index = Indices(at);
      for (int run = 0; run < 50; ++run) {
        const absl::Status status = kernel(in, index, out);
        const std::string told = "element " + std::to_string(100 * t) + " of 10";
        if (t == 0 ? !status.ok() : status.message().find(told) == std::string::npos) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// ---- Random nests, against what a walk through all iterations finds.

std::int64_t ValueOf(const Expr& e, const loop::ExprMap& values) {
  return loop::Simplify(loop::Substitute(e, values)).As<loop::IntImmNode>()->value;
}

class RandomNest {
 public:
  explicit RandomNest(unsigned seed) : random_(seed) {
    const int depth = Number(1, 3);
    for (int d = 0; d < depth; ++d) {
      // The first extent is known when the kernel runs.
      loops_.push_back({Var("v" + std::to_string(d)),
                        d > 0 && Chance(30) ? Affine() : Expr(Number(-1, 1)),
                        d == 0 && Chance(40) ? Expr(n_) : Expr(Number(Chance(10) ? 0 : 1, 4))});
    }
    index_ = Affine();
    if (Chance(25)) index_ = loop::FloorDiv(index_, Number(2, 3));
    if (Chance(25)) index_ = loop::FloorMod(index_, Number(2, 9));
    index_ = index_ + Number(0, 8);
    if (Chance(40)) condition_ = Affine() < Expr(Number(0, 6));
    if (Chance(40)) lanes_ = Chance(50) ? 4 : 5;
    if (Chance(50)) active_ = Number(1, lanes_);
    stride_ = Number(-2, 2);
  }

  loop::Function function() const {
    const Var place("place");
    const bool let = random_() % 3 == 0;
    const Expr index = let ? Expr(place) : index_;
    Stmt body = Store(array_, Expr(1.0F), {index});
    if (lanes_ > 1) {
      const Expr mask = loop::Ramp(0, 1, lanes_) < loop::Broadcast(active_, lanes_);
      body = Store(array_, loop::Broadcast(1.0F, lanes_), {loop::Ramp(index, stride_, lanes_)},
                   loop::StoreKind::kPlain, active_ < lanes_ ? mask : Expr());
    }
    if (let) body = loop::LetStmt(place, index_, body);
    if (condition_.defined()) body = loop::If(condition_, body);
    for (std::size_t d = loops_.size(); d-- > 0;) {
      body = loop::For(loops_[d].var, loops_[d].min, loops_[d].extent,
                       d == 0 && lanes_ == 1 ? ForKind::kParallel : ForKind::kSerial, body);
    }
    return {
        .name = "nest", .buffers = {array_, Floats("sized", {n_})}, .scalars = {n_}, .body = body};
  }

  // The elements outside that are written when n is `n`.
  std::set<std::int64_t> Outside(std::int64_t n) const {
    std::set<std::int64_t> outside;
    Walk(0, {{n_, Expr(n)}}, &outside);
    return outside;
  }

 private:
  struct Loop {
    Var var;
    Expr min, extent;
  };

  int Number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Chance(int percent) { return Number(1, 100) <= percent; }
  Expr Affine() {
    Expr sum = Number(-2, 4);
    for (const Loop& l : loops_) sum = sum + l.var * Number(-3, 4);
    return sum;
  }

  void Walk(std::size_t depth, const loop::ExprMap& values, std::set<std::int64_t>* outside) const {
    if (depth < loops_.size()) {
      const Loop& l = loops_[depth];
      const std::int64_t begin = ValueOf(l.min, values), extent = ValueOf(l.extent, values);
      for (std::int64_t i = begin; i < begin + extent; ++i) {
        loop::ExprMap inner = values;
        inner.insert_or_assign(l.var, Expr(i));
        Walk(depth + 1, inner, outside);
      }
      return;
    }
    if (condition_.defined() && ValueOf(condition_, values) == 0) return;
    for (int lane = 0; lane < (lanes_ > 1 ? std::min(active_, lanes_) : 1); ++lane) {
      const std::int64_t at = ValueOf(index_, values) + lane * stride_;
      if (at < 0 || at >= kElements) outside->insert(at);
    }
  }

  static constexpr std::int64_t kElements = 24;
  mutable std::mt19937 random_;
  const Var n_{"n"};
  const Buffer array_ = Floats("array", {kElements});
  std::vector<Loop> loops_;
  Expr index_, condition_;
  int lanes_ = 1, active_ = 5, stride_ = 1;
};

TEST(CheckBoundsTest, OfRandomNestsThoseThatDoNotFitAreFound) {
  int fitting = 0, others = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const RandomNest nest(seed);
    const Kernel kernel = Checked(nest.function());
    for (const std::int64_t n : {0, 1, 3}) {
      const std::set<std::int64_t> outside = nest.Outside(n);
      const NDArray array = Numbers({24}), sized = Numbers({n});
      const absl::Status status = kernel(array, sized);
      ++(outside.empty() ? fitting : others);
      if (outside.empty()) {
        EXPECT_TRUE(status.ok()) << status << kernel.Loops();
        continue;
      }
      const std::string message(status.message());
      const std::string before = "array is written at element ";
      const std::size_t at = message.find(before);
      ASSERT_NE(at, std::string::npos) << message << kernel.Loops();
      EXPECT_TRUE(outside.contains(std::stoll(message.substr(at + before.size()))))
          << message << kernel.Loops();
    }
  }
  EXPECT_GT(fitting, 200);
  EXPECT_GT(others, 200);
}

// The numbers of six loops go into a report.
TEST(CheckBoundsTest, TheInnermostLoopsAreTold) {
  const Buffer a = Floats("A", {128});
  std::vector<Var> vars;
  Expr index = 0;
  for (int d = 0; d < 8; ++d) {
    vars.emplace_back("v" + std::to_string(d));
    index = index * 2 + vars.back();
  }
  Stmt body = Store(a, Expr(1.0F), {index});
  for (std::size_t d = vars.size(); d-- > 0;) body = Serial(vars[d], 2, body);
  EXPECT_THAT(
      ErrorOf({.name = "deep", .buffers = {a}, .scalars = {}, .body = body}, {Numbers({128})}),
      AllOf(HasSubstr("A is written at element 255 of 128"),
            HasSubstr("in the loops v2 = 1, v3 = 1, v4 = 1, v5 = 1, v6 = 1, v7 = 1")));
}

std::int64_t counted = 0;
std::int64_t Count() { return counted++; }

// An index that takes effects to compute is computed once, and not checked.
TEST(CheckBoundsTest, FunctionsWithEffectsAreCalledOnce) {
  const loop::ExternFunction count = loop::ExternFunction::At("count", &Count);
  const Buffer b = Floats("B", {4});
  const Var i("i"), place("place");
  const loop::Function f = {
      .name = "effects",
      .buffers = {b},
      .scalars = {},
      .body = Serial(
          i, 4, loop::LetStmt(place, loop::ExternCall(count, {}), Store(b, Expr(1.0F), {place})))};
  counted = 0;
  EXPECT_TRUE(Checked(f)(Numbers({4})).ok());
  EXPECT_EQ(counted, 4);
  EXPECT_THAT(ErrorOf(f, {Numbers({4})}), HasSubstr("B is written at element 4 of 4"));
  EXPECT_EQ(counted, 5);
}

TEST(CheckBoundsTest, TheCacheTellsKernelsWithChecksApart) {
  const ScratchFolder folder;
  const loop::Function f = Gathered(1, 8, 10);
  const NDArray in = Numbers({10}), out = Numbers({8});
  for (int time = 0; time < 2; ++time) {
    const Kernel plain = Compile(f, {.cache_dir = folder.path()}).value();
    EXPECT_TRUE(plain(in, Indices({0, 1, 2, 3, 4, 5, 6, 7}), out).ok());
    const Kernel checked = Compile(f, {.check_bounds = true, .cache_dir = folder.path()}).value();
    EXPECT_THAT(ErrorOf(checked, {in, Indices({0, 1, 2, 3, 4, 5, 6, 77}), out}),
                HasSubstr("A is read at element 77 of 10"));
    EXPECT_THAT(folder.files(), SizeIs(2));
  }
}

TEST(CheckBoundsTest, ExportedCodeDoesWithout) {
  const loop::Function f = Gathered(1, 8, 10);
  const auto object = [&](bool check) {
    return EmitObjects({&f, 1}, std::vector<std::string>{"f"}, {.compile = {.check_bounds = check}})
        .value();
  };
  EXPECT_EQ(object(true), object(false));
}

// A stage that is computed where it is used, over fewer elements than are read of it.
TEST(CheckBoundsTest, AComputationWithAFarIndexEndsInWords) {
  const te::Tensor x = te::Placeholder({8, 8}, Float32, "x");
  const te::Tensor scale = te::Placeholder({1}, Int64, "scale");
  const te::Tensor y = te::Compute(
      {8, 8}, [&](te::Var i, te::Var j) { return x(i * scale(0), j); }, "y");
  const loop::Function f = schedule::Lower(schedule::Schedule(y), {x, scale, y}, "far");
  const Kernel kernel = Checked(f);
  EXPECT_TRUE(kernel(Numbers({8, 8}), Indices({1}), Numbers({8, 8})).ok());
  EXPECT_THAT(ErrorOf(kernel, {Numbers({8, 8}), Indices({100000000}), Numbers({8, 8})}),
              AllOf(StartsWith("kernel far: x is read at element 800000007 of 64 (shape 8 x 8)"),
                    HasSubstr(", in the loops ax0 = 1")));
}

}  // namespace
}  // namespace tenon::jit
