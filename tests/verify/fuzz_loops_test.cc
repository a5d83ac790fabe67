// The fuzzer of loops: what it draws, and that it finds what is wrong.
#include "tenon/verify/fuzz_loops.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/verify/check/smaller_loops.h"
#include "tenon/verify/draw/random_loops.h"

namespace tenon::verify {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kFirst = 1883900000;

TEST(FuzzLoopsTest, RandomLoopsComputeWhatTheySay) {
  LoopFuzzStatistics statistics;
  for (std::uint64_t seed = kFirst; seed < kFirst + 60; ++seed)
    EXPECT_EQ(FuzzLoops(seed, {}, &statistics), std::nullopt);
  EXPECT_EQ(statistics.cases, 60);
  EXPECT_EQ(statistics.refusals, 0);
}

TEST(FuzzLoopsTest, ACaseDependsOnItsSeedAlone) {
  EXPECT_EQ(LoopsOfCase(kFirst), LoopsOfCase(kFirst));
  EXPECT_NE(LoopsOfCase(kFirst), LoopsOfCase(kFirst + 1));
}

TEST(FuzzLoopsTest, AllKindsOfLoopsAndStatementsAreDrawn) {
  std::map<LoopKinds, std::set<loop::ForKind>> loops;
  std::set<loop::StmtKind> stmts;
  for (std::uint64_t seed = kFirst; seed < kFirst + 50; ++seed) {
    for (const LoopKinds kinds : {LoopKinds::kAll, LoopKinds::kLowered}) {
      loop::VisitStmts(MakeRandomLoops(seed, kinds).function.body, [&](const loop::Stmt& stmt) {
        stmts.insert(stmt.kind());
        if (const auto* node = stmt.As<loop::ForNode>()) loops[kinds].insert(node->for_kind);
      });
    }
  }
  EXPECT_EQ(loops[LoopKinds::kAll].size(), 4U);
  EXPECT_EQ(loops[LoopKinds::kLowered].size(), 2U);
  EXPECT_EQ(stmts.size(), 6U);  // all but evaluations
}

// Leaves out the last iteration of each short serial loop.
class Shortener : public loop::StmtMutator {
 protected:
  loop::Expr Mutate(const loop::Expr& e) override { return e; }
  loop::Stmt MutateStmt(const loop::Stmt& stmt) override {
    const auto* node = stmt.As<loop::ForNode>();
    const auto* extent = node == nullptr ? nullptr : node->extent.As<loop::IntImmNode>();
    if (extent == nullptr || node->for_kind != loop::ForKind::kSerial || extent->value > 9)
      return MutateStmtChildren(stmt);
    return loop::For(node->var, node->min, extent->value - 1, node->for_kind, node->body);
  }
};

TEST(FuzzLoopsTest, ATransformThatChangesResultsIsFoundAndReduced) {
  const std::vector<loop::UserTransform> wrong = {
      {.name = "Shorten",
       .after = "UnrollLoops",
       .run = [](const loop::Stmt& body, const loop::Function&) { return Shortener()(body); }}};
  LoopFuzzStatistics statistics;
  std::optional<std::string> finding;
  for (std::uint64_t seed = kFirst; !finding && seed < kFirst + 50; ++seed)
    finding = FuzzLoops(seed, wrong, &statistics);
  ASSERT_TRUE(finding);
  EXPECT_THAT(*finding, AllOf(HasSubstr("element "), HasSubstr("for "), HasSubstr("seed ")));
  EXPECT_LT(finding->size(), 1500U) << *finding;
}

TEST(SmallerLoopsTest, EachLeavesOutOneThing) {
  const loop::Buffer a = loop::Buffer::Make("a", Float32, {4});
  const loop::Var i("i");
  const loop::Stmt one = loop::Store(a, loop::Load(a, {0}) + 1.0F, {i});
  const loop::Stmt two = loop::Store(a, 2.0F, {0});
  const loop::Stmt body =
      loop::For(i, 0, 4, loop::ForKind::kParallel, loop::Seq({one, loop::If(i < 2, two, one)}));
  std::vector<std::string> texts;
  for (const loop::Stmt& smaller : SmallerLoops(body)) texts.push_back(loop::Print(smaller));
  // Serial; without the first or the second statement; its operands; the branches, without the
  // second of them, and the operands of that.
  EXPECT_EQ(texts.size(), 10U);
  for (const std::string& text : texts) EXPECT_NE(text, loop::Print(body));
}

}  // namespace
}  // namespace tenon::verify
