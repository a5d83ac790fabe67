// Normalisations, softmax and losses: values of one line that are all equal, variances of 0, lines
// of one element.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;

const std::vector<DataType> kFloats = {Float32, Float32, Float32, Float64, Float16, BFloat16};

Shape ShapeOfRank(std::int64_t least, std::int64_t most, Random& random) {
  Shape shape = EachOf(least + random.Below(most - least + 1), {1, 2, 3, 5, 7, 8, 16, 17}, random);
  if (random.Chance(3) && !shape.empty()) shape[0] = 0;
  if (random.Chance(20) && !shape.empty()) shape.back() = random.Of(Ints{33, 64, 65, 130});
  return shape;
}

// Sometimes one number, moved away from zero, for all.
NDArray Samples(const Shape& shape, DataType type, Random& random) {
  if (!random.Chance(10)) return RandomArray(shape, type, random);
  const double number = static_cast<double>(random.Below(33) - 16) / 4;
  return ArrayOf(shape, type, [&](std::int64_t) { return number; });
}
NDArray NotBelow(double least, const Shape& shape, DataType type, Random& random) {
  return ArrayOf(shape, type,
                 [&](std::int64_t) { return least + static_cast<double>(random.Below(9)) / 4; });
}

// An axis from the one at `first` on, counted from either end.
std::int64_t AnyAxis(const Shape& shape, std::int64_t first, Random& random) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = first + random.Below(rank - first);
  return random.Chance(50) ? axis : axis - rank;
}
std::int64_t ExtentAt(const Shape& shape, std::int64_t axis) {
  return shape[At(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis)];
}

void AddFields(std::int64_t axis, Random& random, attrs::FieldValues* to) {
  (*to)["axis"] = Value(axis);
  if (random.Chance(60))
    (*to)["epsilon"] = Value(random.Of(std::vector<double>{0, 1e-12, 1e-5, 1e-3, 0.25, 1}));
  if (random.Chance(30)) (*to)["center"] = Value(random.Chance(50));
  if (random.Chance(30)) (*to)["scale"] = Value(random.Chance(50));
}

// Data, gamma and beta. `first`: the first axis that may be normalised along.
OperandDrawer Norm(std::int64_t least_rank, std::int64_t first, bool has_groups) {
  return [=](Random& random) {
    const DataType type = random.Of(kFloats);
    const Shape shape = ShapeOfRank(least_rank, 4, random);
    const std::int64_t axis = AnyAxis(shape, first, random), channels = ExtentAt(shape, axis);
    Operands operands;
    operands.Add(Samples(shape, type, random));
    operands.Add(RandomArray({channels}, type, random));
    operands.Add(RandomArray({channels}, type, random));
    AddFields(axis, random, &operands.attributes);
    if (has_groups) {
      Ints divisors;
      for (std::int64_t n = 1; n <= std::max<std::int64_t>(channels, 1); ++n)
        if (channels % n == 0) divisors.push_back(n);
      operands.attributes["num_groups"] = Value(random.Of(divisors));
    }
    return operands;
  };
}

Operands BatchNorm(Random& random) {
  Operands operands = Norm(1, 0, false)(random);
  const NDArray& gamma = operands.arguments[1].fields[0];
  operands.Add(RandomArray(gamma.shape(), gamma.dtype(), random));
  operands.Add(NotBelow(0, gamma.shape(), gamma.dtype(), random));
  return operands;
}

Operands L2Normalize(Random& random) {
  const Shape shape = ShapeOfRank(1, 4, random);
  Ints axes;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d)
    if (random.Chance(50))
      axes.push_back(random.Chance(50) ? d : d - static_cast<std::int64_t>(shape.size()));
  if (axes.empty()) axes.push_back(0);
  Operands operands;
  operands.Add(Samples(shape, random.Of(kFloats), random));
  operands.attributes["axis"] = ListOf(axes);
  operands.attributes["eps"] = Value(random.Of(std::vector<double>{1e-12, 1e-5, 0.25, 100}));
  return operands;
}

Operands Softmax(Random& random) {
  const Shape shape = ShapeOfRank(1, 4, random);
  const DataType type = random.Of(kFloats);
  NDArray x = AnyElements(shape, type, random);
  if (random.Chance(20))
    x = ArrayOf(shape, type,
                [&](std::int64_t) { return static_cast<double>(random.Below(401) - 200); });
  Operands operands;
  operands.Add(x);
  operands.attributes["axis"] = Value(AnyAxis(shape, 0, random));
  return operands;
}

OperandDrawer CrossEntropy(double least) {
  return [least](Random& random) {
    const Shape shape = {random.Of(Ints{1, 2, 3, 8}), random.Of(Ints{1, 2, 5, 16, 33})};
    const DataType type = random.Of(kFloats);
    Operands operands;
    operands.Add(NotBelow(least, shape, type, random)).Add(NotBelow(0, shape, type, random));
    return operands;
  };
}

Operands Dropout(Random& random) {
  Operands operands;
  operands.Add(AnyElements(AnyShape(random), random.Of(kFloats), random));
  operands.attributes["rate"] = Value(random.Of(std::vector<double>{0, 0.25, 0.5, 1}));
  return operands;
}

}  // namespace

void AddNormOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["nn.batch_norm"] = BatchNorm;
  t["nn.cross_entropy"] = CrossEntropy(0.25);
  t["nn.cross_entropy_with_logits"] = CrossEntropy(-1);
  t["nn.dropout"] = Dropout;
  t["nn.group_norm"] = Norm(3, 1, true);
  t["nn.instance_norm"] = Norm(3, 1, false);
  t["nn.l2_normalize"] = L2Normalize;
  t["nn.layer_norm"] = Norm(1, 0, false);
  for (const char* name : {"nn.softmax", "nn.fast_softmax", "nn.log_softmax"}) t[name] = Softmax;
}

}  // namespace tenon::verify
