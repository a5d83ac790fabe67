// The post-dominator of a node is the lowest common ancestor of its consumers in the tree of
// post-dominators, which is built from the end of the graph to its start (Cooper, Harvey & Kennedy,
// "A Simple, Fast Dominance Algorithm", for a graph without cycles).
#include "tenon/passes/fusion/fusion_graph.h"

#include <algorithm>

#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/fusion/let_homes.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::TensorTypeNode;
using ops::OpPattern;

class Builder {
 public:
  std::vector<FusionNode> Build(const Expr& function) {
    const auto enter = [](const Expr& e) {
      const auto* f = e.As<ir::FunctionNode>();
      return f == nullptr || !IsGroup(*f);
    };
    const LetHomes homes = LetHomesOf(function);
    ir::VisitPostOrder(
        function,
        [&](const Expr& e) {
          index_.emplace(e, static_cast<int>(nodes_.size()));
          nodes_.push_back({.expr = e, .outputs = {}});
          if (const auto home = homes.find(e); home != homes.end())
            nodes_.back().home = home->second;
        },
        enter);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (enter(nodes_[i].expr)) Connect(static_cast<int>(i));
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) FindDominator(static_cast<int>(i));
    return std::move(nodes_);
  }

 private:
  FusionNode& Node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  void Edge(const Expr& producer, int consumer, OpPattern pattern) {
    Node(index_.at(producer)).outputs.push_back({consumer, pattern});
  }
  void External(const Expr& e) { Node(index_.at(e)).external = true; }

  void Connect(int i) {
    const Expr e = Node(i).expr;
    switch (e.kind()) {
      case ExprKind::kConstant:
        Node(i).pattern =
            IsNumberInCode(*e.As<ir::ConstantNode>()) ? OpPattern::kElemWise : OpPattern::kOpaque;
        return;
      case ExprKind::kCall:
        ConnectCall(i, *e.As<CallNode>());
        return;
      case ExprKind::kTuple:
        Node(i).pattern = OpPattern::kTuple;
        for (const Expr& field : e.As<ir::TupleNode>()->fields) {
          if (field.checked_type().As<TensorTypeNode>() != nullptr) {
            Edge(field, i, OpPattern::kInjective);
          } else {
            External(field);
          }
        }
        return;
      case ExprKind::kTupleGetItem: {
        const Expr& tuple = e.As<ir::TupleGetItemNode>()->tuple;
        const auto* type = tuple.checked_type().As<ir::TupleTypeNode>();
        const bool all_tensors =
            type != nullptr &&
            std::all_of(type->fields.begin(), type->fields.end(), [](const ir::Type& field) {
              return field.As<TensorTypeNode>() != nullptr;
            });
        if (all_tensors) {
          Node(i).pattern = OpPattern::kInjective;
          Edge(tuple, i, OpPattern::kInjective);
        } else {
          External(tuple);
        }
        return;
      }
      case ExprKind::kLet:
      case ExprKind::kFunction:
      case ExprKind::kIf:
        for (const Expr& child : ir::Children(e)) External(child);
        return;
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
        return;
    }
  }

  void ConnectCall(int i, const CallNode& call) {
    External(call.callee);
    OpPattern pattern = OpPattern::kOpaque;
    if (call.op() != nullptr) {
      const ops::OpDef& op = *ops::OpOf(call);
      if (!op.pattern)
        throw FailedPrecondition(
            StrCat("FuseOps: the operator ", op.name,
                   " has no pattern; register it with .Pattern(...), or with .Compute or "
                   ".Elementwise, which give it one"))
            .At(call.span);
      pattern = *op.pattern;
    }
    Node(i).pattern = pattern;
    const auto* result = call.checked_type.As<TensorTypeNode>();
    for (const Expr& arg : call.args) {
      OpPattern edge = pattern;
      const auto* input = arg.checked_type().As<TensorTypeNode>();
      if (edge == OpPattern::kBroadcast && result != nullptr && input != nullptr &&
          input->shape == result->shape)
        edge = OpPattern::kElemWise;
      Edge(arg, i, edge);
    }
  }

  void FindDominator(int i) {
    FusionNode& node = Node(i);
    if (node.external || node.outputs.empty()) {
      if (node.external) node.dominator_pattern = OpPattern::kOpaque;
      return;
    }
    OpPattern pattern = OpPattern::kElemWise;
    int ancestor = node.outputs.front().consumer;
    for (const FusionNode::Edge& edge : node.outputs) {
      ancestor = CommonAncestor(ancestor, edge.consumer, &pattern);
      pattern = std::max(pattern, edge.pattern);
    }
    node.dominator = ancestor;
    node.dominator_pattern = pattern;
    node.depth = ancestor < 0 ? 1 : Node(ancestor).depth + 1;
  }

  int CommonAncestor(int a, int b, OpPattern* pattern) {
    const auto up = [&](int* i) {
      *pattern = std::max(*pattern, Node(*i).dominator_pattern);
      *i = Node(*i).dominator;
    };
    while (a != b) {
      if (a < 0 || b < 0) return -1;
      const int a_depth = Node(a).depth;
      const int b_depth = Node(b).depth;
      if (a_depth >= b_depth) up(&a);
      if (b_depth >= a_depth) up(&b);
    }
    return a;
  }

  std::vector<FusionNode> nodes_;
  std::unordered_map<Expr, int, ir::ExprHash> index_;
};

}  // namespace

std::vector<FusionNode> MakeFusionGraph(const Expr& function) { return Builder().Build(function); }

}  // namespace tenon::passes
