// What a module declares of the variables of its inputs: an attribute of @main.
//
//   def @main(%x: Tensor[(n, 3), float32], limits="n <= 512, 4 <= n") { ... }
#ifndef TENON_PASSES_DECLARED_LIMITS_H_
#define TENON_PASSES_DECLARED_LIMITS_H_

#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/support/extent_condition.h"

namespace tenon::passes {

inline constexpr char kLimits[] = "limits";
// Who needs these conditions.
inline constexpr char kLimitsOwner[] = "the limits of @main";

// Comparisons (<=, >= and ==) of extents, separated by commas. Throws InvalidArgument for a text
// that is none, and for a variable that no parameter has.
std::vector<ExtentCondition> DeclaredLimits(const ir::FunctionNode& main);

}  // namespace tenon::passes

#endif  // TENON_PASSES_DECLARED_LIMITS_H_
