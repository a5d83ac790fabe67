// A module under construction. Adding, replacing and finding a function take constant time each,
// where Module::With takes time linear in the module's size.
//
//   ModuleBuilder builder(module);
//   for (...) builder.Set(name, function);
//   return builder.Build();
#ifndef TENON_IR_MODULE_BUILDER_H_
#define TENON_IR_MODULE_BUILDER_H_

#include <string>

#include "tenon/ir/module.h"

namespace tenon::ir {

class ModuleBuilder {
 public:
  ModuleBuilder() = default;
  explicit ModuleBuilder(const Module& module) : functions_(module.held()) {}
  // With what `module` has beside functions: the names of its operators and its attributes.
  static ModuleBuilder WithoutFunctions(const Module& module);

  // Adds or replaces; a new function comes last. Throws InvalidArgument when `function` is not a
  // function.
  void Set(const std::string& name, const Expr& function);
  // Null when there is none.
  Expr Find(const std::string& name) const { return functions_.Find(name); }
  std::size_t size() const { return functions_.in_order.size(); }
  // What was set so far. Linear in the number of functions.
  Module Build() const { return Module(functions_); }

 private:
  Module::Functions functions_;
};

}  // namespace tenon::ir

#endif  // TENON_IR_MODULE_BUILDER_H_
