#include "tenon/passes/affine/scale_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tenon/ops/builders.h"
#include "tenon/passes/simplify/constant_arithmetic.h"

namespace tenon::passes {
namespace {

using ir::Expr;

template <typename T, typename Test>
bool AllOf(const NDArray& values, Test test) {
  return std::all_of(values.data<T>(), values.data<T>() + values.size(), test);
}

// One value as a scalar. With axes it would give a weight of fewer ones as many.
Expr WithoutAxes(const Expr& one, std::size_t rank) {
  if (rank <= 1) return one;
  ops::Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return ops::Squeeze(one, axes);
}

template <typename T>
Magnitudes MagnitudesIn(const NDArray& values) {
  std::optional<Magnitudes> all;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const double value = std::fabs(static_cast<double>(values.data<T>()[i]));
    if (value == 0) continue;
    // NaN is greater than any limit, too.
    const Magnitudes own{value, value <= std::numeric_limits<double>::max()
                                    ? value
                                    : std::numeric_limits<double>::infinity()};
    all = all ? Magnitudes{std::min(all->least, own.least), std::max(all->greatest, own.greatest)}
              : own;
  }
  return all.value_or(Magnitudes());
}

}  // namespace

std::optional<Magnitudes> MagnitudesOf(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  if (constant == nullptr) return std::nullopt;
  if (constant->data.dtype() == Float32) return MagnitudesIn<float>(constant->data);
  if (constant->data.dtype() == Float64) return MagnitudesIn<double>(constant->data);
  return std::nullopt;
}

bool MayScale(const Expr& shift) {
  const std::optional<Magnitudes> magnitudes = MagnitudesOf(shift);
  if (!magnitudes) return true;
  const DataType dtype = shift.As<ir::ConstantNode>()->data.dtype();
  return magnitudes->AreWithin(0x1p80) && magnitudes->least < LeastRounding(dtype);
}

std::optional<AxisScale> ReadAxisScale(const Expr& e, const ir::Type& type,
                                       const std::vector<std::size_t>& axes) {
  const auto* whole = type.As<ir::TensorTypeNode>();
  const auto* scale = e.checked_type().As<ir::TensorTypeNode>();
  if (whole == nullptr || scale == nullptr || scale->shape.size() > whole->shape.size())
    return std::nullopt;
  const std::size_t missing = whole->shape.size() - scale->shape.size();
  if (std::all_of(scale->shape.begin(), scale->shape.end(),
                  [](const ir::Dim& d) { return d == ir::Dim(1); }))
    return AxisScale{WithoutAxes(e, scale->shape.size()), true, MagnitudesOf(e)};
  ops::Ints others;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < scale->shape.size(); ++i) {
    const bool is_channel = std::find(axes.begin(), axes.end(), i + missing) != axes.end();
    if (!is_channel && !(scale->shape[i] == ir::Dim(1))) return std::nullopt;
    if (is_channel &&
        (!scale->shape[i].is_static() || !(scale->shape[i] == whole->shape[i + missing])))
      return std::nullopt;
    if (is_channel) {
      ++kept;
    } else {
      others.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (kept != axes.size()) return std::nullopt;
  return AxisScale{others.empty() ? e : ops::Squeeze(e, others), false, MagnitudesOf(e)};
}

bool Meets(const Expr& scale, const ScaleMessage& message) {
  if (!message.require_positive && !message.require_nonzero) return true;
  const auto* constant = scale.As<ir::ConstantNode>();
  if (constant == nullptr) return false;
  // Kernels take a denormal scale for 0. By an infinite one nothing can be divided.
  const auto meets = [&](auto v) {
    return std::isnormal(v) && (v > 0 || !message.require_positive);
  };
  if (constant->data.dtype() == Float32) return AllOf<float>(constant->data, meets);
  if (constant->data.dtype() == Float64) return AllOf<double>(constant->data, meets);
  return false;
}

Expr ExpandScale(const AxisScale& scale, std::size_t rank, const std::vector<std::size_t>& axes) {
  Expr e = scale.value;
  if (scale.is_scalar) return e;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::size_t next = i + 1 < axes.size() ? axes[i + 1] : rank;
    if (next - axes[i] > 1)
      e = ops::ExpandDims(e, static_cast<std::int64_t>(i) + 1,
                          static_cast<std::int64_t>(next - axes[i] - 1));
  }
  return e;
}

AxisScale Product(const AxisScale& a, const AxisScale& b) {
  AxisScale product{ops::Multiply(a.value, b.value), a.is_scalar && b.is_scalar};
  if (a.magnitudes && b.magnitudes)
    product.magnitudes = Magnitudes{a.magnitudes->least * b.magnitudes->least,
                                    a.magnitudes->greatest * b.magnitudes->greatest};
  return product;
}

}  // namespace tenon::passes
