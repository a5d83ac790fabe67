// A reshape's target is found by trying its codes at each place: a number, 0 (the input's extent),
// -1 (what is left), -3 (two input extents together) and -4 (one taken apart). The type relation
// says whether they give the target.
#include "tenon/onnx/convert/symbolic_shapes.h"

#include <algorithm>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/part_of_value.h"
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
// Codes of a reshape from place `at` of the target and `next` of the input on.
class ReshapeSearch {
 public:
  ReshapeSearch(const Dims& input, const Dims& target) : input_(input), target_(target) {}

  // Codes that infer nothing are better: where another extent is 0, what is left may be anything.
  std::optional<ops::Ints> Find() {
    for (const bool infers : {false, true}) {
      infers_ = infers;
      steps_ = 0;
      codes_.clear();
      if (From(0, 0)) return codes_;
    }
    return std::nullopt;
  }

 private:
  // Whether `part` is the whole by a number. The relation refuses values that leave a rest.
  static bool IsPart(const Dim& part, const Dim& whole, const Dim& by) {
    return by.is_static() && by.value() > 0 && !whole.is_any() &&
           (part * by == whole || part == FloorDiv(whole, by.value()));
  }
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
    if (has_next && at + 1 < target_.size()) {
      const Dim& other = target_[at + 1];
      if (IsPart(wanted, input_[next], other) && Try({-4, -1, other.value()}, at + 2, next + 1))
        return true;
      if (IsPart(other, input_[next], wanted) && Try({-4, wanted.value(), -1}, at + 2, next + 1))
        return true;
    }
    return infers_ && std::find(codes_.begin(), codes_.end(), -1) == codes_.end() &&
           Try({-1}, at + 1, next + 1);
  }

  static constexpr int kMaxSteps = 4096;
  const Dims& input_;
  const Dims& target_;
  ops::Ints codes_;
  bool infers_ = false;
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

std::vector<std::int64_t> NumbersOf(const Dims& dims) {
  std::vector<std::int64_t> numbers;
  for (const Dim& dim : dims) numbers.push_back(dim.value());
  return numbers;
}

bool HasKnownExtents(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  return tensor != nullptr && std::none_of(tensor->shape.begin(), tensor->shape.end(),
                                           [](const Dim& dim) { return dim.is_any(); });
}

std::optional<Dims> DimsOfValue(const Expr& e) {
  std::optional<Dims> value = PartOfValue(e);
  const bool is_known =
      value && std::none_of(value->begin(), value->end(), [](const Dim& d) { return d.is_any(); });
  return is_known ? std::move(value) : std::nullopt;
}

Expr ReshapeTo(const Expr& x, const Dims& target) {
  const Dims input = DimsOf(x);
  if (input == target) return x;
  if (IsStatic(input) && IsStatic(target)) return ops::ReshapeToExtents(x, NumbersOf(target));
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
