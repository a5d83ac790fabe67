// Outputs that are computed in a loop of another stage that reads them: all of their elements are
// in the caller's memory afterwards, and each is computed by one thread; otherwise lowering refuses
// in words.
#include <functional>

#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using te::Compute;
using te::Placeholder;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

// Each row less its maximum, and the maximum.
struct Rows {
  explicit Rows(std::int64_t rows, std::int64_t columns)
      : a(Placeholder({rows, columns}, Float32, "A")),
        k(te::ReduceAxis(0, columns)),
        most(Compute(
            {rows, 1}, [&](Var i, Var) { return te::Max(a(i, k.var), {k}); }, "most")),
        less(Compute(
            {rows, columns}, [&](Var i, Var j) { return a(i, j) - most(i, 0); }, "less")),
        s({most, less}) {}
  std::string Loops() { return LoopsOf(s, {a, most, less}); }

  Tensor a;
  te::IterVar k;
  Tensor most, less;
  Schedule s;
};

void ExpectRefused(const std::function<void()>& lower, const std::string& words) {
  try {
    lower();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

// Both results of a row are computed where the row is read, whatever columns of each are.
TEST(AttachedOutputTest, ResultsOfOneStageMayBeReadInDifferentColumns) {
  const Tensor a = Placeholder({4, 6, 5}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 5);
  const std::vector<Tensor> best = te::ReduceTuple(
      {4, 6},
      [&](const std::vector<Var>& i) {
        return te::ArgMax(te::Cast(Int32, k.var), a(i[0], i[1], k.var), {k});
      },
      "best");
  const Tensor out = Compute(
      {4, 6}, [&](Var i, Var j) { return te::Cast(Float32, best[0](i, 2)) + best[1](i, j); },
      "out");
  Schedule s({best[0], best[1], out});
  s[out].Parallel(out.axis(0));
  s[best[0]].ComputeAt(s[out], out.axis(0));
  ExpectRight(s, {a});
}

class AttachedOutputExtentTest
    : public ::testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(AttachedOutputExtentTest, EachRowMakesItsElements) {
  Rows f(GetParam().first, GetParam().second);
  f.s[f.less].Parallel(f.less.axis(0));
  f.s[f.most].ComputeAt(f.s[f.less], f.less.axis(0));
  EXPECT_THAT(f.Loops(), Not(HasSubstr("allocate most:")));
  ExpectRight(f.s, {f.a});
}

TEST_P(AttachedOutputExtentTest, BlocksOfRowsMakeTheirs) {
  for (const int factor : {1, 4, 7}) {
    for (const bool inner_loop : {false, true}) {
      Rows f(GetParam().first, GetParam().second);
      const auto [outer, inner] = f.s[f.less].Split(f.less.axis(0), factor);
      f.s[f.less].Parallel(outer);
      f.s[f.most].ComputeAt(f.s[f.less], inner_loop ? inner : outer);
      ExpectRight(f.s, {f.a});
    }
  }
}

TEST_P(AttachedOutputExtentTest, ParallelBlocksInsideASerialLoopMakeTheirs) {
  Rows f(GetParam().first, GetParam().second);
  const auto [outer, inner] = f.s[f.less].Split(f.less.axis(0), 8);
  f.s[f.less].Parallel(inner);
  f.s[f.most].ComputeAt(f.s[f.less], inner);
  ExpectRight(f.s, {f.a});
}

INSTANTIATE_TEST_SUITE_P(OddSizes, AttachedOutputExtentTest,
                         ::testing::ValuesIn(std::vector<std::pair<std::int64_t, std::int64_t>>{
                             {0, 5}, {1, 1}, {1, 17}, {13, 1}, {15, 16}, {17, 63}, {64, 65}}),
                         [](const auto& info) {
                           return StrCat(info.param.first, "By", info.param.second);
                         });

TEST(AttachedOutputTest, OuterAxesMayBeOneParallelLoop) {
  const Tensor a = Placeholder({3, 5, 7, 11}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 11);
  const Tensor sum = Compute(
      {3, 5, 7}, [&](Var h, Var i, Var j) { return te::Sum(a(h, i, j, k.var), {k}); }, "sum");
  const Tensor out = Compute(
      {3, 5, 7, 11},
      [&](const std::vector<Var>& i) { return a(i[0], i[1], i[2], i[3]) / sum(i[0], i[1], i[2]); },
      "out");
  Schedule s({out, sum});
  const te::IterVar rows = s[out].Fuse(s[out].Fuse(out.axis(0), out.axis(1)), out.axis(2));
  const auto [outer, inner] = s[out].Split(rows, 4);
  s[out].Parallel(outer);
  s[sum].ComputeAt(s[out], inner);
  ExpectRight(s, {a});
}

TEST(AttachedOutputTest, OutputsMayReadEachOther) {
  const Tensor a = Placeholder({33, 17}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 17), l = te::ReduceAxis(0, 17);
  const Tensor mean = Compute(
      {33}, [&](Var i) { return te::Sum(a(i, k.var) / 17.0F, {k}); }, "mean");
  const Tensor centred = Compute(
      {33, 17}, [&](Var i, Var j) { return a(i, j) - mean(i); }, "centred");
  const Tensor squares = Compute(
      {33}, [&](Var i) { return te::Sum(centred(i, l.var) * centred(i, l.var), {l}); }, "squares");
  const Tensor out = Compute(
      {33, 17}, [&](Var i, Var j) { return centred(i, j) / (squares(i) + 1.0F); }, "out");
  Schedule s({mean, out, squares, centred});
  s[out].Parallel(out.axis(0));
  for (const Tensor& output : {mean, centred, squares}) s[output].ComputeAt(s[out], out.axis(0));
  EXPECT_THAT(LoopsOf(s, {a, mean, out, squares, centred}), Not(HasSubstr("allocate")));
  ExpectRight(s, {a});
}

// Elements that are computed twice by one thread are only wasteful.
TEST(AttachedOutputTest, ASerialLoopMayComputeAnElementAgain) {
  Rows f(5, 9);
  f.s[f.less].Parallel(f.less.axis(0));
  f.s[f.most].ComputeAt(f.s[f.less], f.less.axis(1));
  ExpectRight(f.s, {f.a});
}

TEST(AttachedOutputTest, AStoredTileIsAnOutputAsWell) {
  const Tensor a = Placeholder({17, 35}, Float32, "A");
  const Tensor twice = Compute(
      {17, 35}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "twice");
  const Tensor out = Compute(
      {17, 35}, [&](Var i, Var j) { return twice(i, j) + 1.0F; }, "out");
  Schedule s({twice, out});
  const Stage::Tiles tiles = s[out].Tile(out.axis(0), out.axis(1), 4, 8);
  s[out].Parallel(tiles.x_outer).Vectorize(tiles.y_inner);
  s[twice].ComputeAt(s[out], tiles.y_outer);
  ExpectRight(s, {a});
}

TEST(AttachedOutputTest, RecordsGiveTheSameLoops) {
  Rows f(16, 33);
  f.s[f.most].ComputeAt(f.s[f.less], f.less.axis(0));
  Schedule again({f.most, f.less});
  Replay(f.s.record(), again);
  EXPECT_EQ(LoopsOf(again, {f.a, f.most, f.less}), f.Loops());
}

// What the host does not step through is computed whole, so that nothing is left out; by one
// thread.
TEST(AttachedOutputTest, ElementsThatNoIterationReadsAreComputedAsWell) {
  const Tensor a = Placeholder({16}, Float32, "A");
  const Tensor twice = Compute(
      {16}, [&](Var i) { return a(i) * 2.0F; }, "twice");
  const std::pair<const char*, std::function<Expr(Var)>> reads[] = {
      {"every second", [&](Var i) { return twice(Expr(i) * 2); }},
      {"one after the other", [&](Var i) { return twice(i) + twice(i + 1); }},
      {"half of them", [&](Var i) { return twice(i); }}};
  for (const auto& [name, read] : reads) {
    SCOPED_TRACE(name);
    const Tensor out = Compute(
        {8}, [&, &read = read](Var i) { return read(i); }, "out");
    Schedule s({twice, out});
    s[twice].ComputeAt(s[out], out.axis(0));
    ExpectRight(s, {a});
    s[out].Parallel(out.axis(0));
    ExpectRefused(
        [&] {
          LoopsOf(s, {a, twice, out});
        },
        "several iterations of the parallel loop ax0 may compute an element");
  }
}

// Iteration i reads the element on the diagonal alone, and computes its row.
TEST(AttachedOutputTest, ADiagonalTakesItsRowsAlong) {
  const Tensor a = Placeholder({8, 8}, Float32, "A");
  const Tensor twice = Compute(
      {8, 8}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "twice");
  const Tensor out = Compute(
      {8}, [&](Var i) { return twice(i, i); }, "out");
  Schedule s({twice, out});
  s[out].Parallel(out.axis(0));
  s[twice].ComputeAt(s[out], out.axis(0));
  ExpectRight(s, {a});
}

// Where there are no rows, neither result has elements.
TEST(AttachedOutputTest, RowsOfAVariableNumberMakeTheirs) {
  const Var n("n");
  const Tensor a = Placeholder({n, 16}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 16);
  const Tensor most = Compute(
      {n}, [&](Var i) { return te::Max(a(i, k.var), {k}); }, "most");
  const Tensor less = Compute(
      {n, 16}, [&](Var i, Var j) { return a(i, j) - most(i); }, "less");
  Schedule s({most, less});
  s[less].Parallel(less.axis(0));
  s[most].ComputeAt(s[less], less.axis(0));
  const jit::Kernel kernel = jit::Compile(Lower(s, {a, most, less}, "f")).value();
  for (const std::int64_t rows : {0, 1, 33}) {
    const NDArray in = RandomFloats({rows, 16}, 1);
    const std::vector<NDArray> expected = te::Interpret({most, less}, {{a, in}});
    NDArray top = NDArray::Empty({rows}, Float32), rest = NDArray::Empty({rows, 16}, Float32);
    ASSERT_TRUE(kernel(in, top, rest).ok());
    EXPECT_TRUE(top.SameBytes(expected[0])) << rows;
    EXPECT_TRUE(rest.SameBytes(expected[1])) << rows;
  }
}

// Where an iteration of the fused loop runs, there is an n by which it is divided.
TEST(AttachedOutputTest, IterationsOverTwoFusedAxesOfAVariableNumber) {
  const Var n("n");
  const Tensor a = Placeholder({4, n, 16}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 16);
  const Tensor most = Compute(
      {4, n}, [&](Var b, Var i) { return te::Max(a(b, i, k.var), {k}); }, "most");
  const Tensor less = Compute(
      {4, n, 16}, [&](Var b, Var i, Var j) { return a(b, i, j) - most(b, i); }, "less");
  Schedule s({most, less});
  const te::IterVar both = s[less].Fuse(less.axis(0), less.axis(1));
  s[less].Parallel(both);
  s[most].ComputeAt(s[less], both);
  const jit::Kernel kernel = jit::Compile(Lower(s, {a, most, less}, "f")).value();
  for (const std::int64_t rows : {0, 1, 7}) {
    const NDArray in = RandomFloats({4, rows, 16}, 1);
    const std::vector<NDArray> expected = te::Interpret({most, less}, {{a, in}});
    NDArray top = NDArray::Empty({4, rows}, Float32), rest = NDArray::Empty({4, rows, 16}, Float32);
    ASSERT_TRUE(kernel(in, top, rest).ok());
    EXPECT_TRUE(top.SameBytes(expected[0])) << rows;
    EXPECT_TRUE(rest.SameBytes(expected[1])) << rows;
  }
}

// ---- Refusals.

TEST(AttachedOutputRefusalTest, AnElementOfTwoThreads) {
  for (const int outer : {0, 1}) {
    Rows f(16, 16);
    f.s[f.less].Reorder({f.less.axis(outer), f.less.axis(1 - outer)});
    f.s[f.less].Parallel(f.less.axis(1));
    f.s[f.most].ComputeAt(f.s[f.less], f.less.axis(1 - outer));
    ExpectRefused([&] { f.Loops(); }, "compute_at: stage most, computed at axis ax");
    ExpectRefused([&] { f.Loops(); },
                  "several iterations of the parallel loop ax1 may compute an element; choose a "
                  "loop whose iterations need different ones");
  }
}

TEST(AttachedOutputRefusalTest, ALoopInVectors) {
  Rows f(16, 16);
  f.s[f.less].Vectorize(f.less.axis(0));
  f.s[f.most].ComputeAt(f.s[f.less], f.less.axis(0));
  ExpectRefused([&] { f.Loops(); }, "loop ax0 is vectorised; choose one around it");
}

TEST(AttachedOutputRefusalTest, AHostOfNoElements) {
  Rows f(16, 0);
  f.s[f.most].ComputeAt(f.s[f.less], f.less.axis(0));
  ExpectRefused([&] { f.Loops(); }, "compute_at: stage most, computed at axis ax0 of less: ");
  const te::Var n("n");
  const Tensor a = Placeholder({16, n}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, n);
  const Tensor sum = Compute(
      {16}, [&](Var i) { return te::Sum(a(i, k.var), {k}); }, "sum");
  const Tensor out = Compute(
      {16, n}, [&](Var i, Var j) { return a(i, j) / sum(i); }, "out");
  Schedule s({sum, out});
  s[sum].ComputeAt(s[out], out.axis(0));
  ExpectRefused(
      [&] {
        LoopsOf(s, {a, sum, out});
      },
      "out may have no elements, and then nothing would be computed");
}

TEST(AttachedOutputRefusalTest, AReaderElsewhere) {
  Rows f(16, 16);
  const Tensor other = Compute(
      {16}, [&](Var i) { return f.most(i, 0) * 2.0F; }, "other");
  for (const std::vector<Tensor>& outputs :
       {std::vector<Tensor>{f.most, f.less, other}, {f.most, other, f.less}}) {
    Schedule s(outputs);
    s[f.most].ComputeAt(s[f.less], f.less.axis(0));
    ExpectRefused(
        [&] {
          LoopsOf(s, {f.a, f.most, f.less, other});
        },
        "stage most has a reader outside the loop that it is computed in");
  }
}

TEST(AttachedOutputRefusalTest, AReaderInALoopAround) {
  const Tensor a = Placeholder({8, 9}, Float32, "A");
  const Tensor first = Compute(
      {8, 9}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "first");
  const Tensor second = Compute(
      {8, 9}, [&](Var i, Var j) { return first(i, j) + 1.0F; }, "second");
  const Tensor out = Compute(
      {8, 9}, [&](Var i, Var j) { return first(i, j) * second(i, j); }, "out");
  Schedule s({first, out});
  s[second].ComputeAt(s[out], out.axis(0));
  s[first].ComputeAt(s[out], out.axis(1));
  ExpectRefused(
      [&] {
        LoopsOf(s, {a, first, out});
      },
      "stage first has a reader outside the loop that it is computed in");
}

TEST(AttachedOutputRefusalTest, AReduceAxis) {
  const Tensor a = Placeholder({8, 9}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 9);
  const Tensor twice = Compute(
      {8, 9}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "twice");
  const Tensor sum = Compute(
      {8}, [&](Var i) { return te::Sum(twice(i, k.var), {k}); }, "sum");
  Schedule s({twice, sum});
  s[twice].ComputeAt(s[sum], sum.reduce_axis(0));
  ExpectRefused(
      [&] {
        LoopsOf(s, {a, twice, sum});
      },
      "is a reduce axis, so that elements are computed again and again");
}

TEST(AttachedOutputRefusalTest, AHostInsideAnotherStage) {
  Rows f(8, 9);
  const Tensor out = Compute(
      {8, 9}, [&](Var i, Var j) { return f.less(i, j) * 2.0F; }, "out");
  Schedule s({f.most, out});
  s[f.less].ComputeAt(s[out], out.axis(0));
  s[f.most].ComputeAt(s[f.less], f.less.axis(0));
  ExpectRefused(
      [&] {
        LoopsOf(s, {f.a, f.most, out});
      },
      "an output needs a loop of a stage that is computed at the root, as a whole");
}

}  // namespace
}  // namespace tenon::schedule
