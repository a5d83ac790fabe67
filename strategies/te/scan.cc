// Running sums and products.
//
// Each element reduces its whole line under a condition: n * n steps for a line of n elements, but
// all of them independent, so that lines and elements can be shared out.
#include "tenon/ops/index_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

using Reducer = te::Reduction (*)(const Expr& source, std::vector<IterVar> axes);

Tensor Scan(const TeCall& call, Reducer reducer, double identity, const char* name) {
  const auto& attrs = call.attrs.As<ops::ScanopAttrs>();
  const Tensor& x = call.input(0);
  const Shape from = ShapeOf(x);
  const DataType dtype = call.dtype();
  const std::size_t axis =
      attrs.axis ? static_cast<std::size_t>(ops::NormalAxis(*attrs.axis, x.ndim())) : 0;
  const IterVar k = te::ReduceAxis(0, call.shape()[axis], "k");
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        at[axis] = k.var;
        if (!attrs.axis) at = Unflatten(k.var, from);
        const Expr counts = attrs.exclusive ? k.var < i[axis] : k.var <= i[axis];
        return reducer(te::Select(counts, te::Cast(dtype, x[at]), te::Cast(dtype, identity)), {k});
      },
      name, "comm_reduce");
}

}  // namespace

void AttachScanComputes(ops::OpRegistry& registry) {
  registry.Definition("cumsum").SetColumn(TeCompute{
      [](const TeCall& call) { return std::vector<Tensor>{Scan(call, te::Sum, 0, "cumsum")}; }});
  registry.Definition("cumprod").SetColumn(TeCompute{
      [](const TeCall& call) { return std::vector<Tensor>{Scan(call, te::Prod, 1, "cumprod")}; }});
}

}  // namespace tenon::strategies
