#include "tenon/passes/pattern/pattern.h"

#include <algorithm>

#include "tenon/ops/registry.h"
#include "tenon/ops/relax_names.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

Pattern Make(PatternNode::Content content) {
  return Pattern(MakeRef<const PatternNode>(std::move(content)));
}

void RequireDefined(const Pattern& pattern, const char* what) {
  if (!pattern) throw InvalidArgument(std::string(what) + " of a pattern is null");
}

bool HasField(const attrs::Attrs& attrs, const std::string& name, const attrs::Value& value) {
  return attrs.defined() && attrs.schema()->Find(name) != nullptr && attrs.Get(name) == value;
}

Pattern Constrained(const Pattern& inner, std::function<bool(const ir::Expr&)> condition) {
  RequireDefined(inner, "the constrained part");
  return Make(ConstrainedPattern{inner, std::move(condition)});
}

// Keeps those arguments in Relax that are expressions here.
void DropAttributes(const IsOpPattern& op, std::vector<Pattern>* args) {
  const auto in_range = [&](std::size_t place) { return place < args->size(); };
  const auto dropped = std::ranges::count_if(op.attributes, in_range);
  const int inputs = ops::OpOf(op.op)->num_inputs();
  if (static_cast<std::ptrdiff_t>(args->size()) - dropped != inputs) return;
  for (std::size_t i = op.attributes.size(); i-- > 0;) {
    if (!in_range(op.attributes[i])) continue;
    const auto at = args->begin() + static_cast<std::ptrdiff_t>(op.attributes[i]);
    if (!std::holds_alternative<WildcardPattern>((*at)->content))
      throw InvalidArgument(StrCat("argument ", op.attributes[i], " of ",
                                   op.op.As<ir::OpNode>()->name,
                                   " is an attribute here; its pattern must be Wildcard(), and "
                                   "HasAttr restricts it"));
    args->erase(at);
  }
}

}  // namespace

Pattern Pattern::CallWith(std::vector<Pattern> args) const {
  RequireDefined(*this, "the callee");
  for (const Pattern& arg : args) RequireDefined(arg, "an argument");
  if (const auto* op = std::get_if<IsOpPattern>(&node_->content)) DropAttributes(*op, &args);
  return Make(CallPattern{*this, std::move(args)});
}

Pattern Pattern::WithAnyArgs() const {
  RequireDefined(*this, "the callee");
  return Make(CallPattern{*this, std::nullopt});
}

Pattern Pattern::Optional(const std::function<Pattern(const Pattern&)>& wrap) const {
  if (wrap == nullptr)
    throw InvalidArgument("what an optional pattern may be wrapped in is no function");
  return wrap(*this) | *this;
}

Pattern Pattern::HasAttr(std::string name, attrs::Value value) const {
  return Constrained(*this, [name = std::move(name), value = std::move(value)](const ir::Expr& e) {
    if (const auto* call = e.As<ir::CallNode>()) return HasField(call->attrs, name, value);
    const auto* function = e.As<ir::FunctionNode>();
    return function != nullptr && function->HasAttr(name) && function->attrs.at(name) == value;
  });
}

Pattern Pattern::HasShape(Shape shape) const {
  return Constrained(*this, [shape = std::move(shape)](const ir::Expr& e) {
    return ir::IsStaticTensor(e.checked_type()) &&
           ir::StaticShape(e.checked_type(), "a tensor") == shape;
  });
}

Pattern Pattern::HasDType(DataType dtype) const {
  return Constrained(*this, [dtype](const ir::Expr& e) {
    const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
    return tensor != nullptr && tensor->dtype == dtype;
  });
}

Pattern Pattern::HasType(ir::Type type) const {
  return Constrained(*this, [type = std::move(type)](const ir::Expr& e) {
    return e.checked_type() && ir::Equal(e.checked_type(), type);
  });
}

Pattern Pattern::SameShapeAs(const Pattern& other) const {
  RequireDefined(*this, "the constrained part");
  RequireDefined(other, "what it is compared with");
  return Make(SameShapePattern{*this, other});
}

Pattern Pattern::UsedBy(const Pattern& user) const {
  RequireDefined(*this, "what is used");
  RequireDefined(user, "the user");
  return Make(UsedByPattern{*this, user});
}

Pattern Pattern::OnlyUsedBy(const Pattern& user) const {
  RequireDefined(*this, "what is used");
  RequireDefined(user, "the user");
  return Make(UsedByPattern{*this, user, true});
}

Pattern Wildcard() { return Make(WildcardPattern{}); }
Pattern IsOp(const std::string& name) {
  return Make(IsOpPattern{ops::OpRegistry::Global().Get(ops::FromRelaxName(name)),
                          ops::RelaxAttributeArguments(name)});
}
Pattern IsVar(std::string name) { return Make(IsVarPattern{std::move(name)}); }
Pattern IsConstant() { return Make(IsConstantPattern{}); }
Pattern IsExpr(ir::Expr expr) {
  if (!expr) throw InvalidArgument("the expression of a pattern is null");
  return Make(IsExprPattern{std::move(expr)});
}
Pattern IsTuple() { return Make(TuplePattern{}); }
Pattern IsTuple(std::vector<Pattern> fields) {
  for (const Pattern& field : fields) RequireDefined(field, "a field");
  return Make(TuplePattern{std::move(fields)});
}
Pattern IsTupleGetItem(Pattern tuple, std::optional<int> index) {
  RequireDefined(tuple, "the tuple");
  return Make(TupleGetItemPattern{std::move(tuple), index});
}

Pattern IsLet(Pattern var, Pattern value, Pattern body) {
  for (const Pattern* part : {&var, &value, &body}) RequireDefined(*part, "a part of a let");
  return Make(LetPattern{std::move(var), std::move(value), std::move(body)});
}

Pattern IsIf(Pattern condition, Pattern then_branch, Pattern else_branch) {
  for (const Pattern* part : {&condition, &then_branch, &else_branch})
    RequireDefined(*part, "a part of an if");
  return Make(IfPattern{std::move(condition), std::move(then_branch), std::move(else_branch)});
}

Pattern operator|(const Pattern& a, const Pattern& b) {
  RequireDefined(a, "an alternative");
  RequireDefined(b, "an alternative");
  return Make(OrPattern{a, b});
}
Pattern operator&(const Pattern& a, const Pattern& b) {
  RequireDefined(a, "one side");
  RequireDefined(b, "one side");
  return Make(AndPattern{a, b});
}
Pattern operator~(const Pattern& p) {
  RequireDefined(p, "the negated part");
  return Make(NotPattern{p});
}

Pattern Dominates(const Pattern& parent, const Pattern& path, const Pattern& child) {
  RequireDefined(parent, "the parent");
  RequireDefined(path, "the path");
  RequireDefined(child, "the child");
  return Make(DominatesPattern{parent, path, child});
}

Pattern MakeFusedBiasActivationPattern(const std::string& op, bool with_bias,
                                       const std::optional<std::string>& activation) {
  Pattern pattern = IsOp(op)(Wildcard(), Wildcard());
  if (with_bias) pattern = IsOp("add")(pattern, Wildcard());
  if (activation) pattern = IsOp(*activation)(pattern);
  return pattern;
}

}  // namespace tenon::passes
