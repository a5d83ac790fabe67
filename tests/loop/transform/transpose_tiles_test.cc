// TransposeTiles: what becomes loads and shuffles, what stays, and the values.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kStride = 40;

struct Tile {
  Var i{"i"};
  Buffer in = Buffer::Make("in", Int64, {kStride * 64});
  Buffer out = Buffer::Make("out", Int64, {kStride * 64});

  Stmt Loop(int rows, const Expr& value, ForKind kind = ForKind::kUnrolled) const {
    return For(i, 0, rows, kind, Store(out, value, {Ramp(i * kStride, 1, rows)}));
  }
  Expr Gather(int rows) const { return Load(in, {Ramp(i + 3, kStride, rows)}); }

  // What is in `in`, and in `out` after the statement, which was all 0.
  std::vector<std::int64_t> Numbers() const {
    std::vector<std::int64_t> numbers(kStride * 64);
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
  }
  std::vector<std::int64_t> OutOf(const Stmt& stmt) const {
    Interpreter interpreter;
    interpreter.Set(in, Numbers());
    interpreter.Set(out, std::vector<std::int64_t>(kStride * 64));
    interpreter.Execute(stmt);
    return interpreter.Of(out);
  }
};

TEST(TransposeTilesTest, AGatherOfNeighbouringColumnsBecomesLoadsAndShuffles) {
  const Tile tile;
  EXPECT_EQ(Print(TransposeTiles(tile.Loop(4, tile.Gather(4)), RowLoads::kParts)),
            "let row = shuffle(in[ramp(3, 1, 2)], in[ramp(83, 1, 2)], [0 1 2 3])\n"
            "let row_1 = shuffle(in[ramp(43, 1, 2)], in[ramp(123, 1, 2)], [0 1 2 3])\n"
            "let row_2 = shuffle(row, row_1, [0 4 2 6])\n"
            "let row_3 = shuffle(row, row_1, [1 5 3 7])\n"
            "let row_4 = shuffle(in[ramp(5, 1, 2)], in[ramp(85, 1, 2)], [0 1 2 3])\n"
            "let row_5 = shuffle(in[ramp(45, 1, 2)], in[ramp(125, 1, 2)], [0 1 2 3])\n"
            "let row_6 = shuffle(row_4, row_5, [0 4 2 6])\n"
            "let row_7 = shuffle(row_4, row_5, [1 5 3 7])\n"
            "out[ramp(0, 1, 4)] = row_2\n"
            "out[ramp(40, 1, 4)] = row_3\n"
            "out[ramp(80, 1, 4)] = row_6\n"
            "out[ramp(120, 1, 4)] = row_7\n");
}

TEST(TransposeTilesTest, WholeRowsAreShuffledBetweenTheirPartsAtTheEnd) {
  const Tile tile;
  EXPECT_EQ(Print(TransposeTiles(tile.Loop(4, tile.Gather(4)), RowLoads::kWhole)),
            "let row = in[ramp(3, 1, 4)]\n"
            "let row_1 = in[ramp(43, 1, 4)]\n"
            "let row_2 = shuffle(row, row_1, [0 4 2 6])\n"
            "let row_3 = shuffle(row, row_1, [1 5 3 7])\n"
            "let row_4 = in[ramp(83, 1, 4)]\n"
            "let row_5 = in[ramp(123, 1, 4)]\n"
            "let row_6 = shuffle(row_4, row_5, [0 4 2 6])\n"
            "let row_7 = shuffle(row_4, row_5, [1 5 3 7])\n"
            "let row_8 = shuffle(row_2, row_6, [0 1 4 5])\n"
            "let row_9 = shuffle(row_2, row_6, [2 3 6 7])\n"
            "let row_10 = shuffle(row_3, row_7, [0 1 4 5])\n"
            "let row_11 = shuffle(row_3, row_7, [2 3 6 7])\n"
            "out[ramp(0, 1, 4)] = row_8\n"
            "out[ramp(40, 1, 4)] = row_10\n"
            "out[ramp(80, 1, 4)] = row_9\n"
            "out[ramp(120, 1, 4)] = row_11\n");
}

TEST(TransposeTilesTest, RowsThatAreNoWholeLinesApartAreLoadedInParts) {
  const Tile tile;
  const Stmt loop = tile.Loop(4, Load(tile.in, {Ramp(tile.i + 3, kStride + 1, 4)}));
  EXPECT_EQ(Print(TransposeTiles(loop, RowLoads::kWhole)),
            Print(TransposeTiles(loop, RowLoads::kParts)));
}

class EachWayToLoad : public ::testing::TestWithParam<RowLoads> {};
INSTANTIATE_TEST_SUITE_P(Ways, EachWayToLoad, ::testing::Values(RowLoads::kParts, RowLoads::kWhole),
                         [](const auto& info) {
                           return info.param == RowLoads::kParts ? "Parts" : "WholeRows";
                         });

TEST_P(EachWayToLoad, GivesTheTransposedBlockUnderAnyEpilogue) {
  for (const int rows : {4, 5, 7, 8, 12, 14, 16}) {
    const Tile tile;
    const Expr value =
        tile.Gather(rows) + tile.Gather(rows) + Load(tile.in, {Ramp(tile.i * rows, 1, rows)});
    const Stmt transposed = TransposeTiles(tile.Loop(rows, value), GetParam());
    ASSERT_THAT(Print(transposed), HasSubstr("shuffle"));
    const std::vector<std::int64_t> numbers = tile.Numbers();
    const std::vector<std::int64_t> out = tile.OutOf(transposed);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        const std::int64_t expected = 2 * numbers[static_cast<std::size_t>(i + 3 + j * kStride)] +
                                      numbers[static_cast<std::size_t>(i * rows + j)];
        ASSERT_EQ(out[static_cast<std::size_t>(i * kStride + j)], expected)
            << rows << ": " << i << ", " << j;
      }
    }
  }
}

// A result's vector of narrow elements has more rows than one load of 16 bytes has columns.
TEST_P(EachWayToLoad, GivesLongRowsOfNarrowElements) {
  for (const DataType type : {Int8, UInt8, Int16}) {
    for (const int lanes : {32, 64}) {
      for (const int columns : {4, 7, 8, 16, 32}) {
        const Buffer in = Buffer::Make("in", type, {Expr(kStride * lanes)});
        const Buffer out = Buffer::Make("out", type, {Expr(columns * lanes)});
        const Var i("i"), start("start");
        const Stmt transposed =
            TransposeTiles(For(i, 0, columns, ForKind::kUnrolled,
                               Store(out, Load(in, {Ramp(start + i, kStride, lanes)}),
                                     {Ramp(i * lanes, 1, lanes)})),
                           GetParam());
        ASSERT_THAT(Print(transposed), HasSubstr("let origin = opaque(start)\n"));
        ASSERT_THAT(Print(transposed), HasSubstr("shuffle"));
        std::vector<std::int64_t> numbers(kStride * lanes), wanted;
        std::iota(numbers.begin(), numbers.end(), 1);
        for (int c = 0; c < columns; ++c) {
          for (int row = 0; row < lanes; ++row) wanted.push_back(numbers[row * kStride + c + 5]);
        }
        Interpreter interpreter;
        interpreter.Set(start, 5);
        interpreter.Set(in, numbers);
        interpreter.Set(out, std::vector<std::int64_t>(columns * lanes));
        interpreter.Execute(transposed);
        EXPECT_EQ(interpreter.Of(out), wanted) << type.ToString() << ": " << columns;
      }
    }
  }
}

// Blocks at the edges, with fewer iterations than lanes or fewer lanes than the vector has, and two
// blocks beside each other.
TEST_P(EachWayToLoad, GivesThePartsOfABlockThatExist) {
  for (const int lanes : {4, 7, 8, 14, 16}) {
    const int square = lanes > 8 ? 16 : lanes > 4 ? 8 : 4;
    for (const int columns : {4, lanes - 1, lanes, square, 2 * square}) {
      for (const int wanted : {1, lanes / 2 + 1, lanes}) {
        if (columns < 4) continue;
        const Tile tile;
        const Expr mask = Ramp(Expr(32), 1, lanes) < Broadcast(Expr(32 + wanted), lanes);
        const Expr gather = Load(tile.in, {Ramp(tile.i + 3, kStride, lanes)}, nullptr, mask);
        const Stmt transposed =
            TransposeTiles(For(tile.i, 0, columns, ForKind::kUnrolled,
                               Store(tile.out, gather + 1, {Ramp(tile.i * kStride, 1, lanes)},
                                     StoreKind::kPlain, mask)),
                           GetParam());
        ASSERT_THAT(Print(transposed), HasSubstr("shuffle"));
        const std::vector<std::int64_t> numbers = tile.Numbers();
        const std::vector<std::int64_t> out = tile.OutOf(transposed);
        for (int i = 0; i < 32; ++i) {
          for (int j = 0; j < 16; ++j) {
            const bool exists = i < columns && j < wanted;
            ASSERT_EQ(out[static_cast<std::size_t>(i * kStride + j)],
                      exists ? numbers[static_cast<std::size_t>(i + 3 + j * kStride)] + 1 : 0)
                << lanes << ", " << columns << ", " << wanted << ": " << i << ", " << j;
          }
        }
      }
    }
  }
}

// The mask is known as the loops run, and so is the condition that all stores share.
TEST_P(EachWayToLoad, ReadsLanesThatAreNotStoredWhereTheyExist) {
  const Tile tile;
  const Var n("n");
  const Expr mask = Ramp(Expr(0), 1, 8) < Broadcast(n, 8);
  const Expr gather = Load(tile.in, {Ramp(tile.i + 3, kStride, 8)}, nullptr, mask);
  const Stmt store =
      Store(tile.out, gather, {Ramp(tile.i * kStride, 1, 8)}, StoreKind::kPlain, mask);
  const Stmt transposed = TransposeTiles(
      For(n, 5, 1, ForKind::kSerial, For(tile.i, 0, 8, ForKind::kUnrolled, If(n > 0, store))),
      GetParam());
  EXPECT_THAT(Print(transposed), HasSubstr("shuffle"));
  EXPECT_THAT(Print(transposed), HasSubstr("if (n > 0) {\n    let row"));
  const std::vector<std::int64_t> numbers = tile.Numbers();
  const std::vector<std::int64_t> out = tile.OutOf(transposed);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(out[static_cast<std::size_t>(i * kStride + j)],
                j < 5 ? numbers[static_cast<std::size_t>(i + 3 + j * kStride)] : 0);
  }
}

// The array ends with the last row that the mask leaves. What a select puts into the other lanes is
// stored, too.
TEST_P(EachWayToLoad, ReadsNoRowAfterTheLastOneOfAMaskOfTheRun) {
  const Var i("i"), first("first"), end("end"), stride("stride");
  const Expr mask = Ramp(first, 1, 8) < Broadcast(end, 8);
  for (const bool selects : {false, true}) {
    for (const int count : {-3, 0, 1, 5, 8}) {
      const int rows = std::max(count, 0);
      const Buffer in = Buffer::Make("in", Int64, {Expr(kStride * rows)});
      const Buffer out = Buffer::Make("out", Int64, {64});
      const Expr gather = Load(in, {Ramp(i + 3, stride, 8)}, nullptr, mask);
      const Expr value = selects ? Select(mask, gather, Broadcast(Expr(-1), 8)) : gather;
      const Stmt transposed = TransposeTiles(
          For(i, 0, 8, ForKind::kUnrolled,
              Store(out, value, {Ramp(i * 8, 1, 8)}, StoreKind::kPlain, selects ? Expr() : mask)),
          GetParam());
      ASSERT_THAT(Print(transposed), HasSubstr("shuffle"));
      std::vector<std::int64_t> numbers(static_cast<std::size_t>(kStride * rows));
      std::iota(numbers.begin(), numbers.end(), 1);
      Interpreter interpreter;
      interpreter.Set(in, numbers);
      interpreter.Set(out, std::vector<std::int64_t>(64));
      interpreter.Set(first, 16);
      interpreter.Set(end, 16 + count);
      interpreter.Set(stride, kStride);
      interpreter.Execute(transposed);
      for (int c = 0; c < 8; ++c) {
        for (int row = 0; row < 8; ++row) {
          const std::int64_t other = selects ? -1 : 0;
          EXPECT_EQ(interpreter.Of(out)[static_cast<std::size_t>(c * 8 + row)],
                    row < count ? numbers[static_cast<std::size_t>(row * kStride + c + 3)] : other)
              << count << ": " << c << ", " << row;
        }
      }
    }
  }
}

TEST_P(EachWayToLoad, BothSidesOfASharedConditionAreTransposed) {
  const Tile tile;
  const Var n("n");
  const auto store = [&](const Expr& value) {
    return Store(tile.out, value, {Ramp(tile.i * kStride, 1, 8)});
  };
  const Stmt both = TransposeTiles(For(tile.i, 0, 8, ForKind::kUnrolled,
                                       If(n > 0, store(tile.Gather(8)), store(tile.Gather(8) + 1))),
                                   GetParam());
  const std::vector<std::int64_t> numbers = tile.Numbers();
  for (const std::int64_t value : {0, 1}) {
    const std::vector<std::int64_t> out = tile.OutOf(For(n, value, 1, ForKind::kSerial, both));
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j)
        EXPECT_EQ(out[i * kStride + j], numbers[i + 3 + j * kStride] + 1 - value);
    }
  }
  EXPECT_THAT(Print(both), Not(HasSubstr("ramp(3, 40, 8)")));
}

TEST(TransposeTilesTest, OtherLoopsStay) {
  const Tile tile;
  const Var n("n");
  const Expr of_run = Ramp(Expr(0), 1, 8) < Broadcast(n, 8);
  const Expr gather = tile.Gather(8);
  const Buffer& in = tile.in;
  const Var& i = tile.i;
  const std::pair<const char*, Stmt> loops[] = {
      {"a serial loop", tile.Loop(8, gather, ForKind::kSerial)},
      {"more columns than the square has",
       For(i, 0, 9, ForKind::kUnrolled,
           Store(tile.out, Load(in, {Ramp(i, kStride, 7)}), {Ramp(i * kStride, 1, 7)}))},
      {"two rows", tile.Loop(2, Load(in, {Ramp(i, kStride, 2)}))},
      {"a plain load", tile.Loop(8, Load(in, {Ramp(i, 1, 8)}))},
      {"every second column", tile.Loop(8, Load(in, {Ramp(i * 2, kStride, 8)}))},
      {"the same column", tile.Loop(8, Load(in, {Ramp(Expr(0), kStride, 8)}))},
      {"a stride that differs", tile.Loop(8, Load(in, {Ramp(i, i + 2, 8)}))},
      {"two gathers", tile.Loop(8, gather + Load(in, {Ramp(i + 9, kStride, 8)}))},
      {"its own result", tile.Loop(8, gather + Load(tile.out, {Ramp(i * kStride, 1, 8)}))},
      {"a mask of other lanes than the first",
       tile.Loop(8, Load(in, {Ramp(i, kStride, 8)}, nullptr,
                         Broadcast(Expr(5), 8) < Ramp(Expr(0), 1, 8)))},
      {"a mask that differs by iteration",
       tile.Loop(8,
                 Load(in, {Ramp(i, kStride, 8)}, nullptr, Ramp(i, 1, 8) < Broadcast(Expr(5), 8)))},
      {"a mask of the run, and a store without it",
       tile.Loop(8, Load(in, {Ramp(i, kStride, 8)}, nullptr, of_run))},
      {"a mask of the run, and a select that takes other lanes",
       tile.Loop(8, Select(of_run, Broadcast(Expr(1), 8),
                           Load(in, {Ramp(i, kStride, 8)}, nullptr, of_run)))},
      {"a scattered store",
       For(i, 0, 8, ForKind::kUnrolled, Store(tile.out, gather, {Ramp(i, kStride, 8)}))},
  };
  for (const auto& [name, loop] : loops) {
    for (const RowLoads loads : {RowLoads::kParts, RowLoads::kWhole}) {
      EXPECT_TRUE(TransposeTiles(loop, loads) == loop) << name;
      EXPECT_THAT(Print(TransposeTiles(loop, loads)), Not(HasSubstr("shuffle"))) << name;
    }
  }
}

}  // namespace
}  // namespace tenon::loop
