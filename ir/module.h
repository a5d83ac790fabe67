// A module: named global functions. An immutable value whose copies share everything; With and
// Without give changed ones in time linear in the number of functions, for many changes there is
// ModuleBuilder. Functions are found by name in constant time.
//
//   Module m = Module::FromExpr(relu);   // @main with the free variables as parameters
//   Module n = m.With("helper", function);
#ifndef TENON_IR_MODULE_H_
#define TENON_IR_MODULE_H_

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::ir {

class Module {
 public:
  Module() : Module(Functions()) {}
  // A function becomes @main; any other expression the body of @main, whose parameters are its free
  // variables in order of first use.
  static Module FromExpr(const Expr& expr);

  // Adds or replaces; a new function comes last. Throws InvalidArgument when `function` is no
  // function.
  Module With(const std::string& name, const Expr& function) const;
  Module Without(const std::string& name) const;
  // The functions that `keep` holds for.
  Module Keep(const std::function<bool(const std::string& name, const Expr& function)>& keep) const;
  // With what `rewrite` gives for each function in its place.
  Module Map(const std::function<Expr(const Expr& function)>& rewrite) const;
  // Null when there is none.
  Expr Find(const std::string& name) const { return functions_->Find(name); }
  // Throws NotFound naming what there is.
  Expr Get(const std::string& name) const;
  const FunctionNode& Main() const { return *Get("main").As<FunctionNode>(); }
  // In order of definition.
  const std::vector<std::pair<std::string, Expr>>& functions() const {
    return functions_->in_order;
  }
  // The same functions, node for node.
  friend bool operator==(const Module& a, const Module& b) {
    return a.functions_ == b.functions_ || a.functions() == b.functions();
  }

 private:
  friend class ModuleBuilder;
  struct Functions {
    std::vector<std::pair<std::string, Expr>> in_order;
    std::unordered_map<std::string, std::size_t> place;  // of a name in it

    Expr Find(const std::string& name) const;
  };

  explicit Module(Functions functions)
      : functions_(std::make_shared<const Functions>(std::move(functions))) {}

  std::shared_ptr<const Functions> functions_;
};

}  // namespace tenon::ir

#endif  // TENON_IR_MODULE_H_
