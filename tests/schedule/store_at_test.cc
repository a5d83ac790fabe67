// Results that are stored at another loop than the one that they are computed at.
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::IterVar;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;

class StoreAtTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n + 2, n + 2}, Float32, "A");
  const Tensor b = Compute(
      {n + 2, n}, [this](const Var& y, const Var& x) { return a(y, x) + a(y, x + 2); }, "B");
  const IterVar k = ReduceAxis(0, 3, "k");
  const Tensor c = Compute(
      {n, n}, [this](const Var& y, const Var& x) { return Sum(b(y + k.var, x), {k}); }, "C");
};

TEST_P(StoreAtTest, AWindowSlidesInMemoryAroundTheLoop) {
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0)).StoreRoot();
  ExpectRight(s, {a});
  Schedule chunks(c);
  const auto [outer, inner] = chunks[c].Split(c.axis(0), 4);
  chunks[c].Parallel(outer);
  chunks[b].ComputeAt(chunks[c], inner).StoreAt(chunks[c], outer);
  ExpectRight(chunks, {a});
}

TEST_P(StoreAtTest, OfATileWhatIsComputedStays) {
  Schedule s(c);
  const auto tiles = s[c].Tile(c.axis(0), c.axis(1), 4, 5);
  s[b].ComputeAt(s[c], tiles.y_inner).StoreAt(s[c], tiles.y_outer);
  ExpectRight(s, {a});
  Schedule unrolled(c);
  const auto [rows, row] = unrolled[c].Split(c.axis(0), 3);
  unrolled[c].Unroll(row);
  unrolled[b].ComputeAt(unrolled[c], row).StoreAt(unrolled[c], rows).SetScope("local");
  ExpectRight(unrolled, {a});
}

// A chain slides together.
TEST_P(StoreAtTest, AChainOfStages) {
  const Tensor d = Compute(
      {n + 2, n + 2}, [this](const Var& y, const Var& x) { return a(y, x) * 2.0F; }, "D");
  const Tensor e = Compute(
      {n + 1, n + 2}, [&](const Var& y, const Var& x) { return d(y, x) + d(y + 1, x); }, "E");
  const Tensor f = Compute(
      {n, n + 2}, [&](const Var& y, const Var& x) { return e(y, x) - e(y + 1, x); }, "F");
  Schedule s(f);
  const auto [outer, inner] = s[f].Split(f.axis(0), 5);
  s[e].ComputeAt(s[f], inner).StoreAt(s[f], outer);
  s[d].ComputeAt(s[f], inner).StoreRoot();
  ExpectRight(s, {a});
  // The storage may be at the loop of a stage around.
  Schedule nested(f);
  nested[e].ComputeAt(nested[f], f.axis(0));
  nested[d].ComputeAt(nested[e], e.axis(1)).StoreAt(nested[f], f.axis(0));
  ExpectRight(nested, {a});
}

INSTANTIATE_TEST_SUITE_P(Sizes, StoreAtTest, ::testing::Values(1, 2, 4, 5, 7, 16, 17));

TEST(StoreAtTest, EachIterationComputesOneRow) {
  const Tensor a = Placeholder({10}, Float32, "A");
  const Tensor b = Compute(
      {10}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {8}, [&](const Var& i) { return b(i) + b(i + 1) + b(i + 2); }, "C");
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0)).StoreRoot();
  EXPECT_EQ(LoopsOf(s, {a, c}),
            "function f(A: float32[10], C: float32[8]) {\n"
            "  allocate B: float32[10]\n"
            "  for ax0 in [0, 2) {\n"
            "    B[ax0] = (A[ax0] * 2f)\n"
            "  }\n"
            "  B[2] = (A[2] * 2f)\n"
            "  C[0] = ((B[0] + B[1]) + B[2])\n"
            "  for ax0_1 in [1, 8) {\n"
            "    B[(ax0_1 + 2)] = (A[(ax0_1 + 2)] * 2f)\n"
            "    C[ax0_1] = ((B[ax0_1] + B[(ax0_1 + 1)]) + B[(ax0_1 + 2)])\n"
            "  }\n"
            "}\n");
  EXPECT_THAT(PrintRecord(s), HasSubstr("s[B].StoreRoot();"));
  Schedule fresh(c);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, c}), LoopsOf(s, {a, c}));
}

TEST(StoreAtTest, MisuseIsRefusedInWords) {
  const Tensor a = Placeholder({10, 10}, Float32, "A");
  const Tensor b = Compute(
      {10, 10}, [&](const Var& y, const Var& x) { return a(y, x) * 2.0F; }, "B");
  const Tensor c = Compute(
      {9, 10}, [&](const Var& y, const Var& x) { return b(y, x) + b(y + 1, x); }, "C");
  const Tensor d = Compute(
      {9, 10}, [&](const Var& y, const Var& x) { return c(y, x) + b(y, x); }, "D");
  const auto refused = [&](const auto& calls) {
    Schedule s(c);
    return Refusal([&] {
      calls(s);
      Lower(s, {a, c}, "f");
    });
  };
  EXPECT_THAT(refused([&](Schedule& s) { s[b].StoreRoot(); }),
              HasSubstr("store_root: stage B: it is computed at no loop"));
  EXPECT_THAT(refused([&](Schedule& s) { s[c].StoreRoot(); }),
              HasSubstr("store_root: stage C: the caller gives its memory"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[b].ComputeAt(s[c], c.axis(0)).StoreAt(s[c], c.axis(1)); }),
      HasSubstr("store_at: stage B, axis ax1: this loop of C is not around loop ax0 of C"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[b].ComputeAt(s[c], c.axis(0)).StoreAt(s[c], c.axis(0)); }),
      HasSubstr("this loop of C is not around loop ax0 of C"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[b].ComputeAt(s[c], c.axis(0)).RollingBuffer().StoreRoot(); }),
      HasSubstr("its memory is a circular buffer or double"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[b].ComputeAt(s[c], c.axis(0)).StoreRoot().RollingBuffer(); }),
      HasSubstr("rolling_buffer: stage B: it is stored at another loop"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[b].ComputeAt(s[c], c.axis(0)).StoreRoot();
                s[c].Parallel(c.axis(0));
              }),
              HasSubstr("store_root: stage B: loop ax0 of C is parallel and stands between its "
                        "memory and its computation"));
  // Whoever reads it outside of the loop would find what is not there yet.
  Schedule s(d);
  s[b].ComputeAt(s[c], c.axis(0)).StoreRoot();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, d}, "f");
              }),
              HasSubstr("stage B has a reader outside the loop that it is computed in"));
}

}  // namespace
}  // namespace tenon::schedule
