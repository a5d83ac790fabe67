#include "tenon/ir/verify.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/ir/node_table.h"
#include "tenon/ir/scope_tree.h"
#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  void Check(const std::string& name, const Expr& function) {
    name_ = &name;
    std::vector<Expr> nodes;
    VisitPostOrder(function, [&](const Expr& e) {
      CheckNode(e);
      nodes.push_back(e);
    });
    CheckScopes(nodes);
  }

 private:
  [[noreturn]] void Refuse(const Expr& e, const std::string& rule) const {
    throw InvalidArgument(StrCat("ill-formed module, in @", *name_, ": ", rule)).At(e.span());
  }

  void Bind(const Expr& var, const Expr& at) {
    if (!bound_.insert(var).second)
      Refuse(at, StrCat("the variable %", var.As<VarNode>()->name, " is bound twice"));
  }

  void CheckNode(const Expr& e) {
    if (const auto* function = e.As<FunctionNode>()) {
      for (const Expr& param : function->params) Bind(param, e);
    } else if (const auto* let = e.As<LetNode>()) {
      Bind(let->var, e);
      if (let->value == let->var)
        Refuse(e, StrCat("let %", let->var.As<VarNode>()->name, " is defined by itself"));
    } else if (const auto* global = e.As<GlobalVarNode>()) {
      if (!module_.Find(global->name))
        Refuse(e, StrCat("@", global->name, " is used but not defined"));
    } else if (const auto* call = e.As<CallNode>()) {
      if (const OpNode* op = call->op()) CheckOpCall(e, *call, *op);
    } else if (const auto* item = e.As<TupleGetItemNode>()) {
      if (const auto* tuple = item->tuple.checked_type().As<TupleTypeNode>();
          tuple != nullptr && item->index >= static_cast<int>(tuple->fields.size()))
        Refuse(e, StrCat("field ", item->index, " of a tuple of ", tuple->fields.size()));
    }
  }

  void CheckOpCall(const Expr& e, const CallNode& call, const OpNode& op) const {
    if (op.num_inputs() >= 0 && static_cast<int>(call.args.size()) != op.num_inputs())
      Refuse(e, StrCat(op.name, " takes ", op.num_inputs(), " arguments and is called with ",
                       call.args.size()));
    if (call.attrs.schema() != op.attrs_schema())
      Refuse(e, StrCat(op.name, op.attrs_schema() == nullptr ? " takes no attributes"
                                                             : " is called without attributes"));
  }

  // Every use of a variable must lie in the body of what binds it. Going through consumers first,
  // each node gets the innermost scope that holds all its uses. Sets of free variables would be
  // quadratic in a chain of lets.
  void CheckScopes(const std::vector<Expr>& nodes) const {
    ScopeTree tree;
    NodeTable<ScopeTree::Scope> homes;
    std::unordered_map<Expr, ScopeTree::Scope, ExprHash> binders;
    homes.TryEmplace(nodes.back(), ScopeTree::kRoot);
    const auto use = [&](const Expr& e, ScopeTree::Scope scope) {
      const auto [home, added] = homes.TryEmplace(e, scope);
      if (!added) *home = tree.Common(*home, scope);
    };
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      const ScopeTree::Scope* found = homes.Get(*node);
      if (found == nullptr) continue;  // a variable that is bound but not used
      const ScopeTree::Scope home = *found;
      if (const auto* function = node->As<FunctionNode>()) {
        const ScopeTree::Scope body = tree.Open(home);
        for (const Expr& param : function->params) binders[param] = body;
        use(function->body, body);
      } else if (const auto* let = node->As<LetNode>()) {
        const ScopeTree::Scope body = tree.Open(home);
        binders[let->var] = body;
        use(let->value, home);
        use(let->body, body);
      } else if (const auto* branches = node->As<IfNode>()) {
        use(branches->condition, home);
        use(branches->then_branch, tree.Open(home));
        use(branches->else_branch, tree.Open(home));
      } else {
        for (const Expr& child : Children(*node)) use(child, home);
      }
    }
    for (const Expr& e : nodes) {
      if (e.kind() != ExprKind::kVar || homes.Get(e) == nullptr) continue;
      const std::string what = StrCat("the variable %", e.As<VarNode>()->name, " is used ");
      const auto binder = binders.find(e);
      if (binder == binders.end()) Refuse(e, what + "but bound nowhere");
      if (!tree.Holds(binder->second, homes.at(e)))
        Refuse(e, what + "outside of the body of the let or function that binds it");
    }
  }

  const Module& module_;
  const std::string* name_ = nullptr;
  std::unordered_set<Expr, ExprHash> bound_;
};

}  // namespace

void VerifyModule(const Module& module) {
  Verifier verifier(module);
  for (const auto& [name, function] : module.functions()) verifier.Check(name, function);
}

}  // namespace tenon::ir
