#include <cmath>

#include "tenon/loop/visit.h"
#include "tenon/te/scan.h"
#include "tenon/verify/graph_stages.h"

namespace tenon::verify {

using loop::Expr;
using loop::Var;
using te::Tensor;

bool AddScan(GraphDraft& draft) {
  std::vector<Extent> shape = draft.RandomShape(kMaxElements / 8);
  std::vector<Extent> times;
  for (const Extent& extent : draft.extents()) {
    if (extent.value > 0 && extent.value <= 33 && loop::IsConstInt(extent.expr, extent.value))
      times.push_back(extent);
  }
  if (times.empty()) return false;
  const Extent time = draft.random().Of(times);
  const std::int64_t lag = 1 + draft.random().Below(std::min<std::int64_t>(time.value, 3));
  const bool is_mirrored = draft.random().Chance(30);
  std::vector<Extent> first_shape = shape;
  first_shape.insert(first_shape.begin(), {Expr(lag), lag});
  shape.insert(shape.begin(), time);
  const DataType type = draft.random().Chance(70) ? Float32 : Int32;
  const std::string name = draft.Name();
  Term first, step;
  const Tensor init = te::ComputeTuple(
      ExprsOf(first_shape),
      [&](const std::vector<Var>& vars) {
        first = draft.RandomTerm(type, Axes(vars, first_shape), 1);
        return std::vector<Expr>{first.value};
      },
      name + "_init")[0];
  const Tensor state = te::Placeholder(ExprsOf(shape), type, name + "_state");
  const Tensor update = te::ComputeTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        std::vector<Expr> before(vars.begin(), vars.end());
        before[0] = before[0] - lag;
        if (is_mirrored && before.size() > 1) before.back() = shape.back().expr - 1 - before.back();
        step = draft.RandomTerm(type, Axes(vars, shape), 1);
        const Expr old = state[before];
        return std::vector<Expr>{type.is_float() ? old * 0.5F + step.value : old + step.value};
      },
      name + "_update")[0];
  const Tensor result = te::Scan({init}, {update}, {state}, name)[0];
  Term term{step.value, first.bound + 2 * step.bound, 0,
            first.error + 2 * step.error + 4 * RoundingError(type) * (first.bound + 2 * step.bound),
            first.may_be_special || step.may_be_special};
  if (!type.is_float()) term = {step.value, std::ldexp(1, 31), 1, 0};
  if (draft.random().Chance(60)) {
    draft.Remember({result}, shape, {term});
    return true;
  }
  // Others can read only one of the last steps.
  const std::int64_t at =
      time.value - 1 - draft.random().Below(std::min<std::int64_t>(time.value, 3));
  shape.erase(shape.begin());
  const Tensor late = te::Compute(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        std::vector<Expr> indices(vars.begin(), vars.end());
        indices.insert(indices.begin(), at);
        return result[indices];
      },
      name + "_late");
  draft.Remember({late}, shape, {term});
  return true;
}

}  // namespace tenon::verify
