// Conditions on extents as conditions on the variables that a function's parameters have. Inference
// may put numbers and other variables for some that the module declared.
//
//   SolvedFor({n == 3, m <= n}, {"m"});  // m <= 3
#ifndef TENON_COMPILER_SYMBOLIC_SOLVED_CONDITIONS_H_
#define TENON_COMPILER_SYMBOLIC_SOLVED_CONDITIONS_H_

#include <set>
#include <string>
#include <vector>

#include "tenon/support/extent_condition.h"

namespace tenon::compiler {

// The conditions, with each variable that is neither one of `known` nor a count replaced by what an
// equation says it is. Equations that this makes true are left out. A variable about which no
// equation says anything stays.
std::vector<ExtentCondition> SolvedFor(std::vector<ExtentCondition> conditions,
                                       const std::set<std::string>& known);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_SOLVED_CONDITIONS_H_
