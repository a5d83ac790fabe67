// Arguments of operators whose inputs must fit each other, with values that the operator's rule
// allows: scales above 0, starts of rows in order, lengths of sequences.
//
//   const OperandDrawer* draw = FindOperandDrawer("qnn.dense");
//   if (draw != nullptr) operands = (*draw)(random);
#ifndef TENON_VERIFY_DRAW_OPERANDS_H_
#define TENON_VERIFY_DRAW_OPERANDS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"
#include "tenon/support/ndarray.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

struct Operands {
  struct Argument {
    std::vector<NDArray> fields;
    bool is_tuple = false;
  };
  std::vector<Argument> arguments;
  attrs::FieldValues attributes;

  Operands& Add(NDArray value) {
    arguments.push_back({.fields = {std::move(value)}});
    return *this;
  }
  Operands& AddTuple(std::vector<NDArray> fields) {
    arguments.push_back({.fields = std::move(fields), .is_tuple = true});
    return *this;
  }
};

// As the value of an attribute.
inline attrs::Value ListOf(const ops::Ints& values) {
  return attrs::Value(attrs::List(values.begin(), values.end()));
}

// Up to rank 4; an extent may be 0.
Shape AnyShape(Random& random, std::int64_t least_rank = 0);
// `count` of these values.
ops::Ints EachOf(std::int64_t count, const ops::Ints& of, Random& random);
// Of any type of elements.
DataType AnyElementType(Random& random);
// As RandomArray; some elements are the ends of their type, NaN or infinite.
NDArray AnyElements(const Shape& shape, DataType type, Random& random);
// In the layout whose letters have these extents: "NHWC".
Shape ShapeInLayout(const std::string& layout, const std::map<char, std::int64_t>& extents);

// Some of what it draws may be refused by the type relation.
using OperandDrawer = std::function<Operands(Random& random)>;
using OperandTable = std::map<std::string, OperandDrawer>;

// Null for an operator whose arguments are drawn from their types alone.
const OperandDrawer* FindOperandDrawer(const std::string& op);

// The rows of a family; FindOperandDrawer calls these.
void AddBoxOperands(OperandTable* table);
void AddConvolutionOperands(OperandTable* table);
void AddFourierOperands(OperandTable* table);
void AddIndexedOperands(OperandTable* table);
void AddMovedOperands(OperandTable* table);
void AddNormOperands(OperandTable* table);
void AddPoolOperands(OperandTable* table);
void AddProductOperands(OperandTable* table);
void AddQuantizedOperands(OperandTable* table);
void AddQuantizedProducts(OperandTable* table);
void AddRecurrentOperands(OperandTable* table);
void AddRegionOperands(OperandTable* table);
void AddSampledOperands(OperandTable* table);
void AddSparseOperands(OperandTable* table);
void AddTakenOperands(OperandTable* table);
void AddWindowOperands(OperandTable* table);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_OPERANDS_H_
