// Pools over windows that begin and end in the padding, over bins that do not divide the data, and
// over whole images, in layouts with and without blocks of channels.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;

const std::vector<DataType> kNumbers = {Float32, Float32, Float32, Float32, Float64, Float16,
                                        Int8,    UInt8,   Int32,   Int64,   BFloat16};

struct Drawn {
  std::string layout;
  Shape shape;
};

// `spatial` has an extent for each letter of "DHW" that the layout has.
Drawn DataOf(const std::string& letters, const Ints& spatial, Random& random) {
  std::map<char, std::int64_t> extents = {{'N', random.Of(Ints{1, 1, 2, 3})},
                                          {'C', random.Of(Ints{1, 2, 3, 5, 16, 17})}};
  if (random.Chance(2)) extents['N'] = 0;
  for (std::size_t d = 0; d < letters.size(); ++d) extents[letters[d]] = spatial[d];
  std::string layout = random.Chance(35) ? StrCat("N", letters, "C") : StrCat("NC", letters);
  Drawn made{layout, ShapeInLayout(layout, extents)};
  if (letters.size() != 2 || !random.Chance(25)) return made;
  const std::int64_t block = random.Of(Ints{2, 3, 8, 16});
  made.layout += StrCat(block, "c");
  made.shape.push_back(block);
  return made;
}

NDArray NumbersOf(const Shape& shape, bool is_mean, Random& random) {
  const DataType type = random.Of(kNumbers);
  // Sums near the ends of floating types have no one value.
  const bool may_end = !is_mean || !type.is_float();
  return may_end ? AnyElements(shape, type, random) : RandomArray(shape, type, random);
}

OperandDrawer Windows(std::size_t dims, bool is_mean) {
  return [dims, is_mean](Random& random) {
    const auto each = [&](const Ints& of) {
      return EachOf(random.Chance(25) ? 1 : static_cast<std::int64_t>(dims), of, random);
    };
    const Ints size = each({1, 2, 3, 3, 4, 5});
    Ints spatial;
    for (std::size_t d = 0; d < dims; ++d)
      spatial.push_back(random.Chance(90) ? size[d % size.size()] + random.Below(dims == 3 ? 5 : 12)
                                          : 1 + random.Below(3));
    const Drawn data = DataOf(std::string("DHW").substr(3 - dims), spatial, random);
    Operands operands;
    operands.Add(NumbersOf(data.shape, is_mean, random));
    attrs::FieldValues& a = operands.attributes;
    a["pool_size"] = ListOf(size);
    a["layout"] = Value(data.layout);
    if (random.Chance(60)) a["strides"] = ListOf(each({1, 2, 2, 3}));
    if (random.Chance(25)) a["dilation"] = ListOf(each({1, 2, 3}));
    if (random.Chance(60))
      a["padding"] = ListOf(random.Chance(40)
                                ? EachOf(static_cast<std::int64_t>(2 * dims), {0, 1, 2, 3}, random)
                                : each({0, 1, 2}));
    a["ceil_mode"] = Value(random.Chance(40));
    if (is_mean) a["count_include_pad"] = Value(random.Chance(50));
    return operands;
  };
}

OperandDrawer Bins(std::size_t dims, bool is_mean) {
  return [dims, is_mean](Random& random) {
    const Ints spatial = EachOf(static_cast<std::int64_t>(dims), {1, 2, 3, 5, 7, 8, 12}, random);
    const Drawn data = DataOf(std::string("DHW").substr(3 - dims), spatial, random);
    Operands operands;
    operands.Add(NumbersOf(data.shape, is_mean, random));
    operands.attributes["layout"] = Value(data.layout);
    if (random.Chance(90))
      operands.attributes["output_size"] = ListOf(EachOf(
          random.Chance(30) ? 1 : static_cast<std::int64_t>(dims), {1, 1, 2, 3, 4, 5, 7}, random));
    return operands;
  };
}

OperandDrawer Images(bool is_mean) {
  return [is_mean](Random& random) {
    const Drawn data = DataOf("HW", EachOf(2, {1, 2, 3, 7, 8, 16, 17}, random), random);
    Operands operands;
    operands.Add(NumbersOf(data.shape, is_mean, random));
    operands.attributes["layout"] = Value(data.layout);
    return operands;
  };
}

}  // namespace

void AddPoolOperands(OperandTable* table) {
  OperandTable& t = *table;
  for (const bool is_mean : {false, true}) {
    const char* kind = is_mean ? "avg" : "max";
    for (std::size_t dims = 1; dims <= 3; ++dims) {
      t[StrCat("nn.", kind, "_pool", dims, "d")] = Windows(dims, is_mean);
      t[StrCat("nn.adaptive_", kind, "_pool", dims, "d")] = Bins(dims, is_mean);
    }
    t[StrCat("nn.global_", kind, "_pool2d")] = Images(is_mean);
  }
}

}  // namespace tenon::verify
