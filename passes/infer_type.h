// InferType: gives every expression of a module its checked type.
//
// Type relations run forward and backward until nothing changes, so a variable without an
// annotation gets the type that its uses imply. A function's return type becomes known. Where types
// were already known, the module is unchanged, node for node. All errors of the module are reported
// together, as InvalidArgument with the operator, span, input types and violated rule of each.
//
//   Module typed = InferType(module);
#ifndef TENON_PASSES_INFER_TYPE_H_
#define TENON_PASSES_INFER_TYPE_H_

#include <utility>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/extent_condition.h"

namespace tenon::passes {

ir::Module InferType(const ir::Module& module);
// The same for one expression without references to globals. Free variables keep their identity
// when they have a checked type; all others must have an annotation.
ir::Expr InferType(const ir::Expr& expr);
// An operator call whose arguments have checked types, with its own type inferred. Constant time.
// Errors as above.
ir::Expr InferCall(const ir::Expr& call);

// Pairs of extents that kernels of the typed calls within `e` read as one, but that differ for some
// values of their variables. These are extents that are broadcast together, one of which may be 1.
std::vector<std::pair<Dim, Dim>> AssumedEqual(const ir::Expr& e);

// What the typed calls within `e` need of their extents so that their operators take them. A
// relation that is given numbers refuses them if one of the conditions does not hold. Equal
// conditions are listed once.
std::vector<ExtentCondition> ConditionsOf(const ir::Expr& e);
// The same for @main of a module, whose types are inferred, with what the types of its parameters
// and of the functions that it calls need.
std::vector<ExtentCondition> ConditionsOf(const ir::Module& module);
// Of those, what the types of the parameters need. Calls of functions decide them, too.
std::vector<ExtentCondition> ConditionsOfParameters(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_INFER_TYPE_H_
