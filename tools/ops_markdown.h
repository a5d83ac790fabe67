// The reference of operators, docs/operators.md, made from the registry.
#ifndef TENON_TOOLS_OPS_MARKDOWN_H_
#define TENON_TOOLS_OPS_MARKDOWN_H_

#include <string>
#include <vector>

#include "tenon/ops/registry.h"

namespace tenon::tools {

// What is registered beside arguments and attributes: level, pattern, type relation and so on.
std::vector<std::string> FactsOf(const ops::OpDef& op);

// Markdown with one section per operator, sorted by name.
std::string OpsMarkdown(const ops::OpRegistry& registry);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_OPS_MARKDOWN_H_
