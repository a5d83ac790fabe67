// Groups come from fusion_groups.h; here they become functions. The walk has its own stack. It
// creates parameters in the order in which a depth-first reader meets what a group reads.
#include "tenon/passes/fusion/fuse_ops.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/fusion/fuse_extended.h"
#include "tenon/passes/fusion/fusion_explain.h"
#include "tenon/passes/fusion/fusion_groups.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::Type;

class Rewriter {
 public:
  Rewriter(const std::vector<FusionNode>& nodes, const FusionGroups& groups)
      : nodes_(nodes), groups_(groups) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      index_.emplace(nodes[i].expr, static_cast<int>(i));
      if (IsCallOfKernel(nodes[i].expr)) kernels_.insert(groups.RootOf(static_cast<int>(i)));
    }
  }

  Expr Rewrite(const Expr& root) {
    Push(root, false);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.made.size() < top.children.size()) {
        const Expr child = top.children[top.made.size()];
        const bool inside = top.calls_group || (top.group >= 0 && RootOf(child) == top.group);
        const ir::ExprMap& memo = inside ? inner_ : outer_;
        const auto done = memo.find(child);
        if (done == memo.end()) {
          Push(child, inside);
        } else if (inside || top.group < 0) {
          top.made.push_back(done->second);
        } else {
          top.made.push_back(ParameterFor(top.group, child, done->second));
        }
        continue;
      }
      const Frame frame = std::move(top);
      stack_.pop_back();
      if (frame.calls_group) {
        CallGroup(frame);
      } else {
        (frame.inside ? inner_ : outer_).emplace(frame.expr, Finish(frame));
      }
    }
    return outer_.at(root);
  }

 private:
  // A group's result is made twice: inside the function, and outside as the result of a call of the
  // function. The outer one has the results inside as children.
  struct Frame {
    Expr expr;
    std::vector<Expr> children;
    std::vector<Expr> made;
    int group = -1;  // -1: in no group
    bool inside = false;
    bool calls_group = false;
  };
  struct Parameters {
    std::vector<Expr> vars, arguments;
    std::unordered_map<Expr, Expr, ir::ExprHash> by_argument;
  };

  int RootOf(const Expr& e) const { return groups_.RootOf(index_.at(e)); }
  bool IsRoot(const Expr& e) const { return nodes_[static_cast<std::size_t>(RootOf(e))].expr == e; }

  static bool IsCallOfKernel(const Expr& e) {
    const auto* call = e.As<CallNode>();
    return call != nullptr && call->op() != nullptr && !IsMark(*call) && !HasReferences(*call);
  }
  // Whether the node is part of a kernel. Tuples and projections alone make none.
  bool IsGrouped(const Expr& e) const {
    if (e.kind() == ExprKind::kCall) return IsCallOfKernel(e);
    const auto* item = e.As<ir::TupleGetItemNode>();
    if ((item == nullptr && e.kind() != ExprKind::kTuple) || !kernels_.contains(RootOf(e)))
      return false;
    // A projection of another group's tuple stays outside functions.
    return !IsRoot(e) || (item != nullptr && RootOf(item->tuple) == RootOf(e));
  }

  void Push(const Expr& e, bool inside) {
    Frame frame{.expr = e, .children = {}, .made = {}, .inside = inside};
    if (IsGrouped(e)) {
      frame.group = RootOf(e);
      frame.calls_group = !inside;
    }
    if (frame.calls_group) {
      for (const int result : groups_.ResultsOf(frame.group))
        frame.children.push_back(nodes_[static_cast<std::size_t>(result)].expr);
      stack_.push_back(std::move(frame));
      return;
    }
    frame.children = ir::Children(e);
    const auto* call = e.As<CallNode>();
    const auto* function = e.As<ir::FunctionNode>();
    if (function != nullptr && IsGroup(*function)) {
      frame.children.clear();
    } else if (call != nullptr && call->op() != nullptr) {
      frame.children.erase(frame.children.begin());
    }
    stack_.push_back(std::move(frame));
  }

  // Whether only passes before this one read the call. Its value is what it marks, and no kernel
  // copies that.
  static bool IsMark(const CallNode& call) {
    const ops::KnownOps& known = ops::Known();
    return call.callee == known.stop_fusion || call.callee == known.compiler_begin ||
           call.callee == known.compiler_end;
  }
  // Whether references go in or out. Kernels take and give arrays.
  static bool HasReferences(const CallNode& call) {
    const auto is_reference = [](const ir::Type& type) {
      return type.As<ir::RefTypeNode>() != nullptr;
    };
    return is_reference(call.checked_type) ||
           std::any_of(call.args.begin(), call.args.end(),
                       [&](const Expr& arg) { return is_reference(arg.checked_type()); });
  }

  // The parameter that stands for `child`, which another group makes, inside the group.
  Expr ParameterFor(int group, const Expr& child, const Expr& rewritten) {
    Parameters& parameters = parameters_[group];
    const auto found = parameters.by_argument.find(rewritten);
    if (found != parameters.by_argument.end()) return found->second;
    const Expr var = ir::Var::MakeChecked(StrCat("p", parameters.vars.size()), child.checked_type(),
                                          child.span());
    parameters.vars.push_back(var);
    parameters.arguments.push_back(rewritten);
    parameters.by_argument.emplace(rewritten, var);
    return var;
  }

  Expr Finish(const Frame& frame) {
    const Expr& e = frame.expr;
    const Type& type = e.checked_type();
    if (frame.children.empty() && e.kind() != ExprKind::kCall) return e;
    const auto* call = e.As<CallNode>();
    if (call != nullptr && call->op() != nullptr) {
      if (IsMark(*call)) return frame.made[0];
      return ir::Call::Make(call->callee, frame.made, call->attrs, e.span(), type);
    }
    const Expr made = frame.made == frame.children ? e : ir::WithChildren(e, frame.made, type);
    return call == nullptr ? made : WithConstantsAsArguments(made);
  }

  // Makes the values of a group's results outside it.
  void CallGroup(const Frame& frame) {
    if (frame.made.size() == 1) {
      outer_.emplace(frame.children[0], MakeFunction(frame.group, frame.made[0]));
      return;
    }
    std::vector<Type> types;
    for (const Expr& result : frame.made) types.push_back(result.checked_type());
    const Expr tuple = ir::Tuple::Make(frame.made, frame.expr.span(), ir::TupleType(types));
    const Expr call = MakeFunction(frame.group, tuple);
    for (std::size_t i = 0; i < frame.children.size(); ++i)
      outer_.emplace(frame.children[i], ir::TupleGetItem::Make(call, static_cast<int>(i),
                                                               frame.children[i].span(), types[i]));
  }

  Expr MakeFunction(int group, const Expr& body) {
    const Parameters& parameters = parameters_[group];
    bool reshape_only = true;
    ir::VisitPostOrder(body, [&](const Expr& e) {
      if (const auto* call = e.As<CallNode>())
        reshape_only = reshape_only && call->op() != nullptr && ops::OpOf(*call)->reshape_only;
    });
    ir::FunctionAttrs attrs = {{"Primitive", attrs::Value(std::int64_t{1})}};
    if (reshape_only) attrs["relay.reshape_only"] = attrs::Value(std::int64_t{1});
    std::vector<Type> types;
    for (const Expr& var : parameters.vars) types.push_back(var.checked_type());
    const Type& result = body.checked_type();
    const Expr function = ir::Function::Make(parameters.vars, body, result, std::move(attrs),
                                             body.span(), ir::FuncType(std::move(types), result));
    return ir::Call::Make(function, parameters.arguments, {}, body.span(), result);
  }

  const std::vector<FusionNode>& nodes_;
  const FusionGroups& groups_;
  std::unordered_map<Expr, int, ir::ExprHash> index_;
  std::unordered_set<int> kernels_;  // roots of groups with calls
  ir::ExprMap inner_, outer_;
  std::unordered_map<int, Parameters> parameters_;
  std::vector<Frame> stack_;
};

}  // namespace

ir::Module FuseOps(const ir::Module& module, const FuseOptions& options) {
  return module.Map([&](const Expr& function) {
    if (IsGroup(*function.As<ir::FunctionNode>())) return function;
    const std::vector<FusionNode> nodes = MakeFusionGraph(function);
    const FusionGroups groups = ExtendGroups(nodes, GroupNodes(nodes, options), options);
    if (options.report != nullptr) {
      for (FusionDecision& decision : ExplainGroups(nodes, groups))
        options.report->push_back(std::move(decision));
    }
    return Rewriter(nodes, groups).Rewrite(function);
  });
}

}  // namespace tenon::passes
