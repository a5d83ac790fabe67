// A library function computes them in float64. So the results of narrower types are right to the
// last bit, except for matrices that are nearly singular.
#include "tenon/strategies/te/matmul/determinant.h"

#include <algorithm>

#include "tenon/jit/library_functions.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"

namespace tenon::strategies {

using te::Expr;
using te::Tensor;
using te::Var;

std::vector<Tensor> Determinant(const TeCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<Expr> batch(x.shape().begin(), x.shape().end() - 2);
  const Expr count = ProductOf(batch), n = x.shape().back();
  const bool is_empty = std::ranges::any_of(
      x.shape(), [](const Expr& extent) { return loop::IsConstInt(extent, 0); });
  if (is_empty)  // no matrices, or those without elements
    return {te::Compute(
        batch, [&](const std::vector<Var>&) { return te::Cast(x.dtype(), 1); }, "determinant")};
  const auto wide = [](const Expr& value) {
    return te::Cast(Float64, value.dtype().bits() == 16 ? te::Cast(Float32, value) : value);
  };
  const Tensor matrices = te::Compute(
      {count, n, n},
      [&](const Var& matrix, const Var& row, const Var& column) {
        std::vector<Expr> at = Unflatten(matrix, batch);
        at.insert(at.end(), {row, column});
        return wide(x[at]);
      },
      "matrices", te::Stored{});
  const Tensor found = te::Extern(
      {{count}, {n, n}}, {matrices}, {Float64, Float64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::DeterminantFunction(), {in[0], out[0], out[1], count, n});
      },
      "determinants")[0];
  return {te::Compute(
      batch,
      [&](const std::vector<Var>& i) {
        return te::Cast(x.dtype(), found(Flatten(ToExprs(i), batch)));  // rounded once
      },
      "determinant")};
}

}  // namespace tenon::strategies
