#include "tenon/verify/operands.h"

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

Shape ShapeInLayout(const std::string& layout, const std::map<char, std::int64_t>& extents) {
  Shape shape;
  for (const char axis : layout) shape.push_back(extents.at(axis));
  return shape;
}

const OperandDrawer* FindOperandDrawer(const std::string& op) {
  static const auto& table = *[] {
    auto* t = new OperandTable;
    AddBoxOperands(t);
    AddIndexedOperands(t);
    AddQuantizedOperands(t);
    AddQuantizedProducts(t);
    AddRecurrentOperands(t);
    AddRegionOperands(t);
    AddSparseOperands(t);
    AddWindowOperands(t);
    return t;
  }();
  const auto row = table.find(op);
  return row == table.end() ? nullptr : &row->second;
}

}  // namespace tenon::verify
