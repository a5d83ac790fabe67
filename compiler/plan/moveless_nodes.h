// Nodes that compute nothing: their results are parts of what they read, as it lies in memory or
// can lie there.
//
//   MovelessNodes moveless(plan);
//   if (moveless.Make(function, inputs, &node)) ...  // a view or a join
#ifndef TENON_COMPILER_PLAN_MOVELESS_NODES_H_
#define TENON_COMPILER_PLAN_MOVELESS_NODES_H_

#include <set>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/runtime/plan.h"

namespace tenon::compiler {

class MovelessNodes {
 public:
  // The plan must outlive this.
  explicit MovelessNodes(const runtime::Plan& plan) : plan_(plan) {}

  // Makes `node` a view or a join, if the function's results are pieces of `inputs`. Returns
  // whether it did.
  bool Make(const ir::FunctionNode& function, const std::vector<runtime::EntryRef>& inputs,
            runtime::Node* node);
  // From now on the entry's memory is not placed in that of a join.
  void Take(const runtime::EntryRef& entry) { taken_.emplace(entry.node, entry.output); }

 private:
  const runtime::Plan& plan_;
  std::set<std::pair<int, int>> taken_;  // entries that are results or lie in a join
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_MOVELESS_NODES_H_
