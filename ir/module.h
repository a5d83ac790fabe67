// A module: named global functions. It is an immutable value whose copies share everything. With
// and Without return changed modules in time linear in the number of functions; use ModuleBuilder
// for many changes. Functions are found by name in constant time. A module that was
// moved from holds nothing: what reads it throws FailedPrecondition.
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
#include "tenon/support/present.h"

namespace tenon::ir {

// Whose names the operators of a module have in the text that it came from. Passes name functions
// after it.
enum class OperatorNames { kRelay, kRelax };

class Module {
 public:
  Module() : Module(Functions()) {}
  // A function becomes @main. Any other expression becomes the body of @main, whose parameters are
  // its free variables in order of first use.
  static Module FromExpr(const Expr& expr);

  // Adds or replaces; a new function comes last. Throws InvalidArgument when `function` is not a
  // function.
  Module With(const std::string& name, const Expr& function) const;
  Module Without(const std::string& name) const;
  // The functions for which `keep` holds.
  Module Keep(const std::function<bool(const std::string& name, const Expr& function)>& keep) const;
  // Each function replaced by what `rewrite` returns for it.
  Module Map(const std::function<Expr(const Expr& function)>& rewrite) const;
  // Null when there is none.
  Expr Find(const std::string& name) const { return held().Find(name); }
  // Throws NotFound, naming the functions that exist.
  Expr Get(const std::string& name) const;
  const FunctionNode& Main() const { return *Get("main").As<FunctionNode>(); }
  // In order of definition.
  const std::vector<std::pair<std::string, Expr>>& functions() const { return held().in_order; }
  OperatorNames operator_names() const { return held().names; }
  Module WithOperatorNames(OperatorNames names) const;
  // Of the module as a whole. They mean nothing to passes, which keep them; Relay text has no place
  // for them.
  const FunctionAttrs& attrs() const { return held().attrs; }
  Module WithAttrs(FunctionAttrs attrs) const;
  // The same functions, node for node, and equal attributes.
  friend bool operator==(const Module& a, const Module& b) {
    return a.functions_ == b.functions_ ||
           (a.functions() == b.functions() && a.attrs() == b.attrs());
  }

 private:
  friend class ModuleBuilder;
  struct Functions {
    std::vector<std::pair<std::string, Expr>> in_order;
    std::unordered_map<std::string, std::size_t> place;  // of a name in it
    OperatorNames names = OperatorNames::kRelay;
    FunctionAttrs attrs;

    Expr Find(const std::string& name) const;
  };

  explicit Module(Functions functions)
      : functions_(std::make_shared<const Functions>(std::move(functions))) {}

  const Functions& held() const { return Present(functions_, "the module has been moved from"); }

  std::shared_ptr<const Functions> functions_;
};

}  // namespace tenon::ir

#endif  // TENON_IR_MODULE_H_
