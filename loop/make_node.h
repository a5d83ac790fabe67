// How the factories of expressions make their nodes. For files of loop/ that define factories.
#ifndef TENON_LOOP_MAKE_NODE_H_
#define TENON_LOOP_MAKE_NODE_H_

#include <utility>

#include "tenon/loop/expr.h"

namespace tenon::loop {

template <typename Node, typename... Args>
Expr MakeNode(Args&&... args) {
  return Expr(Ref<const ExprNode>(new Node(std::forward<Args>(args)...)));
}

}  // namespace tenon::loop

#endif  // TENON_LOOP_MAKE_NODE_H_
