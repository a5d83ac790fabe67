// Equality walks both graphs at once and keeps a one-to-one map between their nodes. Hashing goes
// bottom-up. A variable hashes as its number in order of binding, so names do not matter.
#include "tenon/ir/structural.h"

#include <string_view>
#include <unordered_map>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/support/hash.h"

namespace tenon::ir {
namespace {

class Comparison {
 public:
  explicit Comparison(FreeVarRule rule) : rule_(rule) {}

  bool Equal(const Expr& a, const Expr& b) {
    if (!Push(a, b)) return false;
    while (!pending_.empty()) {
      const auto [x, y] = pending_.back();
      pending_.pop_back();
      const std::vector<Expr> x_children = Children(x);
      const std::vector<Expr> y_children = Children(y);
      if (x_children.size() != y_children.size()) return false;
      for (std::size_t i = 0; i < x_children.size(); ++i) {
        if (!Push(x_children[i], y_children[i])) return false;
      }
    }
    return true;
  }

 private:
  // Compares the nodes themselves and remembers to compare what is inside.
  bool Push(const Expr& a, const Expr& b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case ExprKind::kOp:
        return a == b;
      case ExprKind::kGlobalVar:
        return a.As<GlobalVarNode>()->name == b.As<GlobalVarNode>()->name;
      case ExprKind::kConstant:
        return a.As<ConstantNode>()->data.SameBytes(b.As<ConstantNode>()->data);
      case ExprKind::kVar: {
        const auto found = to_.find(a);
        if (found != to_.end()) return found->second == b;
        if (from_.contains(b)) return false;
        return rule_ == FreeVarRule::kSameNode ? a == b : Bind(a, b);
      }
      default:
        break;
    }
    const auto found = to_.find(a);
    if (found != to_.end()) return found->second == b;
    if (from_.contains(b) || !SameHead(a, b)) return false;
    to_.emplace(a, b);
    from_.emplace(b, a);
    pending_.emplace_back(a, b);
    return true;
  }

  bool SameHead(const Expr& a, const Expr& b) {
    if (const auto* call = a.As<CallNode>()) return call->attrs == b.As<CallNode>()->attrs;
    if (const auto* item = a.As<TupleGetItemNode>())
      return item->index == b.As<TupleGetItemNode>()->index;
    if (const auto* let = a.As<LetNode>()) return Bind(let->var, b.As<LetNode>()->var);
    if (const auto* function = a.As<FunctionNode>()) {
      const auto& other = *b.As<FunctionNode>();
      if (function->params.size() != other.params.size() || function->attrs != other.attrs)
        return false;
      for (std::size_t i = 0; i < other.params.size(); ++i) {
        if (!Bind(function->params[i], other.params[i])) return false;
      }
    }
    return true;
  }

  bool Bind(const Expr& a, const Expr& b) {
    if (!ir::Equal(a.As<VarNode>()->type_annotation, b.As<VarNode>()->type_annotation))
      return false;
    const auto found = to_.find(a);
    if (found != to_.end()) return found->second == b;
    return to_.emplace(a, b).second && from_.emplace(b, a).second;
  }

  const FreeVarRule rule_;
  ExprMap to_, from_;
  std::vector<std::pair<Expr, Expr>> pending_;
};

}  // namespace

bool StructuralEqual(const Expr& a, const Expr& b, FreeVarRule rule) {
  if (!a || !b) return !a && !b;
  return Comparison(rule).Equal(a, b);
}

bool StructuralEqual(const Module& a, const Module& b) {
  if (a.functions().size() != b.functions().size() || a.attrs() != b.attrs()) return false;
  for (const auto& [name, function] : a.functions()) {
    const Expr other = b.Find(name);
    if (!other || !StructuralEqual(function, other)) return false;
  }
  return true;
}

std::uint64_t StructuralHash(const Expr& expr) {
  std::unordered_map<Expr, std::uint64_t, ExprHash> hashes;
  std::unordered_map<Expr, std::uint64_t, ExprHash> numbers;
  const auto number = [&](const Expr& var) {
    return numbers.emplace(var, numbers.size()).first->second;
  };
  const auto bind = [&](const Expr& e) {
    if (const auto* function = e.As<FunctionNode>()) {
      for (const Expr& param : function->params) number(param);
    } else if (const auto* let = e.As<LetNode>()) {
      number(let->var);
    }
    return true;
  };
  const auto visit = [&](const Expr& e) {
    std::uint64_t hash = MixHash(static_cast<std::uint64_t>(e.kind()) + 1);
    switch (e.kind()) {
      case ExprKind::kVar:
        hash = CombineHash(hash, number(e));
        hash = HashBytes(ToString(e.As<VarNode>()->type_annotation), hash);
        break;
      case ExprKind::kGlobalVar:
        hash = HashBytes(e.As<GlobalVarNode>()->name, hash);
        break;
      case ExprKind::kOp:
        hash = HashBytes(e.As<OpNode>()->name, hash);
        break;
      case ExprKind::kConstant: {
        const NDArray& data = e.As<ConstantNode>()->data;
        hash = HashBytes(ToString(e.checked_type()), hash);
        hash = HashBytes({static_cast<const char*>(data.raw()), data.bytes()}, hash);
        break;
      }
      case ExprKind::kCall:
        if (e.As<CallNode>()->attrs.defined())
          hash = CombineHash(hash, e.As<CallNode>()->attrs.Hash());
        break;
      case ExprKind::kTupleGetItem:
        hash = CombineHash(hash, static_cast<std::uint64_t>(e.As<TupleGetItemNode>()->index));
        break;
      case ExprKind::kFunction:
        for (const auto& [name, value] : e.As<FunctionNode>()->attrs)
          hash = attrs::Hash(value, HashBytes(name, hash));
        break;
      case ExprKind::kTuple:
      case ExprKind::kLet:
      case ExprKind::kIf:
        break;
    }
    for (const Expr& child : Children(e)) hash = CombineHash(hash, hashes.at(child));
    hashes.emplace(e, hash);
  };
  VisitPostOrder(expr, visit, bind);
  return hashes.at(expr);
}

}  // namespace tenon::ir
