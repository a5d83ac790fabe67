// Discrete Fourier transforms by their definition: products with a matrix of cosines and sines,
// which is packed when the kernel is made.
#include <cmath>

#include "tenon/ops/reduce/fourier_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/matmul/product.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// Each row of `rows`, which has `n` elements, times the cosines, at (row, bin), and times the
// sines, at (row, bins + bin), of the first `bins` bins, all times `scale`.
Tensor Transformed(const TeCall& call, const Tensor& rows, std::int64_t n, std::int64_t bins,
                   double scale) {
  const std::int64_t count = ExtentOf(rows, 0);
  const DataType dtype = rows.dtype();
  const auto turn = [&](const Expr& i, const Expr& bin) {
    // i * bin modulo n keeps the angle small, and so exact.
    const Expr part = te::Cast(Float64, te::FloorMod(i * bin, Expr(n)));
    return part * loop::FloatImm(Float64, 2 * M_PI / static_cast<double>(n));
  };
  const std::vector<Expr> shape = {count, 2 * bins};
  const Tensor product =
      Multiply({.batch = {},
                .rows = count,
                .columns = 2 * bins,
                .depth = n,
                .dtype = dtype,
                .target = call.target,
                .left = [&](const std::vector<Expr>&, const Expr& row,
                            const Expr& i) { return rows(row, i); },
                .right =
                    [&](const std::vector<Expr>&, const Expr& i, const Expr& column) {
                      const Expr angle = turn(i, te::FloorMod(column, Expr(bins)));
                      const Expr value = te::Select(column < Expr(bins),
                                                    loop::Call(loop::Intrinsic::kCos, {angle}),
                                                    loop::Call(loop::Intrinsic::kSin, {angle}));
                      return te::Cast(dtype, value * loop::FloatImm(Float64, scale));
                    },
                .least_rows = 1,
                .right_has = {},
                .prepared = [&](const Tensor& packed) { return call.Prepared(packed); }},
               shape);
  return te::Compute(
      shape, [&](const Var& row, const Var& column) { return product(row, column); }, "spectrum",
      te::Stored{});
}

// The real part times the matrix stands above the imaginary part times it, so that both share it.
std::vector<Tensor> Dft(const TeCall& call) {
  const bool inverse = call.attrs.As<ops::DFTAttrs>().inverse;
  const Tensor& real = call.input(0);
  const Tensor& imaginary = call.input(1);
  const Shape shape = call.shape();
  if (NumElements(shape) == 0) return {Zeros(call), Zeros(call)};
  const std::int64_t n = shape.back(), count = NumElements(shape) / n;
  const Shape outer(shape.begin(), shape.end() - 1);
  const DataType dtype = SumType(call.dtype());
  const Tensor rows = te::Compute(
      {2 * count, n},
      [&](const Var& row, const Var& i) {
        std::vector<Expr> from = Unflatten(te::FloorMod(row, Expr(count)), outer);
        from.emplace_back(i);
        return te::Cast(dtype, te::Select(row < Expr(count), real[from], imaginary[from]));
      },
      "parts", te::Stored{});
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  const Tensor product = Transformed(call, rows, n, n, scale);
  // exp(-ix) = cos x - i sin x; the inverse turns the other way.
  const auto result = [&](bool is_real) {
    return te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) {
          const Expr row = Flatten(ToExprs(i), outer);
          const Expr below = row + count;
          const Expr cosines = product(is_real ? row : below, i.back());
          const Expr sines = product(is_real ? below : row, i.back() + n);
          return te::Cast(call.dtype(), is_real == inverse ? cosines - sines : cosines + sines);
        },
        is_real ? "real" : "imaginary");
  };
  return {result(true), result(false)};
}

std::vector<Tensor> Stft(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::StftAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& window = call.input(1);
  const bool has_batch = x.ndim() == 2;
  const ops::Frames frames(attrs, ExtentOf(window, 0));
  const std::int64_t count = frames.CountIn(ExtentOf(x, x.ndim() - 1));
  const std::int64_t batch = has_batch ? ExtentOf(x, 0) : 1;
  if (NumElements(call.shape()) == 0) return {Zeros(call)};
  const DataType dtype = SumType(call.dtype());
  const Tensor rows = te::Compute(
      {batch * count, frames.length},
      [&](const Var& row, const Var& i) {
        std::vector<Expr> from = {te::FloorMod(row, Expr(count)) * frames.step + i};
        if (has_batch) from.insert(from.begin(), te::FloorDiv(row, Expr(count)));
        return te::Cast(dtype, x[from]) * te::Cast(dtype, window(i));
      },
      "frames", te::Stored{});
  const double scale = attrs.normalized ? 1 / std::sqrt(static_cast<double>(frames.length)) : 1;
  const Tensor product = Transformed(call, rows, frames.length, frames.bins, scale);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const std::size_t first = has_batch ? 1 : 0;
        const Expr row = has_batch ? i[0] * count + i[2] : Expr(i[1]);
        const Expr bin = i[first];
        const Expr value = te::Select(i[first + 2] == Expr(0), product(row, bin),
                                      -product(row, bin + frames.bins));
        return te::Cast(call.dtype(), value);
      },
      "stft")};
}

}  // namespace

void AttachFourierComputes(ops::OpRegistry& registry) {
  registry.Definition("dft").SetColumn(TeCompute{Dft});
  registry.Definition("stft").SetColumn(TeCompute{Stft});
}

}  // namespace tenon::strategies
