// Which transpositions fetch the source's next rows, and that each tile fetches its share once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

const Var block("block"), source("source"), result("result"), row("row"), lane("lane");

struct Nest {
  DataType type;
  int rows, lanes;  // of a tile
  StoreKind kind = StoreKind::kStreaming;

  static constexpr int kRow = 1024;  // elements of the source
  Buffer in() const { return Buffer::Make("in", type, {512, kRow}); }
  Buffer out() const { return Buffer::Make("out", type, {kRow, 512}); }
  // Of 4 by 2 tiles.
  Stmt Of(const Buffer& in, const Buffer& out) const {
    const Expr i = source * rows + row, c = (block * 2 + result) * lanes + lane;
    return For(block, 0, 512 / (2 * lanes), ForKind::kParallel,
               For(source, 0, 4, ForKind::kSerial,
                   For(result, 0, 2, ForKind::kSerial,
                       For(row, 0, rows, ForKind::kUnrolled,
                           For(lane, 0, lanes, ForKind::kVectorized,
                               Store(out, Load(in, {c, i}), {i, c}, kind))))));
  }
};

// The rows and columns of the source whose lines a tile fetches.
std::vector<std::pair<std::int64_t, std::int64_t>> FetchesOf(const Stmt& stmt, int block_index,
                                                             int source_index, int result_index) {
  std::vector<std::pair<std::int64_t, std::int64_t>> fetches;
  VisitExprs(stmt, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call == nullptr || call->intrinsic != Intrinsic::kPrefetchLater) return;
    std::vector<std::int64_t> place;
    for (const Expr& index : call->args[0].As<LoadNode>()->indices)
      place.push_back(Simplify(Substitute(index, {{block, block_index},
                                                  {source, source_index},
                                                  {result, result_index}}))
                          .As<IntImmNode>()
                          ->value);
    fetches.emplace_back(place.at(0), place.at(1));
  });
  return fetches;
}

TEST(FetchTransposesTest, TilesFetchEachLineOfTheNextBlockOnce) {
  for (const Nest& nest : {Nest{Float32, 16, 16}, Nest{Int64, 8, 8}, Nest{BFloat16, 8, 32},
                           Nest{Int8, 16, 64}, Nest{Float64, 16, 8}}) {
    const Stmt made = FetchTransposes(nest.Of(nest.in(), nest.out()));
    const int line = 64 / static_cast<int>(nest.type.bytes());
    std::vector<std::pair<std::int64_t, std::int64_t>> fetched, wanted;
    for (int s = 0; s < 4; ++s) {
      for (int r = 0; r < 2; ++r) {
        for (const auto& fetch : FetchesOf(made, 1, s, r)) fetched.push_back(fetch);
      }
    }
    for (int c = 4 * nest.lanes; c < 6 * nest.lanes; ++c) {
      for (int i = 0; i < 4 * nest.rows; i += line) wanted.emplace_back(c, i);
    }
    EXPECT_THAT(fetched, ::testing::UnorderedElementsAreArray(wanted)) << Print(made);
  }
}

TEST(FetchTransposesTest, TilesStayAsTheyWere) {
  const Nest nest{Float32, 16, 16};
  const Buffer in = nest.in(), out = nest.out();
  class Forgetter : public StmtMutator {
   protected:
    Expr Mutate(const Expr& e) override { return e; }
    Stmt MutateStmt(const Stmt& stmt) override {
      return stmt.kind() == StmtKind::kEvaluate ? Stmt() : MutateStmtChildren(stmt);
    }
  };
  const Stmt before = nest.Of(in, out);
  EXPECT_EQ(Print(Simplify(Forgetter()(FetchTransposes(before)))), Print(Simplify(before)));
}

TEST(FetchTransposesTest, OthersStay) {
  const Nest cached{Float32, 16, 16, StoreKind::kPlain}, half{Float32, 8, 8};
  for (const Nest& nest : {cached, half}) {
    const Stmt loops = nest.Of(nest.in(), nest.out());
    EXPECT_TRUE(FetchTransposes(loops) == loops) << Print(loops);
  }
  const Nest nest{Float32, 16, 16};
  const Buffer copy = nest.out();
  const Expr i = source * 16 + row, c = (block * 2 + result) * 16 + lane;
  const Stmt copied =
      For(source, 0, 4, ForKind::kSerial,
          For(result, 0, 2, ForKind::kSerial,
              For(row, 0, 16, ForKind::kUnrolled,
                  For(lane, 0, 16, ForKind::kVectorized,
                      Store(nest.out(), Load(copy, {i, c}), {i, c}, StoreKind::kStreaming)))));
  EXPECT_TRUE(FetchTransposes(copied) == copied);
}

}  // namespace
}  // namespace tenon::loop
