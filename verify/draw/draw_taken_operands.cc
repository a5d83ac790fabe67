// Indices of any integer type for operators that take elements or write them: most name a place,
// from either end, and some lie beyond it, a little or far.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;
using Words = std::vector<std::string>;

std::int64_t Rank(const Shape& shape) { return static_cast<std::int64_t>(shape.size()); }

DataType AnyIndexType(Random& random) {
  return random.Of(Types{Int32, Int32, Int64, Int64, Int64, Int8, Int16, UInt8, UInt32, UInt64});
}

// With extents, up to rank 4.
Shape FullShape(Random& random, std::int64_t least_rank) {
  Shape shape;
  for (std::int64_t rank = least_rank + random.Below(5 - least_rank); rank > 0; --rank)
    shape.push_back(random.Of(Shape{1, 2, 3, 5, 7, 8, 13}));
  if (random.Chance(5) && !shape.empty()) random.Chance(50) ? shape[0] = 0 : shape.back() = 0;
  return shape;
}

// Indices into an axis; `extent` says for each element of which.
NDArray Indices(const Shape& shape, DataType type, Random& random,
                const std::function<std::int64_t(std::int64_t)>& extent) {
  const bool is_inside = random.Chance(40);
  NDArray indices = ArrayOf(shape, type, [&](std::int64_t i) {
    const std::int64_t n = std::max<std::int64_t>(extent(i), 1);
    const std::int64_t from_end = random.Of(Ints{-1, -n, -1 - random.Below(n)});
    if (type.is_int() && random.Chance(35)) return static_cast<double>(from_end);
    if (!is_inside && random.Chance(15)) {
      const std::int64_t beyond = n + random.Below(3);
      return static_cast<double>(type.is_int() && random.Chance(50) ? -1 - beyond : beyond);
    }
    return static_cast<double>(random.Of(Ints{0, n - 1, random.Below(n), random.Below(n)}));
  });
  return !is_inside && random.Chance(25) ? WithEnds(indices, random) : indices;
}
NDArray Indices(const Shape& shape, std::int64_t extent, Random& random) {
  return Indices(shape, AnyIndexType(random), random, [&](std::int64_t) { return extent; });
}

Operands Take(Random& random) {
  const Shape x = FullShape(random, 1);
  Operands operands;
  operands.Add(AnyElements(x, AnyElementType(random), random));
  operands.attributes["mode"] = Value(random.Of(Words{"clip", "wrap", "fast"}));
  Shape indices = FullShape(random, 0);
  indices.resize(std::min<std::size_t>(indices.size(), 2));
  if (random.Chance(15)) return operands.Add(Indices(indices, NumElements(x), random));
  const std::int64_t axis = random.Below(Rank(x)), batch = random.Below(axis + 1);
  if (random.Chance(40) && batch > 0) {
    indices.insert(indices.begin(), x.begin(), x.begin() + batch);
    operands.attributes["batch_dims"] = Value(batch);
  }
  operands.attributes["axis"] = Value(random.Chance(50) ? axis : axis - Rank(x));
  return operands.Add(Indices(indices, x[At(axis)], random));
}

Operands Gather(Random& random) {
  const Shape x = FullShape(random, 1);
  const std::int64_t axis = random.Below(Rank(x));
  Shape indices = x;
  indices[At(axis)] = random.Of(Shape{1, 2, 4, 9, 0});
  Operands operands;
  operands.Add(AnyElements(x, AnyElementType(random), random));
  operands.Add(Indices(indices, x[At(axis)], random));
  operands.attributes["axis"] = Value(random.Chance(50) ? axis : axis - Rank(x));
  return operands;
}

// Tuples of `length` indices, which run along the first axis, into the axes from `first` on.
NDArray Tuples(Shape shape, const Shape& x, std::int64_t first, std::int64_t length,
               Random& random) {
  shape.insert(shape.begin(), length);
  const std::int64_t each =
      std::max<std::int64_t>(NumElements(shape) / std::max<std::int64_t>(length, 1), 1);
  return Indices(shape, AnyIndexType(random), random,
                 [&](std::int64_t i) { return x[At(first + i / each)]; });
}

Operands GatherND(Random& random) {
  const Shape x = FullShape(random, 1);
  const std::int64_t batch = random.Chance(50) ? 0 : random.Below(Rank(x));
  const std::int64_t length = 1 + random.Below(Rank(x) - batch);
  Shape tuples(x.begin(), x.begin() + batch);
  for (std::int64_t n = random.Below(3); n > 0; --n) tuples.push_back(random.Of(Shape{1, 2, 5}));
  Operands operands;
  operands.Add(AnyElements(x, AnyElementType(random), random));
  operands.Add(Tuples(tuples, x, batch, length, random));
  if (batch > 0) operands.attributes["batch_dims"] = Value(batch);
  return operands;
}

Operands AdvIndex(Random& random) {
  const Shape x = FullShape(random, 1);
  const Shape to = [&] {
    Shape shape;
    for (std::int64_t n = random.Below(3); n > 0; --n) shape.push_back(random.Of(Shape{1, 2, 5}));
    return shape;
  }();
  std::vector<NDArray> fields = {AnyElements(x, AnyElementType(random), random)};
  for (std::int64_t k = 0, used = 1 + random.Below(Rank(x)); k < used; ++k) {
    Shape shape(to.begin() + random.Below(Rank(to) + 1), to.end());
    for (std::int64_t& extent : shape) extent = random.Chance(25) ? 1 : extent;
    fields.push_back(Indices(shape, x[At(k)], random));
  }
  return Operands().AddTuple(std::move(fields));
}

DataType TypeToJoin(const std::string& how, Random& random) {
  const DataType type = AnyElementType(random);
  return type.is_bool() && how != "update" ? UInt8 : type;
}

Operands ScatterElements(Random& random) {
  const Shape x = FullShape(random, 1);
  const std::int64_t axis = random.Below(Rank(x));
  Shape indices;
  for (const std::int64_t extent : x)
    indices.push_back(random.Chance(50) ? extent : random.Below(extent + 1));
  indices[At(axis)] = random.Of(Shape{1, 2, 4, 9});
  const std::string how = random.Of(Words{"update", "add", "mul", "min", "max"});
  const DataType type = TypeToJoin(how, random);
  Operands operands;
  operands.Add(AnyElements(x, type, random)).Add(Indices(indices, x[At(axis)], random));
  operands.Add(AnyElements(indices, type, random));
  operands.attributes = {{"axis", Value(random.Chance(50) ? axis : axis - Rank(x))},
                         {"reduction", Value(how)}};
  return operands;
}

Operands ScatterND(Random& random) {
  const Shape x = FullShape(random, 1);
  const std::int64_t length = 1 + random.Below(Rank(x));
  Shape tuples;
  for (std::int64_t n = random.Below(3); n > 0; --n) tuples.push_back(random.Of(Shape{1, 2, 5}));
  Shape updates = tuples;
  updates.insert(updates.end(), x.begin() + length, x.end());
  const std::string how = random.Of(Words{"update", "add", "mul", "min", "max"});
  const DataType type = TypeToJoin(how, random);
  Operands operands;
  operands.Add(AnyElements(x, type, random)).Add(Tuples(tuples, x, 0, length, random));
  operands.Add(AnyElements(updates, type, random));
  operands.attributes["mode"] = Value(how);
  return operands;
}

Operands StridedSet(Random& random) {
  const Shape x = FullShape(random, 1);
  Shape values;
  for (const std::int64_t extent : x)
    values.push_back(random.Chance(50) ? extent : random.Below(extent + 2));
  const DataType type = AnyElementType(random);
  const auto bounds = [&] {
    const DataType index = AnyIndexType(random);
    return Indices({Rank(x)}, index, random, [&](std::int64_t i) { return x[At(i)]; });
  };
  const DataType step = random.Of(Types{Int64, Int32, Int8});
  NDArray strides = ArrayOf({Rank(x)}, step, [&](std::int64_t) {
    return static_cast<double>(random.Of(Ints{1, 1, 1, 2, 3, -1, -2, 0}));
  });
  if (random.Chance(15)) strides = WithEnds(strides, random);
  Operands operands;
  operands.Add(AnyElements(x, type, random)).Add(AnyElements(values, type, random));
  return operands.Add(bounds()).Add(bounds()).Add(strides);
}

Operands SearchSorted(Random& random) {
  Shape rows;
  for (std::int64_t n = random.Below(3); n > 0; --n) rows.push_back(random.Of(Shape{1, 2, 5}));
  Shape sequence = rows, values = rows;
  sequence.push_back(random.Of(Shape{0, 1, 2, 3, 7, 8, 17}));
  values.push_back(random.Of(Shape{1, 2, 9}));
  if (random.Chance(30)) sequence = {sequence.back()};
  DataType type = AnyElementType(random);
  if (type.is_bool()) type = Int32;
  const std::int64_t length = sequence.back();
  double next = 0;
  const bool has_nan = type.is_float() && random.Chance(30);
  Operands operands;
  operands.Add(ArrayOf(sequence, type, [&](std::int64_t i) {
    if (i % length == 0) next = type.is_uint() ? 0 : -4;
    if (has_nan && i % length >= length - 2) return random.Chance(50) ? next + 9 : NAN;
    return next += static_cast<double>(random.Below(3));
  }));
  NDArray sought = RandomArray(values, type, random);
  if (random.Chance(25)) sought = WithEnds(sought, random);
  if (type.is_float() && random.Chance(25)) sought = WithSpecialValues(sought, random);
  operands.Add(sought);
  operands.attributes = {{"right", Value(random.Chance(50))},
                         {"dtype", Value(random.Chance(50) ? Int32 : Int64)}};
  return operands;
}

Operands MatrixSetDiag(Random& random) {
  Shape x = FullShape(random, 2);
  const std::int64_t rows = x[x.size() - 2], columns = x.back();
  const auto any = [&] { return random.Below(rows + columns + 1) - rows; };
  std::int64_t low = any(), high = random.Chance(40) ? low : any();
  if (low > high) std::swap(low, high);
  std::int64_t longest = 0;
  for (std::int64_t k = low; k <= high; ++k)
    longest = std::max(longest, std::min(rows + std::min<std::int64_t>(k, 0),
                                         columns - std::max<std::int64_t>(k, 0)));
  Shape values(x.begin(), x.end() - 2);
  if (low != high) values.push_back(high - low + 1);
  values.push_back(longest);
  const DataType type = AnyElementType(random);
  Operands operands;
  operands.Add(AnyElements(x, type, random)).Add(AnyElements(values, type, random));
  operands.attributes = {{"k1", Value(low)},
                         {"k2", Value(high)},
                         {"super_diag_right_align", Value(random.Chance(50))},
                         {"sub_diag_right_align", Value(random.Chance(50))}};
  return operands;
}

}  // namespace

void AddTakenOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["adv_index"] = AdvIndex;
  t["gather"] = Gather;
  t["gather_nd"] = GatherND;
  t["matrix_set_diag"] = MatrixSetDiag;
  t["scatter_elements"] = ScatterElements;
  t["scatter_nd"] = ScatterND;
  t["searchsorted"] = SearchSorted;
  t["strided_set"] = StridedSet;
  t["take"] = Take;
}

}  // namespace tenon::verify
