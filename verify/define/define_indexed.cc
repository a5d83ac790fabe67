// Operators whose operands pick elements of others, or decide extents.
#include <algorithm>
#include <cmath>

#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/norm/loss_attrs.h"
#include "tenon/ops/quantize/fixed_point_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

Definitions Loss(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::NLLLossAttrs>();
  const NDArray& targets = call.args[1];
  const DataType type = call.results[0].dtype();
  const std::int64_t classes = call.shape(2)[0];
  std::int64_t inner = 1;  // targets of a row of the batch
  for (std::size_t d = 1; d < targets.shape().size(); ++d) inner *= targets.shape()[d];
  const Real unit = static_cast<Real>(RoundingError(type));
  Real sum = 0, magnitude = 0, weights = 0;
  Definition each;
  for (std::int64_t i = 0; i < targets.size(); ++i) {
    const std::int64_t target = IndexAt(targets, i);
    const bool counts = target != attrs.ignore_index && target >= 0 && target < classes;
    const Real weight = counts ? call.Arg(2, target) : 0;
    const Real loss =
        counts ? -weight * call.Arg(0, (i / inner * classes + target) * inner + i % inner) : 0;
    each.Add({.real = loss}, unit * std::abs(loss));
    sum += loss;
    magnitude += std::abs(loss);
    weights += weight;
  }
  if (attrs.reduction == "none") return {each};
  const Real divisor = attrs.reduction == "mean" ? weights : 1;
  const auto terms = static_cast<Real>(type.is_half() ? 4 : 2 * targets.size() + 4);
  Definition made;
  made.Add({.real = sum / divisor}, divisor == 0 ? 0 : terms * unit * magnitude / divisor);
  return {made};
}

// In int64, which wraps around.
Definitions FixedPoint(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::FixedPointMultiplyPerAxisAttrs>();
  const Shape& shape = call.shape(0);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    std::int64_t of = 0;  // the place in each of the parameters
    for (const std::int64_t axis : attrs.axes) {
      const std::size_t at = axis < 0 ? shape.size() - At(-axis) : At(axis);
      std::int64_t inner = 1;
      for (std::size_t d = at + 1; d < shape.size(); ++d) inner *= shape[d];
      of = of * shape[at] + i / inner % shape[at];
    }
    const auto shift = [&](bool is_required, std::size_t arg) -> Whole {
      return is_required ? std::clamp<std::int64_t>(IndexAt(call.args[arg], of), 0, 31) : 0;
    };
    const Whole left = shift(attrs.is_lshift_required, 2),
                right = shift(attrs.is_rshift_required, 3);
    const Whole product =
        Whole{IndexAt(call.args[0], i)} * (Whole{1} << left) * Whole{IndexAt(call.args[1], of)};
    const Whole sum = Wrapped(product + (Whole{1} << (right + 30)), Int64);
    made.Add({.whole = sum >> (right + 31)}, 0);
  }
  return {made};
}

Definitions Broadcast(const DefinedCall& call) {
  const Shape &from = call.shape(0), &to = call.results[0].shape();
  Definition made;
  for (std::int64_t i = 0; i < call.results[0].size(); ++i) {
    std::int64_t rest = i, place = 0, stride = 1;
    for (std::size_t d = to.size(), o = from.size(); d-- > 0 && o > 0;) {
      --o;
      if (from[o] != 1) place += rest % to[d] * stride;
      stride *= from[o];
      rest /= to[d];
    }
    made.Add(ElementAt(call.args[0], place), 0);
  }
  return {made};
}

Definitions InOrder(const DefinedCall& call) {
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) made.Add(ElementAt(call.args[0], i), 0);
  return {made};
}

Definitions TakeFirst(const DefinedCall& call) {
  const std::size_t axis = At(call.call.attrs.As<ops::RunTimeCutAttrs>().axis);
  const Shape& shape = call.shape(0);
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    if (i / inner % shape[axis] < IndexAt(call.args[1], 0)) made.Add(ElementAt(call.args[0], i), 0);
  }
  return {made};
}

Definitions CountUp(const DefinedCall& call) {
  Definition made;
  for (std::int64_t i = 0; i < IndexAt(call.args[0], 0); ++i) made.Add({.whole = i}, 0);
  return {made};
}

Definitions ArgWhere(const DefinedCall& call) {
  const Shape& shape = call.shape(0);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    if (RealAt(call.args[0], i) == 0) continue;
    std::int64_t inner = call.args[0].size(), rest = i;
    for (const std::int64_t extent : shape) {
      inner /= extent;
      made.Add({.whole = rest / inner}, 0);
      rest %= inner;
    }
  }
  return {made};
}

Definitions FillEmptyRows(const DefinedCall& call) {
  const std::int64_t count = call.shape(0)[0], rank = call.shape(0)[1];
  Definitions made(3);
  for (std::int64_t row = 0; row < IndexAt(call.args[2], 0); ++row) {
    bool is_empty = true;
    for (std::int64_t k = 0; k < count; ++k) {
      if (IndexAt(call.args[0], k * rank) != row) continue;
      is_empty = false;
      for (std::int64_t d = 0; d < rank; ++d) made[0].Add(ElementAt(call.args[0], k * rank + d), 0);
      made[1].Add(ElementAt(call.args[1], k), 0);
    }
    made[2].Add({.whole = is_empty ? 1 : 0}, 0);
    if (!is_empty) continue;
    for (std::int64_t d = 0; d < rank; ++d) made[0].Add({.whole = d == 0 ? row : 0}, 0);
    made[1].Add(ElementAt(call.args[3], 0), 0);
  }
  return made;
}

}  // namespace

void AddIndexedDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["argwhere"] = ArgWhere;
  t["broadcast_to_extents"] = Broadcast;
  t["count_up"] = CountUp;
  t["fixed_point_multiply_per_axis"] = FixedPoint;
  t["nn.nll_loss"] = Loss;
  t["reshape_to_extents"] = InOrder;
  t["sparse_fill_empty_rows"] = FillEmptyRows;
  t["take_first"] = TakeFirst;
}

}  // namespace tenon::verify
