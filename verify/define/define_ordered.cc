// Operators that order elements, search for them, or run along an axis. Equal elements keep their
// order, and NaN is greater than every number.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

using Row = std::vector<Number>;

bool IsLess(const Number& a, const Number& b) {
  if (std::isnan(a.real) || std::isnan(b.real)) return !std::isnan(a.real) && std::isnan(b.real);
  return a.whole < b.whole || a.real < b.real;
}

// The elements along an axis through a place.
Row RowOf(const NDArray& array, Shape at, std::size_t axis) {
  Row row;
  for (at[axis] = 0; at[axis] < array.shape()[axis]; ++at[axis])
    row.push_back(ElementOf(array, at));
  return row;
}

// The places of the elements in order.
std::vector<std::int64_t> OrderOf(const Row& row, bool ascends) {
  std::vector<std::int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return ascends ? IsLess(row[At(a)], row[At(b)]) : IsLess(row[At(b)], row[At(a)]);
  });
  return order;
}

Number Place(std::int64_t place, DataType type) { return Converted({.whole = place}, Int64, type); }

// The first `count` elements of each row in order, or their places, which are of type `place`.
Definition Ranked(const NDArray& x, std::size_t axis, bool ascends, std::int64_t count,
                  DataType place) {
  Definition made{.shape = x.shape()};
  (*made.shape)[axis] = count;
  std::map<Shape, std::vector<std::int64_t>> orders;
  for (const Shape& at : AllPlaces(*made.shape)) {
    Shape key = at;
    key[axis] = 0;
    std::vector<std::int64_t>& order = orders[key];
    if (order.empty()) order = OrderOf(RowOf(x, at, axis), ascends);
    Shape from = at;
    from[axis] = order.at(At(at[axis]));
    made.Add(place.is_void() ? ElementOf(x, from) : Place(from[axis], place), 0);
  }
  return made;
}

Definitions Sort(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ArgsortAttrs>();
  const Shape& shape = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, shape.size());
  return {Ranked(call.args[0], axis, attrs.is_ascend, shape[axis], DataType::Void())};
}
Definitions Argsort(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ArgsortAttrs>();
  const Shape& shape = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, shape.size());
  return {Ranked(call.args[0], axis, attrs.is_ascend, shape[axis], call.results[0].dtype())};
}

Definitions TopK(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::TopKAttrs>();
  const Shape& shape = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, shape.size());
  const std::int64_t count = attrs.k.value_or(0) < 1 ? shape[axis] : *attrs.k;
  Definitions made;
  if (attrs.ret_type != "indices")
    made.push_back(Ranked(call.args[0], axis, attrs.is_ascend, count, DataType::Void()));
  if (attrs.ret_type != "values")
    made.push_back(Ranked(call.args[0], axis, attrs.is_ascend, count, call.results.back().dtype()));
  return made;
}

// Of a sequence that ascends; nothing is said of others.
Definitions SearchSorted(const DefinedCall& call) {
  const bool is_right = call.call.attrs.As<ops::SearchSortedAttrs>().right;
  const Shape& shape = call.shape(0);
  Definition made{.shape = call.shape(1)};
  for (const Shape& at : AllPlaces(call.shape(1))) {
    const Shape first = shape.size() > 1 ? at : Shape{0};
    const Row row = RowOf(call.args[0], first, shape.size() - 1);
    if (!std::is_sorted(row.begin(), row.end(), IsLess)) return {};
    const Number value = ElementOf(call.args[1], at);
    std::int64_t count = 0;
    for (const Number& element : row)
      count += is_right ? !IsLess(value, element) : IsLess(element, value);
    made.Add({.whole = count}, 0);
  }
  return {made};
}

Definitions Unique(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::UniqueAttrs>();
  const NDArray& x = call.args[0];
  const std::int64_t count = x.shape()[0], width = count == 0 ? 0 : x.size() / count;
  std::vector<Row> slices(At(count));
  for (std::int64_t i = 0; i < x.size(); ++i) slices[At(i / width)].push_back(ElementAt(x, i));
  // NaN equals nothing, not even NaN.
  const auto are_equal = [&](std::int64_t a, std::int64_t b) {
    return std::ranges::equal(slices[At(a)], slices[At(b)], [](const Number& p, const Number& q) {
      return p.whole == q.whole && p.real == q.real;
    });
  };
  std::vector<std::int64_t> firsts;
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::ranges::none_of(firsts, [&](std::int64_t first) { return are_equal(first, i); }))
      firsts.push_back(i);
  }
  if (attrs.sorted)
    std::ranges::stable_sort(firsts, [&](std::int64_t a, std::int64_t b) {
      return std::ranges::lexicographical_compare(slices[At(a)], slices[At(b)], IsLess);
    });
  Definitions made(attrs.return_counts ? 5 : 4);
  made[0].shape = x.shape();
  std::vector<std::int64_t> counts(firsts.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::size_t group = 0;
    while (firsts[group] != i && !are_equal(firsts[group], i)) ++group;
    made[2].Add({.whole = static_cast<Whole>(group)}, 0);
    ++counts[group];
  }
  for (std::size_t k = 0; k < At(count); ++k) {
    const bool is_there = k < firsts.size();
    for (std::size_t i = 0; i < At(width); ++i)
      made[0].Add(is_there ? slices[At(firsts[k])][i] : Number{}, 0);
    made[1].Add({.whole = is_there ? firsts[k] : 0}, 0);
    if (attrs.return_counts) made[4].Add({.whole = is_there ? counts[k] : 0}, 0);
  }
  made[3].Add({.whole = static_cast<Whole>(firsts.size())}, 0);
  return made;
}

// --- along an axis

// One element after the other, each converted before it joins. The running value is at first none.
struct RunningValue {
  const DataType type;
  const bool is_sum;
  Number joined = is_sum ? Number{} : Number{.whole = 1, .real = 1};
  Real magnitude = 0, count = 0;
  bool is_lost = false;

  void Join(Number term) {
    term.real = Rounded(term.real, type);
    joined = is_sum ? Number{Wrapped(joined.whole + term.whole, type), joined.real + term.real}
                    : Number{Wrapped(joined.whole * term.whole, type), joined.real * term.real};
    magnitude += std::abs(term.real);
    ++count;
    // What a step takes out of the type's range does not come back.
    if (type.is_float() && !std::isinf(joined.real) && joined.real != 0)
      is_lost = is_lost || std::isinf(Rounded(joined.real, type)) ||
                (!is_sum && std::abs(joined.real) < 2 * static_cast<Real>(LeastNormal(type)));
  }
  Real Tolerance() const {
    const Real of = is_sum ? magnitude : std::abs(joined.real);
    return is_lost ? HUGE_VALL : static_cast<Real>(RoundingError(type)) * (count + 2) * of;
  }
};

Definitions Running(const DefinedCall& call, bool is_sum) {
  const auto& attrs = call.call.attrs.As<ops::ScanopAttrs>();
  const NDArray &x = call.args[0], &result = call.results[0];
  const Shape shape = attrs.axis ? x.shape() : Shape{x.size()};
  const std::size_t axis = attrs.axis ? AxisOf(*attrs.axis, shape.size()) : 0;
  Definition made{.shape = shape};
  made.elements.resize(At(NumElements(shape)));
  made.tolerances.resize(made.elements.size());
  Shape starts = shape;
  starts[axis] = std::min<std::int64_t>(starts[axis], 1);
  for (Shape at : AllPlaces(starts)) {
    RunningValue value{.type = result.dtype(), .is_sum = is_sum};
    for (; at[axis] < shape[axis]; ++at[axis]) {
      const Number given = attrs.axis ? ElementOf(x, at) : ElementAt(x, at[0]);
      const std::size_t place = At(PlaceOf(at, shape));
      if (!attrs.exclusive) value.Join(Converted(given, x.dtype(), result.dtype()));
      made.elements[place] = value.joined;
      made.tolerances[place] = value.Tolerance();
      if (attrs.exclusive) value.Join(Converted(given, x.dtype(), result.dtype()));
    }
  }
  return {made};
}

// The place among the elements that are reduced, in row-major order.
Definitions ArgOfExtreme(const DefinedCall& call, bool is_max) {
  const auto& attrs = call.call.attrs.As<ops::ArgReduceAttrs>();
  const NDArray& x = call.args[0];
  const std::size_t rank = x.shape().size();
  std::vector<bool> is_reduced(rank, !attrs.axis);
  for (const std::int64_t axis : attrs.axis.value_or(ops::Ints{}))
    is_reduced[AxisOf(axis, rank)] = true;
  if (attrs.axis && attrs.exclude) is_reduced.flip();
  std::map<Shape, Row> rows;  // by the coordinates that stay
  for (const Shape& at : AllPlaces(x.shape())) {
    Shape key;
    for (std::size_t d = 0; d < rank; ++d) {
      if (!is_reduced[d]) key.push_back(at[d]);
    }
    rows[key].push_back(ElementOf(x, at));
  }
  if (x.size() == 0) return {};  // nothing has an extreme
  // The first NaN is the extreme.
  const auto is_better = [&](const Number& a, const Number& b) {
    if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && !std::isnan(b.real);
    return is_max ? IsLess(b, a) : IsLess(a, b);
  };
  Definition made;
  for (const auto& [key, row] : rows) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < row.size(); ++i) {
      const bool is_equal = !is_better(row[i], row[best]) && !is_better(row[best], row[i]);
      if (is_better(row[i], row[best]) || (is_equal && attrs.select_last_index)) best = i;
    }
    made.Add(Place(static_cast<std::int64_t>(best), call.results[0].dtype()), 0);
  }
  return {made};
}

}  // namespace

void AddOrderedDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["argmax"] = [](const DefinedCall& call) { return ArgOfExtreme(call, true); };
  t["argmin"] = [](const DefinedCall& call) { return ArgOfExtreme(call, false); };
  t["argsort"] = Argsort;
  t["cumprod"] = [](const DefinedCall& call) { return Running(call, false); };
  t["cumsum"] = [](const DefinedCall& call) { return Running(call, true); };
  t["searchsorted"] = SearchSorted;
  t["sort"] = Sort;
  t["topk"] = TopK;
  t["unique"] = Unique;
}

}  // namespace tenon::verify
