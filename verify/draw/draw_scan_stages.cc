#include <algorithm>
#include <cmath>
#include <optional>

#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/te/scan.h"
#include "tenon/verify/draw/graph_stages.h"

namespace tenon::verify {

using loop::Expr;
using loop::Var;
using te::Tensor;

namespace {

// A state of a scan: its first steps, what a step makes of it, and what is known of its elements.
struct State {
  Tensor init, state, update;
  std::vector<Extent> shape;  // with the axis of time
  Term term;
};

State MakeState(GraphDraft& draft, const Extent& time, std::int64_t lag, const std::string& name) {
  State made;
  std::vector<Extent> shape = draft.RandomShape(kMaxElements / 8);
  const bool is_mirrored = draft.random().Chance(30);
  std::vector<Extent> first_shape = shape;
  first_shape.insert(first_shape.begin(), {Expr(lag), lag});
  shape.insert(shape.begin(), time);
  const DataType type = draft.random().Chance(70) ? Float32 : Int32;
  Term first, step;
  made.init = te::ComputeTuple(
      ExprsOf(first_shape),
      [&](const std::vector<Var>& vars) {
        first = draft.RandomTerm(type, Axes(vars, first_shape), 1);
        return std::vector<Expr>{first.value};
      },
      name + "_init")[0];
  made.state = te::Placeholder(ExprsOf(shape), type, name + "_state");
  made.update = te::ComputeTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        std::vector<Expr> before(vars.begin(), vars.end());
        before[0] = before[0] - lag;
        if (is_mirrored && before.size() > 1) before.back() = shape.back().expr - 1 - before.back();
        step = draft.RandomTerm(type, Axes(vars, shape), 1);
        const Expr old = made.state[before];
        return std::vector<Expr>{type.is_float() ? old * 0.5F + step.value : old + step.value};
      },
      name + "_update")[0];
  made.shape = std::move(shape);
  made.term = {
      step.value, first.bound + 2 * step.bound, 0,
      first.error + 2 * step.error + 4 * RoundingError(type) * (first.bound + 2 * step.bound),
      first.may_be_special || step.may_be_special};
  if (!type.is_float()) made.term = {step.value, std::ldexp(1, 31), 1, 0};
  return made;
}

}  // namespace

bool AddScan(GraphDraft& draft) {
  std::vector<Extent> times;
  for (const Extent& extent : draft.extents()) {
    if (extent.value > 0 && extent.value <= 33 && loop::IsConstInt(extent.expr, extent.value))
      times.push_back(extent);
  }
  if (times.empty()) return false;
  const Extent time = draft.random().Of(times);
  const std::int64_t lag = 1 + draft.random().Below(std::min<std::int64_t>(time.value, 3));
  const std::string name = draft.Name();
  std::vector<State> states = {MakeState(draft, time, lag, name)};
  // The states of a scan may have any shapes.
  if (draft.random().Chance(40)) states.push_back(MakeState(draft, time, lag, name + "b"));
  std::vector<Tensor> init, update, state;
  for (const State& made : states) {
    init.push_back(made.init);
    update.push_back(made.update);
    state.push_back(made.state);
  }
  const std::vector<Tensor> results = te::Scan(init, update, state, name);
  // Others can read only one of the last steps.
  std::optional<std::int64_t> at;
  if (!draft.random().Chance(60))
    at = time.value - 1 - draft.random().Below(std::min<std::int64_t>(time.value, 3));
  for (std::size_t i = 0; i < states.size(); ++i) {
    std::vector<Extent> shape = states[i].shape;
    if (!at) {
      draft.Remember({results[i]}, shape, {states[i].term});
      continue;
    }
    shape.erase(shape.begin());
    const Tensor late = te::Compute(
        ExprsOf(shape),
        [&](const std::vector<Var>& vars) {
          std::vector<Expr> indices(vars.begin(), vars.end());
          indices.insert(indices.begin(), *at);
          return results[i][indices];
        },
        StrCat(name, "_late", i));
    draft.Remember({late}, shape, {states[i].term});
  }
  return true;
}

}  // namespace tenon::verify
