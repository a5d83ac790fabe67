// The tensors that a value consists of.
//
//   Flatten(TupleType({a, TupleType({b, c})}));  // {a, b, c}
#ifndef TENON_IR_FLATTEN_H_
#define TENON_IR_FLATTEN_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tenon/ir/type.h"

namespace tenon::ir {

// The fields of a tuple, with nested tuples expanded in place, in order. Any other type is a single
// element.
std::vector<Type> Flatten(const Type& type);

// The variables in the extents of its tensors.
std::set<std::string> SymbolsOf(const Type& type);

// Where the tensors of a field lie among Flatten(tuple).
struct LeafRange {
  std::size_t begin = 0, count = 0;
};
LeafRange LeavesOfField(const Type& tuple, int field);

}  // namespace tenon::ir

#endif  // TENON_IR_FLATTEN_H_
