// StreamResults: which results of functions are stored non-temporally.
#include "tenon/loop/transform/stream_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kColumns = 4096;
constexpr std::int64_t kRows = kStreamedBytes / (kColumns * 4);

const Var row("row"), block("block"), lane("lane"), n("n");
const Buffer in = Buffer::Make("in", Float32, {kRows, kColumns});
const Buffer out = Buffer::Make("out", Float32, {kRows, kColumns});

// `make` gives what is stored at that column of the row.
template <typename Make>
Stmt Rows(const Make& make, std::int64_t lanes = 16, ForKind kind = ForKind::kVectorized) {
  return For(row, 0, kRows, ForKind::kParallel,
             For(block, 0, kColumns / lanes, ForKind::kSerial,
                 For(lane, 0, lanes, kind, make(block * lanes + lane))));
}
Stmt CopyTo(const Buffer& to, std::int64_t lanes = 16, ForKind kind = ForKind::kVectorized) {
  return Rows(
      [&](const Expr& column) {
        return Store(to, Load(in, {row, column}), {row, column});
      },
      lanes, kind);
}

bool Streams(const Stmt& stmt, const Buffer& result) {
  bool streams = false;
  VisitStmts(StreamResults(stmt, {in, result}), [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    streams = streams || (store != nullptr && store->store_kind == StoreKind::kStreaming);
  });
  return streams;
}

TEST(StreamResultsTest, ALargeResultOfWholeLinesIsStreamed) {
  EXPECT_TRUE(Streams(CopyTo(out), out));
  EXPECT_TRUE(Streams(CopyTo(out, 64), out));
  const auto guarded = [](const Expr& column) {
    return If(column < 4000, Store(out, 1.0F, {row, column}));
  };
  EXPECT_TRUE(Streams(Rows(guarded), out));
  const Buffer bytes = Buffer::Make("bytes", Int8, {4 * kRows, kColumns});
  const auto cast = [&](const Expr& column) { return Store(bytes, Cast(Int8, 1), {row, column}); };
  EXPECT_TRUE(Streams(Rows(cast, 64), bytes));
  const Buffer odd = Buffer::Make("odd", Float32, {kRows + 1, 4095});
  EXPECT_TRUE(Streams(CopyTo(odd), odd));
}

TEST(StreamResultsTest, OtherResultsStay) {
  const auto stays = [](const Stmt& stmt, const Buffer& result = out) {
    EXPECT_TRUE(StreamResults(stmt, {in, result}) == stmt) << Print(stmt);
  };
  stays(CopyTo(out, 8));                     // vectors of half a line
  stays(CopyTo(out, 16, ForKind::kSerial));  // no vectors
  stays(CopyTo(out, 16, ForKind::kUnrolled));
  stays(Rows([](const Expr& column) { return Store(out, 1.0F, {row, column - lane + lane * 2}); }));
  stays(Rows([](const Expr& column) {
    return Store(out, Call(Intrinsic::kExp, {Load(in, {row, column})}), {row, column});
  }));
  stays(Rows([](const Expr& column) {
    const Var value("value", Float32);
    return LetStmt(value, Call(Intrinsic::kExp, {Load(in, {row, column})}),
                   Store(out, value, {row, column}));
  }));
  for (const Buffer& small : {
           Buffer::Make("small", Float32, {kRows - 1, kColumns}),
           Buffer::Make("short", Float32,
                        {kRows * 100, 41}),  // rows that share many of their lines
           Buffer::Make("unknown", Float32, {n, kColumns}),
       })
    stays(CopyTo(small), small);
  // What is no parameter, is read, or stored twice.
  EXPECT_FALSE(Streams(CopyTo(out), in));
  stays(Seq({CopyTo(out), Store(in, Load(out, {0, 0}), {0, 0})}));
  stays(Seq({CopyTo(out), CopyTo(out)}));
  stays(Seq({Evaluate(Call(Intrinsic::kPrefetchWrite, {Load(out, {0, 0})})), CopyTo(out)}));
}

TEST(StreamResultsTest, NothingElseOfTheStoreChanges) {
  EXPECT_THAT(Print(StreamResults(CopyTo(out), {out})),
              ::testing::HasSubstr("out[row, ((block * 16) + lane)] = "
                                   "in[row, ((block * 16) + lane)] non-temporal\n"));
}

}  // namespace
}  // namespace tenon::loop
