// A work list over constraints. Each expression has a slot for its type. Each call, tuple,
// projection, let and function is a constraint between slots. It is queued in post-order, and again
// whenever one of its slots learns more, even from the constraint itself. Types only become more
// precise, so the process ends.
#include "tenon/passes/infer_type.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "tenon/ir/flatten.h"
#include "tenon/ir/node_table.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/passes/call_types.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/type_errors.h"
#include "tenon/passes/type_rules.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;
using ir::FuncTypeNode;
using ir::Type;

class Solver : private TypeFacts {
 public:
  void Add(const Expr& root) {
    ir::VisitPostOrder(root, [&](const Expr& e) { AddNode(e); });
  }
  void SetGlobal(const std::string& name, const Expr& function) { globals_[name] = function; }

  // Throws all errors together.
  void Solve() {
    TypeErrors found;
    for (std::size_t c = 0; c < constraints_.size(); ++c) Enqueue(c);
    while (!queue_.empty()) {
      const std::size_t c = queue_.front();
      queue_.pop_front();
      queued_[c] = false;
      if (failed_[c]) continue;
      current_ = c;
      try {
        ApplyTypeRule(constraints_[c], *this);
      } catch (const Error& error) {
        if (error.code() == absl::StatusCode::kInternal) throw;
        failed_[c] = true;
        Error placed = error;
        if (!placed.span().known()) placed.At(constraints_[c].span());
        found.errors.push_back(std::move(placed));
      }
    }
    const InferredTypes inferred = {
        .vars = vars_,
        .constraints = constraints_,
        .globals = globals_,
        .type_of = [&](const Expr& e) -> const Type& { return TypeOf(e); }};
    if (found.errors.empty()) found = TooManyParts(inferred);
    if (found.errors.empty()) found = UnknownTypes(inferred);
    if (found.errors.empty()) found = UncountableTypes(inferred);
    if (!found.errors.empty()) throw found.AsOne();
  }

  Expr Annotate(const Expr& root) {
    return ir::RewritePostOrder(root, [&](const Expr& original, const Expr& rebuilt) {
      return WithType(original, rebuilt);
    });
  }

 private:
  std::size_t Slot(const Expr& e) {
    const auto [slot, added] = slots_.TryEmplace(e, types_.size());
    if (added) {
      types_.push_back(e.checked_type());
      users_.emplace_back();
    }
    return *slot;
  }
  const Type& TypeOf(const Expr& e) override { return types_[Slot(e)]; }
  Expr GlobalOf(const std::string& name) override {
    const auto found = globals_.find(name);
    return found == globals_.end() ? Expr() : found->second;
  }
  void ApplyAgain() override { Enqueue(current_); }

  void AddNode(const Expr& e) {
    const std::size_t slot = Slot(e);
    if (e.kind() == ExprKind::kVar) {
      vars_.push_back(e);
      if (!types_[slot]) types_[slot] = ir::Var(e).type_annotation();
    }
    if (e.kind() == ExprKind::kVar || e.kind() == ExprKind::kConstant || e.kind() == ExprKind::kOp)
      return;
    const std::size_t constraint = constraints_.size();
    constraints_.push_back(e);
    queued_.push_back(false);
    failed_.push_back(false);
    users_[slot].push_back(constraint);
    for (const Expr& child : ir::Children(e)) users_[Slot(child)].push_back(constraint);
    if (const auto* global = e.As<ir::GlobalVarNode>()) {
      const auto found = globals_.find(global->name);
      if (found != globals_.end()) users_[Slot(found->second)].push_back(constraint);
    }
  }

  void Enqueue(std::size_t constraint) {
    if (queued_[constraint]) return;
    queued_[constraint] = true;
    queue_.push_back(constraint);
  }

  void Learn(const Expr& e, const Type& type) override {
    if (!type || e.kind() == ExprKind::kOp) return;
    const std::size_t slot = Slot(e);
    if (types_[slot].get() == type.get()) return;
    Type merged;
    try {
      merged = ops::Unify(types_[slot], type);
    } catch (const Error& error) {
      const std::string what = e.kind() == ExprKind::kVar
                                   ? StrCat("the variable %", ir::Var(e).name())
                                   : std::string("the value");
      throw InvalidArgument(StrCat(Place(), what, " cannot have both types: ", error.message()))
          .At(e.span().known() ? e.span() : constraints_[current_].span());
    }
    if (ir::Equal(merged, types_[slot])) return;
    types_[slot] = std::move(merged);
    // What a constraint says about its own expression follows from what it saw. About the
    // expressions inside, it may have seen less.
    const bool is_own = e == constraints_[current_];
    for (const std::size_t user : users_[slot]) {
      if (user != current_ || !is_own) Enqueue(user);
    }
  }

  // The start of a message of the running constraint: "op: ".
  std::string Place() const {
    const auto* call = constraints_[current_].As<CallNode>();
    return call != nullptr && call->op() != nullptr ? call->op()->name + ": " : std::string();
  }

  Expr WithType(const Expr& original, const Expr& rebuilt) {
    const Type& type = types_[slots_.at(original)];
    switch (original.kind()) {
      case ExprKind::kOp:
      case ExprKind::kConstant:
        return original;
      case ExprKind::kVar: {
        const ir::Var var(original);
        if (ir::Equal(original.checked_type(), type) && ir::Equal(var.type_annotation(), type))
          return original;
        return ir::Var::MakeChecked(var.name(), type, original.span());
      }
      case ExprKind::kGlobalVar:
        if (ir::Equal(original.checked_type(), type)) return original;
        return ir::GlobalVar::Make(original.As<ir::GlobalVarNode>()->name, original.span(), type);
      case ExprKind::kFunction: {
        const auto& function = *rebuilt.As<FunctionNode>();
        if (rebuilt == original && ir::Equal(original.checked_type(), type)) return original;
        return ir::Function::Make(function.params, function.body, type.As<FuncTypeNode>()->result,
                                  function.attrs, original.span(), type);
      }
      default:
        break;
    }
    if (rebuilt == original && ir::Equal(original.checked_type(), type)) return original;
    return ir::WithChildren(rebuilt, ir::Children(rebuilt), type);
  }

  ir::NodeTable<std::size_t> slots_;
  std::vector<Type> types_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<Expr> constraints_;
  std::vector<bool> queued_, failed_;
  std::deque<std::size_t> queue_;
  std::size_t current_ = 0;
  std::map<std::string, Expr> globals_;
  std::vector<Expr> vars_;  // in the order of the text
};

}  // namespace

ir::Module InferType(const ir::Module& module) {
  Solver solver;
  for (const auto& [name, function] : module.functions()) solver.SetGlobal(name, function);
  for (const auto& [name, function] : module.functions()) solver.Add(function);
  solver.Solve();
  return module.Map([&](const Expr& function) { return solver.Annotate(function); });
}

Expr InferType(const Expr& expr) {
  Solver solver;
  solver.Add(expr);
  solver.Solve();
  return solver.Annotate(expr);
}

Expr InferCall(const Expr& expr) {
  const auto& call = *expr.As<CallNode>();
  const ops::OpDef& op = *ops::OpOf(call);
  std::vector<Type> inputs;
  for (const Expr& arg : call.args) inputs.push_back(arg.checked_type());
  const ops::TypeCall relation = Relate(op, call, std::move(inputs), Type());
  if (!relation.learned_result()) relation.Refuse("the type of the result cannot be inferred");
  RequireCountable(relation.learned_result());
  for (std::size_t i = 0; i < call.args.size(); ++i)
    ops::Unify(call.args[i].checked_type(), relation.learned_input(i));
  return ir::Call::Make(call.callee, call.args, call.attrs, expr.span(), relation.learned_result());
}

namespace {

// The relations of the typed operator calls within `e`, with all types known.
template <typename Visit>
void ForEachRelation(const Expr& e, const Visit& visit) {
  ir::VisitPostOrder(e, [&](const Expr& at) {
    const auto* call = at.As<CallNode>();
    if (call == nullptr || call->op() == nullptr) return;
    std::vector<Type> inputs;
    for (const Expr& arg : call->args) inputs.push_back(arg.checked_type());
    visit(at, Relate(*ops::OpOf(*call), *call, std::move(inputs), at.checked_type()));
  });
}

}  // namespace

std::vector<std::pair<Dim, Dim>> AssumedEqual(const Expr& e) {
  std::vector<std::pair<Dim, Dim>> all;
  ForEachRelation(e, [&](const Expr&, const ops::TypeCall& relation) {
    all.insert(all.end(), relation.assumed_equal().begin(), relation.assumed_equal().end());
  });
  return all;
}

namespace {

// Calls `visit` with each pair of extents that unification of the types takes as one.
template <typename Visit>
void ForEachUnified(const Type& a, const Type& b, const Visit& visit) {
  if (!a || !b) return;
  const std::vector<Type> all_a = ir::Flatten(a), all_b = ir::Flatten(b);
  for (std::size_t t = 0; t < all_a.size(); ++t) {
    if (const auto* reference = all_a[t].As<ir::RefTypeNode>()) {
      ForEachUnified(reference->value, all_b[t].As<ir::RefTypeNode>()->value, visit);
      continue;
    }
    const auto *x = all_a[t].As<ir::TensorTypeNode>(), *y = all_b[t].As<ir::TensorTypeNode>();
    if (x == nullptr || y == nullptr) continue;
    for (std::size_t d = 0; d < x->shape.size(); ++d) {
      const Dim &p = x->shape[d], &q = y->shape[d];
      if (!p.is_any() && !q.is_any() && !(p == q)) visit(p, q);
    }
  }
}

}  // namespace

namespace {

// Collects conditions, each once.
class Conditions {
 public:
  // Only the first operator that needs a condition is named.
  void Add(const ExtentCondition& condition) {
    const auto says_the_same = [&](const ExtentCondition& other) {
      return other.a == condition.a && other.kind == condition.kind && other.b == condition.b;
    };
    if (std::none_of(all_.begin(), all_.end(), says_the_same)) all_.push_back(condition);
  }
  // Adds that both types are equal.
  void AddEqual(const Type& given, const Type& wanted, const std::string& needed_by) {
    ForEachUnified(given, wanted, [&](const Dim& a, const Dim& b) {
      Add({a, ExtentCondition::Kind::kEqual, b, needed_by});
    });
  }
  // Adds that the parameters of @main have the types that they are declared with.
  void AddParameters(const ir::Module& given, const ir::Module& typed) {
    const std::vector<Expr>& params = typed.Main().params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const ir::Var declared(given.Main().params[i]);
      AddEqual(declared.type_annotation(), params[i].checked_type(), "%" + declared.name());
    }
  }
  // Adds that what a relation says of its arguments and its result equals their types.
  void AddRelations(const Expr& e) {
    ForEachRelation(e, [&](const Expr& at, const ops::TypeCall& relation) {
      // Places without a line are nodes of models.
      const Span& span = at.span();
      const bool is_node = span.known() && span.line == 0;
      for (ExtentCondition condition : relation.conditions()) {
        if (is_node) StrAppend(&condition.needed_by, " of ", span.source);
        Add(condition);
      }
      const std::vector<Expr>& args = at.As<CallNode>()->args;
      for (std::size_t i = 0; i < args.size(); ++i)
        AddEqual(args[i].checked_type(), relation.learned_input(i), relation.op());
      AddEqual(relation.learned_result(), at.checked_type(), relation.op());
    });
  }
  void AddCallsOfFunctions(const ir::Module& module, const Expr& e) {
    ir::VisitPostOrder(e, [&](const Expr& at) {
      const auto* call = at.As<CallNode>();
      const auto* global = call == nullptr ? nullptr : call->callee.As<ir::GlobalVarNode>();
      const auto* type =
          global == nullptr ? nullptr : call->callee.checked_type().As<FuncTypeNode>();
      if (type == nullptr) return;
      std::vector<Type> args;
      for (const Expr& arg : call->args) args.push_back(arg.checked_type());
      const auto own = TypesOfCall(*module.Get(global->name).As<FunctionNode>(), *type, args);
      const std::vector<Type>& wanted = own ? own->params : type->params;
      for (std::size_t i = 0; i < args.size(); ++i)
        AddEqual(args[i], wanted[i], "@" + global->name);
    });
  }
  std::vector<ExtentCondition> Take() { return std::move(all_); }

 private:
  std::vector<ExtentCondition> all_;
};

}  // namespace

std::vector<ExtentCondition> ConditionsOf(const Expr& e) {
  Conditions conditions;
  conditions.AddRelations(e);
  return conditions.Take();
}

std::vector<ExtentCondition> ConditionsOf(const ir::Module& module) {
  const ir::Module typed = InferType(module);
  const Expr& body = typed.Main().body;
  Conditions conditions;
  for (const ExtentCondition& limit : DeclaredLimits(module.Main())) conditions.Add(limit);
  conditions.AddParameters(module, typed);
  conditions.AddRelations(body);
  conditions.AddCallsOfFunctions(typed, body);
  return conditions.Take();
}

std::vector<ExtentCondition> ConditionsOfParameters(const ir::Module& module) {
  Conditions conditions;
  conditions.AddParameters(module, InferType(module));
  return conditions.Take();
}

}  // namespace tenon::passes
