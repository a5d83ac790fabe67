// Which tiles of transpositions are staged so that whole lines are stored non-temporally, and that
// they store the same.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/support/arithmetic.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;

const Var matrix("matrix"), below("below"), along("along"), source("source"), result("result"),
    row("row"), lane("lane");

// Matrices of `rows` by `columns` numbers of 8 bytes as results, in tiles of 8 by 8, of which
// blocks have `sources` one below the other and `results` beside each other.
struct Matrices {
  std::int64_t count, rows, columns, sources, results;
  StoreKind kind = StoreKind::kStreaming;
  std::int64_t gap = 0;  // elements between rows

  Buffer in() const { return Buffer::Make("in", Int64, {count, columns, rows}); }
  Buffer out() const { return Buffer::Make("out", Int64, {count, rows, columns + gap}); }
};

void PrintTo(const Matrices& m, std::ostream* out) {
  *out << m.count << " of " << m.rows << " x " << m.columns << " in blocks of " << m.sources
       << " x " << m.results << " tiles";
}

// With the conditions that splits leave: that rows end where tiles are no whole ones, and that
// tiles end where blocks are none.
Stmt Transposed(const Matrices& m, const Buffer& in, const Buffer& out, Expr more = True(),
                const Expr& added = 1) {
  const std::int64_t row_tiles = CeilDiv(m.rows, 8), column_tiles = CeilDiv(m.columns, 8);
  const Expr row_tile = below * m.sources + source, column_tile = along * m.results + result;
  const Expr i = row_tile * 8 + row, c = column_tile * 8 + lane;
  Expr guard = std::move(more);
  if (m.rows % 8 != 0) guard = guard && i < m.rows;
  if (m.columns % 8 != 0) guard = guard && c < m.columns;
  if (row_tiles % m.sources != 0) guard = guard && row_tile < row_tiles;
  if (column_tiles % m.results != 0) guard = guard && column_tile < column_tiles;
  const Stmt store = Store(out, Load(in, {matrix, c, i}) + added, {matrix, i, c}, m.kind);
  const Stmt tile =
      For(row, 0, 8, ForKind::kUnrolled, For(lane, 0, 8, ForKind::kVectorized, If(guard, store)));
  const Stmt block = For(source, 0, m.sources, ForKind::kSerial,
                         For(result, 0, m.results, ForKind::kSerial, tile));
  return For(matrix, 0, m.count, ForKind::kSerial,
             For(along, 0, CeilDiv(column_tiles, m.results), ForKind::kSerial,
                 For(below, 0, CeilDiv(row_tiles, m.sources), ForKind::kSerial, block)));
}

// As lowering does.
Stmt Lowered(const Stmt& stmt) {
  Stmt made = Simplify(HoistGuards(Simplify(stmt)));
  made = Simplify(FlattenBuffers(Simplify(PartitionLoops(made))));
  return Simplify(UnrollLoops(VectorizeLoops(made)));
}

class AlignTransposesValueTest : public ::testing::TestWithParam<Matrices> {};

TEST_P(AlignTransposesValueTest, StoresTheSameOnceInWholeLines) {
  const Matrices& m = GetParam();
  const Buffer in = m.in(), out = m.out();
  const Stmt before = Transposed(m, in, out);
  const Stmt after = AlignTransposes(before);
  EXPECT_FALSE(after == before);
  const Stmt made = Lowered(after);
  std::vector<std::int64_t> numbers(m.count * m.rows * m.columns), wanted(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 1);
  for (std::int64_t k = 0; k < m.count; ++k) {
    for (std::int64_t i = 0; i < m.rows; ++i) {
      for (std::int64_t c = 0; c < m.columns; ++c)
        wanted[(k * m.rows + i) * m.columns + c] = numbers[(k * m.columns + c) * m.rows + i] + 1;
    }
  }
  Interpreter interpreter;
  interpreter.Set(in, numbers);
  interpreter.Set(out, std::vector<std::int64_t>(numbers.size(), -1));
  interpreter.Execute(made);
  EXPECT_EQ(interpreter.Of(out), wanted) << Print(made);
  bool has_whole = false;
  VisitStmts(made, [&](const Stmt& stmt) {
    const auto* store = stmt.As<StoreNode>();
    if (store == nullptr || store->store_kind != StoreKind::kStreaming) return;
    has_whole = has_whole || !store->predicate.defined();
    const Linear first = ToLinear(store->indices[0].As<RampNode>()->base, {});
    EXPECT_EQ(first.constant % 8, 0) << Print(stmt);
    for (const auto& [term, coefficient] : first.terms) EXPECT_EQ(coefficient % 8, 0);
  });
  EXPECT_TRUE(has_whole) << Print(made);
}

INSTANTIATE_TEST_SUITE_P(Matrices, AlignTransposesValueTest,
                         ::testing::Values(Matrices{1, 17, 97, 2, 2}, Matrices{1, 32, 99, 2, 2},
                                           Matrices{1, 23, 101, 1, 2}, Matrices{1, 40, 103, 2, 2},
                                           Matrices{2, 19, 105, 2, 2}, Matrices{3, 16, 111, 2, 1},
                                           Matrices{1, 25, 161, 3, 4}, Matrices{2, 31, 127, 2, 2},
                                           Matrices{2, 24, 68, 1, 1}));

// Blocks that are moved back would write what others do.
TEST(AlignTransposesTest, NobodyStoresAnElementTwice) {
  const Matrices m{1, 19, 101, 2, 2};
  const Buffer in = m.in(), out = m.out();
  class Counter : public StmtMutator {
   public:
    explicit Counter(const Buffer& out) : out_(out) {}

   protected:
    Expr Mutate(const Expr& e) override { return e; }
    Stmt MutateStmt(const Stmt& stmt) override {
      const auto* store = stmt.As<StoreNode>();
      if (store == nullptr || !(store->buffer == out_)) return MutateStmtChildren(stmt);
      return Store(out_, Load(out_, store->indices) + 1, store->indices);
    }

   private:
    Buffer out_;
  };
  const Stmt made = Lowered(Counter(out)(AlignTransposes(Transposed(m, in, out))));
  Interpreter interpreter;
  interpreter.Set(in, std::vector<std::int64_t>(m.rows * m.columns));
  interpreter.Set(out, std::vector<std::int64_t>(m.rows * m.columns));
  interpreter.Execute(made);
  EXPECT_THAT(interpreter.Of(out), ::testing::Each(1)) << Print(made);
}

TEST(AlignTransposesTest, OtherTilesStay) {
  for (const Matrices& m : {
           Matrices{1, 17, 96, 2, 2},                            // whole lines already
           Matrices{1, 17, 97, 2, 2, StoreKind::kPlain},         // not streamed
           Matrices{1, 17, 97, 2, 3},                            // few blocks in a row
           Matrices{1, 15, 97, 2, 2},                            // no whole block of rows
           Matrices{1, 17, 8001, 2, 50},                         // more than is cached at once
           Matrices{1, 17, 97, 2, 2, StoreKind::kStreaming, 3},  // rows that lie apart
       }) {
    const Stmt loops = Transposed(m, m.in(), m.out());
    EXPECT_TRUE(AlignTransposes(loops) == loops) << Print(loops);
  }
  const Matrices m{2, 17, 97, 2, 2};
  const Stmt guarded = Transposed(m, m.in(), m.out(), matrix * 50 + row < 70);  // ends no axis
  EXPECT_TRUE(AlignTransposes(guarded) == guarded) << Print(guarded);
}

// Staged blocks are moved back, and reach one tile further.
TEST(AlignTransposesTest, ValuesThatAreNoFunctionOfThePlaceStay) {
  const Matrices m{2, 17, 97, 2, 2};
  const Buffer table = Buffer::Make("table", Int64, {1000});
  const Expr i = (below * 2 + source) * 8 + row, c = (along * 2 + result) * 8 + lane;
  for (const Expr& index : {Expr(row), Expr(lane), below * 2 + source, along * 2 + result,
                            Expr(along), Expr(below), FloorDiv(row, 4)}) {
    const Stmt loops = Transposed(m, m.in(), m.out(), True(), Load(table, {index}));
    EXPECT_TRUE(AlignTransposes(loops) == loops) << Print(loops);
  }
  const Stmt counting = Transposed(m, m.in(), m.out(), True(), row);
  EXPECT_TRUE(AlignTransposes(counting) == counting);
  for (const Expr& index : {i, c, i * 10 + c, Expr(matrix)}) {
    const Stmt loops = Transposed(m, m.in(), m.out(), True(), Load(table, {index}));
    EXPECT_FALSE(AlignTransposes(loops) == loops) << Print(loops);
  }
}

// Fused loops have one variable. Which matrix it is does not change as blocks move.
TEST(AlignTransposesTest, BlocksOfAFusedLoopMoveWithinTheirMatrix) {
  const Var fused("fused");
  const Expr c = (FloorMod(fused, 7) * 2 + result) * 8 + lane, i = source * 8 + row;
  const Expr outer = FloorDiv(fused, 14), inner = FloorMod(FloorDiv(fused, 7), 2);
  const auto over = [&](const Expr& first, const Expr& second) {
    const Buffer in = Buffer::Make("in", Int64, {2, 2, 97, 16}),
                 out = Buffer::Make("out", Int64, {2, 2, 16, 97});
    const Stmt store =
        Store(out, Load(in, {first, second, c, i}), {outer, inner, i, c}, StoreKind::kStreaming);
    const Stmt tile = For(row, 0, 8, ForKind::kUnrolled,
                          For(lane, 0, 8, ForKind::kVectorized, If(c < 97, store)));
    const Stmt block =
        For(source, 0, 2, ForKind::kSerial, For(result, 0, 2, ForKind::kSerial, tile));
    return For(fused, 0, 28, ForKind::kSerial, block);
  };
  EXPECT_FALSE(AlignTransposes(over(outer, inner)) == over(outer, inner));
  const Stmt kept = over(outer, FloorMod(fused, 2)), other = over(FloorDiv(fused, 15), inner);
  EXPECT_TRUE(AlignTransposes(kept) == kept);
  EXPECT_TRUE(AlignTransposes(other) == other);
}

TEST(AlignTransposesTest, EveryTileFetchesTheLinesOfTheNextBlock) {
  const Matrices m{1, 33, 97, 2, 2};
  const std::string text = Print(Simplify(AlignTransposes(Transposed(m, m.in(), m.out()))));
  for (const char* fetch : {"prefetch_later(in[0, (((along * 16) + (result * 8)) + 16), ((below * "
                            "16) + (source * 8))])",
                            "prefetch_later(in[0, (((along * 16) + (result * 8)) + 23), ((below * "
                            "16) + (source * 8))])"})
    EXPECT_THAT(text, HasSubstr(fetch));
}

}  // namespace
}  // namespace tenon::loop
