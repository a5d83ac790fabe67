// Callees first: when a function is taken, what it calls has been inlined into it already. Every
// use gets variables of its own, as a variable is bound once in a module.
#include "tenon/passes/inline.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/passes/outline_groups.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;

std::vector<std::string> GlobalsOf(const Expr& function) {
  std::vector<std::string> names;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    if (const auto* global = e.As<ir::GlobalVarNode>()) names.push_back(global->name);
  });
  return names;
}

// The body with arguments for parameters and new variables for those bound inside.
Expr Instantiate(const FunctionNode& function, const std::vector<Expr>& args) {
  ir::ExprMap values;
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    const auto renew = [&](const Expr& var) {
      values.emplace(
          var, ir::Var::Make(ir::Var(var).name(), ir::Var(var).type_annotation(), var.span()));
    };
    if (const auto* let = e.As<ir::LetNode>()) renew(let->var);
    if (const auto* inner = e.As<FunctionNode>()) {
      for (const Expr& param : inner->params) renew(param);
    }
  });
  for (std::size_t i = 0; i < function.params.size(); ++i) values[function.params[i]] = args[i];
  return ir::Substitute(function.body, values);
}

class Inliner {
 public:
  Inliner(const ir::Module& module, InlineRule rule) : module_(module), rule_(rule) {}

  ir::Module Run() {
    ir::Module result = module_;
    for (const auto& [name, function] : module_.functions()) {
      const Expr flat = Flat(name);
      if (!(flat == function)) result = result.With(name, flat);
    }
    std::unordered_set<std::string> named = {"main"};
    for (const auto& [name, function] : result.functions()) {
      if (IsInlinable(name)) continue;
      for (const std::string& global : GlobalsOf(function)) named.insert(global);
    }
    for (const auto& [name, function] : module_.functions()) {
      if (IsInlinable(name) && !named.contains(name) && was_called_.contains(name))
        result = result.Without(name);
    }
    return result;
  }

 private:
  bool IsInlinable(const std::string& name) {
    const auto known = inlinable_.find(name);
    if (known != inlinable_.end()) return known->second;
    // A function that is met again while it is decided is recursive.
    inlinable_[name] = false;
    const Expr function = module_.Find(name);
    if (!function || name == "main") return false;
    if (IsComposite(name)) return false;
    bool possible = function.As<FunctionNode>()->IsSet("Inline") || rule_ == InlineRule::kAll;
    for (const std::string& callee : GlobalsOf(function))
      possible = possible && (IsInlinable(callee) || IsComposite(callee));
    return inlinable_[name] = possible;
  }

  // What a pattern made a kernel of stays one (EmbedComposites).
  bool IsComposite(const std::string& name) const {
    const Expr function = module_.Find(name);
    return function && function.As<FunctionNode>()->HasAttr("Composite");
  }

  // The function with what it calls inlined.
  Expr Flat(const std::string& name) {
    const auto known = flat_.find(name);
    if (known != flat_.end()) return known->second;
    const Expr function = module_.Get(name);
    const Expr flat = ir::RewritePostOrder(function, [&](const Expr&, const Expr& e) -> Expr {
      const auto* call = e.As<ir::CallNode>();
      if (call == nullptr) return e;
      const auto* literal = call->callee.As<FunctionNode>();
      if (literal != nullptr && literal->HasAttr("Compiler") && rule_ == InlineRule::kAll &&
          literal->params.size() == call->args.size())
        return Instantiate(*literal, call->args);
      const auto* global = call->callee.As<ir::GlobalVarNode>();
      if (global == nullptr || !IsInlinable(global->name)) return e;
      const Expr callee = Flat(global->name);
      const auto& target = *callee.As<FunctionNode>();
      if (target.params.size() != call->args.size()) return e;  // InferType says what is wrong
      was_called_.insert(global->name);
      if (target.HasAttr("Compiler") && rule_ == InlineRule::kMarked)
        return ir::Call::Make(WithFreshVariables(callee), call->args, call->attrs, e.span());
      return Instantiate(target, call->args);
    });
    flat_.emplace(name, flat);
    return flat;
  }

  const ir::Module& module_;
  const InlineRule rule_;
  std::unordered_map<std::string, bool> inlinable_;
  std::unordered_map<std::string, Expr> flat_;
  std::unordered_set<std::string> was_called_;
};

}  // namespace

ir::Module Inline(const ir::Module& module, InlineRule rule) { return Inliner(module, rule).Run(); }

}  // namespace tenon::passes
