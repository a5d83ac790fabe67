// Every rule of lowered loops, broken on purpose.
#include "tenon/loop/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;

const Var i("i"), j("j"), n("n");
const Buffer a = Buffer::Make("A", Float32, {8}), b = Buffer::Make("B", Float32, {8}),
             square = Buffer::Make("S", Float32, {8, 8});

Stmt Loop(const Var& var, const Stmt& body, ForKind kind = ForKind::kSerial) {
  return For(var, 0, 8, kind, body);
}

// The message with which a function of parameters A and S and the scalar n is refused.
std::string Refusal(const Stmt& body) {
  try {
    Verify({.name = "f", .buffers = {a, square}, .scalars = {n}, .body = body});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInternal) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(VerifyTest, AcceptsLoopsThatKeepTheRules) {
  const Var v("v");
  EXPECT_EQ(Refusal(Loop(i, Store(a, 1.0F, {i}))), "no error");
  EXPECT_EQ(
      Refusal(For(i, 0, n, ForKind::kParallel, Loop(j, Store(square, Load(a, {j}), {i * 8 + j})))),
      "no error");
  EXPECT_EQ(Refusal(Allocate(b, Seq({Store(b, 1.0F, {0}), Store(a, Load(b, {0}), {0})}))),
            "no error");
  EXPECT_EQ(Refusal(LetStmt(v, n + 1, If(v < 3, Store(a, 1.0F, {v}), Store(a, 2.0F, {0})))),
            "no error");
  EXPECT_EQ(Refusal(Store(a, Broadcast(Expr(1.0F), 4), {Ramp(0, 1, 4)})), "no error");
  EXPECT_EQ(Refusal(Store(a, Let(v, n * 2, Load(a, {v})), {0})), "no error");
}

TEST(VerifyTest, AcceptsParallelLoopsSideBySide) {
  EXPECT_EQ(Refusal(Seq({Loop(i, Store(a, 1.0F, {i}), ForKind::kParallel),
                         Loop(j, Store(a, 2.0F, {j}), ForKind::kParallel)})),
            "no error");
}

TEST(VerifyTest, RefusesAVariableOutsideItsLoop) {
  EXPECT_THAT(Refusal(Store(a, 1.0F, {i})),
              HasSubstr("function f: a variable is defined where it is used: i"));
  EXPECT_THAT(Refusal(Seq({Loop(i, Store(a, 1.0F, {i})), Store(a, 1.0F, {i})})),
              HasSubstr("a variable is defined where it is used: i"));
}

TEST(VerifyTest, RefusesAVariableInItsOwnBounds) {
  EXPECT_THAT(Refusal(For(i, 0, i, ForKind::kSerial, Store(a, 1.0F, {0}))),
              HasSubstr("a variable is defined where it is used: i"));
  EXPECT_THAT(Refusal(LetStmt(j, j + 1, Store(a, 1.0F, {j}))),
              HasSubstr("a variable is defined where it is used: j"));
}

TEST(VerifyTest, RefusesAnUndefinedVariableAnywhere) {
  const char* const rule = "a variable is defined where it is used: j";
  EXPECT_THAT(Refusal(Store(a, Cast(Float32, j), {0})), HasSubstr(rule));
  EXPECT_THAT(Refusal(If(j < 3, Store(a, 1.0F, {0}))), HasSubstr(rule));
  EXPECT_THAT(Refusal(Allocate(Buffer::Make("B", Float32, {j}), Store(a, 1.0F, {0}))),
              HasSubstr(rule));
  EXPECT_THAT(Refusal(Evaluate(j)), HasSubstr(rule));
  EXPECT_THAT(Refusal(If(n < 3, Store(a, 1.0F, {0}), Store(a, 1.0F, {j}))), HasSubstr(rule));
}

TEST(VerifyTest, RefusesAReadOfAMissingBuffer) {
  EXPECT_THAT(Refusal(Store(a, Load(b, {0}), {0})),
              HasSubstr("function f: a buffer exists where it is read: B"));
}

TEST(VerifyTest, RefusesAWriteToAMissingBuffer) {
  EXPECT_THAT(Refusal(Store(b, 1.0F, {0})),
              HasSubstr("function f: a buffer exists where it is written: B"));
}

TEST(VerifyTest, RefusesABufferOutsideItsAllocation) {
  EXPECT_THAT(Refusal(Seq({Allocate(b, Store(b, 1.0F, {0})), Store(b, 1.0F, {0})})),
              HasSubstr("a buffer exists where it is written: B"));
}

TEST(VerifyTest, RefusesIndicesOfSeveralDimensions) {
  EXPECT_THAT(Refusal(Store(square, 1.0F, {0, 0})), HasSubstr("function f: buffers are flat: S"));
  EXPECT_THAT(Refusal(Store(a, Load(square, {1, 2}), {0})),
              HasSubstr("function f: buffers are flat: S[1, 2]"));
}

TEST(VerifyTest, RefusesAVectorisedLoop) {
  EXPECT_THAT(Refusal(Loop(i, Store(a, 1.0F, {i}), ForKind::kVectorized)),
              HasSubstr("function f: vectorised loops are expanded: i"));
}

std::string RefusalUnder(Facts facts, const Stmt& body) {
  try {
    Verify({.name = "f", .buffers = {a, square}, .scalars = {n}, .body = body}, facts);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(VerifyTest, ChecksTheFactsThatItIsGiven) {
  const Stmt shaped = Store(square, 1.0F, {0, 0}), flat = Store(square, 1.0F, {0}),
             read = Store(a, Load(square, {3}), {0}),
             vectors = Loop(i, Store(a, 1.0F, {i}), ForKind::kVectorized),
             unrolled = Loop(i, Store(a, 1.0F, {i}), ForKind::kUnrolled);
  for (const Stmt& stmt : {shaped, flat, read, vectors, unrolled})
    EXPECT_EQ(RefusalUnder({}, stmt), "no error");
  EXPECT_EQ(RefusalUnder({Fact::kShapedBuffers}, shaped), "no error");
  EXPECT_EQ(RefusalUnder({Fact::kFlatBuffers}, flat), "no error");
  EXPECT_THAT(RefusalUnder({Fact::kFlatBuffers}, shaped), HasSubstr("buffers are flat: S[0, 0]"));
  EXPECT_THAT(RefusalUnder({Fact::kShapedBuffers}, flat),
              HasSubstr("an access has one index per dimension: S[0] = 1f"));
  EXPECT_THAT(RefusalUnder({Fact::kShapedBuffers}, read),
              HasSubstr("an access has one index per dimension: S[3]"));
  EXPECT_THAT(RefusalUnder({Fact::kNoVectorLoops}, vectors),
              HasSubstr("vectorised loops are expanded: i"));
  EXPECT_THAT(RefusalUnder({Fact::kNoUnrolledLoops}, unrolled),
              HasSubstr("unrolled loops are expanded: i"));
}

TEST(VerifyTest, RefusesNestedParallelLoops) {
  EXPECT_THAT(
      Refusal(Loop(i, Loop(j, Store(a, 1.0F, {j}), ForKind::kParallel), ForKind::kParallel)),
      HasSubstr("function f: parallel loops do not nest: j"));
  const Var m("m");
  EXPECT_THAT(Refusal(Loop(i, Loop(m, Loop(j, Store(a, 1.0F, {j}), ForKind::kParallel)),
                           ForKind::kParallel)),
              HasSubstr("parallel loops do not nest: j"));
}

TEST(VerifyTest, RefusesAStoreOfOtherLanesThanItsIndex) {
  EXPECT_THAT(
      Refusal(Store(a, 1.0F, {Ramp(0, 1, 4)})),
      HasSubstr("function f: a store has as many values as indices: A[ramp(0, 1, 4)] = 1f"));
  EXPECT_THAT(Refusal(Store(a, Broadcast(Expr(1.0F), 4), {0})),
              HasSubstr("a store has as many values as indices"));
}

}  // namespace
}  // namespace tenon::loop
