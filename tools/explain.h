// Why a compiled model is what it is: the decisions of fusion, then those for each kernel.
#ifndef TENON_TOOLS_EXPLAIN_H_
#define TENON_TOOLS_EXPLAIN_H_

#include <string>

#include "tenon/compiler/compile.h"

namespace tenon::tools {

std::string ExplainText(const Lowered& lowered, const passes::FusionReport& fusion);
// {"fusion": [...], "kernels": [{"name", "implementation", "candidates": [lines]}]}
std::string ExplainJson(const Lowered& lowered, const passes::FusionReport& fusion);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_EXPLAIN_H_
