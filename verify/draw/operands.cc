#include "tenon/verify/draw/operands.h"

namespace tenon::verify {

Shape AnyShape(Random& random, std::int64_t least_rank) {
  Shape shape;
  for (std::int64_t rank = least_rank + random.Below(5 - least_rank); rank > 0; --rank)
    shape.push_back(random.Of(Shape{1, 2, 3, 5, 7, 8, 16, 17, 0}));
  return shape;
}

ops::Ints EachOf(std::int64_t count, const ops::Ints& of, Random& random) {
  ops::Ints values;
  for (; count > 0; --count) values.push_back(random.Of(of));
  return values;
}

DataType AnyElementType(Random& random) {
  return random.Of(std::vector<DataType>{Float32, Float32, Float32, Float64, Float16, BFloat16,
                                         Int32, Int64, Int8, Int16, UInt8, UInt16, UInt32, UInt64,
                                         Bool});
}

NDArray AnyElements(const Shape& shape, DataType type, Random& random) {
  NDArray array = RandomArray(shape, type, random);
  if (random.Chance(20)) array = WithEnds(array, random);
  if (type.is_float() && random.Chance(20)) array = WithSpecialValues(array, random);
  return array;
}

Shape ShapeInLayout(const std::string& layout, const std::map<char, std::int64_t>& extents) {
  Shape shape;
  for (const char axis : layout) shape.push_back(extents.at(axis));
  return shape;
}

const OperandDrawer* FindOperandDrawer(const std::string& op) {
  static const auto& table = *[] {
    auto* t = new OperandTable;
    AddBoxOperands(t);
    AddConvolutionOperands(t);
    AddFourierOperands(t);
    AddIndexedOperands(t);
    AddMovedOperands(t);
    AddNormOperands(t);
    AddPoolOperands(t);
    AddProductOperands(t);
    AddQuantizedOperands(t);
    AddQuantizedProducts(t);
    AddRecurrentOperands(t);
    AddRegionOperands(t);
    AddSampledOperands(t);
    AddSparseOperands(t);
    AddTakenOperands(t);
    AddWindowOperands(t);
    return t;
  }();
  const auto row = table.find(op);
  return row == table.end() ? nullptr : &row->second;
}

}  // namespace tenon::verify
