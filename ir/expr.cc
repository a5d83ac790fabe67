#include "tenon/ir/expr.h"

#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

template <typename Node, typename... Args>
Expr New(Args&&... args) {
  return Expr(Ref<const ExprNode>(new Node(std::forward<Args>(args)...)));
}

void RequireDefined(const Expr& e, const char* what) {
  if (!e) throw InvalidArgument(StrCat(what, " is null"));
}

}  // namespace

Var::Var(const Expr& e) : Expr(e) {
  CheckInvariant(e && e.kind() == ExprKind::kVar, "a Var is made from a variable");
}
Var Var::Make(std::string name, Type type, Span span) {
  return Var(New<VarNode>(std::move(name), std::move(type), std::move(span), Type()));
}
Var Var::MakeChecked(std::string name, Type type, Span span) {
  return Var(New<VarNode>(std::move(name), type, std::move(span), type));
}
Expr GlobalVar::Make(std::string name, Span span, Type type) {
  return New<GlobalVarNode>(std::move(name), std::move(span), std::move(type));
}

Expr Constant::Make(NDArray data, Span span) {
  if (!data.defined()) throw InvalidArgument("a constant has no data");
  Type type = TensorTypeOf(data.shape(), data.dtype());
  return New<ConstantNode>(std::move(data), std::move(span), std::move(type));
}

Expr Call::Make(Expr callee, std::vector<Expr> args, attrs::Attrs attrs, Span span, Type type) {
  RequireDefined(callee, "the callee of a call");
  for (const Expr& arg : args) RequireDefined(arg, "an argument of a call");
  if (const auto* op = callee.As<OpNode>();
      op != nullptr && attrs.defined() && attrs.schema() != op->attrs_schema()) {
    throw InvalidArgument(StrCat(op->name, " is called with attributes of another operator (",
                                 attrs.schema()->name, ")"));
  }
  return New<CallNode>(std::move(callee), std::move(args), std::move(attrs), std::move(span),
                       std::move(type));
}

Expr Tuple::Make(std::vector<Expr> fields, Span span, Type type) {
  for (const Expr& field : fields) RequireDefined(field, "a field of a tuple");
  return New<TupleNode>(std::move(fields), std::move(span), std::move(type));
}

Expr TupleGetItem::Make(Expr tuple, int index, Span span, Type type) {
  RequireDefined(tuple, "a tuple that is projected");
  if (index < 0) throw InvalidArgument(StrCat("a projection has the negative index ", index));
  if (const auto* fields = tuple.As<TupleNode>();
      fields != nullptr && index >= static_cast<int>(fields->fields.size())) {
    throw InvalidArgument(StrCat("field ", index, " of a tuple of ", fields->fields.size()));
  }
  return New<TupleGetItemNode>(std::move(tuple), index, std::move(span), std::move(type));
}

Expr Let::Make(const Var& var, Expr value, Expr body, Span span, Type type) {
  RequireDefined(var, "the variable of a let");
  RequireDefined(value, "the value of a let");
  RequireDefined(body, "the body of a let");
  return New<LetNode>(var, std::move(value), std::move(body), std::move(span), std::move(type));
}

Expr Function::Make(std::vector<Expr> params, Expr body, Type ret_type, FunctionAttrs attrs,
                    Span span, Type type) {
  RequireDefined(body, "the body of a function");
  for (const Expr& param : params) {
    if (!param || param.kind() != ExprKind::kVar)
      throw InvalidArgument("a parameter of a function is not a variable");
  }
  return New<FunctionNode>(std::move(params), std::move(body), std::move(ret_type),
                           std::move(attrs), std::move(span), std::move(type));
}

Expr If::Make(Expr condition, Expr then_branch, Expr else_branch, Span span, Type type) {
  RequireDefined(condition, "the condition of an if");
  RequireDefined(then_branch, "the first branch of an if");
  RequireDefined(else_branch, "the second branch of an if");
  return New<IfNode>(std::move(condition), std::move(then_branch), std::move(else_branch),
                     std::move(span), std::move(type));
}

bool FunctionNode::IsSet(const std::string& name) const {
  const auto found = attrs.find(name);
  return found != attrs.end() && !(found->second == attrs::Value(std::int64_t{0}));
}

std::vector<Expr> Children(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstant:
      return {};
    case ExprKind::kCall: {
      const auto& n = *e.As<CallNode>();
      std::vector<Expr> children = {n.callee};
      children.insert(children.end(), n.args.begin(), n.args.end());
      return children;
    }
    case ExprKind::kTuple:
      return e.As<TupleNode>()->fields;
    case ExprKind::kTupleGetItem:
      return {e.As<TupleGetItemNode>()->tuple};
    case ExprKind::kLet:
      return {e.As<LetNode>()->var, e.As<LetNode>()->value, e.As<LetNode>()->body};
    case ExprKind::kFunction: {
      std::vector<Expr> children = e.As<FunctionNode>()->params;
      children.push_back(e.As<FunctionNode>()->body);
      return children;
    }
    case ExprKind::kIf: {
      const auto& n = *e.As<IfNode>();
      return {n.condition, n.then_branch, n.else_branch};
    }
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

Expr WithChildren(const Expr& e, std::vector<Expr> c, Type type) {
  switch (e.kind()) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstant:
      return e;
    case ExprKind::kCall: {
      Expr callee = c[0];
      c.erase(c.begin());
      return Call::Make(std::move(callee), std::move(c), e.As<CallNode>()->attrs, e.span(),
                        std::move(type));
    }
    case ExprKind::kTuple:
      return Tuple::Make(std::move(c), e.span(), std::move(type));
    case ExprKind::kTupleGetItem:
      return TupleGetItem::Make(c[0], e.As<TupleGetItemNode>()->index, e.span(), std::move(type));
    case ExprKind::kLet:
      return Let::Make(Var(c[0]), c[1], c[2], e.span(), std::move(type));
    case ExprKind::kFunction: {
      const auto& n = *e.As<FunctionNode>();
      Expr body = c.back();
      c.pop_back();
      return Function::Make(std::move(c), std::move(body), n.ret_type, n.attrs, e.span(),
                            std::move(type));
    }
    case ExprKind::kIf:
      return If::Make(c[0], c[1], c[2], e.span(), std::move(type));
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

}  // namespace tenon::ir
