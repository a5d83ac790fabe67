// Tensorize: what it computes, and what it refuses (check 24, 25 of S001).
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/host_target.h"
#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/tensor_intrinsic.h"
#include "tenon/tests/schedule/tensorize_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::DeclareTensorIntrinsic;
using te::Expr;
using te::Placeholder;
using te::TensorIntrinsic;
using te::Tile;
using te::Var;
using ::testing::HasSubstr;
using Tiles = std::vector<Tile>;

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

// out = a * 2 + b in tiles of `width`.
TensorIntrinsic AxpyOf(int width, DataType type = Float32) {
  const Tensor a = Placeholder({width}, type, "x"), b = Placeholder({width}, type, "y");
  const Tensor c = Compute(
      {width}, [&](const Var& i) { return b(i) + a(i) * loop::Constant(type, 2); }, "c");
  return DeclareTensorIntrinsic(
      "axpy", c, {.body = [=](const Tiles& in, const Tiles& out) {
        return out[0].PutVector(in[0].Vector() + in[1].Vector() * loop::Constant(type, 2));
      }});
}

struct Axpy {
  explicit Axpy(std::int64_t rows = 3, std::int64_t columns = 32) {
    a = Placeholder({rows, columns}, Float32, "a");
    b = Placeholder({rows, columns}, Float32, "b");
    c = Compute(
        {rows, columns}, [&](const Var& i, const Var& j) { return a(i, j) * 2.0F + b(i, j); }, "c");
  }
  Tensor a, b, c;
};

// The inputs come in order of first use; sums may be written the other way round.
TEST(TensorizeTest, AnElementwiseIntrinsic) {
  const Axpy axpy;
  Schedule s(axpy.c);
  s[axpy.c].Tensorize(s[axpy.c].Split(axpy.c.axis(1), 16).second, AxpyOf(16));
  ExpectLikeInterpreter(s, {axpy.a, axpy.b});
}

// What the loops around keep inside guards nothing: of a tile, and of a tile of a tile.
TEST(TensorizeTest, AStageThatIsComputedAtATile) {
  const Tensor x = Placeholder({64}, Float32, "x"), y = Placeholder({64}, Float32, "y");
  const Tensor c = Compute(
      {64}, [&](const Var& i) { return x(i) * 2.0F + y(i); }, "c");
  const Tensor d = Compute(
      {64}, [&](const Var& i) { return c(i) + 1.0F; }, "d");
  for (const int width : {16, 32}) {
    Schedule s(d);
    s[c].ComputeAt(s[d], s[d].Split(d.axis(0), width).first);
    s[c].Tensorize(width == 16 ? c.axis(0) : s[c].Split(c.axis(0), 16).second, AxpyOf(16));
    ExpectLikeInterpreter(s, {x, y});
  }
}

TEST(TensorizeTest, ARecordKnowsIt) {
  const Axpy axpy;
  Schedule s(axpy.c);
  s[axpy.c].Tensorize(s[axpy.c].Split(axpy.c.axis(1), 16).second, AxpyOf(16));
  EXPECT_THAT(PrintRecord(s), HasSubstr("s[c].Tensorize(ax1_inner, axpy);\n"));
  Schedule copy(axpy.c);
  Replay(s.record(), copy);
  const std::vector<Tensor> args = {axpy.a, axpy.b, axpy.c};
  EXPECT_EQ(loop::Print(Lower(copy, args, "k").body), loop::Print(Lower(s, args, "k").body));
}

void RowSums(const float* in, float* out, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) {
    out[i] = 0;
    for (std::int64_t j = 0; j < columns; ++j) out[i] += in[i * columns + j];
  }
}

// Sums of 4 rows of `columns` by a C function.
TensorIntrinsic RowSumsOf(std::int64_t columns) {
  const te::ExternFunction function = te::ExternFunction::At("row_sums", &RowSums);
  const Tensor a = Placeholder({4, columns}, Float32, "a");
  const te::IterVar k = te::ReduceAxis(0, columns, "k");
  const Tensor c = Compute(
      {4}, [&](const Var& i) { return te::Sum(a(i, k.var), {k}); }, "c");
  return DeclareTensorIntrinsic(
      "row_sums", c, {.body = [=](const Tiles& in, const Tiles& out) {
        return loop::Evaluate(
            te::ExternCall(function, {in[0].Address(), out[0].Address(), Expr(4), Expr(columns)}));
      }});
}

Tensor SumsOf(const Tensor& a, std::int64_t columns) {
  const te::IterVar k = te::ReduceAxis(0, columns, "k");
  return Compute(
      {a.shape()[0]}, [&](const Var& i) { return te::Sum(a(i, k.var), {k}); }, "sums");
}

TEST(TensorizeTest, AWholeReductionIsOneCallOfACFunction) {
  const Tensor a = Placeholder({12, 7}, Float32, "a"), c = SumsOf(a, 7);
  Schedule s(c);
  s[c].Tensorize(s[c].Split(c.axis(0), 4).second, RowSumsOf(7));
  ExpectLikeInterpreter(s, {a});
}

TEST(TensorizeTest, ACFunctionGetsTilesInOnePieceOnly) {
  const Tensor a = Placeholder({12, 8}, Float32, "a"), c = SumsOf(a, 7);
  Schedule s(c);
  s[c].Tensorize(s[c].Split(c.axis(0), 4).second, RowSumsOf(7));
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "kernel");
              }),
              HasSubstr("its 7 elements in dimension 1 of 8 leave gaps in memory"));
}

// c[n] = sum over 8 k of a[n, k], in parts.
TensorIntrinsic PartialSums(bool with_init, bool with_update) {
  const Tensor a = Placeholder({4, 8}, Float32, "a");
  const te::IterVar k = te::ReduceAxis(0, 8, "k");
  const Tensor c = Compute(
      {4}, [&](const Var& i) { return te::Sum(a(i, k.var), {k}); }, "c");
  const auto rows = [](const Tiles& in, const Tiles& out, bool add) {
    std::vector<loop::Stmt> stores;
    for (int i = 0; i < 4; ++i) {
      Expr sum = add ? out[0].At({i}) : Expr(0.0F);
      for (int j = 0; j < 8; ++j) sum = sum + in[0].At({i, j});
      stores.push_back(out[0].Put({i}, sum));
    }
    return loop::Seq(std::move(stores));
  };
  te::TensorIntrinsicBodies bodies;
  bodies.body = [=](const Tiles& in, const Tiles& out) { return rows(in, out, false); };
  if (with_init)
    bodies.reduce_init = [](const Tiles&, const Tiles& out) { return out[0].PutVector(0.0F); };
  if (with_update)
    bodies.reduce_update = [=](const Tiles& in, const Tiles& out) { return rows(in, out, true); };
  return DeclareTensorIntrinsic("partial_sums", c, bodies);
}

Schedule PartialSchedule(const Tensor& c, const TensorIntrinsic& intrinsic) {
  Schedule s(c);
  const auto [io, ii] = s[c].Split(c.axis(0), 4);
  const auto [ko, ki] = s[c].Split(c.reduce_axis(0), 8);
  s[c].Reorder({ko, io, ii, ki});
  s[c].Tensorize(ii, intrinsic);
  return s;
}

TEST(TensorizeTest, AReductionGoesOnOutsideWithAndWithoutAnInit) {
  const Tensor a = Placeholder({12, 24}, Float32, "a"), c = SumsOf(a, 24);
  for (const bool with_init : {true, false})
    ExpectLikeInterpreter(PartialSchedule(c, PartialSums(with_init, true)), {a});
}

TEST(TensorizeTest, WithoutAnInitTheFirstPartMustBeThere) {
  const Var m("m");
  const Tensor a = Placeholder({12, m * 8}, Float32, "a");
  const te::IterVar k = te::ReduceAxis(0, m * 8, "k");
  const Tensor x = Placeholder({m}, Float32, "x");
  const Tensor c = Compute(
      {12}, [&](const Var& i) { return te::Sum(a(i, k.var), {k}); }, "sums");
  EXPECT_NE(loop::Print(Lower(PartialSchedule(c, PartialSums(true, true)), {x, a, c}, "f").body),
            "");
  const Schedule s = PartialSchedule(c, PartialSums(false, true));
  EXPECT_THAT(Refusal([&] {
                Lower(s, {x, a, c}, "f");
              }),
              HasSubstr("iterations, maybe none, and then nothing would set the results; the "
                        "intrinsic needs a reduce_init"));
  EXPECT_NE(loop::Print(Lower(s, {x, a, c}, "f", {.positive = {m}}).body), "");
}

TEST(TensorizeTest, WithoutAnInitNoPartOfAnRFactorMayBeEmpty) {
  const Tensor a = Placeholder({12, 24}, Float32, "a"), c = SumsOf(a, 24);
  for (const bool with_init : {true, false}) {
    Schedule s(c);
    const te::IterVar blocks = s[c].Split(c.reduce_axis(0), 8).first;
    const Tensor parts = s.RFactor(c, s[c].SplitParts(blocks, 4).first)[0];  // 3 have terms
    const auto [io, ii] = s[parts].Split(s[parts].axis(1), 4);
    s[parts].Reorder({s[parts].reduce_axis(0), io, ii, s[parts].reduce_axis(1)});
    s[parts].Tensorize(ii, PartialSums(with_init, true));
    if (with_init) {
      ExpectLikeInterpreter(s, {a});
    } else {
      EXPECT_THAT(Refusal([&] {
                    Lower(s, {a, c}, "f");
                  }),
                  HasSubstr("all terms are past the end of a split (rfactor), and then nothing "
                            "would set them; the intrinsic needs a reduce_init"));
    }
  }
}

TEST(TensorizeTest, AReductionInPartsIsComputedAtALoopOfItsReader) {
  const Tensor a = Placeholder({12, 24}, Float32, "a"), c = SumsOf(a, 24);
  const Tensor twice = Compute(
      {12}, [&](const Var& i) { return c(i) + c(i); }, "twice");
  for (const bool with_init : {true, false}) {
    Schedule s(twice);
    const auto [io, ii] = s[c].Split(c.axis(0), 4);
    const auto [ko, ki] = s[c].Split(c.reduce_axis(0), 8);
    s[c].Reorder({ko, io, ii, ki});
    s[c].Tensorize(ii, PartialSums(with_init, true));
    s[c].ComputeAt(s[twice], s[twice].Split(twice.axis(0), 4).first);
    ExpectLikeInterpreter(s, {a});
  }
}

// The bytes of a word, all of which one loop outside or inside takes.
TEST(TensorizeTest, ALoopAroundThatRunsOnceIsNoPartOfTheCompute) {
  const Tensor a = Placeholder({3, 5}, Int32, "a"), b = Placeholder({5, 32, 4}, Int8, "b");
  const te::IterVar w = te::ReduceAxis(0, 5, "w"), q = te::ReduceAxis(0, 4, "q");
  const Tensor c = Compute(
      {3, 32},
      [&](const Var& m, const Var& n) {
        return te::Sum(te::ByteOfWord(a(m, w.var), q.var) * te::Cast(Int32, b(w.var, n, q.var)),
                       {w, q});
      },
      "c");
  for (const bool split : {true, false}) {
    Schedule s(c);
    const te::IterVar lane = s[c].Split(c.axis(1), 16).second;
    const te::IterVar byte = split ? s[c].Split(q, 4).second : q;
    std::vector<te::IterVar> order = {w, lane, byte};
    if (split) order.insert(order.begin(), s[c].leaves().end()[-2]);
    s[c].Reorder(order);
    s[c].Tensorize(lane, te::DotWordS8());
    for (const char* features : {"", "-avx512vnni", "-avx512f"})
      ExpectLikeInterpreter(s, {a, b}, {.target = jit::HostTarget(features)});
  }
}

// Rows of `width` results; the intrinsic takes 16 at a time.
void ExpectSlidingDots(DataType pixel, DataType tap, DataType sum, int group, int stride,
                       std::int64_t width) {
  const int steps = 2;
  const std::int64_t blocks = (width + 15) / 16;
  const Tensor a = Placeholder({3, (blocks * 16 - 1) * stride + steps * group}, pixel, "a");
  const Tensor b = Placeholder({steps, group}, tap, "b");
  const te::IterVar w = te::ReduceAxis(0, steps, "w"), q = te::ReduceAxis(0, group, "q");
  const Tensor sums = Compute(
      {3, blocks, 16},
      [&](const Var& m, const Var& block, const Var& n) {
        return te::Sum(te::Cast(sum, a(m, (block * 16 + n) * stride + w.var * group + q.var)) *
                           te::Cast(sum, b(w.var, q.var)),
                       {w, q});
      },
      "sums");
  const Tensor c = Compute(
      {3, width},
      [&](const Var& m, const Var& n) { return sums(m, te::FloorDiv(n, 16), te::FloorMod(n, 16)); },
      "c");
  Schedule s(c);
  s[sums].ComputeAt(s[c], c.axis(0));
  s[sums].Reorder({w, sums.axis(2), q});
  s[sums].Tensorize(sums.axis(2),
                    sum == Int32 ? te::SlidingDotU8S8(stride) : te::SlidingDotBF16(stride));
  for (const char* features : {"", "-avx512vnni", "-avx512bf16", "-avx512f"}) {
    SCOPED_TRACE(StrCat(sum.ToString(), ", stride ", stride, ", width ", width, " ", features));
    ExpectLikeInterpreter(s, {a, b}, {.target = jit::HostTarget(features)});
  }
}

// A row that ends inside a tile is computed to the tile's end.
TEST(TensorizeTest, WindowsOfARowMeetTheirInstruction) {
  for (const int stride : {1, 2, 3, 4}) {
    for (const std::int64_t width : {1, 7, 16, 17, 31}) {
      ExpectSlidingDots(UInt8, Int8, Int32, 4, stride, width);
      ExpectSlidingDots(BFloat16, BFloat16, Float32, 2, stride, width);
    }
  }
}

TEST(TensorizeTest, WordsOfBfloat16MeetTheirInstruction) {
  const Tensor a = Placeholder({3, 10}, BFloat16, "a"), b = Placeholder({5, 32, 2}, BFloat16, "b");
  const Tensor words = Compute(
      {3, 5},
      [&](const Var& m, const Var& w) {
        return te::WordOf({a(m, w * 2), a(m, w * 2 + 1)});
      },
      "words");
  const te::IterVar w = te::ReduceAxis(0, 5, "w"), q = te::ReduceAxis(0, 2, "q");
  const Tensor c = Compute(
      {3, 32},
      [&](const Var& m, const Var& n) {
        return te::Sum(te::Cast(Float32, te::BFloatOfWord(words(m, w.var), q.var)) *
                           te::Cast(Float32, b(w.var, n, q.var)),
                       {w, q});
      },
      "c");
  Schedule s(c);
  const te::IterVar lane = s[c].Split(c.axis(1), 16).second;
  s[c].Reorder({w, lane, q});
  s[c].Tensorize(lane, te::DotWordBF16());
  for (const char* features : {"", "-avx512bf16", "-avx512f"})
    ExpectLikeInterpreter(s, {a, b}, {.target = jit::HostTarget(features)});
}

TEST(TensorizeTest, SymbolicExtentsAreLegalOutside) {
  const Var n("n");
  const Tensor a = Placeholder({n, 16}, Float32, "a"), b = Placeholder({n, 16}, Float32, "b");
  const Tensor c = Compute(
      {n, 16}, [&](const Var& i, const Var& j) { return a(i, j) * 2.0F + b(i, j); }, "c");
  Schedule s(c);
  s[c].Tensorize(c.axis(1), AxpyOf(16));
  const jit::Kernel kernel = Compiled(s, {a, b, c});
  for (const std::int64_t size : {0, 1, 17}) {
    NDArray x = NDArray::Empty({size, 16}, Float32), y = NDArray::Empty({size, 16}, Float32);
    NDArray out = NDArray::Empty({size, 16}, Float32);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      x.data<float>()[i] = static_cast<float>(i);
      y.data<float>()[i] = static_cast<float>(3 - i);
    }
    ASSERT_TRUE(kernel(x, y, out).ok());
    for (std::int64_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(out.data<float>()[i], static_cast<float>(i + 3));
  }
}

// --- refusals

std::string LowerRefusal(const Schedule& s, const std::vector<Tensor>& args) {
  return Refusal([&] { Lower(s, args, "kernel"); });
}

TEST(TensorizeErrorTest, ReductionsLeftOutsideNeedAnUpdate) {
  const Tensor a = Placeholder({12, 24}, Float32, "a"), c = SumsOf(a, 24);
  EXPECT_THAT(LowerRefusal(PartialSchedule(c, PartialSums(true, false)), {a, c}),
              HasSubstr("reduce loops are left outside; the intrinsic has no reduce_update"));
}

// S001: check 24, data type, extent and expression.
TEST(TensorizeErrorTest, TheDataTypeMustBeTheIntrinsics) {
  const Axpy axpy;
  Schedule s(axpy.c);
  EXPECT_EQ(Refusal([&] { s[axpy.c].Tensorize(axpy.c.axis(1), AxpyOf(32, Float64)); }),
            "tensorize: stage c, axis ax1: intrinsic axpy: output 0 has the data type float32 and "
            "the intrinsic's float64");
  EXPECT_FALSE(s[axpy.c].marks().tensorize.has_value());
}

TEST(TensorizeErrorTest, TheLoopsInsideMustHaveTheIntrinsicsExtents) {
  const Axpy axpy;
  Schedule s(axpy.c);
  s[axpy.c].Tensorize(s[axpy.c].Split(axpy.c.axis(1), 8).second, AxpyOf(16));
  EXPECT_EQ(
      LowerRefusal(s, {axpy.a, axpy.b, axpy.c}),
      "tensorize: stage c, axis ax1.inner, intrinsic axpy: the loops inside run over 8 values "
      "of data axis ax1; the intrinsic needs 16");
  Schedule outer(axpy.c);
  outer[axpy.c].Tensorize(axpy.c.axis(0), AxpyOf(32));
  EXPECT_THAT(LowerRefusal(outer, {axpy.a, axpy.b, axpy.c}),
              HasSubstr("the loops inside run over 3 values of data axis ax0; the intrinsic needs "
                        "1"));
}

TEST(TensorizeErrorTest, TheExpressionsMustBeTheSame) {
  const Axpy axpy;
  const Tensor d = Compute(
      {3, 16}, [&](const Var& i, const Var& j) { return axpy.a(i, j) * 3.0F + axpy.b(i, j); }, "d");
  Schedule s(d);
  s[d].Tensorize(d.axis(1), AxpyOf(16));
  EXPECT_THAT(LowerRefusal(s, {axpy.a, axpy.b, d}), HasSubstr("the computes do not match"));
  // Every second element is another tile than the intrinsic's.
  const Tensor e = Compute(
      {3, 16}, [&](const Var& i, const Var& j) { return axpy.a(i, j * 2) * 2.0F + axpy.b(i, j); },
      "e");
  Schedule strided(e);
  strided[e].Tensorize(e.axis(1), AxpyOf(16));
  EXPECT_THAT(LowerRefusal(strided, {axpy.a, axpy.b, e}), HasSubstr("the computes do not match"));
}

TEST(TensorizeErrorTest, TheReductionsMustBeTheSame) {
  const Tensor a = Placeholder({4, 8}, Float32, "a");
  const te::IterVar k = te::ReduceAxis(0, 8, "k");
  const Tensor c = Compute(
      {4}, [&](const Var& i) { return te::Max(a(i, k.var), {k}); }, "c");
  Schedule s(c);
  EXPECT_THAT(Refusal([&] { s[c].Tensorize(c.axis(0), PartialSums(true, true)); }),
              HasSubstr("do not reduce in the same way"));
}

// S001: check 25.
TEST(TensorizeErrorTest, AStageHasOneTensorizedPlace) {
  const Axpy axpy;
  Schedule s(axpy.c);
  s[axpy.c].Tensorize(axpy.c.axis(1), AxpyOf(32));
  EXPECT_THAT(Refusal([&] { s[axpy.c].Tensorize(axpy.c.axis(0), AxpyOf(32)); }),
              HasSubstr("the stage is tensorized at axis ax1 already"));
}

TEST(TensorizeErrorTest, NoGuardMayDependOnTheLoopsInside) {
  const Axpy axpy(3, 40);
  Schedule s(axpy.c);
  s[axpy.c].Tensorize(s[axpy.c].Split(axpy.c.axis(1), 16).second, AxpyOf(16));
  EXPECT_THAT(LowerRefusal(s, {axpy.a, axpy.b, axpy.c}),
              HasSubstr("depends on loop ax1.inner inside; split by factors that divide"));
}

TEST(TensorizeErrorTest, TheAxisIsALoopAndStaysOne) {
  const Axpy axpy;
  Schedule s(axpy.c);
  EXPECT_THAT(Refusal([&] { s[axpy.c].Tensorize(axpy.a.axis(0), AxpyOf(32)); }),
              HasSubstr("the axis is not part of the schedule"));
  s[axpy.c].Tensorize(axpy.c.axis(1), AxpyOf(32));
  s[axpy.c].Split(axpy.c.axis(1), 4);
  EXPECT_THAT(LowerRefusal(s, {axpy.a, axpy.b, axpy.c}),
              HasSubstr("the axis has been split or fused since"));
}

TEST(TensorizeErrorTest, FusedLoopsInsideAreNotUnderstood) {
  const Axpy axpy(4, 8);
  Schedule s(axpy.c);
  const te::IterVar fused = s[axpy.c].Fuse(axpy.c.axis(0), axpy.c.axis(1));
  s[axpy.c].Tensorize(s[axpy.c].Split(fused, 8).second, AxpyOf(8));
  // What the simplifier can take apart again is legal.
  ExpectLikeInterpreter(s, {axpy.a, axpy.b});
  Schedule whole(axpy.c);
  whole[axpy.c].Tensorize(whole[axpy.c].Fuse(axpy.c.axis(0), axpy.c.axis(1)), AxpyOf(8));
  EXPECT_THAT(LowerRefusal(whole, {axpy.a, axpy.b, axpy.c}), HasSubstr("not be fused"));
}

// What lowering says of `body` in the place of doubling 8 elements.
std::string RefusalOfBody(const te::TileBody& body) {
  const Tensor small = Placeholder({8}, Float32, "a");
  const Tensor doubled = Compute(
      {8}, [&](const Var& i) { return small(i) * 2.0F; }, "doubled");
  const Tensor a = Placeholder({32}, Float32, "A");
  const Tensor b = Compute(
      {32}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Tensorize(s[b].Split(b.axis(0), 8).second,
                 DeclareTensorIntrinsic("twice", doubled, {.body = body}));
  return LowerRefusal(s, {a, b});
}

TEST(TensorizeErrorTest, ABodyStoresToItsOutputsWhatItKnows) {
  EXPECT_EQ(RefusalOfBody([](const Tiles&, const Tiles&) { return loop::Stmt(); }),
            "tensor intrinsic twice: its body gives no statement");
  EXPECT_EQ(RefusalOfBody(
                [](const Tiles& in, const Tiles& out) { return in[0].PutVector(out[0].Vector()); }),
            "tensor intrinsic twice: its body stores to A, which is none of its outputs");
  EXPECT_EQ(RefusalOfBody([](const Tiles&, const Tiles& out) {
              return out[0].PutVector(te::Cast(Float32, Var("w")));
            }),
            "tensor intrinsic twice: its body uses the variable w, which it does not define; it "
            "knows its tiles alone");
  const Tensor foreign = Placeholder({8}, Float32, "F");
  EXPECT_EQ(
      RefusalOfBody([&](const Tiles&, const Tiles& out) { return out[0].PutVector(foreign(0)); }),
      "tensor intrinsic twice: its body reads F, which is none of its tiles");
}

TEST(TensorizeErrorTest, WhateverABodyThrowsNamesTheIntrinsic) {
  EXPECT_THAT(RefusalOfBody([](const Tiles& in, const Tiles& out) {
                return out[0].PutVector(in.at(1).Vector());
              }),
              HasSubstr("tensor intrinsic twice: its body threw an exception: "));
  EXPECT_EQ(RefusalOfBody([](const Tiles&, const Tiles&) -> loop::Stmt { throw 3; }),
            "tensor intrinsic twice: its body threw something that is not a std::exception");
}

TEST(DeclareTensorIntrinsicTest, RefusesWhatIsNoPlainCompute) {
  const auto body = [](const Tiles&, const Tiles& out) { return out[0].PutVector(0.0F); };
  const Tensor a = Placeholder({4}, Float32, "a");
  const auto same = [](const Tensor& t) {
    return Compute(
        t.shape(), [&](const Var& i) { return t(i); }, "copy");
  };
  const auto declare = [&](const Tensor& t, const te::TensorIntrinsicBodies& bodies) {
    return Refusal([&] { DeclareTensorIntrinsic("bad", t, bodies); });
  };
  EXPECT_EQ(declare(a, {.body = body}), "tensor intrinsic bad: a is not a compute");
  EXPECT_EQ(declare(same(a), {}), "tensor intrinsic bad: there is no body");
  EXPECT_EQ(declare(Tensor(), {.body = body}), "tensor intrinsic bad: its compute is null");
  EXPECT_EQ(declare(same(same(a)), {.body = body}),
            "tensor intrinsic bad: input copy is computed; only placeholders are allowed");
  EXPECT_EQ(declare(same(Placeholder({Var("n")}, Float32, "p")), {.body = body}),
            "tensor intrinsic bad: extent n of p is not constant");
  EXPECT_THAT(declare(same(a), {.body = body, .reduce_update = body}),
              HasSubstr("copy is no reduction"));
  const te::IterVar k = te::ReduceAxis(1, 3, "k");
  const Tensor late = Compute(
      {}, [&](const std::vector<Var>&) { return te::Sum(a(k.var), {k}); }, "late");
  EXPECT_THAT(declare(late, {.body = body}), HasSubstr("starts at 1; it must start at 0"));
}

}  // namespace
}  // namespace tenon::schedule
