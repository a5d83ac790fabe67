// A work list of functions. A copy remembers which generic functions it is inside of, so that
// recursion, also through others, ends at the copy that it started from.
#include "tenon/ir/generic_functions.h"

#include <deque>
#include <map>
#include <utility>

#include "tenon/ir/module_builder.h"
#include "tenon/ir/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

// A few bytes of text can ask for any number.
constexpr std::size_t kMaxInstances = 10000;
// Of all copies together, which are as many as calls by as large as functions.
constexpr std::size_t kMaxExpressions = 1 << 20;

using Instances = std::map<std::string, std::string>;  // by generic function

// A function whose calls of generic functions are to be replaced.
struct Task {
  std::string name;
  Expr function;
  Instances inside;
};

// Adds the number of its expressions to `size`.
Expr Copy(const Expr& function, std::size_t* size) {
  ExprMap fresh;
  const auto renew = [&](const Expr& var) {
    fresh.emplace(var, Var::Make(Var(var).name(), Var(var).type_annotation(), var.span()));
  };
  VisitPostOrder(function, [&](const Expr& e) {
    ++*size;
    if (const auto* let = e.As<LetNode>()) renew(let->var);
    if (const auto* inner = e.As<FunctionNode>()) {
      for (const Expr& param : inner->params) renew(param);
    }
  });
  return Substitute(function, fresh);
}

}  // namespace

Module WithInstances(const Module& module, const std::set<std::string>& generics) {
  if (generics.contains("main"))
    throw InvalidArgument(
        "@main has type parameters; a program starts there, so its types must "
        "be known");
  ModuleBuilder builder = ModuleBuilder::WithoutFunctions(module);
  std::deque<Task> tasks;
  std::map<std::string, int> numbers;
  std::size_t made = 0, expressions = 0;
  for (const auto& [name, function] : module.functions()) {
    if (!generics.contains(name)) tasks.push_back({name, function, {}});
  }
  while (!tasks.empty()) {
    const Task task = std::move(tasks.front());
    tasks.pop_front();
    const Expr function = RewritePostOrder(task.function, [&](const Expr&, const Expr& e) -> Expr {
      const auto* call = e.As<CallNode>();
      const auto* global = call == nullptr ? nullptr : call->callee.As<GlobalVarNode>();
      if (global == nullptr || !generics.contains(global->name)) return e;
      const auto inside = task.inside.find(global->name);
      std::string instance;
      if (inside != task.inside.end()) {
        instance = inside->second;
      } else {
        if (++made > kMaxInstances)
          throw InvalidArgument(StrCat("functions with type parameters are called in more than ",
                                       kMaxInstances, " ways"))
              .At(e.span());
        do {
          instance = StrCat(global->name, "_", ++numbers[global->name]);
        } while (module.Find(instance));
        Instances chain = task.inside;
        chain.emplace(global->name, instance);
        tasks.push_back({instance, Copy(module.Get(global->name), &expressions), std::move(chain)});
        if (expressions > kMaxExpressions)
          throw InvalidArgument(
              StrCat("the copies of functions with type parameters have more than ",
                     kMaxExpressions, " expressions"))
              .At(e.span());
      }
      return Call::Make(GlobalVar::Make(instance, call->callee.span()), call->args, call->attrs,
                        e.span());
    });
    builder.Set(task.name, function);
  }
  return builder.Build();
}

}  // namespace tenon::ir
