// Branches of ifs as functions of their own, so that every function is straight-line code.
//
//   if (%c) { @f_then0(%x) } else { @f_else0(%x, %y) }
//
// is all that an if keeps, in a function @f_if0(%c, %x, %y) that is called where the if was. Passes
// over straight-line code then see calls of functions, and none of them can move work from one
// branch to another, or out of one.
#ifndef TENON_PASSES_CONTROL_OUTLINE_BRANCHES_H_
#define TENON_PASSES_CONTROL_OUTLINE_BRANCHES_H_

#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/extent_condition.h"

namespace tenon::passes {

// The mark of functions that OutlineBranches makes; its value is the name of the function whose if
// it was.
inline constexpr char kOutlined[] = "Outlined";

// What the calls in a function need of the variables of its parameters, as four texts each: "n",
// "=", "16", "nn.batch_norm". Passes rewrite operators to others that need less.
inline constexpr char kNeeds[] = "Needs";
// Those conditions, or none. Throws InvalidArgument for an attribute of another form.
std::vector<ExtentCondition> NeedsOf(const ir::FunctionNode& function);
// The function with these needs, unless it says some itself.
ir::Expr WithNeeds(const ir::Expr& function, const std::vector<ExtentCondition>& conditions);

// Whether there is an if that OutlineBranches would change.
bool HasBranches(const ir::Module& module);
// Afterwards every if is alone in a function, over a parameter and two calls of functions with
// parameters as arguments. Requires checked types, and infers those of what it makes. What only one
// branch uses goes into the branch's function, which says what it needs (kNeeds); other values
// become its arguments. An if whose condition is a constant becomes its branch. RestoreBranches
// (pass_manager.h) is the inverse.
ir::Module OutlineBranches(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CONTROL_OUTLINE_BRANCHES_H_
