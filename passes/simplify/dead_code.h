// DeadCodeElimination: drops lets whose variable is not used and whose value has no effect.
// RemoveUnusedFunctions: drops functions that cannot be reached from an entry.
#ifndef TENON_PASSES_SIMPLIFY_DEAD_CODE_H_
#define TENON_PASSES_SIMPLIFY_DEAD_CODE_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module DeadCodeElimination(const ir::Module& module);
// Throws NotFound for an entry that the module does not have.
ir::Module RemoveUnusedFunctions(const ir::Module& module,
                                 const std::vector<std::string>& entries = {"main"});

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_DEAD_CODE_H_
