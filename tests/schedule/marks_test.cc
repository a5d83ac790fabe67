// What storage and loop marks do to the loops and to the code, with the values unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

class MarksTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
  Tensor a = Placeholder({6, n}, Float32, "A");
  Tensor b = Compute(
      {6, n}, [this](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Tensor c = Compute(
      {6, n}, [this](Var i, Var j) { return b(i, j) + b(5 - i, j); }, "C");
};
INSTANTIATE_TEST_SUITE_P(OddSizes, MarksTest,
                         ::testing::Values(0, 1, 2, 3, 15, 16, 17, 63, 64, 65));

// Check 32.
TEST_P(MarksTest, StorageAlignPadsTheStride) {
  Schedule s(c);
  s[b].StorageAlign(b.axis(0), 32, 5);
  const std::int64_t stride = n + (((5 - n) % 32) + 32) % 32;
  EXPECT_THAT(LoopsOf(s, {a, c}), HasSubstr(StrCat("allocate B: float32[", 6 * stride, "]")));
  ExpectRight(s, {a});
}

TEST_P(MarksTest, AlignedTilesAndTheirCopiesAreRight) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 7);
  s[c].Reorder({outer, c.axis(0), inner});
  s[b].ComputeAt(s[c], outer).StorageAlign(b.axis(0), 16, 1).DoubleBuffer();
  ExpectRight(s, {a});
}

TEST_P(MarksTest, ADoubleBufferedStageComputesOneIterationAhead) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 8);
  s[c].Reorder({outer, c.axis(0), inner});
  s[b].ComputeAt(s[c], outer).DoubleBuffer();
  ExpectRight(s, {a});
}

TEST_P(MarksTest, PrefetchChangesNoValue) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 8);
  s[c].Reorder({outer, c.axis(0), inner});
  s[b].ComputeInline();
  // A loop that runs once is refused; see below.
  if (n > 8) s.Prefetch(a, c, outer, 3);
  s.Prefetch(a, c, c.axis(0), 1);
  s.Prefetch(c, c, c.axis(0), 1);
  ExpectRight(s, {a});
}

TEST_P(MarksTest, AutoUnrollChangesNoValue) {
  for (const std::int64_t is_explicit : {0, 1}) {
    Schedule s(c);
    const auto [outer, inner] = s[c].Split(c.axis(1), 3);
    s[b].ComputeAt(s[c], outer);
    s[c].Pragma(c.axis(0), "auto_unroll_max_step", 8);
    s[c].Pragma(c.axis(0), "unroll_explicit", is_explicit);
    ExpectRight(s, {a});
  }
}

TEST(DoubleBufferTest, TheLoopsShowTwoCopies) {
  const Tensor a = Placeholder({32}, Float32, "A");
  const Tensor b = Compute(
      {32}, [&](Var i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {32}, [&](Var i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(0), 8);
  s[b].ComputeAt(s[c], outer).DoubleBuffer();
  EXPECT_EQ(LoopsOf(s, {a, c}),
            "function f(A: float32[32], C: float32[32]) {\n"
            "  allocate B: float32[2, 8]\n"
            "  for ax0 in [0, 8) {\n"
            "    B[ax0] = (A[ax0] * 2f)\n"
            "  }\n"
            "  for ax0.outer in [0, 3) {\n"
            "    for ax0 in [0, 8) {\n"
            "      B[((floormod((ax0.outer + 1), 2) * 8) + ax0)] = "
            "(A[(((ax0.outer * 8) + ax0) + 8)] * 2f)\n"
            "    }\n"
            "    for ax0.inner in [0, 8) {\n"
            "      C[((ax0.outer * 8) + ax0.inner)] = "
            "(B[((floormod(ax0.outer, 2) * 8) + ax0.inner)] + 1f)\n"
            "    }\n"
            "  }\n"
            "  for ax0.inner in [0, 8) {\n"
            "    C[(ax0.inner + 24)] = (B[(ax0.inner + 8)] + 1f)\n"
            "  }\n"
            "}\n");
}

// Check 31, and what the peer says only when it lowers.
TEST(DoubleBufferTest, IsRefusedWithoutALoopToRunAhead) {
  const Tensor a = Placeholder({32}, Float32, "A");
  const Tensor b = Compute(
      {32}, [&](Var i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {32}, [&](Var i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  EXPECT_THAT(Refusal([&] { s[c].DoubleBuffer(); }),
              HasSubstr("double_buffer: stage C: the caller gives its memory"));
  EXPECT_THAT(Refusal([&] { s[a].DoubleBuffer(); }), HasSubstr("the caller gives its memory"));
  s[b].DoubleBuffer();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("double_buffer: stage B is not computed at a loop"));
  const auto [outer, inner] = s[c].Split(c.axis(0), 8);
  s[b].ComputeAt(s[c], outer);
  s[c].Parallel(outer);
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("axis ax0.outer of C: the loop is parallel; it must be serial"));
}

TEST(SetScopeTest, LocalMemoryIsOnTheStack) {
  const Tensor a = Placeholder({30000}, Float32, "A");
  const Tensor b = Compute(
      {30000}, [&](Var i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {30000}, [&](Var i) { return b(29999 - i); }, "C");
  Schedule s(c);
  const auto code = [&] { return jit::Compile(Lower(s, {a, c}, "f"))->LlvmIr(false); };
  EXPECT_THAT(code(), HasSubstr("tenon_take_memory"));
  s[b].SetScope("local");
  EXPECT_THAT(code(), Not(HasSubstr("tenon_take_memory")));
  ExpectRight(s, {a});
  s[b].SetScope("global");
  EXPECT_THAT(code(), HasSubstr("tenon_take_memory"));
}

TEST(SetScopeTest, IsRefusedWhereTheStackCannotServe) {
  const Var n("n");
  const Tensor a = Placeholder({n, 100000}, Float32, "A");
  const Tensor b = Compute(
      {n, 100000}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor c = Compute(
      {n, 100000}, [&](Var i, Var j) { return b(i, j) + b(i, 99999 - j); }, "C");
  Schedule s(c);
  s[b].SetScope("local");
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("set_scope: stage B is local, but its extent n is not constant"));
  s[b].ComputeAt(s[c], c.axis(0));
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("stage B is local, but needs 400000 bytes; at most 262144 are allowed"));
  EXPECT_THAT(Refusal([&] { s[b].SetScope("texture"); }),
              HasSubstr("there is no memory scope \"texture\" on a CPU; it has global and local"));
  EXPECT_THAT(Refusal([&] { s[c].SetScope("local"); }),
              HasSubstr("set_scope: stage C: the caller gives its memory"));
}

TEST(PragmaTest, AutoUnrollCopiesShortLoopsOnly) {
  const Tensor a = Placeholder({10, 4}, Float32, "A");
  const Tensor b = Compute(
      {10, 4}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Pragma(b.axis(0), "auto_unroll_max_step", 4);
  const std::string loops = LoopsOf(s, {a, b});
  EXPECT_THAT(loops, HasSubstr("for ax0 in [0, 10) {\n    B[(ax0 * 4)] ="));
  EXPECT_THAT(loops, Not(HasSubstr("ax1")));
  s[b].Pragma(b.axis(0), "unroll_explicit", 0);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("unrolled ax1 in [0, 4) {"));
  EXPECT_THAT(jit::Compile(Lower(s, {a, b}, "f"))->LlvmIr(false),
              HasSubstr("llvm.loop.unroll.full"));
  s[b].Pragma(b.axis(0), "auto_unroll_max_step", 3);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("for ax1 in [0, 4) {"));
  s[b].Pragma(b.axis(0), "unroll_explicit").Pragma(b.axis(0), "auto_unroll_max_step", 40);
  EXPECT_THAT(LoopsOf(s, {a, b}), Not(HasSubstr("ax0")));
}

TEST(PragmaTest, UnrollAndVectorizeAreThosePrimitives) {
  const Tensor a = Placeholder({10, 4}, Float32, "A");
  const Tensor b = Compute(
      {10, 4}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Pragma(b.axis(0), "unroll").Pragma(b.axis(1), "vectorize");
  EXPECT_EQ(s[b].KindOf(b.axis(0)), loop::ForKind::kUnrolled);
  EXPECT_EQ(s[b].KindOf(b.axis(1)), loop::ForKind::kVectorized);
}

TEST(StorageAlignTest, IsRefusedOfAnInlinedStage) {
  const Tensor a = Placeholder({8, 8}, Float32, "A");
  const Tensor b = Compute(
      {8, 8}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor c = Compute(
      {8, 8}, [&](Var i, Var j) { return b(i, j) + 1.0F; }, "C");
  Schedule s(c);
  s[b].StorageAlign(b.axis(0), 16).ComputeInline();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("storage_align: stage B is inlined, so that it has no memory"));
  s[b].ComputeRoot();
  ExpectRight(s, {a});
}

// 129 iterations are eight parts of 16 and one more.
TEST(UnrollTest, ALongLoopIsUnrolledInParts) {
  for (const int extent : {0, 1, 127, 128, 129, 131, 256, 1000}) {
    const Tensor a = Placeholder({extent}, Float32, "A");
    const Tensor b = Compute(
        {extent}, [&](Var i) { return a(i) * 2.0F; }, "B");
    Schedule s(b);
    s[b].Unroll(b.axis(0));
    ExpectRight(s, {a});
    const std::string loops = LoopsOf(s, {a, b});
    EXPECT_EQ(extent > 128,
              loops.find("for ax0.part in [0, " + std::to_string(extent / 16)) != std::string::npos)
        << loops;
  }
}

TEST(MarksErrorTest, EachIllegalMarkIsRefusedInWords) {
  const Tensor a = Placeholder({8, 8}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 8);
  const Tensor b = Compute(
      {8, 8}, [&](Var i, Var j) { return Sum(a(i, k.var) * a(k.var, j), {k}); }, "B");
  const Tensor c = Compute(
      {8, 8}, [&](Var i, Var j) { return b(i, j) + 1.0F; }, "C");
  Schedule s(c);
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(b.axis(1), 16); }),
              HasSubstr("storage_align: stage B, axis ax1: elements of the last axis lie side by"));
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(k, 16); }),
              HasSubstr("axis k: this is no data axis of the operation"));
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(b.axis(0), 0); }),
              HasSubstr("the factor is 0 and the offset 0; the factor must be one of 1 to 2^40"));
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(b.axis(0), 4, 4); }),
              HasSubstr("the factor is 4 and the offset 4"));
  EXPECT_THAT(Refusal([&] { s[c].StorageAlign(c.axis(0), 4); }),
              HasSubstr("the caller gives its memory"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(b.axis(0), "import_llvm"); }),
              HasSubstr("pragma: stage B, axis ax0: the key \"import_llvm\" is unknown; known are "
                        "auto_unroll_max_step, unroll_explicit, unroll and vectorize"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(b.axis(0), "unroll_explicit", 2); }),
              HasSubstr("the value of unroll_explicit is 2; it must be 0 or 1"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(b.axis(0), "auto_unroll_max_step", -1); }),
              HasSubstr("is -1; it must be at least 0"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(c.axis(0), "auto_unroll_max_step", 1); }),
              HasSubstr("is not part of the schedule of this stage"));
  EXPECT_THAT(s.record(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace tenon::schedule
