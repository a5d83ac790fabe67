// Which modules have control flow. Only files of compiler/ include this header.
#ifndef TENON_COMPILER_CONTROL_CONTROL_FLOW_H_
#define TENON_COMPILER_CONTROL_CONTROL_FLOW_H_

#include <optional>
#include <string>

#include "tenon/ir/module.h"

namespace tenon::compiler {

// What decides at run time which code of @main, or of what it calls, runs: "@main has an if" or "@f
// calls itself". Nothing if one plan computes everything.
std::optional<std::string> ControlFlow(const ir::Module& module);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_CONTROL_FLOW_H_
