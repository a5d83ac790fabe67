// Which branch of a function's ifs each expression belongs to: the innermost one that holds all its
// uses. A variable belongs where it is bound.
//
//   const BranchHomes homes(function);
//   const auto [yes, no] = homes.BranchesOf(an_if);
//   for (const Expr& value : homes.ValuesAround(then_branch, yes)) ...
#ifndef TENON_PASSES_CONTROL_BRANCH_HOMES_H_
#define TENON_PASSES_CONTROL_BRANCH_HOMES_H_

#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ir/scope_tree.h"

namespace tenon::passes {

class BranchHomes {
 public:
  using Scope = ir::ScopeTree::Scope;
  struct Branches {
    Scope yes, no;
  };

  explicit BranchHomes(const ir::Expr& function);

  Branches BranchesOf(const ir::Expr& an_if) const { return branches_.at(an_if); }
  // Where something is that a branch reads.
  enum class Place {
    kInside,    // of the branch
    kAround,    // a value of what is around it
    kAnywhere,  // a constant, an operator, a function; the branch can have its own
  };
  Place PlaceOf(const ir::Expr& e, Scope branch) const;
  // What a branch reads of the values around it, each once, in the order in which the branch comes
  // to them.
  std::vector<ir::Expr> ValuesAround(const ir::Expr& branch, Scope scope) const;

 private:
  void Use(const ir::Expr& e, Scope scope);

  ir::ScopeTree tree_;
  std::unordered_map<ir::Expr, Scope, ir::ExprHash> homes_, binders_;
  std::unordered_map<ir::Expr, Branches, ir::ExprHash> branches_;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_CONTROL_BRANCH_HOMES_H_
