// Tensorize: what it refuses (check 24, 25 of S001), and matrix products with the dot-product
// instructions against the interpreter at sizes around the tile.
#include <cmath>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/extern.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/tensor_intrinsic.h"

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

NDArray Random(const Tensor& like, unsigned seed) {
  Shape shape;
  for (const Expr& extent : like.shape()) shape.push_back(extent.As<loop::IntImmNode>()->value);
  NDArray array = NDArray::Empty(std::move(shape), like.dtype());
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (like.dtype() == BFloat16) {
      const float value = static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
      std::memcpy(static_cast<char*>(array.raw()) + 2 * i,
                  reinterpret_cast<const char*>(&value) + 2, 2);
    } else if (like.dtype() == Float32) {
      array.data<float>()[i] = static_cast<float>(random() % 100) / 8;
    } else if (like.dtype() == Int32) {
      array.data<std::int32_t>()[i] = static_cast<std::int32_t>(random());
    } else {
      static_cast<std::uint8_t*>(array.raw())[i] = static_cast<std::uint8_t>(random());
    }
  }
  return array;
}

jit::Kernel Compiled(const Schedule& s, const std::vector<Tensor>& args,
                     const jit::CompileOptions& options = {}) {
  absl::StatusOr<jit::Kernel> kernel = jit::Compile(Lower(s, args, "kernel"), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return std::move(kernel).value();
}

// The compiled schedule gives the interpreter's bits.
void ExpectLikeInterpreter(const Schedule& s, const std::vector<Tensor>& inputs,
                           const jit::CompileOptions& options = {}) {
  const Tensor out = s.outputs()[0];
  std::vector<Tensor> args = inputs;
  std::vector<NDArray> arrays;
  std::vector<std::pair<Tensor, NDArray>> given;
  for (const Tensor& input : inputs) {
    arrays.push_back(Random(input, static_cast<unsigned>(arrays.size() + 1)));
    given.emplace_back(input, arrays.back());
  }
  const NDArray expected = te::Interpret({out}, given)[0];
  args.push_back(out);
  arrays.push_back(NDArray::Empty(expected.shape(), expected.dtype()));
  std::memset(arrays.back().raw(), 0xAA, arrays.back().bytes());
  const jit::Kernel kernel = Compiled(s, args, options);
  ASSERT_TRUE(kernel.Run(arrays).ok());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(static_cast<std::uint32_t*>(arrays.back().raw())[i],
              static_cast<std::uint32_t*>(expected.raw())[i])
        << "element " << i << "\n"
        << kernel.Loops();
  }
}

// out[m, n] = sum over k of a[m, k] * b[k, n] by way of tiles of 16 columns and `group` k, padded
// with zeros.
struct Matmul {
  Matmul(std::int64_t rows, std::int64_t columns, std::int64_t depth, int g, DataType a_type,
         DataType b_type, DataType sum_type)
      : group(g) {
    const std::int64_t wide = (columns + 15) / 16 * 16, deep = (depth + g - 1) / g * g;
    a = Placeholder({rows, depth}, a_type, "a");
    b = Placeholder({depth, columns}, b_type, "b");
    padded = Compute(
        {rows, deep},
        [&](const Var& m, const Var& k) {
          return te::IfThenElse(k < depth, a(m, k), loop::Constant(a_type, 0));
        },
        "padded");
    packed = Compute(
        {wide / 16, deep / g, 16, g},
        [&](const Var& no, const Var& ko, const Var& ni, const Var& ki) {
          const Expr n = no * 16 + ni, k = ko * g + ki;
          return te::IfThenElse(n < columns && k < depth, b(k, n), loop::Constant(b_type, 0));
        },
        "packed");
    const te::IterVar k = te::ReduceAxis(0, deep, "k");
    product = Compute(
        {rows, wide},
        [&](const Var& m, const Var& n) {
          const Expr weight = packed(loop::FloorDiv(n, 16), loop::FloorDiv(k.var, g),
                                     loop::FloorMod(n, 16), loop::FloorMod(k.var, g));
          return te::Sum(te::Cast(sum_type, padded(m, k.var)) * te::Cast(sum_type, weight), {k});
        },
        "product");
    out = Compute(
        {rows, columns}, [&](const Var& m, const Var& n) { return product(m, n); }, "out");
  }

  Schedule Tensorized(const TensorIntrinsic& intrinsic) const {
    Schedule s(out);
    const auto [no, ni] = s[product].Split(product.axis(1), 16);
    const auto [ko, ki] = s[product].Split(product.reduce_axis(0), group);
    s[product].Reorder({no, ko, ni, ki});
    s[product].Tensorize(ni, intrinsic);
    return s;
  }

  int group;
  Tensor a, b, padded, packed, product, out;
};

Matmul Bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
  return Matmul(m, n, k, 4, UInt8, Int8, Int32);
}
Matmul Bfloats(std::int64_t m, std::int64_t n, std::int64_t k) {
  return Matmul(m, n, k, 2, BFloat16, BFloat16, Float32);
}

struct Sizes {
  std::int64_t m, n, k;
};
class TensorizedMatmulTest : public ::testing::TestWithParam<Sizes> {};
INSTANTIATE_TEST_SUITE_P(AroundTheTile, TensorizedMatmulTest,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{1, 16, 4}, Sizes{3, 15, 5},
                                           Sizes{5, 17, 3}, Sizes{2, 33, 64}, Sizes{7, 16, 63},
                                           Sizes{4, 31, 65}));

TEST_P(TensorizedMatmulTest, BytesWithAndWithoutTheInstruction) {
  const auto [m, n, k] = GetParam();
  const Matmul matmul = Bytes(m, n, k);
  for (const char* features : {"", "-avx512vnni", "-avx512f"}) {
    ExpectLikeInterpreter(matmul.Tensorized(te::DotU8S8()), {matmul.a, matmul.b},
                          {.target = jit::HostTarget(features)});
  }
}

// The values have few bits, so that every sum is exact in whatever order.
TEST_P(TensorizedMatmulTest, BfloatsWithAndWithoutTheInstruction) {
  const auto [m, n, k] = GetParam();
  const Matmul matmul = Bfloats(m, n, k);
  for (const char* features : {"", "-avx512bf16", "-avx512f"}) {
    ExpectLikeInterpreter(matmul.Tensorized(te::DotBF16()), {matmul.a, matmul.b},
                          {.target = jit::HostTarget(features)});
  }
}

TEST_P(TensorizedMatmulTest, ProducersAreComputedForTheTilesThatALoopReads) {
  const auto [m, n, k] = GetParam();
  const Matmul matmul = Bytes(m, n, k);
  Schedule s = matmul.Tensorized(te::DotU8S8());
  Stage& product = s[matmul.product];
  s[matmul.packed].ComputeAt(product, product.leaves()[2]);
  product.Unroll(product.leaves()[0]);
  if (n > 16 && k > 4) {
    EXPECT_THAT(loop::Print(Lower(s, {matmul.a, matmul.b, matmul.out}, "kernel").body),
                HasSubstr("allocate packed: int8[1, 1, 16, 4]"));
  }
  ExpectLikeInterpreter(s, {matmul.a, matmul.b});
}

TEST(TensorizedMatmulTest, TheHostsInstructionsRunInTheLoop) {
  const Target host = jit::HostTarget();
  const Matmul bytes = Bytes(8, 64, 64), bfloats = Bfloats(8, 64, 64);
  const auto assembly = [](const Matmul& matmul, const TensorIntrinsic& intrinsic) {
    return Compiled(matmul.Tensorized(intrinsic), {matmul.a, matmul.b, matmul.out}).Assembly();
  };
  if (host.Has("avx512vnni")) {
    EXPECT_THAT(assembly(bytes, te::DotU8S8()), HasSubstr("vpdpbusd"));
  }
  if (host.Has("avx512bf16")) {
    EXPECT_THAT(assembly(bfloats, te::DotBF16()), HasSubstr("vdpbf16ps"));
  }
}

TEST(TensorizedMatmulTest, TilesAreWholeVectors) {
  const Matmul matmul = Bytes(8, 64, 64);
  const std::string loops = loop::Print(
      Lower(matmul.Tensorized(te::DotU8S8()), {matmul.a, matmul.b, matmul.out}, "kernel").body);
  EXPECT_THAT(loops, HasSubstr("dot_u8s8(product[ramp("));
  EXPECT_THAT(loops, HasSubstr("x64(padded[ramp("));
  EXPECT_THAT(loops, ::testing::ContainsRegex("packed.ramp.*, 1, 64."));
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
