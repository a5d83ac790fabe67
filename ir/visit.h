// Walking and rewriting graphs without recursion, so that a deep graph does not need a deep stack.
//
//   VisitPostOrder(expr, [&](const Expr& e) { ... });
//   Expr out = RewritePostOrder(expr, [&](const Expr& original, const Expr& rewritten) { return
//   rewritten; });
#ifndef TENON_IR_VISIT_H_
#define TENON_IR_VISIT_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::ir {

using ExprMap = std::unordered_map<Expr, Expr, ExprHash>;

// Visits every distinct node once, children first, in the order of Children. `enter` (when given)
// says whether to look inside a node.
void VisitPostOrder(const Expr& expr, const std::function<void(const Expr&)>& visit,
                    const std::function<bool(const Expr&)>& enter = nullptr);

// Enters `root` and everything else except the function literals inside it: what they compute does
// not belong to the root.
std::function<bool(const Expr&)> OutsideLiterals(const Expr& root);

// How many times each node is read by distinct nodes of `expr` (x + x reads x twice). The root is
// not in the table.
using ReaderCounts = std::unordered_map<Expr, int, ExprHash>;
ReaderCounts CountReaders(const Expr& expr);

// Rewrites children first. `rewrite` gets the node as it was and the node over rewritten children
// (the same handle when none changed), and returns its replacement. A node over changed children
// has no checked type. `enter` is as above.
Expr RewritePostOrder(
    const Expr& expr,
    const std::function<Expr(const Expr& original, const Expr& rewritten)>& rewrite,
    const std::function<bool(const Expr&)>& enter = nullptr);

// For rewrites that never change types: `rewritten`, with the type of `original` if it lost its own
// over changed children.
Expr KeepType(const Expr& original, const Expr& rewritten);

// Variables that are used but not bound inside, in order of first use.
std::vector<Var> FreeVars(const Expr& expr);
Expr Substitute(const Expr& expr, const ExprMap& values);

}  // namespace tenon::ir

#endif  // TENON_IR_VISIT_H_
