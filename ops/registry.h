// The operator registry.
//
// Built-in families are registered by explicit functions (RegisterBuiltinOps), users' operators
// through the same Register. Registering is not thread-safe: do it at start-up and when plug-ins
// are loaded. Looking up is safe from any thread. Registering a name twice is an error that names
// both places.
//
//   OpRegistry::Global().Register("my.swish").Describe("x * sigmoid(x)")
//       .Argument("data", "Tensor", "input").TypeRelation(Identity).Pattern(OpPattern::kElemWise);
#ifndef TENON_OPS_REGISTRY_H_
#define TENON_OPS_REGISTRY_H_

#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "tenon/ir/text_format.h"
#include "tenon/ops/op.h"

namespace tenon::ops {

// Sets the properties of an operator that is being registered.
class OpBuilder {
 public:
  explicit OpBuilder(OpDef* op) : op_(op) {}
  OpBuilder& Describe(std::string text) { return Set(&OpDef::description, std::move(text)); }
  OpBuilder& Argument(std::string name, std::string type, std::string help) {
    op_->arguments.push_back({std::move(name), std::move(type), std::move(help)});
    return *this;
  }
  template <typename T>
  OpBuilder& Attrs() {
    return Set(&OpDef::schema, &attrs::SchemaOf<T>());
  }
  OpBuilder& Level(int level) { return Set(&OpDef::support_level, level); }
  OpBuilder& Pattern(OpPattern pattern) {
    op_->pattern = pattern;
    return *this;
  }
  OpBuilder& TypeRelation(ops::TypeRelation relation, std::string name = "custom") {
    op_->relation_name = std::move(name);
    return Set(&OpDef::type_relation, std::move(relation));
  }
  OpBuilder& Stateful() { return Set(&OpDef::stateful, true); }
  OpBuilder& ReshapeOnly() { return Set(&OpDef::reshape_only, true); }
  template <typename T>
  OpBuilder& Column(T value) {
    op_->SetColumn<T>(std::move(value));
    return *this;
  }
  OpDef& op() { return *op_; }

 private:
  template <typename T>
  OpBuilder& Set(T OpDef::*member, T value) {
    op_->*member = std::move(value);
    return *this;
  }
  OpDef* op_;
};

class OpRegistry {
 public:
  // The registry of this process, with the built-in operators.
  static OpRegistry& Global();

  OpBuilder Register(const std::string& name,
                     std::source_location where = std::source_location::current());
  // The operator as a callee. Throws NotFound with the nearest name.
  const ir::Expr& Get(const std::string& name) const;
  // Null when there is none.
  ir::Expr Find(const std::string& name) const;
  // For attaching columns. Throws NotFound.
  OpDef& Definition(const std::string& name);
  std::vector<std::string> Names() const;  // sorted

  // Adds an error of a registration that ran before main or in a plug-in, where nothing can be
  // thrown. Whoever compiles or loads a plug-in reports it.
  void AddStartupError(std::string message) { startup_errors_.push_back(std::move(message)); }
  // Throws FailedPrecondition that lists these errors, if there are any, and forgets them.
  void ThrowStartupErrors();

  ir::OpResolver Resolver() const;

 private:
  struct Entry {
    Ref<OpDef> definition;
    ir::Expr expr;
  };
  const Entry& Lookup(const std::string& name) const;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> startup_errors_;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_REGISTRY_H_
