#include "tenon/passes/affine/constant_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

bool IsFloat(DataType t) { return t == Float32 || t == Float64; }

// For each element of `to` in order, the element of `values` that broadcasts to it.
std::vector<double> BroadcastTo(const Values& values, const Shape& to) {
  const auto count = static_cast<std::size_t>(NumElements(to));
  if (values.data.size() == count && values.shape.size() <= to.size()) return values.data;
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t back = 1; back <= values.shape.size(); ++back) {
    const std::int64_t extent = values.shape[values.shape.size() - back];
    if (extent != 1) strides[to.size() - back] = stride;
    stride *= extent;
  }
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    std::int64_t at = 0;
    for (std::size_t axis = to.size(); axis-- > 0;) {
      at += rest % to[axis] * strides[axis];
      rest /= to[axis];
    }
    out[i] = values.data[static_cast<std::size_t>(at)];
  }
  return out;
}

std::function<double(double, double)> BinaryOf(const Expr& op) {
  const auto& known = ops::Known();
  if (op == known.add) return std::plus<>();
  if (op == known.subtract) return std::minus<>();
  if (op == known.multiply) return std::multiplies<>();
  if (op == known.divide) return std::divides<>();
  return nullptr;
}

std::function<double(double)> UnaryOf(const Expr& op) {
  const auto& known = ops::Known();
  if (op == known.negative) return std::negate<>();
  if (op == known.sqrt) return [](double v) { return std::sqrt(v); };
  if (op == known.rsqrt) return [](double v) { return 1 / std::sqrt(v); };
  if (op == known.expand_dims || op == known.squeeze || op == known.reshape)
    return [](double v) { return v; };
  return nullptr;
}

}  // namespace

ConstantValues::ConstantValues(const Expr& function) {
  std::size_t computed = 0;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    if (e.kind() != ir::ExprKind::kCall || computed > kMaxComputed) return;
    auto values = Read(e);
    if (!values) return;
    computed += values->data.size();
    values_.emplace(e, std::move(*values));
  });
}

const Values* ConstantValues::Of(const Expr& e) const {
  const auto found = values_.find(e);
  if (found != values_.end()) return &found->second;
  if (e.kind() != ir::ExprKind::kConstant) return nullptr;
  auto values = Read(e);
  return values ? &values_.emplace(e, std::move(*values)).first->second : nullptr;
}

std::optional<Values> ConstantValues::Read(const Expr& e) const {
  if (const auto* constant = e.As<ir::ConstantNode>()) {
    const NDArray& data = constant->data;
    if (!IsFloat(data.dtype()) || data.size() > kMaxElements) return std::nullopt;
    Values values{data.shape(), {}};
    if (data.dtype() == Float32) {
      values.data.assign(data.data<float>(), data.data<float>() + data.size());
    } else {
      values.data.assign(data.data<double>(), data.data<double>() + data.size());
    }
    const double least = LeastNormal(data.dtype());
    for (double& value : values.data) {
      if (std::fabs(value) < least) value = std::copysign(0, value);
    }
    return values;
  }
  const auto* call = e.As<CallNode>();
  if (call == nullptr) return std::nullopt;
  const auto unary = UnaryOf(call->callee);
  const auto binary = BinaryOf(call->callee);
  if ((unary == nullptr && binary == nullptr) || Of(call->args[0]) == nullptr ||
      !ir::IsStaticTensor(e.checked_type()))
    return std::nullopt;
  Shape shape = ir::StaticShape(e.checked_type(), "a constant");
  if (NumElements(shape) > kMaxElements) return std::nullopt;
  if (unary != nullptr) {
    Values values{std::move(shape), Of(call->args[0])->data};
    std::transform(values.data.begin(), values.data.end(), values.data.begin(), unary);
    return values;
  }
  if (Of(call->args[1]) == nullptr) return std::nullopt;
  std::vector<double> left = BroadcastTo(*Of(call->args[0]), shape);
  const std::vector<double> right = BroadcastTo(*Of(call->args[1]), shape);
  std::transform(left.begin(), left.end(), right.begin(), left.begin(), binary);
  return Values{std::move(shape), std::move(left)};
}

std::optional<std::vector<double>> PerChannel(const Values& values, const ir::Type& type,
                                              const std::vector<std::size_t>& axes) {
  const std::vector<ir::Dim>& whole = type.As<ir::TensorTypeNode>()->shape;
  if (values.shape.size() > whole.size()) return std::nullopt;
  const std::size_t missing = whole.size() - values.shape.size();
  Shape channels;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool is_channel = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (is_channel) channels.push_back(whole[i].value());
    if (i < missing || values.shape[i - missing] == 1) continue;
    if (!is_channel || values.shape[i - missing] != channels.back()) return std::nullopt;
  }
  // The values of the channel axes alone.
  Values vector{{}, values.data};
  for (const std::size_t axis : axes)
    vector.shape.push_back(axis < missing ? 1 : values.shape[axis - missing]);
  return BroadcastTo(vector, channels);
}

double LeastNormal(DataType dtype) {
  return dtype == Float32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
}

NDArray RoundOnce(Shape shape, const std::vector<double>& values, DataType dtype,
                  std::int64_t* flushed) {
  NDArray array = NDArray::Empty(std::move(shape), dtype);
  const auto round = [&]<typename T>(T* out) {
    for (const double value : values) {
      T rounded = static_cast<T>(value);
      if (rounded != 0 && std::fabs(rounded) < std::numeric_limits<T>::min()) {
        rounded = std::copysign(T{0}, rounded);
        ++*flushed;
      }
      *out++ = rounded;
    }
  };
  if (dtype == Float32) {
    round(array.data<float>());
  } else {
    round(array.data<double>());
  }
  return array;
}

}  // namespace tenon::passes
