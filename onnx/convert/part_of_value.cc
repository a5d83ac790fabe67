// Values are computed over expressions, operator by operator, up to where shapes are read.
#include "tenon/onnx/convert/part_of_value.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/onnx/convert/moved_dims.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/known_ops.h"

namespace tenon::onnx_import {
namespace {

using ir::Expr;
using Dims = std::vector<Dim>;
using Values = std::unordered_map<Expr, std::optional<Dims>, ir::ExprHash>;

// Longer vectors are data.
constexpr std::int64_t kMaxValues = 64;

std::optional<Dims> OfConstant(const NDArray& data) {
  if (data.size() > kMaxValues) return std::nullopt;
  if (data.dtype() == Int64) {
    const auto values = data.ToVector<std::int64_t>();
    return Dims(values.begin(), values.end());
  }
  if (data.dtype() == Int32) {
    const auto values = data.ToVector<std::int32_t>();
    return Dims(values.begin(), values.end());
  }
  return std::nullopt;
}

// "?" for each integer of few whose number is known; nothing for other types. Extents do not fit
// those of 8 and 16 bits, and may be below 0 where unsigned ones are not.
std::optional<Dims> Unknown(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  if (tensor == nullptr || !(tensor->dtype == Int64 || tensor->dtype == Int32) ||
      !IsStatic(tensor->shape))
    return std::nullopt;
  std::int64_t count = 1;
  for (const Dim& extent : tensor->shape) {
    if (extent.value() > kMaxValues) return std::nullopt;
    count *= extent.value();
    if (count > kMaxValues) return std::nullopt;
  }
  return Dims(static_cast<std::size_t>(count), Dim());
}

// "?" for an expression that may not fit 64 bits: the integers of a run wrap around then, and
// expressions do not. Extents of up to 2^31 leave room for numbers that exporters write.
Dim Fitting(const Dim& dim) {
  constexpr std::int64_t kFactor = std::int64_t{1} << 31, kNumber = std::int64_t{1} << 62;
  if (!dim.is_symbolic()) return dim;
  for (const Dim::Term& term : dim.terms()) {
    const std::int64_t most = term.atoms.empty() ? kNumber : kFactor;
    if (term.coefficient > most || term.coefficient < -most) return {};
  }
  return dim;
}

// What two operands of one element or of as many make.
template <typename Function>
std::optional<Dims> Pairwise(const Dims& a, const Dims& b, const Function& function) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  Dims results;
  const std::size_t size = a.size() == 1 ? b.size() : a.size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::optional<Dim> result = function(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!result) return std::nullopt;
    results.push_back(Fitting(*result));
  }
  return results;
}

std::optional<Dim> Quotient(const Dim& a, const Dim& b) {
  if (!b.is_static()) return ExactQuotient(a, b);
  if (b.value() < 1) return std::nullopt;
  return FloorDiv(a, b.value());
}

std::optional<Dim> Difference(const Dim& a, const Dim& b) { return a - b; }

// Rounded toward zero, as integers are divided.
std::optional<Dim> Truncated(const Dim& a, const Dim& b) {
  const std::optional<std::int64_t> least = a.LowerBound();
  if (!b.is_static() || a.is_any() || (least && *least >= 0)) return Quotient(a, b);
  const std::optional<Dim> above = Quotient(Max(a, 0), b), below = Quotient(Max(Dim(0) - a, 0), b);
  return above && below ? std::optional(*above - *below) : std::nullopt;
}

// What is left of `a` after `quotient` times `b`.
template <std::optional<Dim> (*kQuotient)(const Dim&, const Dim&)>
std::optional<Dim> Remainder(const Dim& a, const Dim& b) {
  const std::optional<Dim> quotient = kQuotient(a, b);
  return quotient ? std::optional(a - *quotient * b) : std::nullopt;
}

// Where both are equal, as exporters write the shape of an Expand; "?" where that is not known.
std::optional<Dims> OfWhere(const ir::CallNode& call, const Values& values) {
  const auto* condition = call.args[0].As<ir::CallNode>();
  if (condition == nullptr || !(condition->callee == ops::Known().equal)) return std::nullopt;
  const std::optional<Dims>&a = values.at(condition->args[0]), &b = values.at(condition->args[1]);
  const std::optional<Dims>&yes = values.at(call.args[1]), &no = values.at(call.args[2]);
  const auto* type = condition->checked_type.As<ir::TensorTypeNode>();
  if (!a || !b || !yes || !no || type->shape.size() > 1) return std::nullopt;
  const std::size_t count = std::max({a->size(), b->size(), yes->size(), no->size()});
  for (const auto* operand : {&*a, &*b, &*yes, &*no})
    if (operand->empty()) return std::nullopt;
  const auto differ = [](const Dim& x, const Dim& y) {
    const std::optional<std::int64_t> below = (x - y).LowerBound(), above = (y - x).LowerBound();
    return (below && *below > 0) || (above && *above > 0);
  };
  Dims results;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const Dims& of) { return of.at(of.size() == 1 ? 0 : i); };
    const Dim x = at(*a), y = at(*b);
    if (x.is_any() || y.is_any()) {
      results.emplace_back();
    } else if (x == y) {
      results.push_back(at(*yes));
    } else {
      results.push_back(differ(x, y) ? at(*no) : Dim());
    }
  }
  return results;
}

std::optional<Dims> OfCall(const ir::CallNode& call, const Values& values) {
  const auto& known = ops::Known();
  const auto of = [&](std::size_t i) { return values.at(call.args[i]); };
  if (call.callee == known.shape_of) return DimsOf(call.args[0]);
  if (call.args.empty()) return std::nullopt;
  if (call.callee == known.where) return OfWhere(call, values);
  const std::optional<Dims> a = of(0);
  if (!a) return std::nullopt;
  if (call.callee == known.prod) {
    Dim product = 1;
    for (const Dim& dim : *a) product = Fitting(product * dim);
    return Dims{product};
  }
  if (call.callee == known.negative) return Pairwise({0}, *a, Difference);
  const std::optional<Dims> b = call.args.size() == 2 ? of(1) : std::nullopt;
  if (!b) return std::nullopt;
  using Pair = std::optional<Dim> (*)(const Dim&, const Dim&);
  const std::pair<const Expr&, Pair> rows[] = {
      {known.add, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return x + y; }},
      {known.subtract, Difference},
      {known.multiply, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return x * y; }},
      {known.maximum, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return Max(x, y); }},
      {known.minimum, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return Min(x, y); }},
      {known.divide, Truncated},
      {known.floor_divide, Quotient},
      {known.mod, Remainder<Truncated>},
      {known.floor_mod, Remainder<Quotient>},
  };
  for (const auto& [op, function] : rows) {
    if (call.callee == op) return Pairwise(*a, *b, function);
  }
  return std::nullopt;
}

std::optional<Dims> ValueOf(const Expr& x, const Values& values) {
  if (const auto* constant = x.As<ir::ConstantNode>()) return OfConstant(constant->data);
  std::optional<Dims> moved = MovedDims(x, [&](const Expr& operand) -> const Dims* {
    const auto found = values.find(operand);
    return found != values.end() && found->second ? &*found->second : nullptr;
  });
  const auto* call = x.As<ir::CallNode>();
  return moved || call == nullptr ? moved : OfCall(*call, values);
}

}  // namespace

std::optional<Dims> PartOfValue(const Expr& e) {
  Values values;
  // Of what shapes are read is not looked at.
  ir::VisitPostOrder(
      e,
      [&](const Expr& x) {
        const std::optional<Dims> unknown = Unknown(x.checked_type());
        if (!unknown) {
          values.emplace(x, std::nullopt);
          return;
        }
        const std::optional<Dims> value = ValueOf(x, values);
        // Pairs and products of elements are not those of every axis.
        values.emplace(x, value && value->size() == unknown->size() ? *value : *unknown);
      },
      [](const Expr& x) {
        const auto* call = x.As<ir::CallNode>();
        return call == nullptr || !(call->callee == ops::Known().shape_of);
      });
  const auto* type = e.checked_type().As<ir::TensorTypeNode>();
  return type != nullptr && type->shape.size() <= 1 ? values.at(e) : std::nullopt;
}

}  // namespace tenon::onnx_import
