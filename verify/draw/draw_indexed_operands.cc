// Operators whose operands pick elements of others, or decide extents: losses of classes,
// parameters by axes, extents of other tensors, cuts at run time.
#include <algorithm>
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;
using Words = std::vector<std::string>;

const Types kElements = {Float32, Float32, Float32, Float64, Float16, BFloat16,
                         Int32,   Int64,   Int8,    UInt8,   Bool};
const Types kIndices = {Int32, Int64, Int64, Int8, UInt8};

// A few targets are no class.
Operands Loss(Random& random) {
  const std::int64_t classes = random.Of(Ints{1, 2, 3, 8, 17});
  const DataType type = random.Of(Types{Float32, Float32, Float64, Float16}),
                 index = random.Of(kIndices);
  Shape shape = AnyShape(random);
  shape.resize(std::min<std::size_t>(shape.size(), 3));
  Shape of_classes = shape;
  of_classes.insert(of_classes.begin() + (shape.empty() ? 0 : 1), classes);
  const bool is_beyond = random.Chance(30);
  const std::int64_t ignored = random.Chance(50) ? -100 : random.Below(classes);
  Operands operands;
  operands.Add(RandomArray(of_classes, type, random));
  operands.Add(ArrayOf(shape, index, [&](std::int64_t) -> double {
    if (is_beyond && random.Chance(30))
      return static_cast<double>(index.is_int() && random.Chance(50) ? -1 : classes);
    return static_cast<double>(random.Below(classes));
  }));
  // Weights above 0 whose sum is no power of two.
  operands.Add(ArrayOf({classes}, type, [&](std::int64_t) {
    return static_cast<double>(1 + random.Below(12)) / 4;
  }));
  operands.attributes = {{"reduction", Value(random.Of(Words{"mean", "sum", "none"}))},
                         {"ignore_index", Value(ignored)}};
  return operands;
}

// Any integers, so that products of 64 bits wrap around in some.
Operands FixedPoint(Random& random) {
  const Shape shape = AnyShape(random, 1);
  const auto rank = static_cast<std::int64_t>(shape.size());
  Ints axes;
  Shape of_axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (!random.Chance(50)) continue;
    axes.push_back(random.Chance(50) ? axis : axis - rank);
    of_axes.push_back(shape[At(axis)]);
  }
  const bool is_wide = random.Chance(30);
  const auto integers = [&](const Shape& of, std::int64_t below) {
    return ArrayOf(of, Int32,
                   [&](std::int64_t) { return static_cast<double>(random.Below(below)); });
  };
  const std::int64_t most = is_wide ? std::int64_t{1} << 31 : 20000;
  Operands operands;
  operands.Add(ArrayOf(shape, Int32, [&](std::int64_t) {
    return static_cast<double>(random.Below(2 * most) - most);
  }));
  operands.Add(integers(of_axes, std::int64_t{1} << 31));
  const std::int64_t shifts = is_wide ? 32 : 8;
  operands.Add(integers(of_axes, shifts)).Add(integers(of_axes, shifts));
  operands.attributes = {{"axes", ListOf(axes)},
                         {"is_lshift_required", Value(random.Chance(60))},
                         {"is_rshift_required", Value(random.Chance(60))}};
  return operands;
}

// --- extents of other tensors

// Two tensors, whose extents make the expressions of `shape`.
struct Extents {
  std::vector<NDArray> fields;

  explicit Extents(Random& random) {
    for (int f = 0; f < 2; ++f) {
      Shape shape;
      for (std::int64_t rank = 1 + random.Below(2); rank > 0; --rank)
        shape.push_back(random.Of(Shape{1, 2, 3, 4, 6, 8}));
      fields.push_back(RandomArray(shape, random.Of(kElements), random));
    }
  }
  // An expression that comes to `extent`, or the number itself.
  std::string Text(std::int64_t extent, Random& random) const {
    const std::int64_t f = random.Below(2);
    const Shape& shape = fields[At(f)].shape();
    const std::int64_t axis = random.Below(static_cast<std::int64_t>(shape.size()));
    const std::int64_t named = shape[At(axis)];
    const std::string name = StrCat("x", f, "_", axis);
    if (extent == named) return name;
    if (random.Chance(20)) return StrCat(extent);
    if (extent % named == 0 && random.Chance(50)) return StrCat(name, " * ", extent / named);
    if (extent > named) return StrCat(name, " + ", extent - named);
    return StrCat(name, " - ", named - extent);
  }
  Value Text(const Shape& shape, Random& random) const {
    std::string text;
    for (const std::int64_t extent : shape)
      StrAppend(&text, text.empty() ? "" : ", ", Text(extent, random));
    return Value(StrCat("(", text, shape.size() == 1 ? ",)" : ")"));
  }
};

Operands BroadcastToExtents(Random& random) {
  const Shape to = AnyShape(random);
  Shape from(to.begin() + random.Below(static_cast<std::int64_t>(to.size()) + 1), to.end());
  for (std::int64_t& extent : from) {
    if (random.Chance(40)) extent = 1;
  }
  const Extents extents(random);
  Operands operands;
  operands.Add(RandomArray(from, random.Of(kElements), random)).AddTuple(extents.fields);
  operands.attributes["shape"] = extents.Text(to, random);
  return operands;
}

Operands ReshapeToExtents(Random& random) {
  const Shape from = AnyShape(random);
  Shape to = {1};
  for (const std::int64_t extent : from) {
    if (random.Chance(50)) to.push_back(1);
    const std::int64_t part = extent % 2 == 0 && random.Chance(30) ? 2 : 1;
    to.back() *= part;
    if (part != 1) to.push_back(1);
    to.back() *= extent / part;
  }
  const Extents extents(random);
  Operands operands;
  operands.Add(RandomArray(from, random.Of(kElements), random)).AddTuple(extents.fields);
  operands.attributes["shape"] = extents.Text(to, random);
  return operands;
}

Operands ResizeToExtents(Random& random) {
  Shape from, to;
  for (std::int64_t rank = 1 + random.Below(4); rank > 0; --rank) {
    from.push_back(random.Of(Shape{1, 2, 3, 5, 8, 9}));
    to.push_back(random.Chance(40) ? from.back() : random.Of(Shape{1, 2, 3, 4, 7, 10, 16, 0}));
  }
  const Extents extents(random);
  Operands operands;
  operands.Add(RandomArray(from, random.Of(kElements), random)).AddTuple(extents.fields);
  attrs::FieldValues& a = operands.attributes;
  a["shape"] = extents.Text(to, random);
  a["method"] = Value(random.Of(Words{"nearest_neighbor", "linear", "cubic"}));
  a["coordinate_transformation_mode"] =
      Value(random.Of(Words{"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                            "tf_half_pixel_for_nn", "half_pixel_symmetric"}));
  if (random.Chance(60))
    a["rounding_method"] = Value(
        random.Of(Words{"round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (random.Chance(40)) a["cubic_alpha"] = Value(-0.75);
  if (random.Chance(40)) a["cubic_exclude"] = Value(std::int64_t{1});
  if (random.Chance(15)) {
    std::vector<Value> roi;
    for (std::size_t i = 0; i < 2 * to.size(); ++i)
      roi.emplace_back(random.Of(std::vector<double>{-0.25, 0, 0.3, 0.5, 1, 1.5}));
    a["coordinate_transformation_mode"] = Value(std::string("tf_crop_and_resize"));
    a["roi"] = Value(roi);
    a["extrapolation_value"] = Value(-2.5);
  }
  return operands;
}

// --- cuts at run time

NDArray CountOf(std::int64_t extent, Random& random) {
  return ArrayOf({1}, Int64, [&](std::int64_t) -> double {
    if (random.Chance(15)) return static_cast<double>(random.Chance(50) ? -3 : extent + 5);
    return static_cast<double>(random.Below(extent + 1));
  });
}

Operands TakeFirst(Random& random) {
  const Shape shape = AnyShape(random, 1);
  const std::int64_t axis = random.Below(static_cast<std::int64_t>(shape.size()));
  Operands operands;
  operands.Add(RandomArray(shape, random.Of(kElements), random));
  operands.Add(CountOf(shape[At(axis)], random));
  operands.attributes["axis"] = Value(axis);
  return operands;
}

Operands CountUp(Random& random) {
  Operands operands;
  const bool is_clamped = random.Chance(60);
  NDArray count = CountOf(random.Of(Ints{0, 1, 5, 100, 3000}), random);
  if (!is_clamped)
    count.data<std::int64_t>()[0] = std::max<std::int64_t>(count.data<std::int64_t>()[0], 0);
  operands.Add(count);
  operands.attributes["is_clamped"] = Value(is_clamped);
  return operands;
}

Operands ArgWhere(Random& random) {
  const Shape shape = AnyShape(random, 1);
  const DataType type = random.Of(kElements);
  const std::int64_t percent = random.Of(Ints{0, 10, 50, 100});
  Operands operands;
  operands.Add(ArrayOf(shape, type, [&](std::int64_t) {
    return random.Chance(static_cast<int>(percent)) ? 1.0 : 0.0;
  }));
  return operands;
}

Operands FillEmptyRows(Random& random) {
  const std::int64_t rows = random.Of(Ints{0, 1, 3, 9, 40}), rank = 1 + random.Below(3);
  const std::int64_t count = rows == 0 ? 0 : random.Below(2 * rows + 1);
  const DataType type = random.Of(kElements), index = random.Of(Types{Int32, Int64, Int64});
  Operands operands;
  operands.Add(ArrayOf({count, rank}, index, [&](std::int64_t i) {
    return static_cast<double>(random.Below(i % rank == 0 ? rows : 5));
  }));
  operands.Add(RandomArray({count}, type, random));
  operands.Add(ArrayOf({rank}, random.Chance(70) ? Int64 : Int32,
                       [&](std::int64_t d) { return static_cast<double>(d == 0 ? rows : 5); }));
  operands.Add(RandomArray({}, type, random));
  return operands;
}

}  // namespace

void AddIndexedOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["argwhere"] = ArgWhere;
  t["broadcast_to_extents"] = BroadcastToExtents;
  t["count_up"] = CountUp;
  t["fixed_point_multiply_per_axis"] = FixedPoint;
  t["image.resize_to_extents"] = ResizeToExtents;
  t["nn.nll_loss"] = Loss;
  t["reshape_to_extents"] = ReshapeToExtents;
  t["sparse_fill_empty_rows"] = FillEmptyRows;
  t["take_first"] = TakeFirst;
}

}  // namespace tenon::verify
