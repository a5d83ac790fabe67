#include "tenon/passes/type_rules.h"

#include "tenon/ir/visit.h"
#include "tenon/passes/call_types.h"
#include "tenon/support/strings.h"

namespace tenon::passes {

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

ops::TypeCall Relate(const ops::OpDef& op, const CallNode& call, std::vector<Type> inputs,
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

namespace {

void ApplyGlobal(TypeFacts& facts, const Expr& e, const std::string& name) {
  const Expr function = facts.GlobalOf(name);
  if (!function) throw InvalidArgument(StrCat("@", name, " is used but not defined"));
  facts.Learn(e, facts.TypeOf(function));
  facts.Learn(function, facts.TypeOf(e));
}

void ApplyIf(TypeFacts& facts, const Expr& e, const IfNode& branches) {
  static const Type kCondition = ir::TensorType({}, Bool);
  const Type given = facts.TypeOf(branches.condition);
  if (given && !ir::Equal(given, kCondition))
    throw InvalidArgument(StrCat("the condition of an if is ", ir::ToString(given),
                                 "; it must be a bool without axes"));
  facts.Learn(branches.condition, kCondition);
  const Type yes = facts.TypeOf(branches.then_branch), no = facts.TypeOf(branches.else_branch);
  Type both;
  try {
    both = ops::Unify(yes, no);
  } catch (const Error&) {
    throw InvalidArgument(StrCat("one branch of an if is ", ir::ToString(yes), " and the other ",
                                 ir::ToString(no), "; both must be of one type"));
  }
  facts.Learn(e, both);
  facts.Learn(branches.then_branch, facts.TypeOf(e));
  facts.Learn(branches.else_branch, facts.TypeOf(e));
}

void ApplyOperator(TypeFacts& facts, const Expr& e, const CallNode& call) {
  const ops::OpDef& op = *ops::OpOf(call);
  std::vector<Type> inputs;
  for (const Expr& arg : call.args) inputs.push_back(facts.TypeOf(arg));
  const ops::TypeCall relation = Relate(op, call, std::move(inputs), facts.TypeOf(e));
  facts.Learn(e, relation.learned_result());
  // The result knows more than the relation says, so the inputs may learn more, too.
  if (!ir::Equal(facts.TypeOf(e), relation.learned_result()) &&
      !ir::Equal(facts.TypeOf(e), relation.result()))
    facts.ApplyAgain();
  for (std::size_t i = 0; i < call.args.size(); ++i)
    facts.Learn(call.args[i], relation.learned_input(i));
}

// A function whose extents each call decides learns nothing from its calls.
bool ApplyCallOfOwnExtents(TypeFacts& facts, const Expr& e, const CallNode& call,
                           const FuncTypeNode& type) {
  const auto* global = call.callee.As<ir::GlobalVarNode>();
  const Expr function = global == nullptr ? Expr() : facts.GlobalOf(global->name);
  if (!function) return false;
  std::vector<Type> args;
  for (const Expr& arg : call.args) args.push_back(facts.TypeOf(arg));
  const auto types = TypesOfCall(*function.As<FunctionNode>(), type, args);
  if (!types) return false;
  for (std::size_t i = 0; i < call.args.size(); ++i) facts.Learn(call.args[i], types->params[i]);
  facts.Learn(e, types->result);
  return true;
}

void ApplyCall(TypeFacts& facts, const Expr& e, const CallNode& call) {
  const Type callee = facts.TypeOf(call.callee);
  if (!callee) return;
  const auto* function = callee.As<FuncTypeNode>();
  if (function == nullptr)
    throw InvalidArgument(StrCat("a value of type ", ir::ToString(callee), " is called"));
  if (function->params.size() != call.args.size())
    throw InvalidArgument(StrCat("a function of ", function->params.size(),
                                 " parameters is called with ", call.args.size()));
  if (ApplyCallOfOwnExtents(facts, e, call, *function)) return;
  std::vector<Type> args;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    facts.Learn(call.args[i], function->params[i]);
    args.push_back(facts.TypeOf(call.args[i]));
  }
  facts.Learn(e, function->result);
  facts.Learn(call.callee, ir::FuncType(std::move(args), facts.TypeOf(e)));
}

void ApplyTuple(TypeFacts& facts, const Expr& e, const std::vector<Expr>& fields) {
  std::vector<Type> types;
  for (const Expr& field : fields) types.push_back(facts.TypeOf(field));
  facts.Learn(e, ir::TupleType(std::move(types)));
  const Type tuple = facts.TypeOf(e);
  for (std::size_t i = 0; i < fields.size(); ++i)
    facts.Learn(fields[i], tuple.As<TupleTypeNode>()->fields[i]);
}

void ApplyProjection(TypeFacts& facts, const Expr& e, const TupleGetItemNode& item) {
  const Type type = facts.TypeOf(item.tuple);
  if (!type) return;
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr)
    throw InvalidArgument(StrCat("field ", item.index, " of a value of type ", ir::ToString(type),
                                 ", which is not a tuple"));
  if (item.index >= static_cast<int>(tuple->fields.size()))
    throw InvalidArgument(StrCat("field ", item.index, " of a tuple of ", tuple->fields.size()));
  const auto index = static_cast<std::size_t>(item.index);
  facts.Learn(e, tuple->fields[index]);
  // Tuples are as long as a graph is wide, so each of many projections reports only what is new.
  if (ir::Equal(facts.TypeOf(e), tuple->fields[index])) return;
  std::vector<Type> fields(tuple->fields.size());
  fields[index] = facts.TypeOf(e);
  facts.Learn(item.tuple, ir::TupleType(std::move(fields)));
}

void ApplyFunction(TypeFacts& facts, const Expr& e, const FunctionNode& function) {
  facts.Learn(function.body, function.ret_type);
  std::vector<Type> params;
  for (const Expr& param : function.params) params.push_back(facts.TypeOf(param));
  facts.Learn(e, ir::FuncType(std::move(params), facts.TypeOf(function.body)));
  const Type type = facts.TypeOf(e);
  const auto& known = *type.As<FuncTypeNode>();
  for (std::size_t i = 0; i < function.params.size(); ++i)
    facts.Learn(function.params[i], known.params[i]);
  facts.Learn(function.body, known.result);
}

}  // namespace

void ApplyTypeRule(const Expr& e, TypeFacts& facts) {
  switch (e.kind()) {
    case ExprKind::kCall:
      if (e.As<CallNode>()->op() != nullptr) {
        ApplyOperator(facts, e, *e.As<CallNode>());
      } else {
        ApplyCall(facts, e, *e.As<CallNode>());
      }
      return;
    case ExprKind::kTuple:
      ApplyTuple(facts, e, e.As<TupleNode>()->fields);
      return;
    case ExprKind::kTupleGetItem:
      ApplyProjection(facts, e, *e.As<TupleGetItemNode>());
      return;
    case ExprKind::kLet: {
      const auto& let = *e.As<LetNode>();
      facts.Learn(let.var, facts.TypeOf(let.value));
      facts.Learn(let.value, facts.TypeOf(let.var));
      facts.Learn(e, facts.TypeOf(let.body));
      facts.Learn(let.body, facts.TypeOf(e));
      return;
    }
    case ExprKind::kFunction:
      ApplyFunction(facts, e, *e.As<FunctionNode>());
      return;
    case ExprKind::kGlobalVar:
      ApplyGlobal(facts, e, e.As<ir::GlobalVarNode>()->name);
      return;
    case ExprKind::kIf:
      ApplyIf(facts, e, *e.As<IfNode>());
      return;
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
      return;
  }
}

}  // namespace tenon::passes
