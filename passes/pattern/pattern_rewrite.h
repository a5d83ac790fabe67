// Rewriting and partitioning by patterns (pattern.h).
//
// Rewrite walks the graph, producers first, and replaces a match of a rule by what the rule's
// callback returns. The first rule of the list that changes an expression wins. It repeats until
// nothing changes, or runs once under `once`. Types are checked between rounds. Primitive functions
// stay.
//
//   Expr out = Rewrite(e, {{IsOp("nn.relu")(IsOp("nn.relu")(x)),
//                           [&](const Expr&, const Bindings& b) { return ops::Relu(b.At(x)); }}});
#ifndef TENON_PASSES_PATTERN_PATTERN_REWRITE_H_
#define TENON_PASSES_PATTERN_PATTERN_REWRITE_H_

#include <functional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/passes/pattern/pattern.h"
#include "tenon/passes/pattern/pattern_match.h"

namespace tenon::passes {

struct RewriteRule {
  Pattern pattern;
  // Returns `pre`, or an expression of its type that replaces it.
  std::function<ir::Expr(const ir::Expr& pre, const Bindings& bindings)> callback;
  // Whether the callback needs checked types. A match without them waits for the next round.
  bool require_type = false;
};

struct RewriteOptions {
  bool once = false;
  int max_rounds = 100;
};

// Throws FailedPrecondition when the last round still changes something.
ir::Expr Rewrite(const ir::Expr& expr, const std::vector<RewriteRule>& rules,
                 const RewriteOptions& options = {});
ir::Module Rewrite(const ir::Module& module, const std::vector<RewriteRule>& rules,
                   const RewriteOptions& options = {});

// Replaces every match by a call of a function literal that has the given attributes and
// PartitionedFromPattern, the operators joined by underscores. Matches do not overlap: consumers
// come first. A match stays if one of its inner values is used outside or if `check` refuses it.
// Requires checked types.
ir::Expr Partition(const ir::Expr& expr, const Pattern& pattern, const ir::FunctionAttrs& attrs,
                   const std::function<bool(const ir::Expr& match)>& check = nullptr);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PATTERN_PATTERN_REWRITE_H_
