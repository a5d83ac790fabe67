// A matrix product as fast as a library's, in twelve calls: the operands in the order in which they
// are read, a block of results in registers - and the schedule printed as the calls that made it.
#include <cmath>
#include <cstdio>

#include "tenon/schedule/record.h"
#include "tenon/te/reduce.h"
#include "tenon/tenon.h"

namespace te = tenon::te;
namespace jit = tenon::jit;
using tenon::Float32;
using tenon::Schedule;
using tenon::Tensor;

int main() {
  constexpr std::int64_t kSize = 192;  // a multiple of the tile; 4 x 64 sums fill 16 registers
  te::Tensor A = te::Placeholder({kSize, kSize}, Float32, "A");
  te::Tensor B = te::Placeholder({kSize, kSize}, Float32, "B");
  // Panels of 64 columns, so that the inner loop reads one address after the other.
  te::Tensor P = te::Compute(
      {kSize / 64, kSize, 64}, [&](te::Var j, te::Var k, te::Var c) { return B(k, j * 64 + c); },
      "P");
  te::IterVar k = te::ReduceAxis(0, kSize, "k");
  te::Tensor C = te::Compute(
      {kSize, kSize},
      [&](te::Var i, te::Var j) {
        return te::Sum(A(i, k.var) * P(te::FloorDiv(j, 64), k.var, te::FloorMod(j, 64)), {k});
      },
      "C");

  Schedule s(C);
  te::Tensor sums = s.CacheWrite(C, "local");
  auto [row_block, column_block, row, column] = s[C].Tile(s[C].axis(0), s[C].axis(1), 4, 64);
  s[C].Reorder({column_block, row_block, row, column});
  s[C].Vectorize(s[C].Split(column, 16).second);
  s[C].Parallel(column_block);
  s[sums].ComputeAt(s[C], row_block);
  auto [vectors, lanes] = s[sums].Split(s[sums].axis(1), 16);
  s[sums].Reorder({s[sums].reduce_axis(0), s[sums].axis(0), vectors, lanes});
  s[sums].Unroll(s[sums].axis(0)).Unroll(vectors).Vectorize(lanes);
  s[P].Vectorize(s[P].Split(s[P].axis(2), 16).second);
  jit::Kernel matmul = jit::Build(s, {A, B, C}, "matmul").value();

  Tensor a = Tensor::Empty({kSize, kSize}, Float32), b = Tensor::Empty({kSize, kSize}, Float32);
  Tensor c = Tensor::Zeros({kSize, kSize}, Float32);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    a.data<float>()[i] = static_cast<float>(i % 7) - 3;
    b.data<float>()[i] = static_cast<float>(i % 5) - 2;
  }
  if (!matmul(a, b, c).ok()) return 1;
  for (std::int64_t i = 0; i < kSize; ++i) {
    for (std::int64_t j = 0; j < kSize; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < kSize; ++l)
        sum += static_cast<double>(a.data<float>()[i * kSize + l]) * b.data<float>()[l * kSize + j];
      if (std::fabs(c.data<float>()[i * kSize + j] - sum) > 1e-3) return 1;
    }
  }
  std::puts(tenon::schedule::PrintRecord(s).c_str());
  return 0;
}
