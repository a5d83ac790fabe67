// Graph expressions: what a network computes.
//
// An Expr is a handle to an immutable, counted node; comparison is by identity (ir/structural.h
// compares content). Every node has a span and a checked type, which is null until
// passes::InferType has run. The Make functions validate and throw InvalidArgument.
//
//   Var x = Var::Make("x", TensorType({1, 10}, Float32));
//   Expr y = Call::Make(op, {x, x});
#ifndef TENON_IR_EXPR_H_
#define TENON_IR_EXPR_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/type.h"
#include "tenon/support/error.h"
#include "tenon/support/ndarray.h"

namespace tenon::ir {

enum class ExprKind {
  kVar,
  kGlobalVar,
  kOp,
  kConstant,
  kCall,
  kTuple,
  kTupleGetItem,
  kLet,
  kFunction,
  kIf
};

class ExprNode : public RefCounted {
 public:
  ExprNode(ExprKind k, Span s, Type t) : kind(k), span(std::move(s)), checked_type(std::move(t)) {}
  const ExprKind kind;
  const Span span;
  const Type checked_type;
};

class Expr {
 public:
  Expr() = default;
  explicit Expr(Ref<const ExprNode> node) : node_(std::move(node)) {}
  explicit operator bool() const { return static_cast<bool>(node_); }
  const ExprNode* get() const { return node_.get(); }
  ExprKind kind() const { return node_->kind; }
  const Span& span() const { return node_->span; }
  const Type& checked_type() const { return node_->checked_type; }
  template <typename Node>
  const Node* As() const {
    return node_ && node_->kind == Node::kKind ? static_cast<const Node*>(node_.get()) : nullptr;
  }
  friend bool operator==(const Expr& a, const Expr& b) { return a.node_ == b.node_; }

 private:
  Ref<const ExprNode> node_;
};

struct ExprHash {
  std::size_t operator()(const Expr& e) const { return std::hash<const void*>()(e.get()); }
};

struct VarNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kVar;
  VarNode(std::string n, Type annotation, Span s, Type checked)
      : ExprNode(kKind, std::move(s), std::move(checked)),
        name(std::move(n)),
        type_annotation(std::move(annotation)) {}
  const std::string name;  // a hint: printing makes names unique
  const Type type_annotation;
};
class Var : public Expr {
 public:
  Var() = default;
  explicit Var(const Expr& e);  // requires a variable
  static Var Make(std::string name, Type type = Type(), Span span = {});
  // A variable with a checked type.
  static Var MakeChecked(std::string name, Type type, Span span);
  const std::string& name() const { return As<VarNode>()->name; }
  const Type& type_annotation() const { return As<VarNode>()->type_annotation; }
};

struct GlobalVarNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kGlobalVar;
  GlobalVarNode(std::string n, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)), name(std::move(n)) {}
  const std::string name;
};
struct GlobalVar {
  static Expr Make(std::string name, Span span = {}, Type type = Type());
};

// The callee of an operator call. ops::OpDef is the one class that derives from it.
class OpNode : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kOp;
  explicit OpNode(std::string n) : ExprNode(kKind, {}, Type()), name(std::move(n)) {}
  // Null when the operator has no attributes.
  virtual const attrs::Schema* attrs_schema() const = 0;
  // Negative when the number is not fixed.
  virtual int num_inputs() const = 0;
  const std::string name;
};

struct ConstantNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kConstant;
  ConstantNode(NDArray d, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)), data(std::move(d)) {}
  const NDArray data;
};
struct Constant {
  static Expr Make(NDArray data, Span span = {});
};

struct CallNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCall;
  CallNode(Expr c, std::vector<Expr> a, attrs::Attrs at, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)),
        callee(std::move(c)),
        args(std::move(a)),
        attrs(std::move(at)) {}
  const Expr callee;
  const std::vector<Expr> args;
  const attrs::Attrs attrs;
  // The operator called, or null.
  const OpNode* op() const { return callee.As<OpNode>(); }
};
struct Call {
  static Expr Make(Expr callee, std::vector<Expr> args, attrs::Attrs attrs = {}, Span span = {},
                   Type type = Type());
};

struct TupleNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kTuple;
  TupleNode(std::vector<Expr> f, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)), fields(std::move(f)) {}
  const std::vector<Expr> fields;
};
struct Tuple {
  static Expr Make(std::vector<Expr> fields, Span span = {}, Type type = Type());
};

struct TupleGetItemNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kTupleGetItem;
  TupleGetItemNode(Expr t, int i, Span s, Type ty)
      : ExprNode(kKind, std::move(s), std::move(ty)), tuple(std::move(t)), index(i) {}
  const Expr tuple;
  const int index;
};
struct TupleGetItem {
  static Expr Make(Expr tuple, int index, Span span = {}, Type type = Type());
};

struct LetNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kLet;
  LetNode(Expr v, Expr x, Expr b, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)),
        var(std::move(v)),
        value(std::move(x)),
        body(std::move(b)) {}
  const Expr var, value, body;
};
struct Let {
  static Expr Make(const Var& var, Expr value, Expr body, Span span = {}, Type type = Type());
};

using FunctionAttrs = std::map<std::string, attrs::Value>;
struct FunctionNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kFunction;
  FunctionNode(std::vector<Expr> p, Expr b, Type r, FunctionAttrs a, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)),
        params(std::move(p)),
        body(std::move(b)),
        ret_type(std::move(r)),
        attrs(std::move(a)) {}
  const std::vector<Expr> params;  // variables
  const Expr body;
  const Type ret_type;  // null when not given
  const FunctionAttrs attrs;
  bool HasAttr(const std::string& name) const { return attrs.contains(name); }
  // Whether the attribute is a mark that is present and not 0.
  bool IsSet(const std::string& name) const;
  bool is_primitive() const { return IsSet("Primitive"); }
};
struct Function {
  static Expr Make(std::vector<Expr> params, Expr body, Type ret_type = Type(),
                   FunctionAttrs attrs = {}, Span span = {}, Type type = Type());
};

// One of two branches runs, as a scalar bool says. What only one branch uses belongs to it and runs
// with it; what is also used elsewhere is computed before.
struct IfNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kIf;
  IfNode(Expr c, Expr yes, Expr no, Span s, Type t)
      : ExprNode(kKind, std::move(s), std::move(t)),
        condition(std::move(c)),
        then_branch(std::move(yes)),
        else_branch(std::move(no)) {}
  const Expr condition, then_branch, else_branch;
};
struct If {
  static Expr Make(Expr condition, Expr then_branch, Expr else_branch, Span span = {},
                   Type type = Type());
};

// The expressions directly inside, in visiting order: a call's callee comes before its arguments.
// The parameters of a function are included.
std::vector<Expr> Children(const Expr& expr);
// The same node with other children (as many, in the order of Children) and another checked type.
Expr WithChildren(const Expr& expr, std::vector<Expr> children, Type checked_type);

}  // namespace tenon::ir

#endif  // TENON_IR_EXPR_H_
