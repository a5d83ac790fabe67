// erf and tanh: odd functions that are 1 from somewhere on. Up to there |x| lies in one of 16
// intervals of one width. On each of them, a polynomial in the distance from its middle is close
// enough. The coefficients of each degree are a table in a register (the form of Intel's and
// glibc's vector functions; the polynomials are Newton's through Chebyshev's points, which errs
// little more than the best ones: Trefethen, "Approximation Theory and Approximation Practice",
// 2013).
//
// On the interval around 0 it is x times a polynomial in |x|, which keeps small results exact to
// their last bits.
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "tenon/jit/llvm/inline_arithmetic.h"
#include "tenon/jit/llvm/inline_math.h"

namespace tenon::jit {
namespace {

using llvm::Value;

using Function = std::function<double(double)>;

// The polynomial through f at the Chebyshev points of [middle - radius, middle + radius], in the
// distance from the middle, lowest degree first.
std::vector<double> Interpolated(const Function& f, double middle, double radius, int degree) {
  const auto count = static_cast<std::size_t>(degree) + 1;
  std::vector<double> points(count), divided(count);
  for (std::size_t i = 0; i < count; ++i) {
    points[i] = radius * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) /
                                  static_cast<double>(count));
    divided[i] = f(middle + points[i]);
  }
  for (std::size_t order = 1; order < count; ++order) {
    for (std::size_t i = count; i-- > order;)
      divided[i] = (divided[i] - divided[i - 1]) / (points[i] - points[i - order]);
  }
  std::vector<double> p(count, 0.0);
  for (std::size_t i = count; i-- > 0;) {
    for (std::size_t k = count; k-- > 1;) p[k] = p[k - 1] - points[i] * p[k];
    p[0] = divided[i] - points[i] * p[0];
  }
  return p;
}

// Polynomial i approximates the function on [(i - 1/2) width, (i + 1/2) width].
struct Pieces {
  double width;
  double limit;  // just below the end of the last one, from where on the result stays
  std::vector<Table> coefficients;  // by degree, lowest first
};

Pieces PiecesOf(double (*f)(double), double width, double limit, int degree) {
  Pieces pieces{width, limit, std::vector<Table>(static_cast<std::size_t>(degree) + 1)};
  const Function quotient = [f](double x) {
    return std::abs(x) < 1e-6 ? f(1e-6) / 1e-6 : f(x) / x;
  };
  for (unsigned i = 0; i < kTableSize; ++i) {
    std::vector<double> p =
        i == 0 ? Interpolated(quotient, 0, width / 2, degree - 1)
               : Interpolated(f, static_cast<double>(i) * width, width / 2, degree);
    if (i == 0) p.insert(p.begin(), 0.0);
    for (std::size_t k = 0; k < p.size(); ++k) pieces.coefficients[k][i] = static_cast<float>(p[k]);
  }
  return pieces;
}

Value* Evaluated(llvm::IRBuilder<>& builder, const Pieces& pieces, Value* x) {
  const Arithmetic math(builder, x->getType());
  Value* magnitude =
      math.AtMost(builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), pieces.limit);
  Value* shifted = math.Fma(magnitude, 1 / pieces.width, math.Real(kRoundingShift));
  Value* number = builder.CreateFSub(shifted, math.Real(kRoundingShift));
  Value* distance = math.Fma(number, -pieces.width, magnitude);
  Value* p = math.LookUp(pieces.coefficients.back(), shifted);
  for (std::size_t k = pieces.coefficients.size() - 1; k-- > 0;)
    p = math.Fma(p, distance, math.LookUp(pieces.coefficients[k], shifted));
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, p, x);
}

Value* Emitted(llvm::IRBuilder<>& builder, const Pieces& pieces, Value* x) {
  return ByRegisters(builder, x, [&](Value* lanes) { return Evaluated(builder, pieces, lanes); });
}

}  // namespace

Value* EmitErf(llvm::IRBuilder<>& builder, Value* x) {
  static const Pieces kPieces = PiecesOf(std::erf, 0.25, 3.8749998, 5);
  return Emitted(builder, kPieces, x);
}

Value* EmitTanh(llvm::IRBuilder<>& builder, Value* x) {
  static const Pieces kPieces = PiecesOf(std::tanh, 0.59375, 9.08, 7);
  return Emitted(builder, kPieces, x);
}

}  // namespace tenon::jit
