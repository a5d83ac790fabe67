// Products with fixed-point numbers: (x 2^left) m + 2^(right + 30), shifted right by 31 + right.
#include <algorithm>

#include "tenon/ops/quantize/fixed_point_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using loop::BinaryOp;
using te::Expr;
using te::Tensor;
using te::Var;

// All in int64.
Expr Product(const Expr& x, const Expr& multiplier, const Expr& left, const Expr& right) {
  const Expr wide = loop::Binary(BinaryOp::kShl, te::Cast(Int64, x), left) * multiplier;
  const Expr half = loop::Binary(BinaryOp::kShl, Expr(1), right + 30);
  return te::Cast(Int32, loop::Binary(BinaryOp::kShr, wide + half, right + 31));
}

std::vector<Tensor> Multiply(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::FixedPointMultiplyAttrs>();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        return Product(call.input(0)[ToExprs(i)], attrs.multiplier,
                       std::max<std::int64_t>(attrs.shift, 0),
                       std::max<std::int64_t>(-attrs.shift, 0));
      },
      "fixed_point_multiply")};
}

std::vector<Tensor> MultiplyPerAxis(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::FixedPointMultiplyPerAxisAttrs>();
  const Tensor& x = call.input(0);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at;
        for (const std::int64_t axis : attrs.axes)
          at.emplace_back(i[static_cast<std::size_t>(ops::NormalAxis(axis, x.ndim(), "axes"))]);
        const auto parameter = [&](std::size_t k) { return te::Cast(Int64, call.input(k)[at]); };
        const auto shift = [&](std::size_t k) {
          return te::Max(te::Min(parameter(k), Expr(31)), Expr(0));
        };
        return Product(x[ToExprs(i)], parameter(1), attrs.is_lshift_required ? shift(2) : Expr(0),
                       attrs.is_rshift_required ? shift(3) : Expr(0));
      },
      "fixed_point_multiply_per_axis")};
}

}  // namespace

void AttachFixedPointComputes(ops::OpRegistry& registry) {
  registry.Definition("fixed_point_multiply").SetColumn(TeCompute{Multiply});
  registry.Definition("fixed_point_multiply_per_axis").SetColumn(TeCompute{MultiplyPerAxis});
}

}  // namespace tenon::strategies
