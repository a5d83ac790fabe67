// Matrix products with the dot-product instructions against the interpreter, at sizes around the
// tile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/host_target.h"
#include "tenon/loop/print.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/tensor_intrinsic.h"
#include "tenon/tests/schedule/tensorize_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Expr;
using te::Placeholder;
using te::TensorIntrinsic;
using te::Var;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace tenon::schedule
