// Groups come from fusion_groups.h; here they become functions. The walk has its own stack and
// hands out parameters in the order in which a depth-first reader meets what a group reads.
#include "tenon/passes/fuse_ops.h"

#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/fusion_groups.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::Type;

class Rewriter {
 public:
  Rewriter(const std::vector<FusionNode>& nodes, const std::vector<int>& roots)
      : nodes_(nodes), roots_(roots) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      index_.emplace(nodes[i].expr, static_cast<int>(i));
  }

  Expr Rewrite(const Expr& root) {
    Push(root);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.made.size() < top.children.size()) {
        const Expr child = top.children[top.made.size()];
        const auto done = memo_.find(child);
        if (done == memo_.end()) {
          Push(child);
        } else {
          top.made.push_back(ForGroup(top.group, child, done->second));
        }
        continue;
      }
      const Frame frame = std::move(top);
      stack_.pop_back();
      memo_.emplace(frame.expr, Finish(frame));
    }
    return memo_.at(root);
  }

 private:
  struct Frame {
    Expr expr;
    std::vector<Expr> children;
    std::vector<Expr> made;
    int group = -1;  // -1: not part of one
  };
  struct Parameters {
    std::vector<Expr> vars, arguments;
    std::unordered_map<Expr, Expr, ir::ExprHash> by_argument;
  };

  int RootOf(const Expr& e) const { return roots_[static_cast<std::size_t>(index_.at(e))]; }
  bool IsRoot(const Expr& e) const { return nodes_[static_cast<std::size_t>(RootOf(e))].expr == e; }

  void Push(const Expr& e) {
    Frame frame{.expr = e, .children = ir::Children(e), .made = {}};
    const auto* call = e.As<CallNode>();
    const auto* function = e.As<ir::FunctionNode>();
    if (function != nullptr && function->is_primitive()) {
      frame.children.clear();
    } else if (call != nullptr && call->op() != nullptr) {
      frame.children.erase(frame.children.begin());
      if (!IsStopFusion(*call)) frame.group = RootOf(e);
    } else if (e.kind() == ExprKind::kTuple && !IsRoot(e)) {
      frame.group = RootOf(e);
    } else if (const auto* item = e.As<ir::TupleGetItemNode>()) {
      // A projection of another group's tuple stays outside of functions.
      if (!IsRoot(e) || RootOf(item->tuple) == RootOf(e)) frame.group = RootOf(e);
    }
    stack_.push_back(std::move(frame));
  }

  static bool IsStopFusion(const CallNode& call) { return call.callee == ops::Known().stop_fusion; }

  // What stands for `child` inside the group: a parameter when another group makes it.
  Expr ForGroup(int group, const Expr& child, const Expr& rewritten) {
    if (group < 0 || RootOf(child) == group) return rewritten;
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
      if (IsStopFusion(*call)) return frame.made[0];
      const Expr made = ir::Call::Make(call->callee, frame.made, call->attrs, e.span(), type);
      return IsRoot(e) ? MakeFunction(frame.group, made) : made;
    }
    if (frame.made == frame.children) return e;
    const Expr made = ir::WithChildren(e, frame.made, type);
    return e.kind() == ExprKind::kTupleGetItem && frame.group >= 0 && IsRoot(e)
               ? MakeFunction(frame.group, made)
               : made;
  }

  Expr MakeFunction(int group, const Expr& body) {
    const Parameters& parameters = parameters_[group];
    bool has_call = false;
    bool reshape_only = true;
    ir::VisitPostOrder(body, [&](const Expr& e) {
      if (const auto* call = e.As<CallNode>()) {
        has_call = true;
        reshape_only = reshape_only && call->op() != nullptr && ops::OpOf(*call)->reshape_only;
      }
    });
    ir::FunctionAttrs attrs = {{"Primitive", attrs::Value(std::int64_t{has_call ? 1 : 0})}};
    if (has_call && reshape_only) attrs["relay.reshape_only"] = attrs::Value(std::int64_t{1});
    std::vector<Type> types;
    for (const Expr& var : parameters.vars) types.push_back(var.checked_type());
    const Type& result = body.checked_type();
    const Expr function = ir::Function::Make(parameters.vars, body, result, std::move(attrs),
                                             body.span(), ir::FuncType(std::move(types), result));
    return ir::Call::Make(function, parameters.arguments, {}, body.span(), result);
  }

  const std::vector<FusionNode>& nodes_;
  const std::vector<int>& roots_;
  std::unordered_map<Expr, int, ir::ExprHash> index_;
  std::unordered_map<Expr, Expr, ir::ExprHash> memo_;
  std::unordered_map<int, Parameters> parameters_;
  std::vector<Frame> stack_;
};

}  // namespace

ir::Module FuseOps(const ir::Module& module, const FuseOptions& options) {
  ir::Module fused = module;
  for (const auto& [name, function] : module.functions()) {
    if (function.As<ir::FunctionNode>()->is_primitive()) continue;
    const std::vector<FusionNode> nodes = MakeFusionGraph(function);
    const std::vector<int> roots = GroupNodes(nodes, options);
    const Expr rewritten = Rewriter(nodes, roots).Rewrite(function);
    if (!(rewritten == function)) fused = fused.With(name, rewritten);
  }
  return fused;
}

}  // namespace tenon::passes
