// Rewriting and partitioning by patterns (pattern.h).
//
// Rewrite goes over the graph, producers first, and replaces what a rule matches by what its
// callback gives, the first rule of the list that changes an expression; it repeats until nothing
// changes, or once under `once`. Types are checked between rounds. Primitive functions stay.
//
//   Expr out = Rewrite(e, {{IsOp("nn.relu")(IsOp("nn.relu")(x)),
//                           [&](const Expr&, const Bindings& b) { return ops::Relu(b.At(x)); }}});
#ifndef TENON_PASSES_PATTERN_REWRITE_H_
#define TENON_PASSES_PATTERN_REWRITE_H_

#include <functional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/passes/pattern.h"
#include "tenon/passes/pattern_match.h"

namespace tenon::passes {

struct RewriteRule {
  Pattern pattern;
  // `pre` or something of its type that stands in its place.
  std::function<ir::Expr(const ir::Expr& pre, const Bindings& bindings)> callback;
  // Whether the callback needs checked types; a match that has none yet waits for the next round.
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

// Replaces every match by a call of a function literal with the attributes and
// PartitionedFromPattern, the operators joined by underscores. Matches do not overlap: consumers
// come first. A match of which an inner value is used outside, or that `check` refuses, stays.
// Requires checked types.
ir::Expr Partition(const ir::Expr& expr, const Pattern& pattern, const ir::FunctionAttrs& attrs,
                   const std::function<bool(const ir::Expr& match)>& check = nullptr);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PATTERN_REWRITE_H_
