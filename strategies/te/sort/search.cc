// Where values stand among others: unique and searchsorted.
//
// unique sorts, and then only reads. Elements that differ from the one before them begin a group,
// the running count of these is the group of each sorted element, and the inverse of a permutation
// is the order of its values. searchsorted halves the ranges of all values in step.
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/empty.h"
#include "tenon/strategies/te/sort/order.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// The groups of equal slices along the first axis, in ascending order. There must be a slice.
struct Groups {
  Tensor order;     // (0, rank) -> place
  Tensor position;  // (0, place) -> rank
  Tensor group;     // rank -> group
  Tensor start;     // (0, group) -> its first rank
  Expr n;

  explicit Groups(const Tensor& x) : n(x.shape()[0]) {
    const std::function<Expr(const Expr& rank)> differs = x.ndim() == 1 ? ByElement(x) : BySlice(x);
    const Tensor begins = te::Compute(
        {n},
        [&](const Var& rank) {
          return te::Select(rank == Expr(0) || differs(rank), Expr(1), Expr(0));
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

  // Finds the order. What is returned says whether the slice of a rank differs from that before it.
  std::function<Expr(const Expr& rank)> ByElement(const Tensor& x) {
    order = StableOrder(
        1, n, [&](const Expr&, const Expr& at) { return x(at); }, false);
    return [order = order, x](const Expr& rank) {
      return x(order(0, rank)) != x(order(0, te::Max(rank - 1, Expr(0))));
    };
  }
  std::function<Expr(const Expr& rank)> BySlice(const Tensor& x) {
    if (IsEmpty(x.shape())) {  // slices without elements are equal
      order = te::Compute(
          {Expr(1), n}, [](const Var&, const Var& rank) { return Expr(rank); }, "order");
      return [](const Expr&) { return te::Cast(Bool, 0); };
    }
    const Tensor keys = KeysOfSlices(x);
    order = StableOrderOfRows(keys);
    const te::IterVar at = te::ReduceAxis(0, keys.shape()[1], "at");
    const Tensor any = te::Compute(
        {n},
        [&](const Var& rank) {
          return te::Any(
              keys(order(0, rank), at.var) != keys(order(0, te::Max(rank - 1, Expr(0))), at.var),
              {at});
        },
        "differs", te::Stored{});
    return [any](const Expr& rank) { return any(rank); };
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
  if (IsEmpty({n})) {
    const auto zero = [](const Expr&) { return te::Cast(Int64, 0); };
    results.push_back(te::Compute(
        x.shape(), [&](const std::vector<Var>&) { return te::Cast(x.dtype(), 0); }, "nothing"));
    for (int i = 0; i < 2; ++i) add(0, Int32, "nothing", zero);
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
  results.push_back(te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        at[0] = first_of(i[0]);
        return or_zero(i[0], x[at]);
      },
      "unique"));
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
