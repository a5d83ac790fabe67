// Operators that write elements by index.
//
// A tensor expression says what each element is, so every element looks through all updates that
// could hit it: their number times the size of the result in steps, against one step an update for
// a loop that writes. What is gained is that elements are independent and the order of updates is
// fixed: of several to one element the last counts. An index out of range hits nothing; a negative
// one counts from the end.
#include <functional>

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

// The updates that one element of the result looks through.
struct Updates {
  using Of = std::function<Expr(const std::vector<Var>& i, const Expr& k)>;
  std::int64_t count;
  std::size_t keys;  // leading axes of the result that decide which of them hit
  Of hits;           // whether update k is meant for the element
  Of value;          // what it writes there
};

Expr Joined(const std::string& mode, const Expr& a, const Expr& b) {
  if (mode == "add") return a + b;
  if (mode == "mul") return a * b;
  return mode == "min" ? te::Min(a, b) : te::Max(a, b);
}

te::Reduction Reduced(const std::string& mode, const Expr& source, const IterVar& k) {
  if (mode == "add") return te::Sum(source, {k});
  if (mode == "mul") return te::Prod(source, {k});
  return mode == "min" ? te::Min(source, {k}) : te::Max(source, {k});
}

std::vector<Tensor> Scatter(const TeCall& call, const std::string& mode, const Updates& updates) {
  const Tensor& x = call.input(0);
  const auto result = [&](const std::function<Expr(const std::vector<Var>&)>& body) {
    return std::vector<Tensor>{te::Compute(call.te_shape(), body, "scatter", "injective")};
  };
  if (updates.count == 0) return result([&](const std::vector<Var>& i) { return x[ToExprs(i)]; });
  const IterVar k = te::ReduceAxis(0, updates.count, "k");
  if (mode == "update") {
    std::vector<Expr> keys = call.te_shape();
    keys.resize(updates.keys);
    const Tensor last = te::Compute(
        keys,
        [&](const std::vector<Var>& i) {
          return te::Max(te::Select(updates.hits(i, k.var), k.var, Expr(-1)), {k});
        },
        "scatter_last", "comm_reduce");
    return result([&](const std::vector<Var>& i) {
      std::vector<Expr> key = ToExprs(i);
      key.resize(updates.keys);
      const Expr found = last[key];
      return te::IfThenElse(found >= Expr(0), updates.value(i, te::Max(found, Expr(0))),
                            x[ToExprs(i)]);
    });
  }
  const Tensor joined = te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        // Joining the element itself once more changes no minimum or maximum.
        const Expr nothing = mode == "add"   ? te::Cast(x.dtype(), 0)
                             : mode == "mul" ? te::Cast(x.dtype(), 1)
                                             : x[ToExprs(i)];
        return Reduced(mode, te::Select(updates.hits(i, k.var), updates.value(i, k.var), nothing),
                       k);
      },
      "scatter_joined", "comm_reduce");
  return result(
      [&](const std::vector<Var>& i) { return Joined(mode, x[ToExprs(i)], joined[ToExprs(i)]); });
}

Expr Points(const Expr& index, std::int64_t extent, const Expr& to) {
  const Expr wide = te::Cast(Int64, index);
  return te::Select(wide < Expr(0), wide + extent, wide) == to;
}

std::vector<Tensor> ScatterElements(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ScatterElementsAttrs>();
  const Tensor& x = call.input(0);
  const Shape extents = ShapeOf(call.input(1));
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  // The updates may cover less than the data: what lies beyond reads some update and is not hit.
  const auto at = [&](const std::vector<Var>& i, const Expr& k) {
    std::vector<Expr> from = ToExprs(i);
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (extents[d] < ExtentOf(x, d)) from[d] = te::Min(i[d], Expr(extents[d] - 1));
    }
    from[axis] = k;
    return from;
  };
  const auto hits = [&](const std::vector<Var>& i, const Expr& k) {
    Expr hit = Points(call.input(1)[at(i, k)], ExtentOf(x, axis), i[axis]);
    for (std::size_t d = 0; d < extents.size(); ++d) {
      if (d != axis && extents[d] < ExtentOf(x, d)) hit = hit && i[d] < Expr(extents[d]);
    }
    return hit;
  };
  const auto value = [&](const std::vector<Var>& i, const Expr& k) {
    return call.input(2)[at(i, k)];
  };
  const std::int64_t count = NumElements(extents) == 0 ? 0 : extents[axis];
  return Scatter(call, attrs.reduction, {count, x.ndim(), hits, value});
}

std::vector<Tensor> ScatterND(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor& indices = call.input(1);
  const auto length = static_cast<std::size_t>(ExtentOf(indices, 0));
  const Shape all = ShapeOf(indices);
  const Shape tuples(all.begin() + 1, all.end());
  const auto hits = [&](const std::vector<Var>& i, const Expr& k) {
    Expr hit = loop::True();
    for (std::size_t d = 0; d < length; ++d) {
      std::vector<Expr> from = Unflatten(k, tuples);
      from.insert(from.begin(), Expr(static_cast<std::int64_t>(d)));
      hit = hit && Points(indices[from], ExtentOf(x, d), i[d]);
    }
    return hit;
  };
  const auto value = [&](const std::vector<Var>& i, const Expr& k) {
    std::vector<Expr> from = Unflatten(k, tuples);
    from.insert(from.end(), i.begin() + static_cast<std::ptrdiff_t>(length), i.end());
    return call.input(2)[from];
  };
  return Scatter(call, call.attrs.As<ops::ScatterNDAttrs>().mode,
                 {NumElements(tuples), length, hits, value});
}

// The result of what is no permutation is 0 where no element points.
std::vector<Tensor> InvertPermutation(const TeCall& call) {
  const Tensor& p = call.input(0);
  const IterVar k = te::ReduceAxis(0, ExtentOf(p, 0), "k");
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr hit = te::Cast(Int64, p(k.var)) == i[0];
        return te::Max(te::Cast(p.dtype(), te::Select(hit, k.var, Expr(0))), {k});
      },
      "invert_permutation", "comm_reduce")};
}

}  // namespace

void AttachScatterComputes(ops::OpRegistry& registry) {
  registry.Definition("scatter_elements").SetColumn(TeCompute{ScatterElements});
  registry.Definition("scatter_nd").SetColumn(TeCompute{ScatterND});
  registry.Definition("invert_permutation").SetColumn(TeCompute{InvertPermutation});
}

}  // namespace tenon::strategies
