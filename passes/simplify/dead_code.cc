#include "tenon/passes/simplify/dead_code.h"

#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"

namespace tenon::passes {
namespace {

using ir::Expr;

// What the result of a function needs, found by walking from the result. The value of a let is
// needed only if its variable is, or if the value may have effects. There is one walk, so a chain
// of lets that each need the one before takes linear time.
class Needed {
 public:
  Needed(const Expr& function, bool ignore_impurity) {
    if (!ignore_impurity) FindImpure(function);
    Visit(function);
    while (!pending_.empty()) {
      const Expr e = pending_.back();
      pending_.pop_back();
      Expand(e);
    }
  }

  bool Keeps(const ir::LetNode& let) const {
    return seen_.contains(let.var) || impure_.contains(let.value);
  }
  bool MayHaveEffects(const Expr& e) const { return impure_.contains(e); }

 private:
  // A call may have effects unless it is of an operator without state.
  void FindImpure(const Expr& function) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* call = e.As<ir::CallNode>();
      bool impure = call != nullptr && (call->op() == nullptr || ops::OpOf(*call)->stateful);
      for (const Expr& child : ir::Children(e)) impure = impure || impure_.contains(child);
      if (impure) impure_.insert(e);
    });
  }

  void Visit(const Expr& e) {
    if (seen_.insert(e).second) pending_.push_back(e);
  }

  void Expand(const Expr& e) {
    if (const auto* let = e.As<ir::LetNode>()) {
      Visit(let->body);
      if (Keeps(*let)) {
        Visit(let->value);
      } else {
        values_.emplace(let->var, let->value);
      }
    } else if (const auto* function = e.As<ir::FunctionNode>()) {
      Visit(function->body);
    } else if (const auto value = values_.find(e); value != values_.end()) {
      Visit(value->second);
    } else {
      for (const Expr& child : ir::Children(e)) Visit(child);
    }
  }

  std::unordered_set<Expr, ir::ExprHash> impure_, seen_;
  ir::ExprMap values_;  // of lets whose variable has not been needed yet
  std::vector<Expr> pending_;
};

// Lets whose variable is read once and whose value has no effect, innermost first.
std::vector<const ir::LetNode*> ReadOnce(const Expr& function, const Needed& needed) {
  std::unordered_map<Expr, int, ir::ExprHash> reads;
  std::vector<const ir::LetNode*> lets;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    const auto* let = e.As<ir::LetNode>();
    if (let != nullptr) lets.push_back(let);
    for (const Expr& child : ir::Children(e)) {
      if (child.kind() == ir::ExprKind::kVar) ++reads[child];
    }
    if (let != nullptr) --reads[let->var];  // where it is bound
  });
  std::erase_if(lets, [&](const ir::LetNode* let) {
    return reads[let->var] != 1 || needed.MayHaveEffects(let->value);
  });
  return lets;
}

// Does what ir::Substitute does. A value has the type of its variable, so types stay.
Expr WithValues(const Expr& expr, const ir::ExprMap& values) {
  return ir::RewritePostOrder(expr, [&](const Expr& original, const Expr& e) {
    const auto found = values.find(original);
    return found == values.end() ? ir::KeepType(original, e) : found->second;
  });
}

Expr InlinedOnce(const Expr& function, const Needed& needed) {
  const std::vector<const ir::LetNode*> lets = ReadOnce(function, needed);
  std::unordered_set<Expr, ir::ExprHash> bound;
  for (const ir::LetNode* let : lets) bound.insert(let->var);
  const auto without_lets = [&](const Expr& expr) {
    return ir::RewritePostOrder(expr, [&](const Expr& original, const Expr& e) {
      const auto* let = original.As<ir::LetNode>();
      return let != nullptr && bound.contains(let->var) ? e.As<ir::LetNode>()->body
                                                        : ir::KeepType(original, e);
    });
  };
  // The outermost comes first, since a value is made from those before it.
  ir::ExprMap values;
  for (auto let = lets.rbegin(); let != lets.rend(); ++let)
    values.emplace((*let)->var, WithValues(without_lets((*let)->value), values));
  Expr result = without_lets(function);
  // One more round for each level of lets within values.
  while (true) {
    const Expr next = WithValues(result, values);
    if (next == result) return result;
    result = next;
  }
}

}  // namespace

ir::Module DeadCodeElimination(const ir::Module& module, const DeadCodeOptions& options) {
  const ir::Module kept = module.Map([&](const Expr& function) {
    const Needed needed(function, options.ignore_impurity);
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& e) {
      // Looks at the original value, because the rewritten one is another node.
      const auto* let = original.As<ir::LetNode>();
      if (let != nullptr && !needed.Keeps(*let)) return e.As<ir::LetNode>()->body;
      // If the tuple is written there, nobody needs its other fields.
      const auto* item = original.As<ir::TupleGetItemNode>();
      if (item != nullptr && item->tuple.kind() == ir::ExprKind::kTuple &&
          !needed.MayHaveEffects(item->tuple))
        return e.As<ir::TupleGetItemNode>()
            ->tuple.As<ir::TupleNode>()
            ->fields[static_cast<std::size_t>(item->index)];
      return ir::KeepType(original, e);
    });
  });
  if (!options.inline_once) return kept;
  return kept.Map([&](const Expr& function) {
    return InlinedOnce(function, Needed(function, options.ignore_impurity));
  });
}

ir::Module RemoveUnusedFunctions(const ir::Module& module,
                                 const std::vector<std::string>& entries) {
  std::unordered_set<std::string> reached(entries.begin(), entries.end());
  std::vector<std::string> pending = entries;
  while (!pending.empty()) {
    const Expr function = module.Get(pending.back());
    pending.pop_back();
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* global = e.As<ir::GlobalVarNode>();
      if (global != nullptr && reached.insert(global->name).second) pending.push_back(global->name);
    });
  }
  return module.Keep([&](const std::string& name, const Expr&) { return reached.contains(name); });
}

}  // namespace tenon::passes
