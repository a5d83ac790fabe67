// The types that a function has in a call. Variables that are alone extents of its declared
// parameters are the function's own: in a call, they stand for the extents of the arguments. So a
// function that calls itself may pass on arrays of other extents than it was given.
//
//   def @f(%x: Tensor[(#c, 4), float32]) -> Tensor[(#c + 1, 4), float32]
//   @f(%y) of %y: Tensor[(2*n, 4), float32]    // Tensor[(2*n + 1, 4), float32]
//
// The reader of Relax text, which types calls as it reads them, includes this header, too.
#ifndef TENON_PASSES_CALL_TYPES_H_
#define TENON_PASSES_CALL_TYPES_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// The function's own variables. None where the type of a parameter is not declared, and for a
// branch that OutlineBranches made a function: there the calls decide what it is.
std::set<std::string> OwnExtents(const ir::FunctionNode& function);

struct CallTypes {
  // Null where it depends on an argument whose type is not known yet.
  std::vector<ir::Type> params;
  ir::Type result;
};

// `type` is what is known of the callee's type. Nothing where the callee has no variables of its
// own.
std::optional<CallTypes> TypesOfCall(const ir::FunctionNode& callee, const ir::FuncTypeNode& type,
                                     const std::vector<ir::Type>& args);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CALL_TYPES_H_
