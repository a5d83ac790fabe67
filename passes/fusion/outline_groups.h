// Moves groups of expressions into functions.
//
// Each group becomes a function of what it reads, in order of first use. The function returns the
// group's values that are used outside: one, or a tuple of several, the last member's first. A call
// (and projections) replace the expressions of the group. Requires and keeps checked types.
#ifndef TENON_PASSES_FUSION_OUTLINE_GROUPS_H_
#define TENON_PASSES_FUSION_OUTLINE_GROUPS_H_

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/ir/module_builder.h"
#include "tenon/ops/relax_names.h"

namespace tenon::passes {

struct OutlineRequest {
  std::vector<std::vector<ir::Expr>> groups;  // members producers first; no expression in two
  // Constants that members read stay inside; if false, only those of rank 0 do.
  bool bind_constants = false;
  // Makes the expression that stands in the function for a member whose inputs are replaced. Null:
  // the member over the new inputs.
  std::function<ir::Expr(const ir::Expr& member)> rewrite_member;
  // Makes the callee: the function itself or a reference to it. `function` has no attributes.
  std::function<ir::Expr(std::size_t group, const ir::Expr& function)> callee;
};

// Throws InvalidArgument, naming the members, when what a group reads depends on what it computes.
ir::Expr OutlineGroups(const ir::Expr& expr, const OutlineRequest& request);

// The names of the operators called, producers first.
std::vector<std::string> OperatorsOf(const ir::Expr& body);
// "fused_nn_conv2d_nn_relu": dots become underscores. With Relax's names
// "fused_relax_nn_conv2d_relax_nn_relu".
std::string NameOfOperators(const std::vector<std::string>& operators,
                            ops::OperatorNames names = ops::OperatorNames::kRelay);
// A function with other attributes.
ir::Expr WithAttrs(const ir::Expr& function, ir::FunctionAttrs attrs);
// The function with variables of its own, also in inner functions.
ir::Expr WithFreshVariables(const ir::Expr& function);

// The composite that a callee is or names; null when there is none.
ir::Expr CompositeOf(const ir::Module& module, const ir::Expr& callee);
// The text before the first dot of its Composite.
std::string CodegenOf(const ir::Expr& composite);
// A call of a composite becomes a call of a literal without the mark of a kernel; others stay.
ir::Expr CallAsLiteral(const ir::Module& module, const ir::Expr& e);
// Drops functions with Composite that nothing names.
ir::Module WithoutUnnamedComposites(const ir::Module& module);

// Adds functions to a module, under names that a number makes unique.
class FunctionAdder {
 public:
  explicit FunctionAdder(const ir::Module& module) : module_(module) {}
  // The name of `function`: that of an equal function added before, or a new one.
  std::string Add(const std::string& name, const ir::Expr& function);
  std::string Unique(const std::string& name, const std::string& suffix = "");
  ir::ModuleBuilder& module() { return module_; }

 private:
  ir::ModuleBuilder module_;
  // The smallest number that may be free for each name. Names are never freed.
  std::map<std::pair<std::string, std::string>, int> next_number_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<ir::Expr, std::string>>> added_;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_OUTLINE_GROUPS_H_
