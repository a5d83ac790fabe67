// Where the expressions of a function are computed: in the innermost scope that holds all uses. The
// body of a let is a scope, and so are the branches of an if and the body of a function.
//
// A group of expressions may become one call that gives several of them if all are computed in one
// scope: else the call may read a variable where it is not bound yet.
//
//   const LetHomes homes = LetHomesOf(function);   // homes.at(a) == homes.at(b)
#ifndef TENON_PASSES_FUSION_LET_HOMES_H_
#define TENON_PASSES_FUSION_LET_HOMES_H_

#include <unordered_map>

#include "tenon/ir/expr.h"
#include "tenon/ir/scope_tree.h"

namespace tenon::passes {

using LetHomes = std::unordered_map<ir::Expr, ir::ScopeTree::Scope, ir::ExprHash>;

// Of everything inside `function`, except variables that nothing reads.
LetHomes LetHomesOf(const ir::Expr& function);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_LET_HOMES_H_
