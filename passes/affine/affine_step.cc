#include "tenon/passes/affine/affine_step.h"

#include <algorithm>
#include <cmath>

#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/simplify/constant_arithmetic.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

std::vector<double> Plus(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<double> sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

std::vector<double> Mapped(std::vector<double> values, double (*f)(double)) {
  std::transform(values.begin(), values.end(), values.begin(), f);
  return values;
}
double Negated(double v) { return -v; }
double Inverse(double v) { return 1 / v; }

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}
bool AllEqual(const std::vector<double>& values, double wanted) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == wanted; });
}

std::int64_t ChannelsOf(const ir::Type& type, const std::vector<std::size_t>& axes) {
  std::int64_t channels = 1;
  for (const std::size_t axis : axes)
    channels *= type.As<ir::TensorTypeNode>()->shape[axis].value();
  return channels;
}

}  // namespace

std::vector<double> Times(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<double> product = a;
  for (std::size_t i = 0; i < product.size(); ++i) product[i] *= b[i];
  return product;
}

Affine Affine::After(const Affine& inner) const {
  return {Times(scale, inner.scale),
          Plus(inner.shift.empty() ? inner.shift : Times(scale, inner.shift), shift)};
}

bool Affine::Cancels(const Affine& inner, DataType dtype) const {
  if (inner.shift.empty() || shift.empty()) return false;
  const std::vector<double> moved = Times(scale, inner.shift);
  SumsOfConstants sums(dtype);
  for (std::size_t i = 0; i < shift.size(); ++i) sums.Add(moved[i], shift[i]);
  return sums.Cancel();
}

bool Affine::IsFinite() const { return AllFinite(scale) && AllFinite(shift); }

double LargestOf(const std::vector<double>& scale) {
  double largest = 0;
  for (const double factor : scale) largest = std::max(largest, std::fabs(factor));
  return largest;
}

bool HasDenormals(const std::vector<double>& scale, DataType dtype) {
  const double least = LeastNormal(dtype);
  return std::any_of(scale.begin(), scale.end(),
                     [&](double v) { return v != 0 && std::fabs(v) < least; });
}

bool Affine::FitsIn(DataType dtype) const {
  const auto fits = [&](double v) {
    return dtype == Float32 ? std::isfinite(static_cast<float>(v)) : std::isfinite(v);
  };
  return !HasDenormals(scale, dtype) && std::all_of(scale.begin(), scale.end(), fits) &&
         std::all_of(shift.begin(), shift.end(), fits);
}

void Affine::Normalize() {
  if (AllEqual(scale, 1)) scale.clear();
  if (AllEqual(shift, 0)) shift.clear();
}

bool IsAffineOp(const CallNode& call) {
  const auto& known = ops::Known();
  return call.callee == known.add || call.callee == known.subtract ||
         call.callee == known.multiply || call.callee == known.divide ||
         call.callee == known.negative || call.callee == known.bias_add;
}

std::optional<Affine> ReadAffine(const CallNode& call, std::size_t side,
                                 const std::vector<std::size_t>& axes, const ConstantValues& values,
                                 std::string* reason) {
  const auto& known = ops::Known();
  const ir::Type& type = call.checked_type;
  const auto refuse = [&](const std::string& why) {
    *reason = why;
    return std::nullopt;
  };
  if (!ir::Equal(call.args[side].checked_type(), type))
    return refuse("the other operand gives the result its shape");
  if (call.callee == known.negative)
    return Affine{std::vector<double>(static_cast<std::size_t>(ChannelsOf(type, axes)), -1), {}};
  const Values* constant = values.Of(call.args[1 - side]);
  if (constant == nullptr)
    return refuse("the other operand is not a constant of at most 65536 values");
  std::optional<std::vector<double>> operand;
  if (call.callee == known.bias_add) {
    const std::size_t rank = type.As<ir::TensorTypeNode>()->shape.size();
    const auto axis =
        static_cast<std::size_t>(ops::NormalAxis(call.attrs.As<ops::BiasAddAttrs>().axis, rank));
    if (axes == std::vector<std::size_t>{axis}) operand = constant->data;
  } else {
    operand = PerChannel(*constant, type, axes);
  }
  if (!operand) return refuse("the constant differs along another axis than that of the channels");
  Affine step;
  if (call.callee == known.multiply) {
    step.scale = *operand;
  } else if (call.callee == known.divide) {
    if (side == 1) return refuse("it divides by the value");
    step.scale = Mapped(*operand, Inverse);
  } else if (call.callee == known.subtract && side == 1) {
    step = {std::vector<double>(operand->size(), -1), *operand};
  } else if (call.callee == known.subtract) {
    step.shift = Mapped(*operand, Negated);
  } else {
    step.shift = *operand;
  }
  if (!step.IsFinite())
    return refuse("the constant holds values that are not finite or divides by zero");
  if (RoundsSums(std::span<const double>(step.shift), type.As<ir::TensorTypeNode>()->dtype))
    return refuse("its shift is so large that it rounds the value to halves or whole numbers");
  return step;
}

Expr ChannelConstant(const std::vector<double>& values, const ir::Type& type,
                     const std::vector<std::size_t>& axes, std::int64_t* flushed) {
  const auto& tensor = *type.As<ir::TensorTypeNode>();
  // A single value for all channels stays a scalar, which kernels hold in their code.
  if (!values.empty() &&
      std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; }))
    return ir::Constant::Make(RoundOnce({}, {values[0]}, tensor.dtype, flushed));
  Shape shape(tensor.shape.size() - axes[0], 1);
  for (const std::size_t axis : axes) shape[axis - axes[0]] = tensor.shape[axis].value();
  return ir::Constant::Make(RoundOnce(std::move(shape), values, tensor.dtype, flushed));
}

}  // namespace tenon::passes
