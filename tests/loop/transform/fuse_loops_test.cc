// Which loops of a block take turns, and that memory is the same before and after.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kSize = 256;
constexpr int kLanes = 8;

const Buffer in = Buffer::Make("in", Int64, {kSize}), row = Buffer::Make("row", Int64, {kSize}),
             out = Buffer::Make("out", Int64, {kSize}), sum = Buffer::Make("sum", Int64, {kLanes});
const Var i("i"), j("j");

Expr From(const Buffer& buffer, const Expr& place) {
  return Load(buffer, {Ramp(place, 1, kLanes)});
}
Stmt To(const Buffer& buffer, const Expr& place, const Expr& value,
        StoreKind kind = StoreKind::kPlain) {
  return Store(buffer, value, {Ramp(place, 1, kLanes)}, kind);
}
Stmt Loop(const Var& var, const Expr& extent, const Stmt& body, const Expr& min = 0) {
  return For(var, min, extent, ForKind::kSerial, body);
}
Expr Lanes(std::int64_t value) { return Broadcast(IntImm(Int64, value), kLanes); }

// row[16 i ...] = in[16 i ...] + 1, two vectors each.
const Stmt fill = Loop(i, 8,
                       Seq({To(row, i * 16, From(in, i * 16) + Lanes(1)),
                            To(row, i * 16 + 8, From(in, i * 16 + 8) + Lanes(1))}));
// sum += row[16 j ...], two vectors each.
const Stmt add = Loop(j, 8,
                      Seq({To(sum, 0, From(sum, 0) + From(row, j * 16)),
                           To(sum, 0, From(sum, 0) + From(row, j * 16 + 8))}));
const Stmt start = To(sum, 0, Lanes(0));

std::vector<std::vector<std::int64_t>> Memory(const Stmt& stmt) {
  Interpreter interpreter;
  std::vector<std::int64_t> elements(kSize);
  for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = static_cast<int>(k * k % 101);
  for (const Buffer& buffer : {in, row, out, sum}) interpreter.Set(buffer, elements);
  interpreter.Execute(stmt);
  std::vector<std::vector<std::int64_t>> memory;
  for (const Buffer& buffer : {in, row, out, sum}) memory.push_back(interpreter.Of(buffer));
  return memory;
}

int LoopsOf(const Stmt& stmt) {
  int loops = 0;
  VisitStmts(stmt, [&](const Stmt& s) { loops += static_cast<int>(s.kind() == StmtKind::kFor); });
  return loops;
}

struct Case {
  const char* name;
  Stmt stmt;
};
void PrintTo(const Case& c, std::ostream* stream) { *stream << c.name; }

class ShouldChange : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    FuseLoops, ShouldChange,
    ::testing::Values(
        Case{"ASumOfWhatIsStored", Seq({fill, start, add})},
        Case{"TheStartInABlockOfItsOwn",
             Seq({fill, Allocate(sum, Seq({start, add, To(out, 0, From(sum, 0))})),
                  To(out, 8, From(row, 0))})},
        Case{"TheRestOfTheRowLiesBetween", Seq({fill, To(row, 128, From(in, 128)), start, add})},
        Case{"TheRestIsALoop",
             Seq({fill, Loop(j, 3, To(row, j * 8 + 128, From(in, j * 8))), start, add})},
        Case{"AnElementwiseReader",
             Seq({fill, Loop(j, 8, To(out, j * 16, From(row, j * 16 + 4)))})},
        Case{"AWriterOfWhatWasRead", Seq({fill, Loop(j, 8, To(in, j * 16 + 8, Lanes(3)))})}),
    [](const auto& c) { return c.param.name; });

TEST_P(ShouldChange, OneLoopIsLess) {
  const Stmt& stmt = GetParam().stmt;
  const Stmt fused = FuseLoops(stmt);
  EXPECT_EQ(LoopsOf(fused), LoopsOf(stmt) - 1) << Print(fused);
  EXPECT_EQ(Memory(fused), Memory(stmt));
}

class ShouldNotChange : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    FuseLoops, ShouldNotChange,
    ::testing::Values(
        Case{"ItNeedsWhatALaterIterationStores",
             Seq({fill, Loop(j, 8, To(out, j * 16, From(row, j * 16 + 16)))})},
        Case{"ItNeedsAPartOfTheNextIteration",
             Seq({fill, Loop(j, 8, To(out, j * 16, From(row, j * 16 + 12)))})},
        Case{"ItOverwritesWhatALaterIterationReads",
             Seq({fill, Loop(j, 8, To(in, j * 16 + 16, Lanes(3)))})},
        Case{"OtherSteps", Seq({fill, Loop(j, 8, To(out, j * 16, From(row, j * 8)))})},
        Case{"OtherExtents", Seq({fill, Loop(j, 7, To(out, j * 16, From(row, j * 16)))})},
        Case{"OtherBeginnings",
             Seq({fill, Loop(j, 8, To(out, j * 16, From(row, j * 16 - 16)), 1)})},
        Case{"NothingInCommon", Seq({fill, Loop(j, 8, To(out, j * 16, From(in, j * 16)))})},
        Case{"WhatLiesBetweenWritesWhatIsStored", Seq({fill, To(row, 120, Lanes(0)), start, add})},
        Case{"WhatLiesBetweenReadsWhatIsStored",
             Seq({fill, To(out, 0, From(row, 64)), start, add})},
        Case{"WhatLiesBetweenWritesWhatIsRead", Seq({fill, To(in, 64, Lanes(0)), start, add})},
        Case{"ACopyOfItReadsWhatALaterIterationStores",
             Seq({fill, Loop(i, 4, To(out, i * 16, From(row, i * 16 + 48))), start, add})},
        Case{"AFunctionLiesBetween",
             Seq({fill, Evaluate(ExternCall(Int32, "touch", {Address(row)})), start, add})},
        Case{"APlaceThatMayBeAny",
             Seq({fill, Loop(j, 8,
                             To(out, j * 16,
                                Load(row, {Ramp(Cast(Int64, Load(in, {Expr(j)})), 1, kLanes)})))})},
        Case{"ScalarsWhichLlvmVectorises",
             Seq({fill, Loop(j, 8, Store(out, Load(row, {j * 16}), {j * 16}))})},
        Case{"ResultsPastTheCaches",
             Seq({fill, Loop(j, 8, To(out, j * 16, From(row, j * 16), StoreKind::kStreaming))})}),
    [](const auto& c) { return c.param.name; });

TEST_P(ShouldNotChange, LoopsStay) {
  const Stmt fused = FuseLoops(GetParam().stmt);
  EXPECT_TRUE(fused == GetParam().stmt) << Print(fused);
}

TEST(FuseLoopsTest, TheLaterLoopFollowsInEachIteration) {
  EXPECT_EQ(Print(FuseLoops(Seq({fill, start, add}))),
            "sum[ramp(0, 1, 8)] = x8(0)\n"
            "for i in [0, 8) {\n"
            "  row[ramp((i * 16), 1, 8)] = (in[ramp((i * 16), 1, 8)] + x8(1))\n"
            "  row[ramp(((i * 16) + 8), 1, 8)] = (in[ramp(((i * 16) + 8), 1, 8)] + x8(1))\n"
            "  sum[ramp(0, 1, 8)] = (sum[ramp(0, 1, 8)] + row[ramp((i * 16), 1, 8)])\n"
            "  sum[ramp(0, 1, 8)] = (sum[ramp(0, 1, 8)] + row[ramp(((i * 16) + 8), 1, 8)])\n"
            "}\n");
}

TEST(FuseLoopsTest, ThreeStagesBecomeOneLoop) {
  const Var k("k");
  const Stmt stages = Seq({fill, Loop(k, 8, To(out, k * 16, From(row, k * 16))), start, add});
  const Stmt fused = FuseLoops(stages);
  EXPECT_EQ(LoopsOf(fused), 1) << Print(fused);
  EXPECT_EQ(Memory(fused), Memory(stages));
}

// Blocks of loops and stores at random places; what they leave in memory is the same.
TEST(FuseLoopsTest, RandomBlocksKeepTheirMeaning) {
  std::mt19937 generator(11);
  const auto draw = [&](int below) {
    return static_cast<std::int64_t>(generator() % static_cast<unsigned>(below));
  };
  const std::vector<Buffer> buffers = {in, row, out};
  int changed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Stmt> items;
    const std::int64_t count = 2 + draw(3);
    for (std::int64_t item = 0; item < count; ++item) {
      const Var v("v");
      const bool is_loop = draw(4) != 0;
      const std::int64_t step = draw(4) == 0 ? 8 : 16;
      const auto place = [&] {
        const std::int64_t offset = draw(2) * 8 + (draw(8) == 0 ? draw(16) : 0);
        return is_loop ? v * step + offset : Expr(draw(15) * 16);
      };
      std::vector<Stmt> body;
      for (std::int64_t k = 0; k < 1 + draw(2); ++k) {
        const Expr read = From(buffers[static_cast<std::size_t>(draw(3))], place());
        body.push_back(
            To(buffers[static_cast<std::size_t>(draw(3))], place(), read + Lanes(draw(9))));
      }
      items.push_back(is_loop ? Loop(v, draw(4) == 0 ? 7 : 8, Seq(body)) : Seq(body));
    }
    const Stmt block = Seq(items), fused = FuseLoops(block);
    if (fused == block) continue;
    ++changed;
    ASSERT_EQ(Memory(fused), Memory(block)) << Print(block) << "became\n" << Print(fused);
  }
  EXPECT_GT(changed, 300);
}

}  // namespace
}  // namespace tenon::loop
