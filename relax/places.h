// Where each expression of a function is written in Relax text.
//
// A let is its body, and its variable is its value. Every other expression stands in the innermost
// function or branch of an if that holds all of its uses.
//
//   const Places places(function);
//   for (const ir::Expr& e : places.order()) ... places.ScopeOf(e) ...
#ifndef TENON_RELAX_PLACES_H_
#define TENON_RELAX_PLACES_H_

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/ir/scope_tree.h"
#include "tenon/ir/visit.h"

namespace tenon::relax {

class Places {
 public:
  using Scope = ir::ScopeTree::Scope;

  explicit Places(const ir::Expr& root);

  // All expressions but lets, producers first.
  const std::vector<ir::Expr>& order() const { return order_; }
  // What an expression is when lets are left out.
  ir::Expr Meant(ir::Expr e) const;
  // Whether anything reads it; a parameter may have no reader.
  bool IsUsed(const ir::Expr& e) const { return homes_.contains(e); }
  // Of an expression that is used.
  Scope ScopeOf(const ir::Expr& e) const { return homes_.at(e).scope; }
  // The scope of a function's body.
  Scope InsideOf(const ir::Expr& function) const { return inner_.at(function); }
  struct Branches {
    Scope yes, no;
  };
  const Branches& BranchesOf(const ir::Expr& choice) const { return branches_.at(choice); }
  // Whether a function gives it.
  bool IsResult(const ir::Expr& e) const { return results_.contains(e); }
  // The if of which `e` is a branch's value and stands in that branch; null for any other.
  ir::Expr IfThatGets(const ir::Expr& e) const;
  // Whether a tuple stands in its only consumer, which is no other tuple, no function and no if.
  bool IsInPlace(const ir::Expr& tuple) const;

 private:
  struct Home {
    Scope scope = ir::ScopeTree::kRoot;
    int uses = 0;
  };
  using ExprSet = std::unordered_set<ir::Expr, ir::ExprHash>;

  void Sort(const ir::Expr& root);
  void FindHomes(const ir::Expr& root);
  void OpenBranches(const ir::Expr& choice, Scope around);

  ir::ExprMap lets_;  // values, by their variables
  std::vector<ir::Expr> order_;
  ir::ScopeTree tree_;
  std::unordered_map<ir::Expr, Home, ir::ExprHash> homes_;
  std::unordered_map<ir::Expr, Scope, ir::ExprHash> inner_;
  std::unordered_map<ir::Expr, Branches, ir::ExprHash> branches_;
  std::unordered_map<Scope, int> ifs_;  // around a scope; of none they are not listed
  ir::ExprMap given_to_;                // ifs, by what a branch gives
  ExprSet results_, in_tuples_;
};

}  // namespace tenon::relax

#endif  // TENON_RELAX_PLACES_H_
