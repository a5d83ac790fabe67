// Where values stand among others: unique and searchsorted.
//
// unique sorts, and then only reads. Elements that differ from the one before them begin a group,
// the running count of these is the group of each sorted element, and the inverse of a permutation
// is the order of its values. searchsorted halves the ranges of all values in step.
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te/empty.h"
#include "tenon/strategies/te/sort/order.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/scan.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// The groups of equal elements of a vector that is not empty, in ascending order.
struct Groups {
  Tensor order;     // (0, rank) -> place
  Tensor position;  // (0, place) -> rank
  Tensor group;     // rank -> group
  Tensor start;     // (0, group) -> its first rank
  Expr n;

  explicit Groups(const Tensor& x) : n(x.shape()[0]) {
    order = StableOrder(
        1, n, [&](const Expr&, const Expr& at) { return x(at); }, false);
    const auto sorted = [&](const Expr& rank) { return x(order(0, rank)); };
    const Tensor begins = te::Compute(
        {n},
        [&](const Var& rank) {
          const Expr differs = sorted(rank) != sorted(te::Max(rank - 1, Expr(0)));
          return te::Select(rank == Expr(0) || differs, Expr(1), Expr(0));
        },
        "begins", te::Stored{});
    const Tensor state = te::Placeholder({n}, Int64, "group_state");
    const Tensor next = te::Compute(
        {n}, [&](const Var& rank) { return state(rank - 1) + begins(rank); }, "group_next");
    const Tensor first = te::Compute(
        {1}, [](const Var&) { return te::Cast(Int64, 0); }, "group_first");
    group = te::Scan({first}, {next}, {state}, "group")[0];
    position = StableOrder(
        1, n, [&](const Expr&, const Expr& rank) { return order(0, rank); }, false);
    start = StableOrder(
        1, n,
        [&](const Expr&, const Expr& rank) {
          return te::Select(begins(rank) == Expr(1), rank, rank + n);
        },
        false);
  }

  Expr Count() const { return group(n - 1) + 1; }
  Expr End(const Expr& g) const {
    return te::Select(g + 1 < Count(), start(0, te::Min(g + 1, n - 1)), n);
  }
};

std::vector<Tensor> Unique(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::UniqueAttrs>();
  const Tensor& x = call.input(0);
  const Expr& n = x.shape()[0];
  std::vector<Tensor> results;
  const auto add = [&](const Expr& extent, DataType type, const char* name,
                       const std::function<Expr(const Expr&)>& value) {
    results.push_back(te::Compute(
        {extent}, [&](const Var& i) { return te::Cast(type, value(i)); }, name));
  };
  if (IsEmpty(x.shape())) {
    const auto zero = [](const Expr&) { return te::Cast(Int64, 0); };
    for (const DataType type : {x.dtype(), Int32, Int32}) add(0, type, "nothing", zero);
    add(1, Int32, "count", zero);
    if (attrs.return_counts) add(0, Int32, "nothing", zero);
    return results;
  }
  const Groups groups(x);
  // In the order of first occurrences the k-th group is by(0, k), and group g stands at place(0,
  // g).
  Tensor by, place;
  if (!attrs.sorted) {
    by = StableOrder(
        1, n,
        [&](const Expr&, const Expr& g) {
          return te::Select(g < groups.Count(), groups.order(0, groups.start(0, g)), g + n);
        },
        false);
    place = StableOrder(
        1, n, [&](const Expr&, const Expr& k) { return by(0, k); }, false);
  }
  const auto group_at = [&](const Expr& k) { return attrs.sorted ? k : by(0, k); };
  const auto first_of = [&](const Expr& k) {
    return groups.order(0, groups.start(0, group_at(k)));
  };
  const auto or_zero = [&](const Expr& k, const Expr& value) {
    return te::Select(k < groups.Count(), value, te::Cast(value.dtype(), 0));
  };
  add(n, x.dtype(), "unique", [&](const Expr& k) { return or_zero(k, x(first_of(k))); });
  add(n, Int32, "indices", [&](const Expr& k) { return or_zero(k, first_of(k)); });
  add(n, Int32, "inverse_indices", [&](const Expr& i) {
    const Expr g = groups.group(groups.position(0, i));
    return attrs.sorted ? g : place(0, g);
  });
  add(1, Int32, "count", [&](const Expr&) { return groups.Count(); });
  if (attrs.return_counts)
    add(n, Int32, "counts", [&](const Expr& k) {
      const Expr g = group_at(k);
      return or_zero(k, groups.End(g) - groups.start(0, g));
    });
  return results;
}

std::vector<Tensor> SearchSorted(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SearchSortedAttrs>();
  const Tensor& sequence = call.input(0);
  const Tensor& values = call.input(1);
  std::int64_t rest = ExtentOf(sequence, sequence.ndim() - 1);
  const auto stage = [&](const std::function<Expr(const std::vector<Expr>&)>& value) {
    return te::Compute(
        call.te_shape(), [&](const std::vector<Var>& i) { return value(ToExprs(i)); }, "bound",
        te::Stored{});
  };
  // Whether element `at` stands before the value. NaN is greater than every number.
  const auto before = [&](const std::vector<Expr>& i, const Expr& at) {
    std::vector<Expr> from = {at};
    if (sequence.ndim() > 1) from.insert(from.begin(), i.begin(), i.end() - 1);
    const Expr element = sequence[from], value = values[i];
    if (!value.dtype().is_float()) return attrs.right ? element <= value : element < value;
    if (attrs.right) return element <= value || te::IsNan(value);
    return element < value || (te::IsNan(value) && !te::IsNan(element));
  };
  Tensor bound = stage([](const std::vector<Expr>&) { return te::Cast(Int64, 0); });
  for (; rest > 1; rest -= rest / 2) {
    const std::int64_t half = rest / 2;
    const Tensor last = bound;
    bound = stage([&](const std::vector<Expr>& i) {
      return last[i] + te::Select(before(i, last[i] + (half - 1)), Expr(half), Expr(0));
    });
  }
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& v) {
        const std::vector<Expr> i = ToExprs(v);
        if (rest == 0) return te::Cast(call.dtype(), 0);
        return te::Cast(call.dtype(), bound[i] + te::Select(before(i, bound[i]), Expr(1), Expr(0)));
      },
      "searchsorted")};
}

}  // namespace

void AttachSearchComputes(ops::OpRegistry& registry) {
  registry.Definition("searchsorted").SetColumn(TeCompute{SearchSorted});
  registry.Definition("unique").SetColumn(TeCompute{Unique});
}

}  // namespace tenon::strategies
