// Which tiles of transpositions are moved back at the ends of axes, and that they store the same.
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

const Var block("block"), below("below"), along("along"), row("row"), lane("lane");

// A matrix of `rows` by `columns` as the result, in tiles of 4 by 8, of which blocks have 2 one
// below the other. The blocks are counted by one variable, in rows of blocks.
struct Matrix {
  std::int64_t rows, columns;

  Buffer in() const { return Buffer::Make("in", Int64, {columns, rows}); }
  Buffer out() const { return Buffer::Make("out", Int64, {rows, columns}); }
  std::int64_t row_tiles() const { return CeilDiv(rows, 4); }
  std::int64_t column_tiles() const { return CeilDiv(columns, 8); }

  Expr row_tile() const { return FloorDiv(block, column_tiles()) * 2 + below; }
  Expr column_tile() const { return FloorMod(block, column_tiles()); }
  Expr i() const { return row_tile() * 4 + row; }
  Expr c() const { return column_tile() * 8 + lane; }
  Expr guard() const {
    Expr guard = True();
    if (rows % 4 != 0) guard = guard && i() < rows;
    if (columns % 8 != 0) guard = guard && c() < columns;
    if (row_tiles() % 2 != 0) guard = guard && row_tile() < row_tiles();
    return guard;
  }
  Stmt Over(const Stmt& body, ForKind lanes = ForKind::kVectorized) const {
    return For(block, 0, CeilDiv(row_tiles(), 2) * column_tiles(), ForKind::kSerial,
               For(below, 0, 2, ForKind::kSerial,
                   For(row, 0, 4, ForKind::kUnrolled, For(lane, 0, 8, lanes, body))));
  }
};

void PrintTo(const Matrix& m, std::ostream* out) { *out << m.rows << " x " << m.columns; }

std::int64_t ConditionsIn(const Stmt& stmt) {
  std::int64_t count = 0;
  VisitStmts(stmt, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (s.kind() == StmtKind::kIf || (store != nullptr && store->predicate.defined())) ++count;
  });
  return count;
}

Stmt Lowered(const Stmt& stmt) {
  Stmt made = Simplify(HoistGuards(Simplify(stmt)));
  made = Simplify(FlattenBuffers(Simplify(PartitionLoops(made))));
  return Simplify(UnrollLoops(VectorizeLoops(made)));
}

class ShiftTilesValueTest : public ::testing::TestWithParam<Matrix> {};

TEST_P(ShiftTilesValueTest, WholeTilesStoreTheSame) {
  const Matrix& m = GetParam();
  const Buffer in = m.in(), out = m.out();
  const Buffer of_row = Buffer::Make("of_row", Int64, {m.rows});
  const Buffer of_column = Buffer::Make("of_column", Int64, {m.columns});
  const Expr value = Load(in, {m.c(), m.i()}) * Load(of_row, {m.i()}) + Load(of_column, {m.c()});
  const Stmt before = m.Over(If(m.guard(), Store(out, value, {m.i(), m.c()})));
  const Stmt after = ShiftTiles(before);
  EXPECT_FALSE(after == before);
  const Stmt made = Lowered(after);
  EXPECT_EQ(ConditionsIn(made), 0) << Print(made);
  std::vector<std::int64_t> numbers(m.rows * m.columns), rows(m.rows), columns(m.columns), wanted;
  std::iota(numbers.begin(), numbers.end(), 1);
  std::iota(rows.begin(), rows.end(), 3);
  std::iota(columns.begin(), columns.end(), 1000);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int64_t c = 0; c < m.columns; ++c)
      wanted.push_back(numbers[c * m.rows + i] * rows[i] + columns[c]);
  }
  Interpreter interpreter;
  interpreter.Set(in, numbers);
  interpreter.Set(of_row, rows);
  interpreter.Set(of_column, columns);
  interpreter.Set(out, std::vector<std::int64_t>(wanted.size(), -1));
  interpreter.Execute(made);
  EXPECT_EQ(interpreter.Of(out), wanted) << Print(made);
}

INSTANTIATE_TEST_SUITE_P(Matrices, ShiftTilesValueTest,
                         ::testing::Values(Matrix{5, 8}, Matrix{4, 9}, Matrix{7, 15}, Matrix{9, 17},
                                           Matrix{16, 23}, Matrix{13, 16}, Matrix{21, 31},
                                           Matrix{31, 8}));

TEST(ShiftTilesTest, OtherTilesStay) {
  const Matrix m{9, 17};
  const Buffer in = m.in(), out = m.out(), copy = m.out();
  const Buffer table = Buffer::Make("table", Int64, {64});
  const Expr gathered = Load(in, {m.c(), m.i()}), guard = m.guard();
  const std::vector<Expr> place = {m.i(), m.c()};
  const std::pair<const char*, Stmt> loops[] = {
      {"no tile at the end of an axis", m.Over(Store(out, gathered, place))},
      {"a serial loop", m.Over(If(guard, Store(out, gathered, place)), ForKind::kSerial)},
      {"no gather", m.Over(If(guard, Store(out, Load(copy, place), place)))},
      {"its own result", m.Over(If(guard, Store(out, gathered + Load(out, place), place)))},
      {"the number of the lane", m.Over(If(guard, Store(out, gathered + lane, place)))},
      {"what is there for each tile",
       m.Over(If(guard, Store(out, gathered + Load(table, {Expr(lane)}), place)))},
      {"what is there for each place in a block",
       m.Over(If(guard, Store(out, gathered + Load(table, {below * 4 + row}), place)))},
      {"what is there for each row of tiles",
       m.Over(If(guard, Store(out, gathered + Load(table, {m.row_tile()}), place)))},
      {"every other element",
       m.Over(If(guard, Store(out, gathered + Load(table, {FloorDiv(lane, 2)}), place)))},
      {"a condition that ends no axis",
       m.Over(If(guard && row * 2 < 5, Store(out, gathered, place)))},
      {"a condition on both", m.Over(If(guard && row < lane, Store(out, gathered, place)))},
  };
  for (const auto& [name, loop] : loops)
    EXPECT_TRUE(ShiftTiles(loop) == loop) << name << "\n" << Print(ShiftTiles(loop));
  const Matrix small{3, 17};  // less than a tile
  const Stmt rows =
      small.Over(If(small.guard(), Store(small.out(), Load(small.in(), {small.c(), small.i()}),
                                         {small.i(), small.c()})));
  EXPECT_TRUE(ShiftTiles(rows) == rows);
}

TEST(ShiftTilesTest, TilesBehindTheEndStayOut) {
  const Matrix m{9, 16};
  const Stmt made = ShiftTiles(
      m.Over(If(m.guard(), Store(m.out(), Load(m.in(), {m.c(), m.i()}), {m.i(), m.c()}))));
  EXPECT_THAT(Print(Simplify(made)), HasSubstr("< 9"));
  EXPECT_THAT(Print(Simplify(made)), HasSubstr("< 3"));
}

}  // namespace
}  // namespace tenon::loop
