// A reshape's target is found by trying its codes at each place: a number, 0 (the input's extent),
// -1 (what is left), -3 (two input extents together) and -4 (one taken apart). The type relation
// says whether they give the target.
#include "tenon/onnx/convert/symbolic_shapes.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ir/parse_extents.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using ir::Expr;
using Dims = std::vector<Dim>;
using Values = std::unordered_map<Expr, std::optional<Dims>, ir::ExprHash>;

// Longer vectors are data.
constexpr std::int64_t kMaxValues = 64;

std::optional<Dims> OfConstant(const NDArray& data) {
  if (data.shape().size() > 1 || data.size() > kMaxValues) return std::nullopt;
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

// What two operands of one element or of as many make.
template <typename Function>
std::optional<Dims> Pairwise(const Dims& a, const Dims& b, const Function& function) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  Dims results;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::optional<Dim> result = function(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!result) return std::nullopt;
    results.push_back(*result);
  }
  return results;
}

std::optional<Dim> Quotient(const Dim& a, const Dim& b) {
  if (!b.is_static()) return ExactQuotient(a, b);
  if (b.value() < 1) return std::nullopt;
  return FloorDiv(a, b.value());
}

std::optional<Dims> OfTake(const ir::CallNode& call, const Dims& data) {
  const auto* indices = call.args[1].As<ir::ConstantNode>();
  const std::optional<Dims> places = indices == nullptr ? std::nullopt : OfConstant(indices->data);
  if (!places) return std::nullopt;
  Dims taken;
  for (const Dim& place : *places) {
    if (place.value() < 0 || place.value() >= static_cast<std::int64_t>(data.size()))
      return std::nullopt;
    taken.push_back(data[static_cast<std::size_t>(place.value())]);
  }
  return taken;
}

std::optional<Dims> OfSlice(const ir::CallNode& call, const Dims& data) {
  const ops::SliceRange range = ops::SliceRanges(call.attrs.As<ops::StridedSliceAttrs>(),
                                                 Shape{static_cast<std::int64_t>(data.size())})[0];
  Dims taken;
  for (std::int64_t i = 0; i < range.extent; ++i)
    taken.push_back(data[static_cast<std::size_t>(range.begin + i * range.stride)]);
  return taken;
}

std::optional<Dims> OfCall(const ir::CallNode& call, const Values& values) {
  const auto& known = ops::Known();
  const auto of = [&](std::size_t i) { return values.at(call.args[i]); };
  if (call.callee == known.shape_of) return DimsOf(call.args[0]);
  if (call.args.empty()) return std::nullopt;
  if (call.callee == known.concatenate) {
    const auto* tuple = call.args[0].As<ir::TupleNode>();
    if (tuple == nullptr) return std::nullopt;
    Dims all;
    for (const Expr& field : tuple->fields) {
      const std::optional<Dims>& part = values.at(field);
      if (!part) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }
  const std::optional<Dims> a = of(0);
  if (!a) return std::nullopt;
  if (call.callee == known.take) return OfTake(call, *a);
  if (call.callee == known.strided_slice) return OfSlice(call, *a);
  const bool is_same = call.callee == known.cast || call.callee == known.squeeze ||
                       call.callee == known.expand_dims || call.callee == known.reshape;
  if (is_same) return a;
  if (call.callee == known.prod) {
    Dim product = 1;
    for (const Dim& dim : *a) product = product * dim;
    return Dims{product};
  }
  const std::optional<Dims> b = call.args.size() == 2 ? of(1) : std::nullopt;
  if (!b) return std::nullopt;
  using Pair = std::optional<Dim> (*)(const Dim&, const Dim&);
  const std::pair<const Expr&, Pair> rows[] = {
      {known.add, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return x + y; }},
      {known.subtract, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return x - y; }},
      {known.multiply, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return x * y; }},
      {known.maximum, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return Max(x, y); }},
      {known.minimum, [](const Dim& x, const Dim& y) -> std::optional<Dim> { return Min(x, y); }},
      {known.divide, Quotient},
      {known.floor_divide, Quotient},
  };
  for (const auto& [op, function] : rows) {
    if (call.callee == op) return Pairwise(*a, *b, function);
  }
  return std::nullopt;
}

// Codes of a reshape from place `at` of the target and `next` of the input on.
class ReshapeSearch {
 public:
  ReshapeSearch(const Dims& input, const Dims& target) : input_(input), target_(target) {}

  std::optional<ops::Ints> Find() { return From(0, 0) ? std::optional(codes_) : std::nullopt; }

 private:
  bool IsFound() const {
    try {
      return ops::ReshapeTarget({.newshape = codes_}, input_) == target_;
    } catch (const Error&) {
      return false;
    }
  }
  bool Try(std::initializer_list<std::int64_t> codes, std::size_t at, std::size_t next) {
    codes_.insert(codes_.end(), codes);
    if (From(at, next)) return true;
    codes_.resize(codes_.size() - codes.size());
    return false;
  }
  bool From(std::size_t at, std::size_t next) {
    if (++steps_ > kMaxSteps) return false;
    if (at == target_.size()) return IsFound();
    const Dim& wanted = target_[at];
    const bool has_next = next < input_.size();
    if (has_next && input_[next] == wanted && !wanted.is_static() && Try({0}, at + 1, next + 1))
      return true;
    if (wanted.is_static() && wanted.value() > 0 && Try({wanted.value()}, at + 1, next + 1))
      return true;
    if (next + 1 < input_.size() && input_[next] * input_[next + 1] == wanted &&
        Try({-3}, at + 1, next + 2))
      return true;
    if (has_next && at + 1 < target_.size() && input_[next] == wanted * target_[at + 1]) {
      const Dim& other = target_[at + 1];
      if (other.is_static() && Try({-4, -1, other.value()}, at + 2, next + 1)) return true;
      if (wanted.is_static() && Try({-4, wanted.value(), -1}, at + 2, next + 1)) return true;
    }
    return std::find(codes_.begin(), codes_.end(), -1) == codes_.end() &&
           Try({-1}, at + 1, next + 1);
  }

  static constexpr int kMaxSteps = 4096;
  const Dims& input_;
  const Dims& target_;
  ops::Ints codes_;
  int steps_ = 0;
};

}  // namespace

Dims DimsOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr)
    throw InvalidArgument("an input is a sequence or has no element; it must be a tensor");
  return tensor->shape;
}

bool IsStatic(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_static(); });
}

bool HasKnownExtents(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  return tensor != nullptr && std::none_of(tensor->shape.begin(), tensor->shape.end(),
                                           [](const Dim& dim) { return dim.is_any(); });
}

std::optional<Dims> DimsOfValue(const Expr& e) {
  Values values;
  // Of what shapes are read is not looked at.
  ir::VisitPostOrder(
      e,
      [&](const Expr& x) {
        std::optional<Dims> value;
        if (const auto* constant = x.As<ir::ConstantNode>()) value = OfConstant(constant->data);
        const auto* call = x.As<ir::CallNode>();
        const auto* type = x.checked_type().As<ir::TensorTypeNode>();
        if (call != nullptr && type != nullptr && type->shape.size() <= 1 &&
            type->dtype.is_integral())
          value = OfCall(*call, values);
        values.emplace(x, std::move(value));
      },
      [](const Expr& x) {
        const auto* call = x.As<ir::CallNode>();
        return call == nullptr || !(call->callee == ops::Known().shape_of);
      });
  return values.at(e);
}

Expr ReshapeTo(const Expr& x, const Dims& target) {
  const Dims input = DimsOf(x);
  if (input == target) return x;
  if (IsStatic(input) && IsStatic(target)) {
    ops::Ints numbers;
    for (const Dim& dim : target) numbers.push_back(dim.value());
    return ops::ReshapeToExtents(x, numbers);
  }
  const std::optional<ops::Ints> codes = ReshapeSearch(input, target).Find();
  if (!codes)
    throw Unimplemented(StrCat("a reshape from ", ir::ToText(input), " to ", ir::ToText(target),
                               " is not known to keep the number of elements"));
  return ops::Reshape(x, *codes);
}

Expr ExtentValue(const Expr& x, std::size_t axis) {
  if (const Dim extent = DimsOf(x)[axis]; extent.is_static())
    return ops::Scalar(static_cast<double>(extent.value()), Int64);
  const Expr shape =
      ir::Call::Make(ops::Known().shape_of, {x}, attrs::Attrs::Make(ops::ShapeOfAttrs{Int64}));
  return ops::Take(shape, ops::Scalar(static_cast<double>(axis), Int64), {.axis = 0});
}

}  // namespace tenon::onnx_import
