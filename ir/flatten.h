// The tensors that a value consists of.
//
//   Flatten(TupleType({a, TupleType({b, c})}));  // {a, b, c}
#ifndef TENON_IR_FLATTEN_H_
#define TENON_IR_FLATTEN_H_

#include <vector>

#include "tenon/ir/type.h"

namespace tenon::ir {

// Fields of tuples, and those of the tuples among them, in order; any other type is one by itself.
std::vector<Type> Flatten(const Type& type);

}  // namespace tenon::ir

#endif  // TENON_IR_FLATTEN_H_
