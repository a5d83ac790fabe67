// Functions with type parameters: each call gets an instance of its own, whose types are inferred.
//
//   Module same = WithInstances(module, {"id"});  // @id is gone, @id_1 and @id_2 are called
#ifndef TENON_IR_GENERIC_FUNCTIONS_H_
#define TENON_IR_GENERIC_FUNCTIONS_H_

#include <set>
#include <string>

#include "tenon/ir/module.h"

namespace tenon::ir {

// The module without the functions of these names. Each call of one from elsewhere calls a copy; a
// call of a generic function from inside its own copy calls that copy. Throws InvalidArgument where
// @main is generic or copies grow without end.
Module WithInstances(const Module& module, const std::set<std::string>& generics);

}  // namespace tenon::ir

#endif  // TENON_IR_GENERIC_FUNCTIONS_H_
