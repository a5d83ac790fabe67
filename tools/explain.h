// Why a compiled model is what it is: what was folded, what fusion decided, and what was decided
// for each kernel.
#ifndef TENON_TOOLS_EXPLAIN_H_
#define TENON_TOOLS_EXPLAIN_H_

#include <string>
#include <vector>

#include "tenon/compiler/compile.h"

namespace tenon::tools {

// What the passes did, and what they refused.
struct PassDecisions {
  passes::FoldAffineReport folding;
  passes::FusionReport fusion;
};

std::string ExplainText(const PassDecisions& decisions);
// {"folding": {"folded", "flushed", "refusals": [lines]}, "fusion": [...]}
std::string ExplainJson(const PassDecisions& decisions);

std::string ExplainText(const Lowered& lowered, const Target& target,
                        const PassDecisions& decisions);
// The same with "target" and with "kernels": [{"name", "implementation", "candidates", "nodes"}]. A
// candidate has a "name", whether it is "chosen", and "priority", "cycles", "refusal" and
// "measured" where it has them. "nodes" are those of the plan that call the kernel, [{"name",
// "origins"}].
std::string ExplainJson(const Lowered& lowered, const Target& target,
                        const PassDecisions& decisions);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_EXPLAIN_H_
