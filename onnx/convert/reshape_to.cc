// Codes for a reshape's target are found by trying them at each place: a number, 0 (the input's
// extent), -1 (what is left), -3 (two input extents together) and -4 (one taken apart). The type
// relation says whether they give the target. Targets that have no codes name the extents of other
// tensors.
#include "tenon/onnx/convert/reshape_to.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/ops/type_relation.h"
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

Expr ReshapeTo(const KnownExtents& extents, const Expr& x, const Dims& target) {
  const Dims input = DimsOf(x);
  if (input == target) return x;
  if (IsStatic(input) && IsStatic(target)) return ops::ReshapeToExtents(x, NumbersOf(target));
  if (const std::optional<ops::Ints> codes = ReshapeSearch(input, target).Find())
    return ops::Reshape(x, *codes);
  if (!ops::MayBeEqual(ops::Product(input), ops::Product(target)))
    throw Unimplemented(StrCat("a reshape from ", ir::ToText(input), " to ", ir::ToText(target),
                               " does not keep the number of elements"));
  auto named = extents.NamesIn(target);
  return ops::ReshapeToExtents(x, std::move(named.others), std::move(named.text));
}

}  // namespace tenon::onnx_import
