#include "tenon/strategies/te/conv/conv_phases.h"

#include "tenon/loop/simplify/simplify.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/te/math.h"

namespace tenon::strategies {

using te::Expr;
using te::Tensor;

Phases PhasesOf(const ops::ConvRules& rules, std::size_t d, std::int64_t taps, const Size& result) {
  Phases p{.stride = rules.strides[d],
           .dilation = rules.dilation[d],
           .taps = taps,
           .span = ops::WindowSpan(taps, rules.dilation[d]),
           .steps = 0,
           .first = 0,
           .count = 0,
           .dropped = rules.before[d]};
  p.steps = (p.span + p.stride - 1) / p.stride;
  p.first = p.dropped / p.stride;
  const bool is_none = result.is_number() && result.planned == 0;
  if (!is_none)
    p.count = loop::Simplify(te::FloorDiv(result.expr - 1 + p.dropped, p.stride) + (1 - p.first));
  return p;
}

Expr PhaseWeight(const std::vector<Phases>& axes, const std::vector<Expr>& at, const Expr& phase,
                 const std::vector<Expr>& steps, const std::vector<std::size_t>& kernel,
                 const Tensor& weight, DataType dtype, const std::vector<Expr>& lanes) {
  Expr inside = loop::True();
  bool whole = true;
  Shape strides;
  for (const Phases& p : axes) strides.push_back(p.stride);
  const std::vector<Expr> offsets = Unflatten(phase, strides);
  std::vector<Expr> from(kernel.size());
  from[kernel[1]] = at[0];
  from[kernel[0]] = at[1];
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const Phases& p = axes[d];
    const Expr tap = offsets[d] + (Expr(p.steps - 1) - steps[d]) * p.stride;
    if (p.steps * p.stride != p.span) {
      inside = inside && tap < Expr(p.span);
      whole = false;
    }
    if (p.dilation > 1) {
      inside = inside && te::FloorMod(tap, p.dilation) == Expr(0);
      whole = false;
    }
    from[kernel[d + 2]] = te::FloorDiv(tap, p.dilation);
  }
  from.insert(from.end(), lanes.begin(), lanes.end());
  const auto value = [&] { return te::Cast(dtype, weight[from]); };
  return whole ? value() : te::IfThenElse(inside, value(), te::Cast(dtype, 0));
}

}  // namespace tenon::strategies
