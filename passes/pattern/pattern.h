// Patterns of graph expressions: what pattern_match.h looks for.
//
// A Pattern is a handle to an immutable node, cheap to copy. The same handle used twice stands for
// one expression: both places must hold it. Operators are named as in the registry, or as in Relax:
// "relax.nn.conv2d".
//
//   Pattern conv = IsOp("nn.conv2d")(Wildcard(), IsConstant());
//   Pattern relu = IsOp("nn.relu")(conv | IsOp("add")(conv, Wildcard()));
#ifndef TENON_PASSES_PATTERN_PATTERN_H_
#define TENON_PASSES_PATTERN_PATTERN_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

struct PatternNode;

class Pattern {
 public:
  Pattern() = default;
  explicit Pattern(Ref<const PatternNode> node) : node_(std::move(node)) {}
  explicit operator bool() const { return static_cast<bool>(node_); }
  const PatternNode* get() const { return node_.get(); }
  const PatternNode* operator->() const { return node_.get(); }

  // A call of this pattern with these arguments. The two arguments of add, multiply, maximum and
  // minimum match in either order.
  template <typename... Patterns>
  Pattern operator()(const Patterns&... args) const {
    return CallWith({args...});
  }
  Pattern CallWith(std::vector<Pattern> args) const;
  // A call of this pattern with any arguments.
  Pattern WithAnyArgs() const;
  // wrap(this), or this alone if the former does not match.
  Pattern Optional(const std::function<Pattern(const Pattern&)>& wrap) const;

  // This pattern, restricted to calls and functions with the attribute.
  Pattern HasAttr(std::string name, attrs::Value value) const;
  // This pattern, restricted to tensors of the static shape or element type, or to expressions of
  // the type. All three need checked types.
  Pattern HasShape(Shape shape) const;
  Pattern HasDType(DataType dtype) const;
  Pattern HasType(ir::Type type) const;
  // The same for the shape of what matches `other`, which must take part in the match.
  Pattern SameShapeAs(const Pattern& other) const;
  // `user`, one of whose arguments or fields matches this pattern. OnlyUsedBy: nothing else reads
  // it.
  Pattern UsedBy(const Pattern& user) const;
  Pattern OnlyUsedBy(const Pattern& user) const;

  friend bool operator==(const Pattern& a, const Pattern& b) { return a.node_ == b.node_; }

 private:
  Ref<const PatternNode> node_;
};

Pattern Wildcard();
// Throws NotFound with the nearest name. Arguments of an operator of Relax may have patterns for
// the shapes and numbers that are expressions there and attributes here: Wildcard() alone, which
// binds nothing. IsOp("relax.reshape")(data, Wildcard()) is IsOp("reshape")(data).
Pattern IsOp(const std::string& name);
Pattern IsVar(std::string name = "");  // "": any
Pattern IsConstant();
Pattern IsExpr(ir::Expr expr);  // structurally equal
Pattern IsTuple();
Pattern IsTuple(std::vector<Pattern> fields);
Pattern IsTupleGetItem(Pattern tuple, std::optional<int> index = std::nullopt);
Pattern IsLet(Pattern var, Pattern value, Pattern body);
Pattern IsIf(Pattern condition, Pattern then_branch, Pattern else_branch);
// The left side is tried first.
Pattern operator|(const Pattern& a, const Pattern& b);
Pattern operator&(const Pattern& a, const Pattern& b);
// Binds nothing.
Pattern operator~(const Pattern& p);
// Matches `child` if every way up from it (through arguments, fields and tuples) passes only
// expressions that match `path`, and at least one way ends in one `parent`. The parent's value and
// those on the ways must not be used elsewhere. Of several candidates, the parent is the first one
// that a breadth-first walk meets. Leaves that match `path` end a way.
Pattern Dominates(const Pattern& parent, const Pattern& path, const Pattern& child);

// op(any, any), then add(., any) if `with_bias`, then the activation if one is named.
Pattern MakeFusedBiasActivationPattern(const std::string& op, bool with_bias = false,
                                       const std::optional<std::string>& activation = std::nullopt);

// --- the parts of a pattern

struct WildcardPattern {};
struct IsOpPattern {
  ir::Expr op;
  // For a name in Relax: ops::RelaxAttributeArguments.
  std::vector<std::size_t> attributes = {};
};
struct IsVarPattern {
  std::string name;
};
struct IsConstantPattern {};
struct IsExprPattern {
  ir::Expr expr;
};
struct CallPattern {
  Pattern callee;
  std::optional<std::vector<Pattern>> args;
};
struct TuplePattern {
  std::optional<std::vector<Pattern>> fields;
};
struct TupleGetItemPattern {
  Pattern tuple;
  std::optional<int> index;
};
struct OrPattern {
  Pattern first, second;
};
struct AndPattern {
  Pattern first, second;
};
struct NotPattern {
  Pattern inner;
};
// A pattern with a condition on the expression itself.
struct ConstrainedPattern {
  Pattern inner;
  std::function<bool(const ir::Expr& expr)> condition;
};
struct SameShapePattern {
  Pattern inner, other;
};
struct UsedByPattern {
  Pattern producer, user;
  bool only = false;
};
struct LetPattern {
  Pattern var, value, body;
};
struct IfPattern {
  Pattern condition, then_branch, else_branch;
};
struct DominatesPattern {
  Pattern parent, path, child;
};

struct PatternNode : RefCounted {
  using Content =
      std::variant<WildcardPattern, IsOpPattern, IsVarPattern, IsConstantPattern, IsExprPattern,
                   CallPattern, TuplePattern, TupleGetItemPattern, OrPattern, AndPattern,
                   NotPattern, ConstrainedPattern, SameShapePattern, UsedByPattern, LetPattern,
                   IfPattern, DominatesPattern>;
  explicit PatternNode(Content c) : content(std::move(c)) {}
  const Content content;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_PATTERN_PATTERN_H_
