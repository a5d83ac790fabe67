// A work list over constraints. Each expression has a slot for its type. Each call, tuple,
// projection, let and function is a constraint between slots. It is queued in post-order, and again
// whenever one of its slots learns more, even from the constraint itself. Types only become more
// precise, so the process ends.
#include "tenon/passes/infer_type.h"

#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "tenon/ir/flatten.h"
#include "tenon/ir/node_table.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;
using ir::FuncTypeNode;
using ir::IfNode;
using ir::LetNode;
using ir::TupleGetItemNode;
using ir::TupleNode;
using ir::TupleTypeNode;
using ir::Type;

// `left_out` more errors are counted but not shown.
Error OneError(const std::vector<Error>& errors, std::size_t left_out) {
  if (errors.size() + left_out == 1) return errors[0];
  std::string message = StrCat("there are ", errors.size() + left_out, " type errors");
  if (left_out > 0) StrAppend(&message, "; the first ", errors.size(), " follow");
  Error all = InvalidArgument(std::move(message));
  for (const Error& error : errors) all.AddNote(error.what());
  return all;
}

// What the operator's relation learns from the types known so far.
ops::TypeCall Related(const ops::OpDef& op, const CallNode& call, std::vector<Type> inputs,
                      Type result) {
  if (!op.type_relation)
    throw InvalidArgument(StrCat(op.name, " is registered without a type relation"));
  if (op.num_inputs() >= 0 && static_cast<int>(inputs.size()) != op.num_inputs())
    throw InvalidArgument(StrCat(op.name, " takes ", op.num_inputs(),
                                 op.num_inputs() == 1 ? " argument" : " arguments", ", not ",
                                 inputs.size()));
  ops::TypeCall relation(op.name, call.attrs, std::move(inputs), std::move(result));
  try {
    op.type_relation(relation);
  } catch (const Error& error) {
    // Shape rules do not know which operator uses them.
    if (error.code() == absl::StatusCode::kInternal || !error.notes().empty()) throw;
    relation.Refuse(error.message());
  }
  return relation;
}

// Throws InvalidArgument for a tensor, or one in a tuple, whose bytes cannot be counted.
void RequireCountable(const Type& type) {
  for (const Type& part : ir::Flatten(type)) {
    const auto* tensor = part.As<ir::TensorTypeNode>();
    if (tensor != nullptr && ir::IsStaticTensor(part))
      NumBytes(ir::StaticShape(part, "a value"), tensor->dtype);
  }
}

class Solver {
 public:
  void Add(const Expr& root) {
    ir::VisitPostOrder(root, [&](const Expr& e) { AddNode(e); });
  }
  void SetGlobal(const std::string& name, const Expr& function) { globals_[name] = function; }

  // Throws all errors together.
  void Solve() {
    for (std::size_t c = 0; c < constraints_.size(); ++c) Enqueue(c);
    while (!queue_.empty()) {
      const std::size_t c = queue_.front();
      queue_.pop_front();
      queued_[c] = false;
      if (failed_[c]) continue;
      current_ = c;
      try {
        Apply(constraints_[c]);
      } catch (const Error& error) {
        if (error.code() == absl::StatusCode::kInternal) throw;
        failed_[c] = true;
        Error placed = error;
        if (!placed.span().known()) placed.At(constraints_[c].span());
        errors_.push_back(std::move(placed));
      }
    }
    if (errors_.empty()) ReportUnknown();
    if (errors_.empty()) ReportTooLarge();
    if (!errors_.empty()) throw OneError(errors_, left_out_);
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
  const Type& TypeOf(const Expr& e) { return types_[Slot(e)]; }

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

  void Learn(const Expr& e, const Type& type) {
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

  void Apply(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kCall:
        if (e.As<CallNode>()->op() != nullptr) {
          ApplyOperator(e, *e.As<CallNode>());
        } else {
          ApplyCall(e, *e.As<CallNode>());
        }
        return;
      case ExprKind::kTuple:
        ApplyTuple(e, e.As<TupleNode>()->fields);
        return;
      case ExprKind::kTupleGetItem:
        ApplyProjection(e, *e.As<TupleGetItemNode>());
        return;
      case ExprKind::kLet: {
        const auto& let = *e.As<LetNode>();
        Learn(let.var, TypeOf(let.value));
        Learn(let.value, TypeOf(let.var));
        Learn(e, TypeOf(let.body));
        Learn(let.body, TypeOf(e));
        return;
      }
      case ExprKind::kFunction:
        ApplyFunction(e, *e.As<FunctionNode>());
        return;
      case ExprKind::kGlobalVar: {
        const auto found = globals_.find(e.As<ir::GlobalVarNode>()->name);
        if (found == globals_.end())
          throw InvalidArgument(
              StrCat("@", e.As<ir::GlobalVarNode>()->name, " is used but not defined"));
        Learn(e, TypeOf(found->second));
        Learn(found->second, TypeOf(e));
        return;
      }
      case ExprKind::kIf:
        ApplyIf(e, *e.As<IfNode>());
        return;
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
        return;
    }
  }

  void ApplyIf(const Expr& e, const IfNode& branches) {
    static const Type kCondition = ir::TensorType({}, Bool);
    const Type given = TypeOf(branches.condition);
    if (given && !ir::Equal(given, kCondition))
      throw InvalidArgument(StrCat("the condition of an if is ", ir::ToString(given),
                                   "; it must be a bool without axes"));
    Learn(branches.condition, kCondition);
    const Type yes = TypeOf(branches.then_branch), no = TypeOf(branches.else_branch);
    Type both;
    try {
      both = ops::Unify(yes, no);
    } catch (const Error&) {
      throw InvalidArgument(StrCat("one branch of an if is ", ir::ToString(yes), " and the other ",
                                   ir::ToString(no), "; both must be of one type"));
    }
    Learn(e, both);
    Learn(branches.then_branch, TypeOf(e));
    Learn(branches.else_branch, TypeOf(e));
  }

  void ApplyOperator(const Expr& e, const CallNode& call) {
    const ops::OpDef& op = *ops::OpOf(call);
    std::vector<Type> inputs;
    for (const Expr& arg : call.args) inputs.push_back(TypeOf(arg));
    const ops::TypeCall relation = Related(op, call, std::move(inputs), TypeOf(e));
    Learn(e, relation.learned_result());
    // The result knows more than the relation says, so the inputs may learn more, too.
    if (!ir::Equal(TypeOf(e), relation.learned_result()) &&
        !ir::Equal(TypeOf(e), relation.result()))
      Enqueue(current_);
    for (std::size_t i = 0; i < call.args.size(); ++i)
      Learn(call.args[i], relation.learned_input(i));
  }

  void ApplyCall(const Expr& e, const CallNode& call) {
    const Type callee = TypeOf(call.callee);
    if (!callee) return;
    const auto* function = callee.As<FuncTypeNode>();
    if (function == nullptr)
      throw InvalidArgument(StrCat("a value of type ", ir::ToString(callee), " is called"));
    if (function->params.size() != call.args.size())
      throw InvalidArgument(StrCat("a function of ", function->params.size(),
                                   " parameters is called with ", call.args.size()));
    std::vector<Type> args;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      Learn(call.args[i], function->params[i]);
      args.push_back(TypeOf(call.args[i]));
    }
    Learn(e, function->result);
    Learn(call.callee, ir::FuncType(std::move(args), TypeOf(e)));
  }

  void ApplyTuple(const Expr& e, const std::vector<Expr>& fields) {
    std::vector<Type> types;
    for (const Expr& field : fields) types.push_back(TypeOf(field));
    Learn(e, ir::TupleType(std::move(types)));
    const Type tuple = TypeOf(e);
    for (std::size_t i = 0; i < fields.size(); ++i)
      Learn(fields[i], tuple.As<TupleTypeNode>()->fields[i]);
  }

  void ApplyProjection(const Expr& e, const TupleGetItemNode& item) {
    const Type type = TypeOf(item.tuple);
    if (!type) return;
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr)
      throw InvalidArgument(StrCat("field ", item.index, " of a value of type ", ir::ToString(type),
                                   ", which is not a tuple"));
    if (item.index >= static_cast<int>(tuple->fields.size()))
      throw InvalidArgument(StrCat("field ", item.index, " of a tuple of ", tuple->fields.size()));
    const auto index = static_cast<std::size_t>(item.index);
    Learn(e, tuple->fields[index]);
    // Tuples are as long as a graph is wide, so each of many projections reports only what is new.
    if (ir::Equal(TypeOf(e), tuple->fields[index])) return;
    std::vector<Type> fields(tuple->fields.size());
    fields[index] = TypeOf(e);
    Learn(item.tuple, ir::TupleType(std::move(fields)));
  }

  void ApplyFunction(const Expr& e, const FunctionNode& function) {
    Learn(function.body, function.ret_type);
    std::vector<Type> params;
    for (const Expr& param : function.params) params.push_back(TypeOf(param));
    Learn(e, ir::FuncType(std::move(params), TypeOf(function.body)));
    const Type type = TypeOf(e);
    const auto& known = *type.As<FuncTypeNode>();
    for (std::size_t i = 0; i < function.params.size(); ++i)
      Learn(function.params[i], known.params[i]);
    Learn(function.body, known.result);
  }

  static bool Complete(const Type& type) {
    if (!type) return false;
    const auto all = [](const std::vector<Type>& types) {
      for (const Type& t : types) {
        if (!Complete(t)) return false;
      }
      return true;
    };
    if (const auto* tuple = type.As<TupleTypeNode>()) return all(tuple->fields);
    if (const auto* reference = type.As<ir::RefTypeNode>()) return Complete(reference->value);
    if (const auto* function = type.As<FuncTypeNode>())
      return all(function->params) && Complete(function->result);
    return true;
  }

  static bool CallsItself(const std::string& name, const Expr& function) {
    bool calls = false;
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* global = e.As<ir::GlobalVarNode>();
      calls = calls || (global != nullptr && global->name == name);
    });
    return calls;
  }

  // Names the expressions that block: variables first, then calls whose inputs are known.
  void ReportUnknown() {
    constexpr std::size_t kMaxErrors = 20;
    for (const Expr& e : vars_) {
      if (Complete(TypeOf(e))) continue;
      if (errors_.size() >= kMaxErrors) {
        ++left_out_;
        continue;
      }
      errors_.push_back(InvalidArgument(StrCat("the type of the variable %", ir::Var(e).name(),
                                               " cannot be inferred; annotate it"))
                            .At(e.span()));
    }
    if (!errors_.empty()) return;
    for (const auto& [name, function] : globals_) {
      const auto* type = TypeOf(function).As<FuncTypeNode>();
      if (type == nullptr || Complete(type->result) || !CallsItself(name, function)) continue;
      errors_.push_back(InvalidArgument(StrCat("the result type of @", name,
                                               ", which calls itself, cannot be inferred; annotate "
                                               "it (-> type)"))
                            .At(function.span()));
      return;
    }
    for (const Expr& e : constraints_) {
      if (Complete(TypeOf(e))) continue;
      const auto* call = e.As<CallNode>();
      errors_.push_back(InvalidArgument(StrCat("the type of ",
                                               call != nullptr && call->op() != nullptr
                                                   ? "this call of " + call->op()->name
                                                   : std::string("this expression"),
                                               " cannot be inferred"))
                            .At(e.span()));
      return;
    }
  }

  // Code that counts the elements or bytes of a value later need not check that they can be
  // counted.
  void ReportTooLarge() {
    const auto check = [&](const Expr& e) {
      try {
        RequireCountable(TypeOf(e));
      } catch (Error& error) {
        errors_.push_back(error.At(e.span()));
      }
    };
    for (const std::vector<Expr>* all : {&vars_, &constraints_}) {
      for (const Expr& e : *all) {
        check(e);
        if (!errors_.empty()) return;
      }
    }
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
  std::vector<Error> errors_;
  std::size_t left_out_ = 0;
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
  const ops::TypeCall relation = Related(op, call, std::move(inputs), Type());
  if (!relation.learned_result()) relation.Refuse("the type of the result cannot be inferred");
  RequireCountable(relation.learned_result());
  for (std::size_t i = 0; i < call.args.size(); ++i)
    ops::Unify(call.args[i].checked_type(), relation.learned_input(i));
  return ir::Call::Make(call.callee, call.args, call.attrs, expr.span(), relation.learned_result());
}

std::vector<std::pair<Dim, Dim>> AssumedEqual(const Expr& e) {
  std::vector<std::pair<Dim, Dim>> all;
  ir::VisitPostOrder(e, [&](const Expr& at) {
    const auto* call = at.As<CallNode>();
    if (call == nullptr || call->op() == nullptr) return;
    std::vector<Type> inputs;
    for (const Expr& arg : call->args) inputs.push_back(arg.checked_type());
    const auto relation = Related(*ops::OpOf(*call), *call, std::move(inputs), at.checked_type());
    all.insert(all.end(), relation.assumed_equal().begin(), relation.assumed_equal().end());
  });
  return all;
}

}  // namespace tenon::passes
