#include "tenon/passes/fusion/groups.h"

namespace tenon::passes {

bool IsGroup(const ir::FunctionNode& function) {
  return function.is_primitive() || function.HasAttr("Composite") || function.HasAttr("Codegen") ||
         function.HasAttr("Compiler");
}

}  // namespace tenon::passes
