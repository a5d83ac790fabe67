// Running sums and products: a recurrence along the axis, whose steps run one after the other while
// the other axes are free.
#include "tenon/te/scan.h"

#include <algorithm>

#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

using Join = Expr (*)(const Expr& a, const Expr& b);

Expr Add(const Expr& a, const Expr& b) { return a + b; }
Expr Multiply(const Expr& a, const Expr& b) { return a * b; }

std::vector<Tensor> RunningJoin(const TeCall& call, Join join, double identity, const char* name) {
  const auto& attrs = call.attrs.As<ops::ScanopAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<Expr> shape = call.te_shape();
  const DataType dtype = call.dtype();
  const auto axis =
      static_cast<std::ptrdiff_t>(attrs.axis ? ops::NormalAxis(*attrs.axis, x.ndim()) : 0);
  // Time comes first; `at` is (time, the other axes in order).
  const auto term = [&](const Expr& step, const std::vector<Var>& at) {
    std::vector<Expr> index(at.begin() + 1, at.end());
    index.insert(index.begin() + axis, step);
    if (!attrs.axis) index = Unflatten(step, ShapeOf(x));
    return te::Cast(dtype, x[index]);
  };
  std::vector<Expr> first = shape;
  first.erase(first.begin() + axis);
  first.insert(first.begin(), shape[static_cast<std::size_t>(axis)]);
  const auto is_none = [](const Expr& extent) { return loop::IsConstInt(extent, 0); };
  if (std::any_of(shape.begin(), shape.end(), is_none))
    return {te::Compute(
        shape, [&](const std::vector<Var>&) { return te::Cast(dtype, identity); }, name)};
  const Tensor state = te::Placeholder(first, dtype, StrCat(name, "_state"));
  const Tensor next = te::Compute(
      first,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> before = ToExprs(i);
        before[0] = before[0] - 1;
        return join(state[before], term(attrs.exclusive ? Expr(i[0] - 1) : Expr(i[0]), i));
      },
      StrCat(name, "_next"));
  first[0] = 1;
  const Tensor begin = te::Compute(
      first,
      [&](const std::vector<Var>& i) {
        return attrs.exclusive ? te::Cast(dtype, identity) : term(0, i);
      },
      StrCat(name, "_begin"));
  const Tensor joined = te::Scan({begin}, {next}, {state}, name)[0];
  return {te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        const Expr time = at[static_cast<std::size_t>(axis)];
        at.erase(at.begin() + axis);
        at.insert(at.begin(), time);
        return joined[at];
      },
      name)};
}

}  // namespace

void AttachScanComputes(ops::OpRegistry& registry) {
  registry.Definition("cumsum").SetColumn(
      TeCompute{[](const TeCall& call) { return RunningJoin(call, Add, 0, "cumsum"); }});
  registry.Definition("cumprod").SetColumn(
      TeCompute{[](const TeCall& call) { return RunningJoin(call, Multiply, 1, "cumprod"); }});
}

}  // namespace tenon::strategies
