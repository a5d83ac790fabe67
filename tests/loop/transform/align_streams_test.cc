// Which loops of streaming stores are shifted to begin with a line, and that they store the same.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Var row("row"), block("block"), step("step"), lane("lane");

// Rows of `columns` numbers of 8 bytes, in `unroll` vectors of 8 an iteration.
struct Rows {
  std::int64_t rows, columns, unroll;
  StoreKind kind = StoreKind::kStreaming;

  Buffer in() const { return Buffer::Make("in", Int64, {rows, columns}); }
};

Stmt Doubled(const Rows& r, const Buffer& in, const Buffer& out) {
  const std::int64_t width = r.unroll * 8;
  const Expr column = block * width + step * 8 + lane;
  const Stmt store = Store(out, Load(in, {row, column}) * 2, {row, column}, r.kind);
  // Where whole vectors fill no iteration, blocks are bounded, too.
  Expr guard = True();
  if (r.columns % 8 != 0) guard = guard && column < r.columns;
  if ((r.columns + 7) / 8 % r.unroll != 0)
    guard = guard && block * r.unroll + step < (r.columns + 7) / 8;
  const Stmt guarded = If(guard, store);
  const Stmt vectors =
      For(step, 0, r.unroll, ForKind::kUnrolled, For(lane, 0, 8, ForKind::kVectorized, guarded));
  const Stmt fetch = Evaluate(Call(Intrinsic::kPrefetch, {Load(in, {row, block * width})}));
  return For(
      row, 0, r.rows, ForKind::kSerial,
      For(block, 0, (r.columns + width - 1) / width, ForKind::kSerial, Seq({fetch, vectors})));
}

// As lowering does.
Stmt Lowered(const Stmt& stmt) {
  Stmt made = Simplify(HoistGuards(Simplify(stmt)));
  made = Simplify(FlattenBuffers(Simplify(PartitionLoops(made))));
  return Simplify(UnrollLoops(VectorizeLoops(made)));
}

void PrintTo(const Rows& r, std::ostream* out) {
  *out << r.rows << " rows of " << r.columns << ", " << r.unroll << " vectors each";
}

class AlignStreamsValueTest : public ::testing::TestWithParam<Rows> {};

TEST_P(AlignStreamsValueTest, StoresTheSameInWholeLines) {
  const Rows& r = GetParam();
  const Buffer in = r.in(), out = Buffer::Make("out", Int64, {r.rows, r.columns});
  const Stmt before = Doubled(r, in, out);
  const Stmt after = AlignStreams(before);
  EXPECT_FALSE(after == before);
  const Stmt made = Lowered(after);
  std::vector<std::int64_t> numbers(r.rows * r.columns);
  std::iota(numbers.begin(), numbers.end(), 1);
  Interpreter interpreter;
  interpreter.Set(in, numbers);
  interpreter.Set(out, std::vector<std::int64_t>(numbers.size(), -1));
  interpreter.Execute(made);
  for (std::int64_t& number : numbers) number *= 2;
  EXPECT_EQ(interpreter.Of(out), numbers) << Print(made);
  // One copy of the stores has no mask, and all its vectors begin with a line.
  bool has_whole = false;
  VisitStmts(made, [&](const Stmt& stmt) {
    const auto* store = stmt.As<StoreNode>();
    if (store == nullptr || store->predicate.defined()) return;
    const auto* ramp = store->indices[0].As<RampNode>();
    if (ramp == nullptr || ramp->lanes != 8) return;
    has_whole = true;
    const Linear first = ToLinear(ramp->base, {});
    EXPECT_EQ(first.constant % 8, 0) << Print(stmt);
    for (const auto& [term, coefficient] : first.terms) EXPECT_EQ(coefficient % 8, 0);
  });
  EXPECT_TRUE(has_whole) << Print(made);
}

INSTANTIATE_TEST_SUITE_P(Rows, AlignStreamsValueTest,
                         ::testing::Values(Rows{9, 15, 1}, Rows{9, 17, 1}, Rows{9, 31, 2},
                                           Rows{9, 33, 2}, Rows{8, 100, 4}, Rows{9, 127, 4},
                                           Rows{3, 131, 4}, Rows{9, 1001, 4}, Rows{5, 36, 1}));

TEST(AlignStreamsTest, OtherLoopsStay) {
  for (const Rows& r : {
           Rows{9, 32, 4},                       // whole lines already
           Rows{9, 1001, 4, StoreKind::kPlain},  // not streamed
           Rows{9, 14, 1},                       // may hold no whole line
       }) {
    const Stmt loops = Doubled(r, r.in(), Buffer::Make("out", Int64, {r.rows, r.columns}));
    EXPECT_TRUE(AlignStreams(loops) == loops) << Print(loops);
  }
  const Buffer out = Buffer::Make("out", Int64, {9, 100}), other = Buffer::Make("o", Int64, {100});
  const auto over = [&](const Stmt& body, ForKind kind = ForKind::kVectorized) {
    return For(row, 0, 9, ForKind::kSerial,
               For(block, 0, 12, ForKind::kSerial, For(lane, 0, 8, kind, body)));
  };
  const auto store = [&](const Expr& column) {
    return Store(out, 1, {row, column}, StoreKind::kStreaming);
  };
  const Expr column = block * 8 + lane;
  for (const Stmt& loops : {
           over(store(column), ForKind::kSerial),                  // no vectors
           over(store(block * 16 + lane)),                         // with gaps
           over(Seq({store(column), Store(other, 1, {column})})),  // stores elsewhere, too
           over(If(column < 90 && row < 5, store(column))),        // a guard that is no bound
           over(Seq({store(column), Evaluate(ExternCall(Int64, "next", {row}))})),
       })
    EXPECT_TRUE(AlignStreams(loops) == loops) << Print(loops);
}

// What floordiv(c, 8) and the like have become, since a vector's lanes have one quotient, is wrong
// for the lanes of a shifted vector.
TEST(AlignStreamsTest, ValuesThatAreNoFunctionOfThePlaceStay) {
  const Rows r{9, 100, 2};
  const Buffer out = Buffer::Make("out", Int64, {9, 100}), in = r.in();
  const Expr column = block * 16 + step * 8 + lane;
  const auto storing = [&](const Expr& value) {
    const Stmt store = Store(out, value, {row, column}, StoreKind::kStreaming);
    const Stmt vectors = For(step, 0, 2, ForKind::kUnrolled,
                             For(lane, 0, 8, ForKind::kVectorized, If(column < 100, store)));
    return For(row, 0, 9, ForKind::kSerial, For(block, 0, 7, ForKind::kSerial, vectors));
  };
  for (const Expr& value :
       {Load(in, {row, block * 2 + step}), Load(in, {row, block}), Load(in, {row, step}),
        Load(in, {row, lane}), Load(in, {row, FloorDiv(lane, 2)}), Load(in, {row, column}) + block,
        Expr(lane), IfThenElse(block < 3, Load(in, {row, column}), Expr(0))}) {
    const Stmt loops = storing(value);
    EXPECT_TRUE(AlignStreams(loops) == loops) << Print(AlignStreams(loops));
  }
  for (const Expr& value : {Load(in, {row, FloorDiv(column, 3)}),
                            Load(in, {row, FloorDiv(lane, 2) + block * 8 + step * 4}),
                            Load(in, {row, FloorMod(column, 8)}) + column,
                            IfThenElse(column < 30, Load(in, {row, column}), Expr(0)), Expr(row)})
    EXPECT_FALSE(AlignStreams(storing(value)) == storing(value)) << Print(storing(value));
}

TEST(AlignStreamsTest, OneRunMayReadRowsAsTheyLieInMemory) {
  const Buffer out = Buffer::Make("out", Int64, {1000});
  const auto reading = [&](std::int64_t width) {
    const Buffer in = Buffer::Make("in", Int64, {9, width});
    const Stmt store = Store(out, Load(in, {row, block * 8 + lane}),
                             {row * 96 + block * 8 + lane + 4}, StoreKind::kStreaming);
    return For(row, 0, 9, ForKind::kSerial,
               For(block, 0, 12, ForKind::kSerial, For(lane, 0, 8, ForKind::kVectorized, store)));
  };
  EXPECT_THAT(Print(AlignStreams(reading(96))), HasSubstr("if "));
  // One row after the other, since memory has gaps between those that are read.
  EXPECT_THAT(Print(AlignStreams(reading(97))), HasSubstr("for row"));
  EXPECT_FALSE(AlignStreams(reading(96)) == reading(96));
}

// Nothing is known of runs that lie apart.
TEST(AlignStreamsTest, TheLineInWhichTheNextRunEndsIsFetched) {
  const Rows r{9, 100, 1};
  const auto text = [&](std::int64_t width) {
    const Buffer out = Buffer::Make("out", Int64, {9, width});
    return Print(Simplify(AlignStreams(Doubled(r, r.in(), out))));
  };
  EXPECT_THAT(text(100), HasSubstr("in [0, 9) {\n  prefetch_write(out[row, 199])\n"));
  EXPECT_THAT(text(108), HasSubstr("in [0, 14)"));
  EXPECT_THAT(text(108), Not(HasSubstr("prefetch_write")));
}

TEST(AlignStreamsTest, ARunOfNoRestNeedsNoGuardOfItsOwn) {
  const Rows r{9, 96, 1};
  const Buffer out = Buffer::Make("out", Int64, {9, 100});
  EXPECT_THAT(Print(Simplify(AlignStreams(Doubled(r, r.in(), out)))), HasSubstr("in [0, 13)"));
}

}  // namespace
}  // namespace tenon::loop
