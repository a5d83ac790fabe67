// DeadCodeElimination: drops lets whose variable is not used and whose value has no effect.
// RemoveUnusedFunctions: drops functions that cannot be reached from an entry.
#ifndef TENON_PASSES_SIMPLIFY_DEAD_CODE_H_
#define TENON_PASSES_SIMPLIFY_DEAD_CODE_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct DeadCodeOptions {
  bool inline_once = false;      // puts a value without effects that is read once where it is read
  bool ignore_impurity = false;  // no call is taken to have effects
};
ir::Module DeadCodeElimination(const ir::Module& module, const DeadCodeOptions& options = {});
// Throws NotFound for an entry that the module does not have.
ir::Module RemoveUnusedFunctions(const ir::Module& module,
                                 const std::vector<std::string>& entries = {"main"});

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_DEAD_CODE_H_
