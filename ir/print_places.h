// Where the printer writes the line of each expression: in the innermost scope that holds all its
// uses. Only files inside ir/ include this header.
//
//   PrintPlaces places(function);
//   places.of.at(e).home
#ifndef TENON_IR_PRINT_PLACES_H_
#define TENON_IR_PRINT_PLACES_H_

#include <unordered_map>

#include "tenon/ir/expr.h"
#include "tenon/ir/scope_tree.h"

namespace tenon::ir {

struct PrintPlaces {
  using Scope = ScopeTree::Scope;
  struct Place {
    Scope home = ScopeTree::kRoot;
    int uses = 0;
    bool ends_a_scope = false;  // the last use was as the body of a function or let
  };
  struct Branches {
    Scope yes, no;
  };

  explicit PrintPlaces(const Expr& root);

  std::unordered_map<Expr, Place, ExprHash> of;
  std::unordered_map<Expr, Scope, ExprHash> inner;  // of functions, and of lets in parentheses
  std::unordered_map<Expr, Branches, ExprHash> branches;
};

}  // namespace tenon::ir

#endif  // TENON_IR_PRINT_PLACES_H_
